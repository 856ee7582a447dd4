"""Grids of numbers show what they are given."""

import numpy as np
import torch

from transformer_edu.teaching.figures.vectors import (
    plot_normalization,
    plot_similarities,
    plot_tables,
    plot_values,
)

LABELS = {"row_label": "position", "column_label": "number", "title": "t"}
VECTORS = torch.tensor([[1.0, 1.0], [3.0, 3.0], [-2.0, -2.0], [1.0, -1.0]])


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_values_and_tables_have_their_own_symmetric_scale():
    tables = {"small": torch.tensor([[0.5, -1.0]]), "large": torch.tensor([[8.0, -2.0]])}
    panels = [axes for axes in plot_tables(tables, **LABELS).axes if axes.images]
    assert [axes.get_title(loc="left") for axes in panels] == ["small", "large"]
    assert [axes.images[0].get_clim() for axes in panels] == [(-1, 1), (-8, 8)]
    for table in tables.values():
        image = plot_values(table, **LABELS).axes[0].images[0]
        np.testing.assert_array_equal(image.get_array(), table)
        assert image.get_clim() == (-table.abs().max(), table.abs().max())


def test_similarity_is_the_cosine_whatever_the_lengths():
    vectors = VECTORS.clone().requires_grad_()
    axes = plot_similarities(vectors, item="word", names="abcd", title="t").axes[0]
    expected = [[1, 1, -1, 0], [1, 1, -1, 0], [-1, -1, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(axes.images[0].get_array(), expected, atol=1e-6)
    assert axes.images[0].get_clim() == (-1, 1)
    assert texts(axes)[:4] == ["1.0", "1.0", "−1.0", "0.0"]
    assert vectors.grad is None
    large = plot_similarities(torch.randn(9, 4), item="word", names="abcdefghi", title="t")
    assert not large.axes[0].texts  # the numbers would collide


def test_normalization_shows_every_number_and_the_statistics_of_every_row_on_one_scale():
    before = torch.tensor([[1.0, 3.0, 5.0], [-2.0, 0.0, 2.0]])
    after = 2 * torch.nn.functional.layer_norm(before, (3,))
    for one, other in ((before, after), (after, before)):
        panels = plot_normalization(one, other, row_names=["a", "b"], title="t").axes
        limits = {axes.images[0].get_clim() for axes in panels}
        assert len(limits) == 1 and limits.pop()[1] > 5
    after, before = panels
    written = {text.get_position(): text.get_text() for text in before.texts}
    assert (written[1, 0], written[0, 1], written[1, 1]) == ("3.0", "−2.0", "0.0")
    assert "mean 3.0\nstd 1.6" in texts(before)
    assert texts(after).count("mean 0.0\nstd 2.0") == 2
