"""A number for every head, in the place of its layer and head."""

import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle

from transformer_edu.teaching.figures.heads import (
    WORD_COLORS,
    describe_head_grids,
    plot_head_grids,
    plot_head_split,
)

GRID = torch.tensor([[0.0, 0.25, 1.0], [0.5, -0.125, -0.001]])  # 2 layers, 3 heads
WORDS = {"label": "share of looks", "title": "Some do, some do not"}


def panels(figure):
    return [axes for axes in figure.axes if axes.images and axes.get_label() != "<colorbar>"]


def test_rows_are_layers_and_columns_are_heads_counted_from_one():
    figure = plot_head_grids({"encoder": {"previous": GRID, "next": GRID / 2}}, **WORDS)
    left, right = panels(figure)
    np.testing.assert_array_equal(left.images[0].get_array(), GRID)
    np.testing.assert_array_equal(right.images[0].get_array(), GRID / 2)
    assert left.get_ylabel() == "encoder\nlayer" and figure.get_supxlabel() == "head"
    assert [label.get_text() for label in left.get_yticklabels()] == ["1", "2"]
    assert [label.get_text() for label in right.get_xticklabels()] == ["1", "2", "3"]
    assert [axes.get_title() for axes in (left, right)] == ["previous", "next"]


def test_all_grids_share_one_scale_from_zero():
    rows = {"a": {"x": GRID, "y": GRID * 3}, "b": {"z": GRID}}
    limits = {axes.images[0].get_clim() for axes in panels(plot_head_grids(rows, **WORDS))}
    assert limits == {(0, 3)}


def test_columns_stand_under_their_name_and_a_missing_one_leaves_its_place_empty():
    rows = {"a": {"x": GRID, "y": GRID, "z": GRID}, "b": {"x": GRID, "z": GRID / 2}}
    figure = plot_head_grids(rows, **WORDS)
    upper, lower = figure.axes[:3], figure.axes[3:6]
    assert [axes.get_title() for axes in upper] == ["x", "y", "z"]
    assert [axes.axison for axes in lower] == [True, False, True]
    np.testing.assert_array_equal(lower[2].images[0].get_array(), GRID / 2)
    assert [len(axes.get_xticks()) for axes in (lower[0], lower[2])] == [3, 3]
    assert [axes.get_position().x0 for axes in upper] == [axes.get_position().x0 for axes in lower]


def head_numbers(axes):
    return [label.get_text() for label in axes.get_xticklabels()]


def test_heads_are_numbered_at_the_last_grid_of_every_column():
    rows = {"a": {"x": GRID, "y": GRID}, "b": {"x": GRID, "z": GRID}, "c": {"x": GRID}}
    places = np.reshape(plot_head_grids(rows, **WORDS).axes[:9], (3, 3))
    numbered = [[head_numbers(axes) == ["1", "2", "3"] for axes in line] for line in places]
    assert numbered == [[False, True, False], [False, False, True], [True, False, False]]


def test_layers_are_numbered_at_the_first_grid_of_every_row():
    rows = {"a": {"x": GRID, "y": GRID, "z": GRID}, "b": {"z": GRID[:1], "y": GRID[:1]}}
    figure = plot_head_grids(rows, **WORDS)
    upper, (empty, left, right) = figure.axes[:3], figure.axes[3:6]
    assert [axes.get_ylabel() for axes in upper] == ["a\nlayer", "", ""]
    assert [len(axes.get_yticks()) for axes in upper] == [2, 0, 0]
    assert [axes.get_ylabel() for axes in (empty, left, right)] == ["", "b\nlayer", ""]
    assert [len(axes.get_yticks()) for axes in (left, right)] == [1, 0]


@pytest.mark.parametrize("value", [0.0, -0.5])
def test_where_no_number_is_above_zero_all_have_the_color_of_zero(value):
    (axes,) = panels(plot_head_grids({"": {"costs": torch.full((2, 3), value)}}, **WORDS))
    (image,) = axes.images
    assert image.get_clim() == (0, 1)
    np.testing.assert_array_equal(image.to_rgba(image.get_array())[0, 0], image.cmap(0))


def test_the_words_name_the_head_with_the_most():
    said = describe_head_grids({"encoder": {"next": GRID}, "": {"costs": GRID.flip(0)}})
    assert said == ("encoder, next: most 1.00, layer 1, head 3; costs: most 1.00, layer 2, head 3")


def test_a_grid_with_a_gradient_is_drawn_and_a_cost_below_zero_rounds_to_zero():
    grid = (GRID * 0 - 1e-9).requires_grad_()
    plot_head_grids({"": {"costs": grid}}, **WORDS)
    assert describe_head_grids({"": {"costs": grid}}) == "costs: most 0.00, layer 1, head 1"


TOKENS = ["the", "cat", "$sat"]
NUMBERS = torch.arange(12).view(3, 4)  # (position, d_model)
RIGHT = NUMBERS.unflatten(-1, (2, 2)).transpose(0, 1)
WRONG = NUMBERS.view(2, 3, 2)


def draw(**splits):
    return plot_head_split(splits, tokens=TOKENS, d_model=4, title="a split")


def cells(axes):
    """The written names of a panel's cells, top to bottom and left to right."""
    words = [text for text in axes.texts if not text.get_text().startswith("head")]
    words.sort(key=lambda text: (text.get_position()[1], text.get_position()[0]))
    return [text.get_text() for text in words]


def test_the_right_split_keeps_every_word_in_its_row():
    axes = draw(right=RIGHT).axes[0]
    expected = ["t1", "t2", "t3", "t4", "c1", "c2", "c3", "c4", r"\$1", r"\$2", r"\$3", r"\$4"]
    assert cells(axes) == expected


def test_the_wrong_split_shows_two_words_in_one_head():
    assert cells(draw(wrong=WRONG).axes[0])[:4] == ["t1", "t2", "c3", "c4"]


def test_a_cell_has_the_color_of_its_word():
    axes = draw(wrong=WRONG).axes[0]
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    colors = [patch.get_facecolor() for patch in patches]
    assert len(colors) == 12 and len(set(colors)) == len(TOKENS) <= len(WORD_COLORS)


def test_an_unsplit_matrix_is_drawn_without_heads():
    figure = draw(before=NUMBERS, after=RIGHT)
    names = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert "head 1" not in names[0] and {"head 1", "head 2"} < set(names[1])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["before", "after"]
