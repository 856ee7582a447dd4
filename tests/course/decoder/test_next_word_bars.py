"""The bars are the probabilities that were given, in their order."""

import pytest
import torch

from tests.hatching import hatched_corners
from transformer_course.decoder.next_word_bars import plot_influence, plot_next_words

EXPECTED = {"a": {"b": 0.7, "c": 0.2}, "a b": {"d": 0.9, "e": 0.1}}


def test_each_beginning_has_its_panel_and_the_title_names_the_likeliest_words():
    figure = plot_next_words(EXPECTED)
    assert [axes.get_title("left") for axes in figure.axes] == ["a …", "a b …"]
    for axes, words in zip(figure.axes, EXPECTED.values(), strict=True):
        assert [bar.get_width() for bar in axes.patches] == list(words.values())
        assert [label.get_text() for label in axes.get_yticklabels()] == list(words)
    assert figure.get_suptitle().endswith(": b, d")
    assert "after a: b" in figure.get_label() and "after a b: d" in figure.get_label()


def test_a_small_probability_is_not_written_as_zero():
    axes = plot_next_words({"a": {"b": 0.99, "c": 0.006, "d": 0.004}}).axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.99", "0.01", "< 0.01"]


def test_only_cells_without_any_change_are_hatched_and_the_label_counts_the_others():
    full, triangle = torch.full((2, 3), 0.5), torch.tensor([[2.0, 0.0], [0.1, 0.2]])
    panels = {"left": (["x", "y", "z"], full), "right": (["a", "b"], triangle)}
    figure = plot_influence(panels, rows=["a → b", "b → c"], title="t")
    left, right = figure.axes[:2]
    assert not hatched_corners(left)
    assert hatched_corners(right) == [(0.5, -0.5)]
    torch.testing.assert_close(right.images[0].get_array().data[1].tolist(), [0.5, 1.0])
    assert "left: 6 of 6" in figure.get_label() and "right: 3 of 4" in figure.get_label()


def test_no_beginnings_are_refused():
    with pytest.raises(ValueError, match="at least one beginning, got none"):
        plot_next_words({})
