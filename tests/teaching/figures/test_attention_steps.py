"""The picture of attention's steps holds the numbers of the formula, each in its place."""

import math

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes

from transformer_edu.teaching.figures.attention import LARGEST_STEPS, plot_attention_steps

# Every axis has its own length, so that no two can be swapped unnoticed.
QUERY, KEY, VALUE = torch.randn(2, 4), torch.randn(3, 4), torch.randn(3, 5)
LABELS = {
    "query_tokens": ["das", "$Haus$"],
    "key_tokens": ["the", "old", "house"],
    "title": "Steps",
}


def numbers_in(axes: Axes) -> np.ndarray:
    return np.asarray(axes.images[0].get_array())


def test_the_six_panels_are_the_six_matrices_of_the_formula():
    panels = plot_attention_steps(QUERY, KEY, VALUE, **LABELS).axes
    scores = QUERY @ KEY.T / math.sqrt(4)
    weights = scores.softmax(dim=-1)
    expected = [QUERY, KEY, scores, weights, VALUE, weights @ VALUE]
    for axes, matrix in zip(panels, expected, strict=True):
        np.testing.assert_allclose(numbers_in(axes), matrix.numpy(), rtol=1e-5, atol=1e-6)


def test_rows_and_columns_are_named():
    panels = plot_attention_steps(QUERY, KEY, VALUE, **LABELS).axes
    rows = [len(axes.get_yticks()) for axes in panels]
    assert rows == [2, 3, 2, 2, 3, 2]
    assert [axes.get_ylabel() for axes in panels] == [
        "query",
        "key",
        *["query"] * 2,
        "key",
        "query",
    ]
    assert [axes.get_xlabel() for axes in panels].count("key") == 2
    assert all(axes.get_title("left") or axes.get_title() for axes in panels)


def test_every_number_is_written_and_none_is_minus_zero():
    panels = plot_attention_steps(QUERY * 0 - 1e-3, KEY, VALUE, **LABELS).axes
    for axes in panels:
        assert len(axes.texts) == numbers_in(axes).size
    assert {text.get_text() for text in panels[0].texts} == {"0.0"}


def test_tokens_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="key must have one row per token, got 4 and 3"):
        plot_attention_steps(QUERY, torch.randn(4, 4), VALUE, **LABELS)


def test_a_matrix_too_large_to_be_read_is_refused():
    wide = torch.randn(2, LARGEST_STEPS + 1)
    with pytest.raises(ValueError, match="query must be a matrix of at most 8 rows and columns"):
        plot_attention_steps(wide, KEY, VALUE, **LABELS)
