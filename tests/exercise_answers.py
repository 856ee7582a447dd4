"""What right and wrong answers must bring about, for the tests of every lesson's checks."""

import contextlib
from collections.abc import Callable
from types import ModuleType

import pytest

from transformer_course.asking.answer import AnswerError

Check = Callable[..., None]


def checks_of(lesson: ModuleType) -> dict[str, Check]:
    """All checks that a lesson's module defines, by the numbers of its exercises, in order."""
    own = vars(lesson).values()
    return {check.exercise: check for check in own if hasattr(check, "exercise")}


def calls_its_answer(check: Check) -> bool:
    """Whether the exercise wants a function: whether its check calls what it is given."""
    calls = []

    def three_dots(*given: object, **named: object) -> object:
        calls.append((given, named))
        return ...

    with contextlib.suppress(AnswerError):
        check(three_dots)
    return bool(calls)


def right_answers(checks: dict[str, Check], rows: list[tuple[str, object]]) -> Check:
    """A test that every answer in the rows (number, answer) is called correct."""
    _require_rows(checks, [number for number, _ in rows], at_least=1)
    ids = [f"{number}-{place}" for place, (number, _) in enumerate(rows)]

    @pytest.mark.parametrize(("number", "answer"), rows, ids=ids)
    def a_right_answer_is_correct(number, answer, capsys):
        checks[number](answer)
        printed = capsys.readouterr().out
        assert printed == f"Exercise {number} is correct.\n", f"printed {printed!r}"
        is_function = callable(answer) and not isinstance(answer, type)
        assert is_function == calls_its_answer(checks[number]), "a function, or none?"

    return a_right_answer_is_correct


def wrong_answers(checks: dict[str, Check], rows: list[tuple[str, object, str]]) -> Check:
    """A test that every answer in the rows (number, answer, hint) gets its hint, a pattern."""
    own_hints = {(number, hint) for number, _, hint in rows}
    _require_rows(checks, [number for number, _ in own_hints], at_least=2)
    ids = [f"{number}-{hint}" for number, _, hint in rows]

    @pytest.mark.parametrize(("number", "answer", "hint"), rows, ids=ids)
    def a_wrong_answer_gets_its_own_hint(number, answer, hint):
        with pytest.raises(AnswerError, match=hint):
            checks[number](answer)

    return a_wrong_answer_gets_its_own_hint


def _require_rows(checks: dict[str, Check], numbers: list[str], *, at_least: int) -> None:
    """Refuse, as the tests are collected, a table in which an exercise has too few rows."""
    for number in checks:
        count = numbers.count(number)
        assert count >= at_least, f"exercise {number} has {count} such rows, at least {at_least}"
