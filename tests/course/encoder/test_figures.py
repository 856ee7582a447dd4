"""The figures of lesson 7 say what is to be seen in what they get."""

import pytest
import torch

from transformer_course.encoder.figures import plot_change, plot_riding, plot_training_losses

CHANGE = torch.tensor([[0.0, 0.9, 0.0], [0.1, 0.5, 0.0], [0.2, 0.4, 0.1]])


def test_the_vector_of_riding_is_drawn_by_its_verb():
    vectors = torch.randn(3, 4, 8, generator=torch.Generator().manual_seed(0))
    verbs = {"horse": "reitet", "bull": "reitet", "bike": "fährt", "scooter": "fährt"}
    figure = plot_riding(vectors, verbs)
    assert figure.get_suptitle().startswith("riding: 4 points")
    assert "riding in 4 sentences" in figure.get_label()


def test_the_title_counts_what_has_changed_and_the_colors_end_at_the_other_words():
    figure = plot_change(CHANGE, ["a", "b", "c"], replaced=1)
    title = "After layer 1, 2 of 3 vectors are different"
    assert figure.get_suptitle() == title and figure.get_label().endswith(title)
    assert figure.axes[0].images[0].get_clim() == (0, CHANGE[2, 0])
    assert [each.get_text() for each in figure.axes[0].get_yticklabels()] == [
        "input",
        "layer 1",
        "layer 2",
    ]


def test_the_title_says_where_each_training_ends():
    figure = plot_training_losses({"a": [0.7, 0.25], "b": [0.7, 0.6]})
    assert figure.axes[0].get_title("left") == figure.get_label() == "Loss at the end: a 0.2, b 0.6"


def test_a_change_has_a_word_for_each_column():
    with pytest.raises(ValueError, match="words must be one for each of 4 columns, got 3"):
        plot_change(torch.ones(2, 4), ["a", "b", "c"], replaced=1)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plot_change(CHANGE, "abc", replaced=3), "replaced must be at most 2, got 3"),
        (lambda: plot_change(CHANGE[:1], "abc", replaced=1), "at least one layer, got 1"),
        (lambda: plot_training_losses({}), "at least one step, got none"),
        (lambda: plot_training_losses({"a": []}), "at least one step, got a"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_a_change_that_is_no_number_is_a_change():
    label = plot_change(CHANGE * torch.nan, ["a", "b", "c"], replaced=1).get_label()
    assert label.endswith("3 of 3 vectors are different")
