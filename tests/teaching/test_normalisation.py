"""The picture of a normalisation shows the numbers, their mean and their standard deviation."""

import pytest
import torch

from transformer_edu.teaching.normalisation import plot_normalisation

BEFORE = torch.tensor([[1.0, 3.0, 5.0], [-2.0, 0.0, 2.0]])
AFTER = torch.nn.functional.layer_norm(BEFORE, (3,))
NAMES = ["first", "$x$"]


def draw(before=BEFORE, after=AFTER, names=NAMES):
    return plot_normalisation(before, after, row_names=names, title="levelled")


def test_every_number_is_written_where_it_belongs():
    axes = draw().axes[0]
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written[1, 0] == "3.0" and written[0, 1] == "−2.0" and written[1, 1] == "0.0"


def test_mean_and_standard_deviation_stand_beside_each_row():
    before, after = draw().axes
    assert "mean 3.0\nstd 1.6" in [text.get_text() for text in before.texts]
    assert [text.get_text() for text in after.texts].count("mean 0.0\nstd 1.0") == 2


def test_both_panels_share_one_scale_with_zero_in_the_middle():
    limits = {axes.images[0].get_clim() for axes in draw().axes}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low == -high


def test_names_are_drawn_literally():
    assert [label.get_text() for label in draw().axes[0].get_yticklabels()] == ["first", r"\$x\$"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"before": torch.zeros(9, 3)}, "at most 8 by 8, got .9, 3."),
        ({"before": torch.zeros(3)}, "at most 8 by 8"),
        ({"after": AFTER[:1]}, "after must have the shape .2, 3. of before, got .1, 3."),
        ({"names": ["one"]}, "row_names must name 2 rows, got 1"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        draw(**change)
