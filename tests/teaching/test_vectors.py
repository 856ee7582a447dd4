"""Likeness and tables of vectors show what they are given."""

import numpy as np
import pytest
import torch

from transformer_edu.teaching.vectors import plot_similarities, plot_tables

ALIKE = {"item": "word", "title": "Two alike, one opposite"}
LABELS = {"row_label": "position", "column_label": "number", "title": "Two tables"}
VECTORS = torch.tensor([[1.0, 1.0], [3.0, 3.0], [-2.0, -2.0], [1.0, -1.0]])


def test_likeness_is_the_cosine_whatever_the_lengths():
    axes = plot_similarities(VECTORS, **ALIKE).axes[0]
    expected = [[1, 1, -1, 0], [1, 1, -1, 0], [-1, -1, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(axes.images[0].get_array(), expected, atol=1e-6)


def test_the_scale_is_always_from_minus_one_to_one():
    assert plot_similarities(VECTORS[:2], **ALIKE).axes[0].images[0].get_clim() == (-1, 1)


def test_words_are_named_literally_on_both_axes():
    axes = plot_similarities(VECTORS, names=["cat", "$5", "a", "b"], **ALIKE).axes[0]
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [label.get_text() for label in labels] == ["cat", r"\$5", "a", "b"]


def test_zero_is_written_without_a_minus_and_large_grids_without_numbers():
    nearly_zero = torch.tensor([[1.0, 0.0], [-1e-3, 1.0]])
    numbers = [text.get_text() for text in plot_similarities(nearly_zero, **ALIKE).axes[0].texts]
    assert numbers == ["1.0", "0.0", "0.0", "1.0"]
    assert not plot_similarities(torch.randn(9, 4), **ALIKE).axes[0].texts


def test_trained_vectors_are_drawn_without_touching_their_gradients():
    vectors = VECTORS.clone().requires_grad_()
    plot_similarities(vectors, **ALIKE)
    assert vectors.grad is None and vectors.requires_grad


def test_names_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="names must name 4 vectors, got 1"):
        plot_similarities(VECTORS, names=["cat"], **ALIKE)


@pytest.mark.parametrize("table", [torch.ones(3), torch.tensor([[float("nan")]]), torch.ones(0, 2)])
def test_what_is_no_grid_of_numbers_is_refused(table):
    with pytest.raises(ValueError, match="vectors must be a grid .row, column. of finite numbers"):
        plot_similarities(table, **ALIKE)
    with pytest.raises(ValueError, match="table 'wrong' must be a grid"):
        plot_tables({"wrong": table}, **LABELS)


def test_every_table_has_its_name_and_its_own_symmetric_scale():
    tables = {"small": torch.tensor([[0.5, -1.0]]), "large": torch.tensor([[8.0, -2.0]])}
    panels = [axes for axes in plot_tables(tables, **LABELS).axes if axes.images]
    assert [axes.get_title(loc="left") for axes in panels] == ["small", "large"]
    assert [axes.images[0].get_clim() for axes in panels] == [(-1, 1), (-8, 8)]


def test_no_tables_are_refused():
    with pytest.raises(ValueError, match="at least one table, got none"):
        plot_tables({}, **LABELS)
