"""The grid under the pictures: every label that fits, never more than can be read."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from tests.contrast import contrast
from tests.hatching import hatched_corners
from transformer_course.drawing.grid import (
    LARGEST_NUMBER_OF_LABELS,
    LARGEST_NUMBERED_GRID,
    CellNumber,
    draw_weights,
    hatch,
    placed_axes,
    require_weights,
    wrap_title,
)


def draw_square(size: int) -> plt.Axes:
    tokens = [f"t{index}" for index in range(size)]
    axes, _ = placed_axes(tokens, tokens)
    draw_weights(axes, torch.full((size, size), 1 / size), tokens, tokens)
    return axes


def test_a_large_grid_names_every_second_or_third_token_only():
    axes = draw_square(2 * LARGEST_NUMBER_OF_LABELS)
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels[:3] == ["t0", "t2", "t4"] and len(labels) == LARGEST_NUMBER_OF_LABELS


def test_a_large_grid_has_no_numbers():
    assert len(draw_square(LARGEST_NUMBERED_GRID).texts) == LARGEST_NUMBERED_GRID**2
    assert len(draw_square(LARGEST_NUMBERED_GRID + 1).texts) == 0


@pytest.mark.parametrize(("rows", "columns"), [(2, 1), (6, 4), (13, 15), (41, 40), (3, 200)])
def test_the_cells_are_square_as_large_as_a_page_allows_and_the_bar_stands_beside_them(
    rows, columns
):
    queries, keys = ([f"token {index}" for index in range(n)] for n in (rows, columns))
    axes, bar = placed_axes(queries, keys)
    draw_weights(axes, torch.full((rows, columns), 1 / columns), queries, keys)
    figure = axes.figure
    figure.canvas.draw()
    grid, scale = axes.get_position(), bar.get_position()
    np.testing.assert_allclose((grid.y0, grid.y1), (scale.y0, scale.y1))
    width, height = figure.get_size_inches()
    assert 0 < (scale.x0 - grid.x1) * width < 0.3
    assert grid.width * width / columns == pytest.approx(grid.height * height / rows)
    assert width < 9.5 and height < 9
    labels = axes.get_tightbbox()
    assert labels.x0 >= 0 and labels.y0 >= 0


@pytest.mark.parametrize("size", [6, 40])
def test_no_label_of_a_grid_lies_on_another(size):
    tokens = ["word"] * size
    axes, _ = placed_axes(tokens, tokens)
    draw_weights(axes, torch.full((size, size), 1 / size), tokens, tokens)
    axes.figure.canvas.draw()
    left, right = axes.get_window_extent().x0, axes.get_window_extent().x1
    apart = (right - left) / size / 2**0.5  # between labels that are turned by 45°
    dots = axes.figure.dpi / 72
    assert axes.get_xticklabels()[0].get_fontsize() * dots <= apart * 1.05
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert all(above.y0 >= below.y1 - 3 for above, below in pairwise(boxes))


def test_a_title_breaks_where_grid_and_bar_end_and_where_it_is_told_to():
    words, tokens = "one two three four five six " * 5, ["a"] * 6
    axes, _ = placed_axes(tokens, tokens)
    lines = wrap_title(axes, f"{words.strip()}\nand this").split("\n")
    assert " ".join(lines) == f"{words.strip()} and this" and lines[-1] == "and this"
    assert 3 < len(lines) < 6
    assert wrap_title(axes, "x" * 100) == "x" * 100
    endless = wrap_title(axes, words * 100)
    assert endless.count("\n") < 4 and endless.endswith(" …")


def test_a_number_is_drawn_in_its_color_around_its_place():
    figure = plt.figure(figsize=(2, 1), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, 2), ylim=(0, 1))
    axes.add_artist(CellNumber(0.5, 0.25, "0.80", color="red", fontsize=11))
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    rows, columns = np.nonzero(pixels[..., 0] - pixels[..., 1] > 100)
    assert (rows.min() + rows.max()) / 2 == pytest.approx(75, abs=1)
    assert (columns.min() + columns.max()) / 2 == pytest.approx(50, abs=1)
    assert 8 < rows.max() - rows.min() < 16 < columns.max() - columns.min() < 40


def test_half_precision_weights_may_exceed_one_by_rounding():
    weights = torch.tensor([[1.0005]], dtype=torch.float16)
    assert require_weights(weights, ["a"], ["b"]).shape == (1, 1)


def test_all_hatched_cells_are_one_artist_and_none_is_none():
    hidden = torch.tensor([[False, True, True], [True, False, False]])
    axes = plt.subplots()[1]
    hatch(axes, torch.zeros_like(hidden))
    assert not axes.patches
    hatch(axes, hidden)
    assert len(axes.patches) == 1
    assert hatched_corners(axes) == [(0.5, -0.5), (1.5, -0.5), (-0.5, 0.5)]


@pytest.mark.parametrize("weight", [0, 0.3, 0.45, 0.48, 0.5, 0.52, 0.55, 0.7, 1])
def test_the_number_of_every_weight_stands_out_in_its_cell(weight):
    _, axes = plt.subplots()
    image = draw_weights(axes, torch.full((1, 1), float(weight)), ["q"], ["k"])
    (number,) = axes.texts
    behind = image.cmap(image.norm(weight))[:3]
    ink = to_rgb(number.get_color())
    assert contrast([255 * p for p in ink], [255 * p for p in behind]) >= 4.5
