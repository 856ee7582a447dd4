"""The longest vector is named."""

from transformer_course.feed_forward_add_and_norm.depth_charts import plot_stream


def test_the_stack_with_the_longest_vector_is_named():
    figure = plot_stream({"a": [1, 3, 1], "b": [1, 2, 2]}, word="red")
    assert figure.axes[0].get_title("left").endswith("red is longest in: b")
    assert figure.get_label().endswith("longest in: b")
