"""The figures of lesson 6 say what is to be seen in what they get."""

import pytest
import torch

from transformer_course.feed_forward_add_and_norm.figures import (
    plot_norm_orders,
    plot_normalized_rows,
    prepare_stacks,
)
from transformer_edu.model.encoder import EncoderLayer

ROWS = torch.tensor([[1.0, -1.0], [2.0, -2.0], [5.0, 3.0]])


def test_the_title_counts_the_rows_that_differ_after_the_norm():
    figure = plot_normalized_rows(ROWS, ROWS[:1].expand(3, 2))
    assert figure.get_suptitle() == figure.get_label() == "Different rows: 3 before, 1 after"
    assert plot_normalized_rows(ROWS, ROWS).get_suptitle().endswith("3 after")
    twins = ROWS[[0, 0, 2]]
    assert plot_normalized_rows(twins, twins).get_suptitle().endswith("2 before, 2 after")
    assert plot_normalized_rows(ROWS, ROWS * torch.nan).get_suptitle().endswith(" 1 after")


def test_both_orders_of_norm_and_addition_are_described():
    layers = [EncoderLayer(d_model=4, num_heads=2, d_ff=8, norm_first=f) for f in (False, True)]
    figure = plot_norm_orders(*layers)
    assert figure.get_suptitle() == "Only pre-norm leaves the stream free"
    post, pre = figure.get_label().split(". ")
    assert post.startswith("norm_first=False") and pre.startswith("norm_first=True")


def test_the_stacks_begin_with_the_translator_and_can_read_its_vectors(translator):
    words, x, stacks = prepare_stacks(translator, "A red shirt.")
    assert words == ["A", "red", "shirt", "."] and len(x) == 4
    assert len(stacks) == 3 and next(iter(stacks.values())) is translator.model.encoder
    assert {stack(x.unsqueeze(0)).shape for stack in stacks.values()} == {(1, *x.shape)}


def test_a_fourth_row_has_a_name_too():
    rows = torch.cat([ROWS, ROWS[:1]])
    names = plot_normalized_rows(rows, rows).axes[0].get_yticklabels()
    assert [name.get_text() for name in names] == ["small", "large", "shifted", "row 4"]


def test_rows_are_called_small_and_shifted_only_where_they_are():
    names = plot_normalized_rows(ROWS.flip(0), ROWS).axes[0].get_yticklabels()
    assert [name.get_text() for name in names] == ["row 1", "row 2", "row 3"]
    with pytest.raises(ValueError, match=r"same shape \(row, d_model\), got \(2,\) and \(2,\)"):
        plot_normalized_rows(ROWS[0], ROWS[0])


def test_two_layers_of_the_same_order_are_not_compared():
    layers = [EncoderLayer(d_model=4, num_heads=2, d_ff=8, norm_first=f) for f in (False, True)]
    titles = [plot_norm_orders(layer, layer).get_suptitle() for layer in layers]
    assert titles == ["Twice post-norm", "Twice pre-norm"]
