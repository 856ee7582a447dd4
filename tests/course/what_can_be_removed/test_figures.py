"""Every figure of lesson 17 has its title and says in words what it shows."""

from functools import partial

import pytest

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.what_can_be_removed import figures

BOTH = {"cross-attention": {"one by one, added": 0.25, "together": 3.5}}
CHOICES = {"cross-attention": {"gender": 0.5, "number": 0.9}}
FIGURES = {
    "plot_cost": partial(
        figures.plot_cost, {"one": {"zeros": 0.5, "mean": 9}, "another": {"zeros": 2.0, "mean": 1}}
    ),
    "plot_together": partial(figures.plot_together, BOTH),
    "plot_orders": partial(
        figures.plot_orders,
        {"costliest first": [0.0, 2.0, 3.0], "cheapest first": [0.0, 0.25, 3.0]},
        range(0, 9, 4),
    ),
    "plot_choices": partial(figures.plot_choices, CHOICES),
    "plot_exact_matches": partial(figures.plot_exact_matches, {"nowhere": 1.0, "encoder": 0.95}),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plot_cost", "Without another, the model fails"),
        ("plot_together", "one by one 0.25 nats, together 3.50"),
        ("plot_orders", "4 heads removed: 2.00 nats costliest first, 0.25 cheapest first"),
        ("plot_choices", "Without cross-attention: gender 50%, number 90%"),
        ("plot_exact_matches", "in the encoder, exact match is 0.95"),
    ],
)
def test_the_words_hold_the_numbers(name, words):
    assert words in FIGURES[name]().get_label()


def test_a_model_that_hardly_changes_does_not_fail():
    label = figures.plot_cost({"encoder": {"zeros": 0.004}}).get_label()
    assert label.startswith("Without encoder, the cost is largest: 0.00 nats;")


def test_kinds_of_the_same_cost_are_all_named():
    label = figures.plot_cost({"one": {"zeros": 0.0}, "other": {"zeros": 0.0}}).get_label()
    assert label.startswith("Without one or other, the cost is largest: 0.00 nats;")


def test_the_title_of_costs_takes_the_names_of_its_numbers():
    both = {"together": 3.5, "one by one, added": 0.25}
    label = figures.plot_together({"cross-attention": both}).get_label()
    assert label.startswith("Cross-attention: together 3.50 nats, one by one 0.25;")
    label = figures.plot_together({"cross-attention": {"together": 3.5}}).get_label()
    assert label.startswith("Cross-attention: together 3.50 nats;")
