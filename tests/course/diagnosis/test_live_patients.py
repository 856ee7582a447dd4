"""Patients to be named from what four changes did; a diagnosis needs more than one of them."""

import json
import re

import pytest
import torch

from tests.published import published_page
from transformer_course.breaking.faults import FAULTS
from transformer_course.diagnosis.live_patients import (
    DIAGNOSES,
    HEALTHY,
    describe,
    observed,
    show_patients_live,
)
from transformer_course.diagnosis.observations import CHANGES, observe
from transformer_edu.model.transformer import Transformer, TransformerConfig

FOUND = observed()
SMALL = {"d_model": 24, "num_heads": 2, "num_layers": 1, "d_ff": 16, "dropout": 0.3}


def test_there_are_at_most_eight_names_and_each_is_a_fault_or_healthy():
    assert len(DIAGNOSES) <= 8
    assert set(DIAGNOSES) - {HEALTHY} <= set(FAULTS)


def test_no_single_observation_tells_a_diagnosis_and_all_together_do():
    for change in CHANGES:
        for seen in FOUND.values():
            fitting = [name for name, other in FOUND.items() if other[change] == seen[change]]
            assert len(fitting) > 1, f"{change} alone tells {fitting}"
    patterns = {tuple(map(tuple, seen.values())) for seen in FOUND.values()}
    assert len(patterns) == len(DIAGNOSES)


@pytest.mark.parametrize("name", DIAGNOSES)
def test_another_model_with_the_same_fault_shows_the_same(name):
    torch.manual_seed(3)
    kind = FAULTS.get(name, Transformer)
    assert observe(kind(TransformerConfig(vocabulary_size=15, **SMALL))) == FOUND[name]


def test_observing_leaves_mode_and_random_numbers_as_they_were():
    model = Transformer(TransformerConfig(vocabulary_size=15, **SMALL)).train()
    before = torch.random.get_rng_state()
    observe(model)
    assert model.training
    assert torch.random.get_rng_state().equal(before)


def test_every_patient_is_admitted_and_not_in_the_order_of_the_names():
    page = published_page(show_patients_live)
    (text,) = re.findall(r"<script type='application/json'[^>]*>(.*?)</script>", page, re.S)
    data = json.loads(text)
    assert sorted(data["patients"]) == sorted(DIAGNOSES)
    assert data["patients"] != list(DIAGNOSES)
    assert data["found"] == FOUND


def test_a_description_counts_the_answers_that_moved():
    words = describe({"patient 1": FOUND["no positions"]})
    assert words.startswith("patient 1: The last target word was replaced. 1 of 6 moved; ")
    assert "changed places. 0 of 6 moved" in words
