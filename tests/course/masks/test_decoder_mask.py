"""The reader's mask runs in the lesson if it is right, and models learn to reverse."""

import pytest
import torch

from transformer_course.masks.decoder_mask import finished_mask, mask_of_decoder, train_to_reverse
from transformer_edu.model.masks import target_mask
from transformer_edu.model.transformer import Transformer

IDS = torch.tensor([[1, 5, 6, 7, 2], [1, 8, 2, 0, 0]])


def test_it_is_the_target_mask_of_the_package_without_heads():
    assert mask_of_decoder(IDS).equal(target_mask(IDS)[:, 0])


@pytest.mark.parametrize(
    ("function", "is_theirs"),
    [
        (lambda ids: target_mask(ids)[:, 0], True),
        (lambda ids: (ids != 0)[:, None], False),
        (lambda ids: ..., False),
        (None, False),
    ],
)
def test_the_mask_of_the_course_stands_in_for_an_unfinished_one(function, is_theirs, capsys):
    finished = finished_mask(function)
    said = capsys.readouterr().out
    assert said.startswith("Your decoder_mask." if is_theirs else "The course's decoder_mask,")
    assert finished(IDS).equal(mask_of_decoder(IDS))


def test_a_training_returns_its_model_and_the_last_evaluation(monkeypatch):
    monkeypatch.setattr("transformer_course.masks.decoder_mask.STEPS", 20)
    model, evaluation = train_to_reverse(Transformer, torch.device("cpu"))
    assert isinstance(model, Transformer) and evaluation.step == 20
