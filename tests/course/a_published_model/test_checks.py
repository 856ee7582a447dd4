"""Lesson 20: right answers pass, and each usual wrong answer is named."""

import pytest
import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.a_published_model import checks as lesson
from transformer_course.a_published_model.checks import SWITCHES, check_our_name, patient_of
from transformer_course.looking.shape_trace import trace
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.variants.marian_weights import MARIAN_NAMES, from_marian, to_marian

CHECKS = checks_of(lesson)


def to_halves(table):
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)


def by_axes(table):
    return table.unflatten(1, (-1, 2)).mT.flatten(1)


def our_name(name, names=MARIAN_NAMES):
    name = name.removeprefix("model.")
    for ours, theirs in names.items():
        name = name.replace(theirs, ours)
    return name


def attention_first(name):
    return our_name(name, dict(reversed(MARIAN_NAMES.items())))


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [("20.1", to_halves), ("20.1", by_axes), ("20.2", our_name), ("20.3", "activation")],
)
test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("20.1", lambda t: torch.cat([t[:, 1::2], t[:, 0::2]], dim=1), "cosines come first"),
        ("20.1", lambda t: t.unflatten(1, (2, -1)).mT.flatten(1), "the way back"),
        ("20.1", lambda t: t, "Nothing has changed"),
        ("20.1", lambda t: torch.cat([t[0::2], t[1::2]], dim=0), "A position keeps its row"),
        ("20.1", lambda t: t.copy_(to_halves(t)), "changes the tensor that it gets"),
        ("20.1", lambda t: t.flip(1), "columns 0, 2, 4"),
        ("20.1", lambda t: t[:, ::2], "shape must be"),
        ("20.1", lambda t: t[:, [0, 2, 4, 1, 3, 5]], "Right for 6 columns and wrong for 10"),
        ("20.2", lambda name: name, "not with model"),
        ("20.2", lambda name: 7, "A name is a text"),
        ("20.2", attention_first, "replace the longer names first"),
        ("20.2", lambda name: our_name(name, {}), "should become"),
        ("20.3", "norm_first", "first attention reads"),
        ("20.3", "final_norm", "no final norms"),
        ("20.3", "start_id", "reads no start token"),
        ("20.3", "bias", "place for every weight"),
        ("20.3", "position_order", "positions are right"),
        ("20.3", "silu", "one of activation, bias"),
    ],
)


def test_every_weight_of_two_layers_is_asked_for():
    asked = []
    check_our_name(lambda name: asked.append(name) or our_name(name))
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": 11, "d_ff": 20, "bias": True}
    config = TransformerConfig(vocabulary_size=9, position_order="halves", **sizes)
    names = to_marian(Transformer(config))[1]
    assert set(asked) == {name for name in names if ".layers.3." in name or ".layers.10." in name}


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20, "bias": True}
    marian = {"position_order": "halves", "activation": "silu", "padding_id": 8, "start_id": 8}
    return from_marian(
        *to_marian(Transformer(TransformerConfig(vocabulary_size=9, **sizes, **marian)))
    )


@torch.no_grad()
def test_only_the_activation_of_the_patient_is_wrong_and_the_config_does_not_tell(model):
    patient, ids = patient_of(model), torch.tensor([[4, 5, 6]])
    assert patient.config == model.config and all(hasattr(model.config, name) for name in SWITCHES)
    assert all(torch.equal(w, patient.state_dict()[n]) for n, w in model.state_dict().items())
    steps = zip(trace(model, ids, ids), trace(patient, ids, ids), strict=True)
    right, found = next(
        pair for pair in steps if not torch.allclose(pair[0].tensor, pair[1].tensor)
    )
    assert (right.words[:4], found.words) == ("SiLU", "GELU")
    assert "encoder · layer 1" in found.place
