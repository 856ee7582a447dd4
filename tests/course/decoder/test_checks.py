"""Lesson 08: what its checks do beside telling answers apart."""

import pytest
from torch import nn

from tests.exercise_answers import checks_of
from transformer_course.decoder import checks as lesson_08
from transformer_course.decoder.checks import check_shift, use_shift
from transformer_course.our_transformer import Decoder, DecoderLayer
from transformer_edu.model.special_ids import END_ID, START_ID

CHECKS = checks_of(lesson_08)


def layer(forward, base=DecoderLayer):
    """A class like the reader's, with this method forward(self, x, memory, its two masks)."""

    class Answer(base):
        def __init__(self, *sizes):
            super().__init__(*sizes[: 0 if base is nn.Module else None])

        def forward(self, x, memory, target_mask=None, source_mask=None):
            return forward(self, x, memory, target_mask, source_mask)

    return Answer


def shift(target, start_id, end_id):
    return [start_id, *target], [*target, end_id]


@pytest.mark.parametrize(
    ("number", "base"), [("8.2", DecoderLayer), ("8.2", nn.Module), ("8.3", Decoder)]
)
def test_a_scaffold_waits(number, base, capsys):
    CHECKS[number](layer(lambda self, *given: ..., base=base))
    assert (
        capsys.readouterr().out
        == f"Exercise {number} is waiting for you: replace the three dots.\n"
    )


def test_the_ids_of_the_exercise_are_the_vocabularys():
    seen = []
    check_shift(lambda target, *ids: seen.append(ids) or shift(target, *ids))
    assert seen[0] == (START_ID, END_ID)


def test_the_readers_shift_is_used_if_it_is_right(capsys):
    assert use_shift(lambda *given: tuple(map(tuple, shift(*given))), [7, 8]) == (
        [1, 7, 8],
        [7, 8, 2],
    )
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "answer", [lambda *given: ..., lambda target, *ids: (target, target), None]
)
def test_otherwise_the_courses_is_used_and_it_says_so(answer, capsys):
    assert use_shift(answer, [7, 8]) == ([1, 7, 8], [7, 8, 2])
    assert capsys.readouterr().out == "The course's shift, because yours is not right yet.\n"
