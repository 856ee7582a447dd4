"""The course's look holds inside a drawing function and nowhere else."""

import matplotlib.pyplot as plt
import pytest

from transformer_course.drawing.style import LONGEST_TOKEN, literal, styled, title_above


@styled
def draw():
    """Draw nothing, and note the font size."""
    figure, axes = plt.subplots()
    axes.set_title(str(plt.rcParams["font.size"]))
    return figure


def test_a_styled_function_draws_large_text_and_changes_nothing_outside():
    outside = plt.rcParams["font.size"]
    assert float(draw().axes[0].get_title("left")) >= 13 > outside
    assert plt.rcParams["font.size"] == outside


def test_a_styled_function_keeps_its_name_and_words():
    assert draw.__name__ == "draw" and draw.__doc__ == "Draw nothing, and note the font size."


def test_a_title_above_several_panels_is_that_of_the_figure():
    figure, _ = plt.subplots(1, 2)
    title_above(figure, "What to see")
    assert figure.get_suptitle() == "What to see"


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


def test_an_empty_list_is_refused_by_the_name_of_what_was_to_be_drawn():
    words = styled(lambda words: plt.figure(figsize=(len(words), 1)))
    assert words(["a"]) and words(words=["a"])
    for given in ({"words": []}, {}):
        with pytest.raises(ValueError, match="words must hold something to draw, got an empty"):
            words(*([] if given else [[]]), **given)
