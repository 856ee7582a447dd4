"""Both grids and their statistics are drawn as given."""

import torch

from transformer_course.feed_forward_add_and_norm.normalization import plot_normalization


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


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
