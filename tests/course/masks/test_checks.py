"""Lesson 03: right answers pass, and each usual wrong answer is named."""

import math
from functools import partial

import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.masks import checks as lesson_03
from transformer_course.masks.checks import check_masked_attention, check_repaired_mask
from transformer_course.our_transformer import Attention
from transformer_edu.model.masks import padding_mask

TOKEN_IDS = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0]])
REAL = TOKEN_IDS != 0
CHECKS = checks_of(lesson_03) | {"3.3": partial(check_repaired_mask, token_ids=TOKEN_IDS)}


LOWEST = torch.finfo(torch.float32).min


def masked(weights):
    """A class that averages the values with these weights of scores and mask."""

    class Answer(Attention):
        def attend(self, query, key, value, mask=None):
            scores = query @ key.mT / math.sqrt(query.size(-1))
            return (scores.softmax(-1) if mask is None else weights(scores, mask)) @ value

    return Answer


class WithoutMask(Attention):
    def forward(self, query, key, value):
        return super().forward(query, key, value)


class NotPassedOn(Attention):
    def forward(self, query, key, value, mask=None):
        return super().forward(query, key, value)


class AsksForTruth(Attention):
    def attend(self, query, key, value, mask=None):
        if mask:
            return query
        return super().attend(query, key, value)


class AlwaysCausal(Attention):
    def attend(self, query, key, value, mask=None):
        causal = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
        return super().attend(query, key, value, causal if mask is None else mask)


class InOne(Attention):
    attend = None

    def forward(self, query, key, value, mask=None):
        query, key = self.query_projection(query), self.key_projection(key)
        return Attention.attend(self, query, key, self.value_projection(value), mask)


class OnlyThreeAxes(Attention):
    def attend(self, query, key, value, mask=None):
        return super().attend(query, key, value, None if query.dim() == 4 else mask)


class NoProjection(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()

    def forward(self, query, key, value, mask=None):
        return query


class Waits(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()

    def forward(self, query, key, value, mask=None):
        return ...


def looks_ahead(model, source_ids, target_ids):
    changed = target_ids.clone()
    changed[:, -1] = torch.where(target_ids[:, -1] == 4, 5, 4)
    before, after = model(source_ids, target_ids), model(source_ids, changed)
    return not torch.allclose(before[:, :-1], after[:, :-1], atol=1e-5)


def accuses_everybody(model, source_ids, target_ids):
    changed = target_ids.clone()
    changed[:, -1] = 15
    return not torch.equal(model(source_ids, target_ids), model(source_ids, changed))


def replaces_the_last(new):
    """A test that puts new(old ids) in place of the last tokens."""

    def answer(model, source_ids, target_ids):
        changed = target_ids.clone()
        changed[:, -1] = new(target_ids[:, -1])
        before, after = model(source_ids, target_ids), model(source_ids, changed)
        return not torch.allclose(before[:, :-1], after[:, :-1], atol=1e-5)

    return answer


def changes_in_place(model, source_ids, target_ids):
    before = model(source_ids, target_ids)[:, :-1]
    target_ids[:, -1] = 15
    return not torch.allclose(before, model(source_ids, target_ids)[:, :-1], atol=1e-5)


def changes_nothing(model, source_ids, target_ids):
    first, second = model(source_ids, target_ids), model(source_ids, target_ids.clone())
    return not torch.equal(first, second)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("3.1", 9),
        ("3.1", 9.0),
        ("3.2", Attention),
        ("3.2", masked(lambda s, m: s.masked_fill(~m, -1e9).softmax(-1))),
        ("3.2", masked(lambda s, m: s.where(m, LOWEST).softmax(-1))),
        ("3.2", masked(lambda s, m: s.masked_fill(~m, LOWEST).softmax(-1).masked_fill(~m, 0))),
        ("3.3", REAL[:, None, None, :]),
        ("3.3", padding_mask(TOKEN_IDS)),
        ("3.4", looks_ahead),
        ("3.4", replaces_the_last(lambda old: (old - 3) % 16 + 4)),
        ("3.4", lambda model, source, target: torch.tensor(looks_ahead(model, source, target))),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("3.1", 16, "Nothing would be hidden"),
        ("3.1", 12, "padding mask alone"),
        ("3.1", 10, "causal mask alone"),
        ("3.1", 6, "its query still attends"),
        ("3.1", 7, "number of hidden"),
        ("3.1", 3, "the diagonal is allowed"),
        ("3.1", 11, "row by row"),
        ("3.1", "nine", "whole number"),
        ("3.1", math.inf, "whole number"),
        ("3.2", Attention(12, 4), "class Attention itself"),
        ("3.2", NoProjection, "set self.query_projection"),
        ("3.2", WithoutMask, "fourth argument, mask=None"),
        ("3.2", NotPassedOn, "pass it on to attend"),
        ("3.2", AsksForTruth, "if mask is not None"),
        ("3.2", AlwaysCausal, "must be that of lesson 2"),
        ("3.2", InOne, "Keep the method attend"),
        ("3.2", OnlyThreeAxes, "whatever axes"),
        ("3.2", masked(lambda s, m: s.softmax(-1)), "returns a new tensor"),
        ("3.2", masked(lambda s, m: s.masked_fill(m, LOWEST).softmax(-1)), "polarity is inverted"),
        ("3.2", masked(lambda s, m: s.softmax(-1).masked_fill(~m, 0)), "after the softmax"),
        ("3.2", masked(lambda s, m: s.softmax(-1) * m), "after the softmax"),
        ("3.2", masked(lambda s, m: (s * m).softmax(-1)), "0 is not hidden"),
        ("3.2", masked(lambda s, m: (s + m).softmax(-1)), "adds 1"),
        (
            "3.2",
            masked(lambda s, m: s.masked_fill(~m, torch.finfo(s.dtype).tiny).softmax(-1)),
            "not finfo.tiny",
        ),
        ("3.2", masked(lambda s, m: s.masked_fill(~m, -math.inf).softmax(-1)), "gets NaN"),
        ("3.2", masked(lambda s, m: s.masked_fill(~m.mT, LOWEST).softmax(-1)), "do not fit"),
        ("3.2", masked(lambda s, m: s.masked_fill(~m, -3).softmax(-1)), "numbers are not"),
        ("3.3", ~REAL[:, None, None, :], "now the polarity"),
        ("3.3", REAL[:, None, :, None], "now the axis"),
        ("3.3", ~REAL[:, None, :, None], "friend's mask"),
        ("3.3", REAL, "Two axes are missing"),
        ("3.3", REAL[:, None], "One axis is missing"),
        ("3.3", REAL[:, None, None, :].float(), "boolean"),
        ("3.3", torch.ones(2, 1, 1, 5).bool(), "is not 0"),
        ("3.3", torch.full((2, 1, 1, 5), math.nan), "NaN"),
        ("3.4", accuses_everybody, "only those before it"),
        ("3.4", changes_in_place, "change a clone"),
        ("3.4", changes_nothing, "misses a model"),
        ("3.4", replaces_the_last(lambda old: 5), "when the target ends in 5"),
        ("3.4", replaces_the_last(lambda old: old + 1), "no symbol when the target ends in 19"),
        ("3.4", lambda *given: not looks_ahead(*given), "other way round"),
        ("3.4", lambda *given: "yes", "True or False"),
        ("3.4", lambda model, source, target: model(source), "could not be used"),
    ],
)


def test_a_scaffold_waits(capsys):
    check_masked_attention(Waits)
    assert capsys.readouterr().out.startswith("Exercise 3.2 is waiting for you")
