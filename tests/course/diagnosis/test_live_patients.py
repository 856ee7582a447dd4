"""Stored models as patients."""

import json
import re

from tests.published import published_page
from transformer_course.curves.stored_runs import load_runs
from transformer_course.diagnosis.live_patients import DIAGNOSES, show_patients_live


def test_every_patient_is_admitted_with_its_own_numbers_and_not_in_the_order_of_the_names():
    page = published_page(show_patients_live)
    (text,) = re.findall(r"<script type='application/json'[^>]*>(.*?)</script>", page, re.S)
    data = json.loads(text)
    patients = {each["name"]: each for each in data["patients"]}
    assert patients.keys() == DIAGNOSES.keys() and list(patients) != list(DIAGNOSES)
    for name, patient in patients.items():
        runs = load_runs(name)
        assert runs.steps == data["steps"]
        assert patient["curves"]["exact match"] == runs.curves("exact_match")[0]
        assert patient["written"] == list(runs.glance.written)
        assert max(patient["curves"]["loss"]) <= data["highest"]


def test_only_the_healthy_patient_writes_the_target():
    healthy = [name for name in DIAGNOSES if load_runs(name).runs[0].evaluations[-1].exact_match]
    assert healthy == ["correct"]
