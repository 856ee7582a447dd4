"""Likeness and tables of vectors show what they are given."""

import numpy as np
import pytest
import torch

from transformer_edu.teaching.figures.vectors import (
    plot_normalization,
    plot_similarities,
    plot_tables,
    plot_wavelengths,
)

ALIKE = {"item": "word", "title": "Two alike, one opposite"}
LABELS = {"row_label": "position", "column_label": "number", "title": "Two tables"}
VECTORS = torch.tensor([[1.0, 1.0], [3.0, 3.0], [-2.0, -2.0], [1.0, -1.0]])


def test_likeness_is_the_cosine_whatever_the_lengths():
    axes = plot_similarities(VECTORS, **ALIKE).axes[0]
    expected = [[1, 1, -1, 0], [1, 1, -1, 0], [-1, -1, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(axes.images[0].get_array(), expected, atol=1e-6)


def test_the_scale_is_always_from_minus_one_to_one():
    assert plot_similarities(VECTORS[:2], **ALIKE).axes[0].images[0].get_clim() == (-1, 1)


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


BEFORE = torch.tensor([[1.0, 3.0, 5.0], [-2.0, 0.0, 2.0]])
AFTER = torch.nn.functional.layer_norm(BEFORE, (3,))
NAMES = ["first", "$x$"]


def draw(before=BEFORE, after=AFTER, names=NAMES):
    return plot_normalization(before, after, row_names=names, title="levelled")


def test_every_number_is_written_where_it_belongs():
    axes = draw().axes[0]
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written[1, 0] == "3.0" and written[0, 1] == "−2.0" and written[1, 1] == "0.0"


def test_mean_and_standard_deviation_stand_beside_each_row():
    before, after = draw().axes
    assert "mean 3.0\nstd 1.6" in [text.get_text() for text in before.texts]
    assert [text.get_text() for text in after.texts].count("mean 0.0\nstd 1.0") == 2


def test_both_panels_share_one_scale_with_zero_in_the_middle():
    limits = {axes.images[0].get_clim() for axes in draw().axes}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low == -high


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"before": torch.zeros(9, 3)}, "at most 8 by 8, got .9, 3."),
        ({"before": torch.zeros(3)}, "at most 8 by 8"),
        ({"after": AFTER[:1]}, "after must have the shape .2, 3. of before, got .1, 3."),
        ({"names": ["one"]}, "row_names must name 2 rows, got 1"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        draw(**change)


def test_sines_and_cosines_stand_over_their_pairs_on_a_logarithmic_scale():
    axes = plot_wavelengths([6, 60, 600], [8, 80, 800], title="Slower and slower").axes[0]
    sine, cosine = axes.lines
    np.testing.assert_array_equal(sine.get_xydata(), [[0, 6], [1, 60], [2, 600]])
    np.testing.assert_array_equal(cosine.get_ydata(), [8, 80, 800])
    assert axes.get_yscale() == "log"


def test_the_longest_sequence_is_a_line_with_its_length():
    axes = plot_wavelengths([6, 60], [6, 60], title="One too slow", longest_sequence=50).axes[0]
    assert set(axes.lines[-1].get_ydata()) == {50}
    assert [text.get_text() for text in axes.texts] == ["50 positions"]


def test_a_wavelength_of_zero_is_refused():
    with pytest.raises(ValueError, match="wavelengths must be above 0, got 0"):
        plot_wavelengths([6, 60], [6, 0], title="standing still")
