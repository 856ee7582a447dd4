"""A reader renames an entry of a figure's dictionary, or leaves one out: one sentence says so."""

import pytest

from transformer_course.a_published_model.figures import plot_twins
from transformer_course.circuits.jumps import stored_jumps
from transformer_course.drawing.charts import plot_grouped_bars, plot_lines
from transformer_course.from_2017_to_today.language_modeling import stored_swaps
from transformer_course.from_2017_to_today.swaps import plot_swaps
from transformer_course.speed_and_scale.figures import plot_crossing, plot_memory, plot_steps
from transformer_course.training.figures import plot_paths
from transformer_course.what_can_be_removed import figures as removed

TWO, COSTS = [2.0, 1.0], {"zeros": 1.0, "mean": 0.5}
FIGURES = {
    "paths": lambda: plot_paths({"A": TWO, "Adam, B": TWO}),
    "steps": lambda: plot_steps({"no cache": TWO, "with cache": TWO}),
    "crossing": lambda: plot_crossing({"attention": TWO, "feed-forward": TWO}, [1, 2]),
    "cost": lambda: removed.plot_cost({"encoder": {"nothing": 1.0}}),
    "together": lambda: removed.plot_together({"cross": COSTS}),
    "orders": lambda: removed.plot_orders({"best first": TWO}, [0, 1]),
    "choices": lambda: removed.plot_choices({"cross": {"gender": 1.0, "number": 1.0}}),
    "kinds": lambda: removed.plot_choices({"cross-attention": {"gender": 1.0}}),
    "exact": lambda: removed.plot_exact_matches({"nowhere": 1.0}),
    "twins": lambda: plot_twins({"ours": 0.0, "twin": 1.0}, {"ours": 10}, equal=0.1),
    "groups": lambda: plot_grouped_bars({"a": COSTS, "b": {"zeros": 1.0}}, x_label="", title="t"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_missing_entry_is_named_in_one_sentence(name):
    with pytest.raises(ValueError, match=r"must have the entries '.*, got '"):
        FIGURES[name]()


def test_more_bars_than_colors_are_refused_by_name():
    with pytest.raises(ValueError, match="a group can have 4 bars, got a, b, c, d, e"):
        plot_grouped_bars({"all": dict.fromkeys("abcde", 1.0)}, x_label="x", title="t")


def test_a_kind_of_model_that_was_not_trained_is_refused():
    with pytest.raises(ValueError, match="three layers"):
        stored_jumps("three layers")


def test_a_title_also_holds_when_lines_do_not_reach_their_end():
    paths = plot_paths({"Adam, A": [2.0, -1.0], "Adam, B": [2.0, 1.0]})
    assert "A reaches 0 at step 1 and B not by step 1" in paths.axes[0].get_title("left")
    crossing = plot_crossing({"self-attention": [1.0, 2.0], "feed-forward": [3.0, 3.0]}, [1, 64])
    assert crossing.axes[0].get_title("left") == "Not equal up to L = 64"


def test_the_first_model_is_no_twin_whatever_its_name():
    figure = plot_twins({"ours": 0.0, "twin": 1.0}, {"ours": 10, "twin": 10}, equal=0.1)
    assert figure.axes[0].get_title("left").startswith("1 of 1 wrong choices")


def test_the_title_of_the_memory_is_about_the_largest_batch_whatever_its_length():
    small, large = {"weights": 1.0, "activations": 1.0}, {"weights": 1.0, "activations": 3.0}
    figure = plot_memory({"12 tokens": small, "200 tokens": large})
    assert figure.axes[0].get_title("left") == "200 tokens: activations take 75% of the memory"


def test_a_line_that_is_too_short_is_named():
    with pytest.raises(ValueError, match="the line 'B' must have 2 values, got 1"):
        plot_lines({"A": TWO, "B": [1.0]}, x=[1, 2], x_label="x", y_label="y", title="t")


def test_a_rate_that_was_not_trained_is_refused():
    with pytest.raises(ValueError, match="rate must be one of 0.004, .*, got 0.005"):
        plot_swaps(stored_swaps(), rate=0.005)
