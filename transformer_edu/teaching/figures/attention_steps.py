"""Scaled dot-product attention as one picture: every matrix of softmax(QKᵀ/√d_k)V, in order."""

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.model.attention import scaled_dot_product_attention
from transformer_edu.teaching.style import SIGNED_COLOURS, WEIGHT_COLOURS, literal, styled

LARGEST_STEPS = 8  # words or numbers along one axis; beyond it the numbers would collide


@styled
def plot_attention_steps(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
) -> Figure:
    """Draw Q, K, the scaled scores, the weights, V and the output, with every number in its place.

    Above: Q and K give the scores. Below: the softmax of each row of scores gives the weights,
    and the weights average V. Signed numbers are orange below zero and purple above it; weights
    have the colors of every attention map of the course.

    Args:
        query: Shape (query, d_k).
        key: Shape (key, d_k).
        value: Shape (key, d_v).
        query_tokens: One label per query.
        key_tokens: One label per key.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure of six panels.

    Raises:
        ValueError: If the tokens do not fit, or an axis is longer than eight.
    """
    _require_fit("query", query, query_tokens)
    _require_fit("key", key, key_tokens)
    _require_fit("value", value, key_tokens)
    output, weights = scaled_dot_product_attention(query, key, value)
    scores = query @ key.T / math.sqrt(query.size(-1))
    figure, grid = plt.subplots(2, 3, figsize=(9, 1.8 + 0.8 * max(len(query), len(key))))
    for axes, numbers, looking, columns, words in (
        (grid[0, 0], query, True, None, "Q: what is looked for"),
        (grid[0, 1], key, False, None, "K: what is offered"),
        (grid[0, 2], scores, True, key_tokens, "scores: Q Kᵀ / √d_k"),
        (grid[1, 0], weights, True, key_tokens, "weights: softmax of each row"),
        (grid[1, 1], value, False, None, "V: what is handed over"),
        (grid[1, 2], output, True, None, "output: weights × V"),
    ):
        rows = query_tokens if looking else key_tokens
        _draw_panel(axes, numbers, rows, columns, signed=numbers is not weights)
        axes.set_title(words, fontsize=12.5)
        axes.set_ylabel("query" if looking else "key", fontsize=11)
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
    return figure


def _draw_panel(
    axes: Axes,
    numbers: Tensor,
    row_tokens: Sequence[str],
    column_tokens: Sequence[str] | None,
    *,
    signed: bool,
) -> None:
    """One matrix with its numbers; columns without tokens are numbered."""
    values = numbers.detach().float().cpu().numpy()
    largest = float(abs(values).max()) or 1.0
    scale = (
        {"cmap": SIGNED_COLOURS, "vmin": -1.6 * largest, "vmax": 1.6 * largest}
        if signed  # pale enough for black numbers
        else {"cmap": WEIGHT_COLOURS, "vmin": 0, "vmax": 1}
    )
    axes.imshow(values, aspect="auto", **scale)
    for (row, column), number in np.ndenumerate(values):
        color = "black" if signed or number > 0.5 else "white"
        written = f"{number:.1f}" if signed else f"{number:.2f}"
        written = written.replace("-0.0", "0.0")
        axes.text(column, row, written, ha="center", va="center", c=color, fontsize=11)
    axes.set_yticks(range(len(row_tokens)), [literal(token) for token in row_tokens])
    if column_tokens is None:
        axes.set_xticks(range(values.shape[1]), range(1, values.shape[1] + 1))
        axes.set_xlabel("component", fontsize=11)
    else:
        axes.set_xticks(range(len(column_tokens)), [literal(token) for token in column_tokens])
        axes.set_xlabel("key", fontsize=11)
    axes.tick_params(length=0)


def _require_fit(name: str, numbers: Tensor, tokens: Sequence[str]) -> None:
    """Refuse a matrix that is too large to be read, or without one token per row."""
    if numbers.dim() != 2 or not all(0 < size <= LARGEST_STEPS for size in numbers.shape):
        raise ValueError(
            f"{name} must be a matrix of at most {LARGEST_STEPS} rows and columns, "
            f"got {tuple(numbers.shape)}"
        )
    if len(tokens) != len(numbers):
        raise ValueError(
            f"{name} must have one row per token, got {len(numbers)} and {len(tokens)}"
        )
