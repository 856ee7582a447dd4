"""The row of models and both layers: what is drawn is what was measured."""

import matplotlib.pyplot as plt
import pytest

from transformer_course.from_2017_to_today.language_modeling import Swap, Training
from transformer_course.from_2017_to_today.swaps import (
    ROWS,
    plot_loss_by_position,
    plot_swaps,
    plot_today,
)

BLUE_DOT, OPEN_DOT = "#0072B2", "white"


def swap(name, after, losses, by_range=((2.0, 3.0), (2.2, 3.4), (2.1, 9.0))):
    """A model with the losses of its seeds at every rate, the first seed at each."""
    return Swap(
        tuple(
            Training(
                name=name, after=after, parameters=1234, cache=56, rate=rate, seed=seed,
                loss=loss, by_range=row,
            )
            for rate, row_of_losses in losses.items()
            for seed, (loss, row) in enumerate(zip(row_of_losses, by_range, strict=False))
        )
    )  # fmt: skip


FIRST = swap("first", None, {0.1: (3.0, 2.0, 2.5), 0.2: (2.4, 2.2, 2.3)})
SWAPS = [
    FIRST,
    swap("second", "first", {0.1: (2.4, 2.5, 2.6), 0.2: (2.0, 1.8, 1.9)}),
    swap("third", "second", {0.1: (1.7, 1.8, 1.9), 0.2: (2.5,)}),
    swap("fourth", "first", {0.1: (4.0, 4.1, 4.2), 0.2: (4.3,)}),
]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def words(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_the_title_names_the_largest_fall_at_the_best_rates_and_the_fall_at_one_rate():
    figure = plot_swaps(SWAPS, rate=0.1)
    title = "The loss falls most with second: by 0.40 nats, and by 0.00 at one rate"
    assert figure.get_suptitle() == title


def test_a_loss_that_rises_does_not_fall():
    figure = plot_swaps([FIRST, SWAPS[3]], rate=0.1)
    title = "No swap lowers the loss; it rises least with fourth: by 1.80 nats"
    assert figure.get_suptitle() == title
    worse = swap("worse", "first", {0.1: (2.6,), 0.2: (2.0,)})
    title = "The loss falls most with worse: by 0.30 nats, but rises by 0.10 at one rate"
    assert plot_swaps([FIRST, worse], rate=0.1).get_suptitle() == title


def test_every_seed_is_a_dot_at_the_one_rate_and_at_the_best():
    dots = [line for line in plot_swaps(SWAPS, rate=0.1).axes[0].lines if len(line.get_xdata()) > 1]
    drawn = {color: [] for color in (OPEN_DOT, BLUE_DOT)}
    for line in dots:
        drawn[line.get_markerfacecolor()].append(tuple(line.get_xdata()))
    assert drawn[OPEN_DOT] == [swap.losses(0.1) for swap in SWAPS]
    assert drawn[BLUE_DOT] == [swap.losses(swap.best) for swap in SWAPS]
    assert [swap.best for swap in SWAPS] == [0.2, 0.2, 0.1, 0.1]


def test_a_row_is_named_by_the_model_it_follows_and_the_table_has_every_rate():
    figure = plot_swaps(SWAPS, rate=0.1)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["first", "+ second", "+ third", "control: fourth"]
    bold = [text.get_text() for text in figure.axes[1].texts if text.get_weight() == "bold"]
    assert bold == ["2.30", "1.90", "1.80", "4.10"]
    assert {"1,234", "56", "2.50", "4.30"} <= set(words(figure))
    assert "+ third 1.80 and 1.80 at 0.1" in figure.get_label()


def test_a_rate_that_was_not_tried_is_a_dash():
    figure = plot_swaps([FIRST, swap("second", "first", {0.1: (2.0,)})], rate=0.1)
    assert "–" in words(figure)


def test_a_single_model_is_drawn_with_its_own_loss():
    figure = plot_swaps([FIRST], rate=0.1)
    assert figure.get_suptitle() == "Validation loss of first: 2.30 nats at its best rate"
    assert len(figure.axes[0].get_yticklabels()) == 1


def test_losses_by_position_are_medians_and_the_title_compares_every_range_with_the_first():
    by_range = ((2.0, 3.0, 2.5), (2.2, 3.4, 1.5), (2.1, 9.0, 1.6))
    losses = {0.1: (1.0, 1.0, 1.0)}
    models = {"a": swap("a", None, losses, by_range), "b": swap("b", None, losses, by_range[:1])}
    figure = plot_loss_by_position(models)
    drawn = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(drawn) == sorted(["2.10", "3.40", "1.60", "2.00", "3.00", "2.50"])
    assert figure.axes[0].get_title(loc="left").splitlines() == [
        "Change of the loss in nats, compared with positions 1 – 64",
        "65 – 128: a +1.30, b +1.00",
        "129 – 256: a -0.50, b +0.50",
    ]
    assert "b: 2.00 at positions 1 – 64, 3.00 at positions 65 – 128" in figure.get_label()
    assert not set("{}'") & set(figure.get_label())


def test_with_one_range_of_positions_there_is_nothing_to_compare():
    one = swap("a", None, {0.1: (1.0, 1.0, 1.0)}, ((2.0,), (2.2,), (2.1,)))
    figure = plot_loss_by_position({"a": one})
    assert figure.axes[0].get_title(loc="left") == "The loss at positions 1 – 64"
    assert [text.get_text() for text in figure.axes[0].texts] == ["2.10"]


def test_both_layers_are_drawn_with_what_changed():
    figure = plot_today()
    drawn = words(figure)
    for old, new, note in ROWS:
        assert {old, new, note} - {""} <= set(drawn)
    assert "Cross-attention → nothing" in figure.get_label()
