"""The grid under the pictures: every label that fits, never more than can be read."""

import matplotlib.pyplot as plt
import pytest
import torch

from transformer_edu.teaching.grid import (
    LARGEST_NUMBER_OF_LABELS,
    LARGEST_NUMBERED_GRID,
    draw_weights,
    grid_axes,
    require_weights,
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def draw_square(size: int) -> plt.Axes:
    tokens = [f"t{index}" for index in range(size)]
    axes = grid_axes(None, tokens, tokens)
    draw_weights(axes, torch.full((size, size), 1 / size), tokens, tokens)
    return axes


def test_a_large_grid_names_every_second_or_third_token_only():
    axes = draw_square(2 * LARGEST_NUMBER_OF_LABELS)
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels[:3] == ["t0", "t2", "t4"] and len(labels) == LARGEST_NUMBER_OF_LABELS


def test_a_large_grid_has_no_numbers():
    assert len(draw_square(LARGEST_NUMBERED_GRID).texts) == LARGEST_NUMBERED_GRID**2
    assert len(draw_square(LARGEST_NUMBERED_GRID + 1).texts) == 0


def test_a_grid_never_grows_wider_than_a_page():
    assert draw_square(200).figure.get_size_inches()[0] <= 9


def test_half_precision_weights_may_exceed_one_by_rounding():
    weights = torch.tensor([[1.0005]], dtype=torch.float16)
    assert require_weights(weights, ["a"], ["b"]).shape == (1, 1)
