"""A check has three outcomes, whatever a learner's answer is."""

import runpy

import pytest
import torch

from transformer_course.asking.answer import AnswerError, ask, close, exercise, require_shape
from transformer_course.my_transformer import FILE


@exercise("9.9")
def check_double(answer, *, number):
    if ask(answer, number) == number:
        raise AnswerError("That is the number itself.")
    if answer(number) != 2 * number:
        raise AnswerError("Twice the number.")


def test_three_dots_wait(capsys):
    check_double(..., number=3)
    assert "Exercise 9.9 is waiting for you" in capsys.readouterr().out


def test_a_function_that_returns_three_dots_waits(capsys):
    check_double(lambda number: ..., number=3)
    assert "Exercise 9.9 is waiting for you" in capsys.readouterr().out


def test_a_right_answer_is_correct(capsys):
    check_double(lambda number: number + number, number=3)
    assert capsys.readouterr().out == "Exercise 9.9 is correct.\n"


def test_a_wrong_answer_gets_its_own_hint(capsys):
    with pytest.raises(AnswerError, match="That is the number itself"):
        check_double(lambda number: number, number=3)
    assert "correct" not in capsys.readouterr().out


def test_an_answer_that_raises_becomes_a_hint():
    with pytest.raises(AnswerError, match="could not be used.*ZeroDivisionError"):
        check_double(lambda number: number / 0, number=3)


def test_the_hint_shows_the_new_line_that_calls_an_earlier_class(tmp_path):
    (tmp_path / FILE).write_text("def halves(parts):\n    return 1 / parts\n", encoding="utf-8")
    halves = runpy.run_path(tmp_path / FILE)["halves"]

    def double(number):
        return 4 * halves(0)

    with pytest.raises(AnswerError, match=r"Python stops at `return 4 \* halves\(0\)`"):
        check_double(double, number=3)


@pytest.mark.parametrize("answer", [None, 3, "text", float("nan")])
def test_what_is_no_function_gets_a_hint(answer):
    with pytest.raises(AnswerError, match="The answer is a function"):
        check_double(answer, number=3)


def test_a_function_without_return_gets_a_hint():
    with pytest.raises(AnswerError, match="returns nothing"):
        check_double(lambda number: None, number=3)


def test_a_notebook_shows_the_hint_alone():
    assert AnswerError("Look again.")._render_traceback_() == ["Not yet. Look again."]


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (None, "yours is NoneType"),
        ([1.0, 2.0], "yours is list"),
        (torch.ones(3, 2), r"= \(2, 3\); yours is \(3, 2\)"),
        (torch.full((2, 3), float("nan")), "NaN"),
    ],
)
def test_shapes_are_required_with_a_hint(answer, hint):
    with pytest.raises(AnswerError, match=hint):
        require_shape(answer, (2, 3), "(query, key)")


def test_numbers_are_close_up_to_rounding_only():
    assert close(torch.tensor([1.0]), torch.tensor([1.0 + 1e-6]))
    assert not close(torch.tensor([1.0]), torch.tensor([1.01]))
    assert not close(torch.ones(2), torch.ones(3))
