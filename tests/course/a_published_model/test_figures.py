"""The figure of lesson 20 counts the twins that write the same."""

import pytest

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.a_published_model.figures import plot_twins


def test_the_figure_counts_the_twins_that_write_the_same():
    kept = {"our model": 10, "a": 10, "b": 3, "c": 10}
    differences = {"our model": 1e-6, "a": 0.5, "b": 2.0, "c": 0.1}
    figure = plot_twins(differences, kept, equal=1e-4)
    assert_it_says_what_it_shows(figure)
    label = figure.get_label()
    assert label.startswith("2 of 3 wrong choices change no translation")
    assert "b (3 of 10 stay)" in label


@pytest.mark.parametrize("most", [5, 20])
def test_of_other_sentences_than_ten_no_total_is_told(most):
    differences = {"our model": 1e-6, "a": 0.5, "b": 2.0}
    figure = plot_twins(differences, {"our model": most, "a": most, "b": 1}, equal=1e-4)
    assert figure.get_label().startswith(f"With a wrong choice, 1 to {most} translations stay.")
    assert "b (1 stay)" in figure.get_label()


def test_without_a_twin_nothing_is_compared():
    with pytest.raises(ValueError, match="differences must have a twin after our model, got none"):
        plot_twins({"our model": 1e-6}, {"our model": 10}, equal=1e-4)
