"""The figure of lesson 9 shows the losses that it gets."""

from transformer_course.transformer.figures import plot_training


def test_the_loss_is_drawn_beside_that_of_a_model_that_knows_nothing():
    figure = plot_training([4.5, 1.0, 0.5], 4.0)
    loss, level = figure.axes[0].lines
    assert list(loss.get_ydata()) == [4.5, 1.0, 0.5] and list(level.get_ydata()) == [4.0] * 3
    assert figure.axes[0].get_title("left") == figure.get_label()
