"""The figure of lesson 20 counts the twins that write the same."""

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
