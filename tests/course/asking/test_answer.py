"""A check has three outcomes, whatever a learner's answer is."""

import runpy

import pytest
import torch

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    require_module,
    require_shape,
)
from transformer_course.my_transformer import FILE


@exercise("9.9")
def check_double(answer, *, number):
    if ask(answer, number) == number:
        raise AnswerError("That is the number itself.")
    if answer(number) != 2 * number:
        raise AnswerError("Twice the number.")


@exercise("9.8")
def check_slope(answer):
    x = torch.ones(1, requires_grad=True)
    answer(x).backward()


def test_gradients_that_an_interrupt_has_left_off_are_not_the_answers_fault(capsys):
    with torch.no_grad():
        check_slope(lambda x: 2 * x)
    assert capsys.readouterr().out == "Exercise 9.8 is correct.\n"


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


factor, FACTOR = 4, 4


def test_a_wrong_answer_that_reads_a_variable_of_the_notebook_is_told_so():
    def nested(number):
        return [factor * each for each in [number]][0]

    for answer in (nested, lambda number: 1 / 0 + factor):
        with pytest.raises(AnswerError, match=r"\. Your code takes factor .* where it is 4\.$"):
            check_double(answer, number=3)
    with pytest.raises(AnswerError, match=r"^Twice the number\.$"):
        check_double(lambda number: FACTOR * number, number=3)  # a constant may be meant


def test_an_output_that_is_not_a_number_is_not_called_random():
    with pytest.raises(AnswerError, match="Some numbers are NaN"):
        require_module(torch.nn.Softmax(dim=-1), torch.full((2, 3), -torch.inf))


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
