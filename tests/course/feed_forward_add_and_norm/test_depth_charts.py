"""Gradients and lengths stand where they were measured."""

import numpy as np

from transformer_course.feed_forward_add_and_norm.depth_charts import (
    plot_first_gradients,
    plot_gradient_path,
    plot_stream,
)


def test_gradients_are_relative_to_the_output():
    figure = plot_gradient_path([2e-9, 2e-3, 2.0], [3.0, 2.0, 2.0])
    drawn = [line.get_ydata() for line in figure.axes[0].lines]
    np.testing.assert_allclose(drawn, [[1e-9, 1e-3, 1], [1.5, 1, 1]])
    assert "1e-09 without residual, 1.5 with residual" in figure.axes[0].get_title("left")


def test_the_stack_with_the_longest_vector_is_named():
    figure = plot_stream({"a": [1, 3, 1], "b": [1, 2, 2]}, word="red")
    assert figure.axes[0].get_title("left").endswith("red is longest in: b")
    assert figure.get_label().endswith("longest in: b")


def test_the_training_that_loses_its_gradient_is_named_if_there_is_one():
    lost = plot_first_gradients({"a": [1.0, 1e-4], "b": [1.0, 0.5]})
    kept = plot_first_gradients({"a": [1.0, 0.4], "b": [1.0, 0.5]})
    assert lost.axes[0].get_title("left") == "A loses its gradient"
    assert kept.axes[0].get_title("left") == "No training loses its gradient"
