"""The row of models and both layers: what is drawn is what was measured."""

from dataclasses import replace

import matplotlib.pyplot as plt
import pytest

from transformer_edu.teaching.figures.swaps import ROWS, plot_lengths, plot_swaps, plot_today
from transformer_edu.training.language_modeling import Swap

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


def test_lengths_are_medians_and_the_title_tells_the_rise():
    figure = plot_lengths({"a": FIRST})
    assert [text.get_text() for text in figure.axes[0].texts] == ["2.10", "3.40"]
    assert "a +1.30" in figure.axes[0].get_title(loc="left")
    assert "positions 5 – 8" in figure.get_label()


def test_both_layers_are_drawn_with_what_changed():
    figure = plot_today()
    drawn = words(figure)
    for old, new, note in ROWS:
        assert {old, new, note} - {""} <= set(drawn)
    assert "Cross-attention → nothing" in figure.get_label()
