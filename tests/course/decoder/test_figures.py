"""The figure of lesson 8 counts what it gets."""

import torch

from transformer_course.decoder.figures import plot_left_out


def test_the_title_counts_the_cells_that_change_on_both_sides():
    source, target = torch.tensor([[0.5, 0.1, 0.2], [0.1, 0.3, 0.2]]), torch.ones(2, 2).tril()
    figure = plot_left_out(source, target, ["a", "b", "c"], ["<s>", "x"], ["x", "</s>"])
    title = "6 of 6 cells change on the left, 3 of 4 on the right"
    assert figure.get_suptitle() == title and title in figure.get_label()
    rows = [each.get_text() for each in figure.axes[0].get_yticklabels()]
    assert rows == ["<s> → x", "x → </s>"]
