"""The course's look holds inside a drawing function and nowhere else."""

import matplotlib.pyplot as plt
import pytest

from transformer_edu.teaching.style import LONGEST_TOKEN, literal, new_axes, styled


@styled
def draw(axes=None):
    """Draw nothing, and note the font size."""
    axes = new_axes(axes, 3, 2)
    axes.set_title(str(plt.rcParams["font.size"]))
    return axes.figure


def test_a_styled_function_draws_large_text_and_changes_nothing_outside():
    outside = plt.rcParams["font.size"]
    assert float(draw().axes[0].get_title("left")) >= 13 > outside
    assert plt.rcParams["font.size"] == outside


def test_a_styled_function_keeps_its_name_and_words():
    assert draw.__name__ == "draw" and draw.__doc__ == "Draw nothing, and note the font size."


def test_axes_given_are_the_axes_drawn_on():
    _, axes = plt.subplots()
    assert new_axes(axes, 3, 2) is axes
    assert tuple(new_axes(None, 3, 2).figure.get_size_inches()) == (3, 2)


@pytest.mark.parametrize(
    ("token", "drawn"),
    [
        ("cat", "cat"),
        ("$x$", r"\$x\$"),
        ("a\tb\0", r"a\tb\x00"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("x" * LONGEST_TOKEN, "x" * LONGEST_TOKEN),
        ("x" * (LONGEST_TOKEN + 1), "x" * (LONGEST_TOKEN - 1) + "…"),
    ],
)
def test_a_token_becomes_one_short_literal_line(token, drawn):
    assert literal(token) == drawn


def test_a_name_may_be_longer_than_a_token():
    assert literal("x" * 99, longest=None) == "x" * 99
