"""The row of models and both layers: what is drawn is what was measured."""

from dataclasses import replace

import matplotlib.pyplot as plt
import pytest

from transformer_course.from_2017_to_today.language_modeling import Swap
from transformer_course.from_2017_to_today.swaps import (
    ROWS,
    plot_loss_by_position,
    plot_swaps,
    plot_today,
)

FIRST = Swap(
    name="first", parameters=1234, cache=56, losses=(3.0, 2.0, 2.5), lengths=(4, 8),
    by_range=((2.0, 3.0), (2.2, 3.4), (2.1, 9.0)), tokens_per_second=(7100, 7300, 7900),
)  # fmt: skip
SWAPS = [FIRST, replace(FIRST, name="second", losses=(2.4, 2.3, 2.2)), replace(FIRST, name="third")]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def words(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_the_title_names_the_largest_fall_and_every_seed_is_a_dot():
    figure = plot_swaps(SWAPS)
    assert figure.get_suptitle() == "The loss falls most with second: by 0.20 nats"
    dots = [line.get_xdata() for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert [tuple(each) for each in dots] == [swap.losses for swap in SWAPS]
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()][1] == "+ second"
    assert {"1,234", "56", "7,000"} <= set(words(figure))
    assert "first 2.50; + second 2.30" in figure.get_label()


def test_a_single_model_is_drawn_with_its_own_loss():
    figure = plot_swaps([FIRST])
    assert figure.get_suptitle() == "Validation loss of first: 2.50 nats"
    assert len(figure.axes[0].get_yticklabels()) == 1


def test_losses_by_position_are_medians_and_the_title_compares_every_range_with_the_first():
    by_range = ((2.0, 3.0, 2.5), (2.2, 3.4, 1.5), (2.1, 9.0, 1.6))
    three = replace(FIRST, lengths=(4, 8, 16), by_range=by_range)
    figure = plot_loss_by_position({"a": three, "b": replace(three, by_range=by_range[:1])})
    drawn = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(drawn) == sorted(["2.10", "3.40", "1.60", "2.00", "3.00", "2.50"])
    assert figure.axes[0].get_title(loc="left").splitlines() == [
        "Change of the loss in nats, compared with positions 1 – 4",
        "5 – 8: a +1.30, b +1.00",
        "9 – 16: a -0.50, b +0.50",
    ]
    assert "b: 2.00 at positions 1 – 4, 3.00 at positions 5 – 8" in figure.get_label()
    assert not set("{}'") & set(figure.get_label())


def test_with_one_range_of_positions_there_is_nothing_to_compare():
    one = replace(FIRST, lengths=(4,), by_range=((2.0,), (2.2,), (2.1,)))
    figure = plot_loss_by_position({"a": one})
    assert figure.axes[0].get_title(loc="left") == "The loss at positions 1 – 4"
    assert [text.get_text() for text in figure.axes[0].texts] == ["2.10"]


def test_both_layers_are_drawn_with_what_changed():
    figure = plot_today()
    drawn = words(figure)
    for old, new, note in ROWS:
        assert {old, new, note} - {""} <= set(drawn)
    assert "Cross-attention → nothing" in figure.get_label()
