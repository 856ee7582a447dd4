"""The picture of a word's reach shows every share, and hatches where there is none."""

import pytest
import torch

from tests.hatching import hatched_corners
from transformer_edu.teaching.figures.attention import plot_reach

WORDS = ["bank", "of", "$river$"]
SHARES = torch.tensor([[0.995, 0.005, 0.0], [0.5, 0.3, 0.2]])


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_every_share_is_written_and_a_small_one_is_not_called_zero():
    figure = plot_reach({"neighbours": SHARES}, words=WORDS, title="t")
    axes = figure.axes[0]
    assert texts(axes) == ["100%", "< 1%", "0", "50%", "30%", "20%"]


def test_only_where_there_is_no_influence_is_hatched():
    axes = plot_reach({"neighbours": SHARES}, words=WORDS, title="t").axes[0]
    assert [patch.get_hatch() for patch in axes.patches] == ["///"]
    assert hatched_corners(axes) == [(1.5, -0.5)]


def test_there_is_one_panel_for_each_entry_with_layers_from_one():
    figure = plot_reach({"left": SHARES, "right": SHARES}, words=WORDS, title="t")
    left, right = figure.axes[:2]
    assert tuple(axes.get_title(loc="left") for axes in (left, right)) == ("left", "right")
    assert [label.get_text() for label in left.get_yticklabels()] == ["1", "2"]


@pytest.mark.parametrize(
    ("reach", "message"),
    [
        ({"a": SHARES[:, :2]}, r"\(layer, word\) = \(2, 3\), got \(2, 2\)"),
        ({"a": SHARES[0]}, "must have shape"),
        ({"a": SHARES, "b": SHARES[:1]}, "'b' must have shape"),
        ({"a": 2 * SHARES}, "must be from 0 to 1"),
        ({"a": SHARES * torch.nan}, "must be from 0 to 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(reach, message):
    with pytest.raises(ValueError, match=message):
        plot_reach(reach, words=WORDS, title="t")
