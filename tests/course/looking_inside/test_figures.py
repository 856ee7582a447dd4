"""Every figure of lesson 16 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.looking_inside import figures

SCORES = torch.tensor([[0.1, 0.6], [0.3, -0.2]])  # (layer, head)
MAP = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])  # padded
FIGURES = {
    "plot_role_scores": partial(
        figures.plot_role_scores, {"encoder": {"same": SCORES, "next": SCORES / 3}}
    ),
    "plot_diagonal": partial(figures.plot_diagonal, MAP, ["a", "dog"], ["ein", "Hund"]),
    "plot_moments": partial(
        figures.plot_moments,
        torch.full((4, 3, 2), 0.5),
        torch.tensor([0.5, 0.1, 0.25, 0.75]),
        (0, 30, 60, 90),
        ["x", "y"],
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plot_role_scores", "2 of 4 heads score at least 0.2 more"),
        ("plot_moments", "Correct keys: 0.10 at step 30, 0.25 at 60, 0.75 at 90"),
    ],
)
def test_the_words_hold_the_numbers(name, words):
    assert words in FIGURES[name]().get_label()


def test_only_a_diagonal_is_called_one():
    flat, words = torch.zeros(9, 9), [*"abcdefghi"]
    flat[:, 0] = 1
    assert "diagonal" in figures.plot_diagonal(torch.eye(9), words, words).get_label()
    for size in (4, 9):
        few = words[:size]
        assert "diagonal" not in figures.plot_diagonal(flat, few, few).get_label()


def test_padding_is_cut_off_and_the_rows_are_what_is_written():
    axes = FIGURES["plot_diagonal"]().axes[0]
    assert axes.images[0].get_array().shape == (2, 2)
    assert [each.get_text() for each in axes.get_yticklabels()] == ["ein", "Hund"]


def test_there_may_be_another_number_of_moments():
    figure = figures.plot_moments(torch.ones(2, 2, 1), torch.ones(2), (0, 50), ["a"])
    assert figure.get_label() == "Correct keys: 1.00 at step 50"


def test_a_single_moment_is_told():
    figure = figures.plot_moments(torch.ones(1, 2, 1), torch.ones(1), (350,), ["a"])
    assert figure.get_label() == "Correct keys: 1.00 at step 350"


def test_a_moment_after_the_end_of_the_training_is_refused():
    with pytest.raises(ValueError, match="steps must be one for each of 2 moments, got 3"):
        figures.plot_moments(torch.ones(2, 2, 1), torch.ones(2), (0, 50, 900), ["a"])
