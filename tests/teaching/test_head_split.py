"""The picture of a split shows every number in the row where the split put it."""

import pytest
import torch
from matplotlib.patches import Rectangle

from transformer_edu.teaching.head_split import WORD_COLOURS, plot_head_split

TOKENS = ["the", "cat", "$sat"]
NUMBERS = torch.arange(12).view(3, 4)  # (position, d_model)
RIGHT = NUMBERS.unflatten(-1, (2, 2)).transpose(0, 1)
WRONG = NUMBERS.view(2, 3, 2)


def draw(**splits):
    return plot_head_split(splits, tokens=TOKENS, d_model=4, title="a split")


def cells(axes):
    """The written names of a panel's cells, top to bottom and left to right."""
    words = [text for text in axes.texts if not text.get_text().startswith("head")]
    words.sort(key=lambda text: (text.get_position()[1], text.get_position()[0]))
    return [text.get_text() for text in words]


def test_the_right_split_keeps_every_word_in_its_row():
    axes = draw(right=RIGHT).axes[0]
    expected = ["t1", "t2", "t3", "t4", "c1", "c2", "c3", "c4", r"\$1", r"\$2", r"\$3", r"\$4"]
    assert cells(axes) == expected


def test_the_wrong_split_shows_two_words_in_one_head():
    assert cells(draw(wrong=WRONG).axes[0])[:4] == ["t1", "t2", "c3", "c4"]


def test_a_cell_has_the_colour_of_its_word():
    axes = draw(wrong=WRONG).axes[0]
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    colours = [patch.get_facecolor() for patch in patches]
    assert len(colours) == 12 and len(set(colours)) == len(TOKENS) <= len(WORD_COLOURS)


def test_an_unsplit_matrix_is_drawn_without_heads():
    figure = draw(before=NUMBERS, after=RIGHT)
    names = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert "head 1" not in names[0] and {"head 1", "head 2"} < set(names[1])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["before", "after"]


@pytest.mark.parametrize(
    ("split", "tokens", "d_model", "message"),
    [
        (RIGHT, ["the", "tree", "sat"], 4, "different first letters"),
        (RIGHT, ["the", "", "sat"], 4, "different first letters"),
        (RIGHT, list("abcde"), 4, "1 to 4 words"),
        (RIGHT, [], 4, "1 to 4 words"),
        (RIGHT, TOKENS, 9, "d_model must be 1 to 8, got 9"),
        (RIGHT, TOKENS, 3, "must hold the numbers 0 to 8"),
        (RIGHT.transpose(0, 1), TOKENS, 4, r"got shape \(3, 2, 2\)"),
        (RIGHT * 0, TOKENS, 4, "once each"),
        (torch.arange(12), TOKENS, 4, r"got shape \(12,\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(split, tokens, d_model, message):
    with pytest.raises(ValueError, match=message):
        plot_head_split({"split": split}, tokens=tokens, d_model=d_model, title="a split")


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="splits must hold at least one"):
        draw()
