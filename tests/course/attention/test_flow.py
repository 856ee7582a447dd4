"""Scores and weights stand side by side with their numbers, one row framed in both."""

import pytest
import torch
from matplotlib.patches import Rectangle

from transformer_course.attention.flow import plot_attention_rows

SCORES = torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
WEIGHTS = SCORES.softmax(dim=-1)
QUERIES, KEYS = ["one", "two", "three"], ["a", "b", "c", "d", "e"]


@pytest.fixture
def figure():
    return plot_attention_rows(SCORES, WEIGHTS, query_words=QUERIES, key_words=KEYS, marked=2)


@pytest.mark.parametrize(("marked", "limit"), [(3, "most 2"), (-1, "least 0")])
def test_a_row_that_is_not_there_is_refused(marked, limit):
    with pytest.raises(ValueError, match=f"marked must be at {limit}, got {marked}"):
        plot_attention_rows(SCORES, WEIGHTS, query_words=QUERIES, key_words=KEYS, marked=marked)


def test_every_score_and_every_weight_is_written_into_its_cell(figure):
    wanted = {
        "scores, divided by √d_k": (SCORES, "{:z.1f}"),
        "attention weights": (WEIGHTS, "{:.2f}"),
    }
    assert {axes.get_title("left") for axes in figure.axes} == wanted.keys()
    for axes in figure.axes:
        numbers, form = wanted[axes.get_title("left")]
        torch.testing.assert_close(torch.tensor(axes.images[0].get_array()), numbers)
        written = {tuple(each.get_position()): each.get_text() for each in axes.texts}
        for row, column in torch.cartesian_prod(torch.arange(3), torch.arange(5)).tolist():
            said = form.format(numbers[row, column]).replace("-", "−")
            assert written[column, row] == said


def test_one_row_is_framed_in_both_and_its_words_are_bold(figure):
    best = KEYS[WEIGHTS[2].argmax()]
    for axes in figure.axes:
        (frame,) = (each for each in axes.patches if isinstance(each, Rectangle))
        assert (frame.get_y(), frame.get_width(), frame.get_height()) == (1.5, 5, 1)
        (bold,) = (each for each in axes.get_xticklabels() if each.get_weight() == "bold")
        assert bold.get_text() == best
    assert f"the score of {best} is {SCORES[2].max():.1f}" in figure.get_label()
    assert f"its weight {WEIGHTS[2].max():.2f}" in figure.get_label()


def test_only_a_softmax_of_each_row_is_said_to_be_one(figure):
    assert "that a softmax makes of each row" in figure.get_label()
    assert [each.get_text() for each in figure.texts][0] == "softmax"
    other = plot_attention_rows(
        SCORES, SCORES.softmax(dim=0), query_words=QUERIES, key_words=KEYS, marked=2
    )
    (title,) = [each.get_text() for each in other.texts]
    assert title.startswith("Scores and weights: three attends most to")
    assert "softmax" not in other.get_label()
    even = plot_attention_rows(
        SCORES * 0, torch.full((3, 5), 0.2), query_words=QUERIES, key_words=KEYS, marked=2
    )
    assert even.texts[1].get_text().endswith("three attends to all equally")


def test_weights_with_the_axis_of_a_batch_are_refused():
    with pytest.raises(ValueError, match=r"must have shape \(3, 5\) .* got \(1, 3, 5\)"):
        plot_attention_rows(SCORES, WEIGHTS[None], query_words=QUERIES, key_words=KEYS, marked=2)
