"""The figure of lesson 8 counts what it gets."""

import pytest
import torch

from transformer_course.decoder.figures import plot_left_out


def test_the_title_counts_the_cells_that_change_on_both_sides():
    source, target = torch.tensor([[0.5, 0.1, 0.2], [0.1, 0.3, 0.2]]), torch.ones(2, 2).tril()
    figure = plot_left_out(source, target, ["a", "b", "c"], ["<s>", "x"], ["x", "</s>"])
    title = "6 of 6 cells change on the left, 3 of 4 on the right"
    assert figure.get_suptitle() == title and title in figure.get_label()
    rows = [each.get_text() for each in figure.axes[0].get_yticklabels()]
    assert rows == ["<s> → x", "x → </s>"]


def test_labels_and_words_of_another_number_are_refused():
    source, target = torch.ones(2, 3), torch.ones(2, 2)
    with pytest.raises(ValueError, match="labels must be one for each of 2 words read, got 1"):
        plot_left_out(source, target, "abc", "xy", "y")
    with pytest.raises(ValueError, match="source_words must be one for each of 3 words left out"):
        plot_left_out(source, target, "ab", "xy", "yz")


def test_a_change_that_is_no_number_is_a_change():
    figure = plot_left_out(torch.full((2, 3), torch.nan), torch.ones(2, 2), "abc", "xy", "yz")
    assert figure.get_suptitle().startswith("6 of 6 cells change on the left")
    assert "memory: 6 of 6 cells change" in figure.get_label()
