"""The figure of lesson 9 shows the losses that it gets."""

import pytest
import torch

from transformer_course.transformer.figures import plot_training


def test_the_loss_is_drawn_beside_that_of_a_model_that_knows_nothing():
    figure = plot_training([4.5, 1.0, 0.5], 4.0)
    loss, level = figure.axes[0].lines
    assert list(loss.get_ydata()) == [4.5, 1.0, 0.5] and list(level.get_ydata()) == [4.0] * 3
    assert figure.axes[0].get_title("left") == figure.get_label()


def test_the_title_says_what_a_reader_s_own_losses_do():
    falls = "The loss starts above ln V and falls almost to 0"
    assert plot_training([4.5, 1.0, 0.1], 4.0).get_label() == falls
    lost = torch.tensor(4.5, requires_grad=True)
    assert plot_training([lost, lost / 2], 4.0).get_label() == "The loss goes from 4.50 to 2.25"
    assert plot_training([float("nan")] * 3, 4.0).get_label() == "The loss goes from nan to nan"
    assert plot_training(torch.stack([lost, lost / 2]), 4.0).get_label().endswith("to 2.25")
    for nothing in (None, [], 4.5, lost, ..., (each for each in [4.5])):
        with pytest.raises(ValueError, match="does learn return its list"):
            plot_training(nothing, 4.0)
