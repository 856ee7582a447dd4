"""Lesson 09: right answers pass, and each usual wrong answer is named."""

import pytest
import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.checks import transformer as lesson_09
from transformer_edu.teaching.checks.transformer import check_layer_parameters

CHECKS = checks_of(lesson_09)
SQUARE, WIDEN = 512 * 512, 512 * 2048


def write(model, source_ids, steps, *, mask_too=True, place=-1, pick=torch.argmax, start=1):
    mask = model.source_mask(source_ids)
    memory = model.encode(source_ids, source_mask=mask)
    written = torch.full((len(source_ids), 1), start)
    for _ in range(steps):
        decoded = model.decode(written, memory, source_mask=mask if mask_too else None)
        newest = pick(model.project(decoded)[:, place], dim=-1)
        written = torch.cat([written, newest.unsqueeze(1)], dim=1)
    return written


def write_with_forward(model, source_ids, steps):
    written = torch.ones(len(source_ids), 1, dtype=torch.long)
    for _ in range(steps):
        written = torch.cat([written, model(source_ids, written)[:, -1:].argmax(-1)], dim=1)
    return written


def write_the_start_again(model, source_ids, steps):
    start = torch.ones(len(source_ids), 1, dtype=torch.long)
    newest = model(source_ids, start.expand(-1, steps)).argmax(dim=-1)
    return torch.cat([start, newest], dim=1)


def tie(embedding, output):
    output.weight = embedding.weight
    return output.weight


def tie_data(embedding, output):
    output.weight.data = embedding.weight.data
    return output.weight


def tie_a_copy(embedding, output):
    output.weight.data = embedding.weight.data.clone()
    return output.weight


def tie_the_other_way(embedding, output):
    embedding.weight = output.weight
    return output.weight


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("9.1", 3_150_336),
        ("9.1", 4 * SQUARE + 2 * WIDEN + 2048 + 512 + 4 * 512),
        ("9.2", write),
        ("9.3", tie),
    ],
)


def test_the_right_number_of_parameters_is_the_models():
    with torch.device("meta"):
        layer = Transformer(TransformerConfig.base(num_layers=1)).encoder.layers[0]
    check_layer_parameters(sum(parameter.numel() for parameter in layer.parameters()))


test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("9.1", 3 * SQUARE + 2 * WIDEN + 2560 + 2048, "One square matrix is missing"),
        ("9.1", 4 * SQUARE + 2 * WIDEN + 2048, "two biases are missing"),
        ("9.1", 4 * SQUARE + 2 * WIDEN + 2048 + 2048, "second bias is missing"),
        ("9.1", 4 * SQUARE + 2 * WIDEN + 512 + 2048, "or the feed-forward network's first bias"),
        ("9.1", 4 * SQUARE + 2 * WIDEN + 2560, "gains and biases of the two norms"),
        ("9.1", 4 * SQUARE + 2 * WIDEN + 2560 + 1024, "two vectors"),
        ("9.1", 4 * SQUARE + 2 * WIDEN, "Biases and norms are missing"),
        ("9.1", 4 * (SQUARE + 512) + 2 * WIDEN + 2560 + 2048, "no biases"),
        ("9.1", 8 * SQUARE + 2 * WIDEN + 2560 + 3072, "decoder layer"),
        ("9.1", 6 * 3_150_336, "whole encoder"),
        ("9.1", 8 * 4 * SQUARE + 2 * WIDEN + 2560 + 2048, "heads share"),
        ("9.1", 4 * SQUARE + WIDEN + 2048 + 2048, "to d_ff and back"),
        ("9.1", 7, "rows times columns"),
        ("9.1", 3_000_000, "rows times columns"),
        ("9.1", 3.2e6 + 0.5, "whole number"),
        ("9.1", float("nan"), "whole number"),
        ("9.1", "3150336", "whole number"),
        ("9.1", None, "whole number"),
        ("9.2", write_with_forward, "encoder ran 6 times"),
        ("9.2", write_the_start_again, "not the start token again"),
        ("9.2", lambda *given: write(*given, mask_too=False), "give the mask to decode"),
        ("9.2", lambda *given: write(*given, place=0), "after the first position"),
        ("9.2", lambda *given: write(*given, pick=torch.argmin), "take the argmax"),
        ("9.2", lambda *given: write(*given)[:, 1:], "keep the start token"),
        ("9.2", lambda *given: write(*given, start=2), "in every step"),
        ("9.2", lambda *given: write(*given)[:, :3], "shape must be"),
        ("9.2", lambda model, ids, steps: model.encode(ids), "shape must be"),
        ("9.2", lambda *given: write(*given) * torch.nan, "NaN"),
        ("9.2", lambda model, ids, steps: model.decode(ids), "TypeError"),
        ("9.3", tie_a_copy, "a copy"),
        ("9.3", tie_data, "two parameters"),
        ("9.3", tie_the_other_way, "output's numbers"),
        ("9.3", lambda embedding, output: output.weight, "tables of their own"),
        ("9.3", lambda embedding, output: output.missing, "AttributeError"),
    ],
)


@pytest.mark.parametrize(("number", "answer"), [("9.2", write), ("9.3", tie)])
def test_a_check_leaves_the_random_numbers_alone(number, answer):
    before = torch.random.get_rng_state()
    CHECKS[number](answer)
    torch.testing.assert_close(torch.random.get_rng_state(), before)
