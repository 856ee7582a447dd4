"""Every figure of lesson 18 has its title and says in words what it shows."""

from functools import partial

import pytest

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.speed_and_scale import figures

COUNTS = {"self-attention": [1.0, 2.0, 4.0], "feed-forward": [2.0, 2.0, 2.0]}
MEMORY = {"weights": 10.0, "activations, layers": 20.0, "activations, output": 10.0}
FIGURES = {
    "plot_steps": partial(
        figures.plot_steps, {"without cache": [1.0, 2.0, 3.0], "with cache": [1.0, 1.0, 1.0]}
    ),
    "plot_crossing": partial(figures.plot_crossing, COUNTS, [8, 16, 32]),
    "plot_memory": partial(figures.plot_memory, {"12 tokens": MEMORY, "96 tokens": MEMORY}),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plot_steps", "Without the cache, token 3 needs 3 times the operations"),
        ("plot_crossing", "equal at 16"),
        ("plot_memory", "96 tokens: activations take 75% of the memory"),
    ],
)
def test_the_words_hold_the_numbers(name, words):
    assert words in FIGURES[name]().get_label()


def test_counts_that_cross_between_two_lengths_are_not_called_equal():
    crossed = {"self-attention": [1.0, 2.1], "feed-forward": [2.0, 2.0]}
    figure = figures.plot_crossing(crossed, [100, 400])
    assert figure.axes[0].get_title("left") == "Attention needs more from L = 400 on"
    assert figure.get_label().endswith("; attention needs more from 400 on")


def test_where_attention_needs_more_from_the_first_length_no_crossing_is_named():
    larger = {"self-attention": [3.0, 6.0], "feed-forward": [2.0, 2.0]}
    title = figures.plot_crossing(larger, [100, 400]).axes[0].get_title("left")
    assert title == "Attention needs more at L = 100 already"


def test_a_small_ratio_is_not_rounded_to_a_whole_number():
    counts = {"without cache": [1.0, 1.5], "with cache": [1.0, 1.0]}
    assert "token 2 needs 1.5 times" in figures.plot_steps(counts).get_label()
