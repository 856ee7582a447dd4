"""What right and wrong answers must bring about, for the tests of every lesson's checks."""

import contextlib
import copy
import functools
import linecache
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from types import ModuleType, SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_course import our_transformer
from transformer_course.asking.answer import AnswerError
from transformer_course.my_transformer import OURS, SWITCH, my_parts

Check = Callable[..., None]
PARTS = {name: getattr(our_transformer, name) for name in OURS}
KNOWN = {"copy": copy, "functools": functools, "math": math, "torch": torch, "F": F, "nn": nn}
KNOWN |= {"Fraction": Fraction}
FILES = count()


@dataclass(frozen=True)
class Answers:
    """The answers to an exercise, each a source of its own, or the base with changes.

    A change is "old → new"; several are joined by " && ". A new of several lines is indented as
    the base is.

    Attributes:
        base: A right answer: a class, a function, or an expression.
        right: Others that are right.
        wrong: Wrong ones, each with a part of its hint.
    """

    base: str
    right: list[str]
    wrong: dict[str, str]


def written(base: str, edit: str = "", **given: object) -> object:
    """An answer as a reader's cell would make it, with its source where IPython puts it.

    It is what a line "answer = …" makes, or else what is defined last.
    """
    source = base.strip() if " →" in edit or not edit else edit.strip()
    for change in edit.split(" && ") if " →" in edit else []:
        old, new = change.split(" →")
        assert old in source, f"{old!r} is not in the base"
        source = source.replace(old, new.removeprefix(" "))
    names = {**KNOWN, **PARTS, "parts": SimpleNamespace(**PARTS), **given}
    defined = re.findall(r"^(?:class|def) (\w+)", source, re.MULTILINE)
    if not defined:
        return eval(source, names)  # noqa: S307
    file = f"<answer {next(FILES)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return names["answer"] if "answer" in names else names[defined[-1]]


def told_apart(
    checks: dict[str, Check], answers: dict[str, Answers], **given: Callable[[], dict]
) -> tuple[Check, Check]:
    """Two tests: every right answer is accepted and stays, every wrong one gets its own hint.

    Args:
        checks: By the numbers of the exercises, all of which need answers.
        answers: 20 right and 20 wrong ones of a class that is kept, otherwise 5 and 5.
        given: By "exercise_" and its number without the point, what a lesson hands to its check.
    """
    for number in checks:
        kept = re.search(rf"^class ({'|'.join(OURS)})\b", answers[number].base, re.MULTILINE)
        least = 20 if kept else 5
        assert len({answers[number].base, *answers[number].right}) >= least, number
        assert len(answers[number].wrong) >= least, number
    right = [(number, edit) for number in checks for edit in ("", *answers[number].right)]
    wrong = [(number, *row) for number in checks for row in answers[number].wrong.items()]

    def asked(number: str, edit: str) -> object:
        handed = given.get(f"exercise_{number.replace('.', '')}", dict)()
        answer = written(answers[number].base, edit, **handed)
        checks[number](answer, **handed)
        return answer

    @pytest.mark.parametrize(("number", "edit"), right)
    def a_right_answer_is_correct(number, edit, capsys, monkeypatch):
        monkeypatch.delenv(SWITCH)
        answer = asked(number, edit)
        said = capsys.readouterr().out
        assert said.endswith(f"Exercise {number} is correct.\n"), said
        if getattr(answer, "__name__", "") in OURS:
            assert f"Your {answer.__name__} is in" in said, said
            if number != "2.1":  # its class lacks the mask of lesson 3
                require_in_a_transformer(answer.__name__)

    @pytest.mark.parametrize(("number", "edit", "hint"), wrong)
    def a_wrong_answer_gets_its_own_hint(number, edit, hint):
        with pytest.raises(AnswerError) as refusal:
            asked(number, edit)
        assert hint in str(refusal.value)
        assert "as the exercise uses it" not in str(refusal.value), "a raw error"
        lines = {line.strip().removeprefix("return ") for line in answers[number].base.split("\n")}
        told = [line for line in lines if len(line) > 25 and line in str(refusal.value)]
        assert not told or "stops at" in str(refusal.value), "the hint prints a line of the answer"

    return a_right_answer_is_correct, a_wrong_answer_gets_its_own_hint


def require_in_a_transformer(name: str) -> None:
    """Require the kept class in a Transformer that computes what ours does, also with pre-norm."""
    parts = my_parts()
    assert getattr(parts, name) is not PARTS[name], "it does not stay"
    source, target = torch.tensor([[5, 6, 7, 0]]), torch.tensor([[1, 8, 9]])
    theirs, ours = (
        kind(23, 12, 3, 2, 20).eval() for kind in (parts.Transformer, PARTS["Transformer"])
    )
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(theirs(source, target), ours(source, target))
    for model, base in ((theirs, parts.AddAndNorm), (ours, PARTS["AddAndNorm"])):
        pre_norm = type("PreNorm", (base,), {"forward": _before})  # as lesson 9 does
        for path, part in list(model.named_modules()):
            if isinstance(part, base):
                model.set_submodule(path, pre_norm(12).eval())
    torch.testing.assert_close(theirs(source, target), ours(source, target))


def _before(self: nn.Module, x: torch.Tensor, sublayer: Callable) -> torch.Tensor:
    return x + self.dropout(sublayer(self.norm(x)))


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
