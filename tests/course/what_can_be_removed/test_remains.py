"""The figure of what remains names the geometric mean of each text and has a dot a sentence."""

import torch

from transformer_course.what_can_be_removed.remains import plot_remains


def test_a_mean_is_geometric_and_every_sentence_has_its_dot():
    remains = {"one": torch.tensor([0.1, 0.4]), "other": torch.tensor([0.02, 0.02, 0.02])}
    figure = plot_remains(remains)
    assert "Most remains on one (20%), least on other (2%)" in figure.get_label()
    drawn = [len(line.get_xdata()) for line in figure.axes[0].lines]
    assert drawn == [2, 3, 2]


def test_a_single_text_or_equal_ones_are_not_compared():
    figure = plot_remains({"one": torch.tensor([0.25]), "other": torch.tensor([0.25])})
    assert figure.get_label().startswith("On one, other: 25% remains. ")
    figure = plot_remains({"one": torch.tensor([0.25])})
    assert figure.get_label().startswith("On one: 25% remains. ")
