"""The links mark one query, and the title and the label say what it attends to."""

import pytest
import torch

from transformer_course.drawing.marked_links import plot_marked_links
from transformer_course.drawing.style import VERMILION
from transformer_edu.model.attention import scaled_dot_product_attention

torch.manual_seed(0)
QUERY, KEY, VALUE = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 6)
OUTPUT, WEIGHTS = scaled_dot_product_attention(QUERY, KEY, VALUE)
QUERIES, KEYS = ["one", "two", "three"], ["a", "b", "c", "d", "e"]
WORDS = {"query_words": QUERIES, "key_words": KEYS}


@pytest.mark.parametrize("marked", range(3))
def test_the_links_name_the_key_with_the_largest_weight(marked):
    figure = plot_marked_links(WEIGHTS, **WORDS, marked=marked)
    best = KEYS[WEIGHTS[marked].argmax()]
    title = figure.axes[0].get_title("left")
    assert title == f"About to write {QUERIES[marked]}, the translator attends most to {best}"
    assert figure.get_label().endswith(f"of {QUERIES[marked]} goes to {best}")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"marked": 3}, "marked must be at most 2, got 3"),
        ({"marked": -1}, "marked must be at least 0, got -1"),
        ({"query_words": QUERIES[:2]}, r"must have shape \(2, 5\) to fit the tokens, got \(3, 5\)"),
        ({"key_words": [*KEYS, "f"]}, r"must have shape \(3, 6\) to fit the tokens, got \(3, 5\)"),
    ],
)
def test_a_query_that_is_not_there_and_words_of_another_number_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        plot_marked_links(WEIGHTS, **WORDS | {"marked": 1} | wrong)


def test_only_the_marked_query_is_in_color_and_width_follows_weight():
    lines = plot_marked_links(WEIGHTS, **WORDS, marked=1).axes[0].lines
    for colored, rows in ((True, WEIGHTS[1]), (False, WEIGHTS[[0, 2]])):
        drawn = [
            each.get_linewidth() for each in lines if (each.get_color() == VERMILION) == colored
        ]
        assert drawn == pytest.approx((8 * rows[rows > 0.04]).tolist())
