"""Sliders for the notebooks: thin controls around drawings that work without them."""

import math
from collections.abc import Callable, Collection, Mapping

import ipywidgets as widgets
import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.display import explore
from transformer_edu.teaching.figures.attention import plot_attention
from transformer_edu.teaching.figures.charts import plot_bars
from transformer_edu.teaching.figures.lookup import plot_lookup
from transformer_edu.teaching.figures.positions import plot_turning_hands
from transformer_edu.teaching.style import BLACK, BLUE, styled
from transformer_edu.teaching.viewer.live import show_live

NUM_QUERIES, NUM_KEYS = 500, 8
D_MODEL = 8  # of the clock faces
# What the reader finds in the plane: hand-made vectors, as in the lesson.
PLANE_WORDS, PLANE_FEATURES = ("animal", "street", "tired", "cross"), ("alive", "does not move")
PLANE_QUERY = [1.2, 0.6]
PLANE_KEY = [[2.0, -0.5], [0.0, 2.0], [1.0, 0.5], [-1.5, -1.0]]
PLANE_VALUE = [[2.2, -1.6], [-2.0, -1.4], [1.6, 2.0], [-1.4, 1.8]]
PLANE_WIDTHS = (2, 8, 32, 128, 512)  # twice a square each: scores grow by whole numbers
MASK_WORDS = ("<s>", "Zwei", "Hunde", "rennen", ".", "<pad>", "<pad>")
MASK_PRESETS = ("none", "padding", "causal", "both")
# What can be done to a hidden score, and what it makes of a row without any key.
EMPTY_ROWS = {
    "minus infinity": {
        "label": "−∞",
        "empty": "The softmax divides 0 by 0: every weight is NaN, not a number.",
    },
    "most negative": {
        "label": "the most negative number",
        "empty": "All its scores are the same, so every key gets the same weight, hidden or not.",
    },
    "then zero": {
        "label": "that number, then weight 0",
        "empty": "This course's package sets the weights of hidden keys to 0: the output is 0.",
    },
}


def sorted_weights(d_head: int, scaled: bool) -> Tensor:
    """Mean attention of random queries to their keys, from most to least attended, shape (key,).

    Args:
        d_head: Width of the query and key vectors.
        scaled: Whether to divide the scores by √d_head, as the paper does (§3.2.1).
    """
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(NUM_QUERIES, d_head, generator=generator, device="cpu")
    key = torch.randn(NUM_KEYS, d_head, generator=generator, device="cpu")
    scores = query @ key.T / (math.sqrt(d_head) if scaled else 1)  # (query, key)
    return scores.softmax(dim=-1).sort(dim=-1, descending=True).values.mean(dim=0)


@styled
def draw_scaling(d_head: int, scaled: bool) -> Figure:
    """Draw the attention weights of random queries of width d_head, from largest to smallest."""
    weights = sorted_weights(d_head, scaled)
    figure, axes = plt.subplots(figsize=(6.5, 3.4))
    bars = axes.bar(range(1, NUM_KEYS + 1), weights.numpy(), color=BLUE)
    labels = axes.bar_label(bars, labels=[f"{one:.0%}" for one in weights], fontsize=11, padding=2)
    plt.setp(labels, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axes.axhline(1 / NUM_KEYS, color=BLACK, linestyle=":", linewidth=1.5, marker="", zorder=0)
    axes.text(NUM_KEYS + 0.5, 1 / NUM_KEYS + 0.08, "uniform", ha="right", fontsize=12)
    axes.set_title(f"The largest weight is {weights[0]:.0%} on average")
    axes.set_xlabel("key, from most to least attended")
    axes.set_ylabel("mean attention weight")
    axes.set_ylim(0, 1.05)
    return figure


def describe_scaling(d_head: int, scaled: bool) -> str:
    """The picture in words, for its alternative text."""
    how = "scaled" if scaled else "unscaled"
    largest = sorted_weights(d_head, scaled)[0]
    return f"{how} scores, width {d_head}: the largest weight is {largest:.0%} on average"


def explore_scaling() -> None:
    """Let the reader widen the vectors and see how unscaled attention saturates."""
    explore(
        draw_scaling,
        describe_scaling,
        d_head=widgets.SelectionSlider(
            options=[4, 16, 64, 256, 1024], value=64, description="width d_k"
        ),
        scaled=widgets.Checkbox(description="divide the scores by √d_k"),
    )


def show_plane_live() -> None:
    """Let the reader move a query, four keys and four values, and widen the vectors."""
    numbers = {"query": PLANE_QUERY, "key": PLANE_KEY, "value": PLANE_VALUE}
    names = {"words": PLANE_WORDS, "features": PLANE_FEATURES}
    tensors = {name: torch.tensor(each) for name, each in numbers.items()}
    show_live(
        "plane",
        {**numbers, **names, "widths": PLANE_WIDTHS, "extent": 3},
        title="A query among keys, and the output among values",
        still=plot_lookup(**tensors, **names),
        height=530,
        phone_height=960,
    )


def show_mask_live() -> None:
    """Let the reader click the cells of a mask, and see the scores and weights that it leaves."""
    real = [word != "<pad>" for word in MASK_WORDS]
    size = len(MASK_WORDS)
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 4, (size, size), generator=generator, device="cpu")
    mask = torch.tensor(real) & torch.ones(size, size, dtype=torch.bool, device="cpu").tril()
    weights = scores.float().masked_fill(~mask, -math.inf).softmax(dim=-1)
    tokens = {"query_tokens": MASK_WORDS, "key_tokens": MASK_WORDS}
    show_live(
        "mask",
        {
            "words": MASK_WORDS,
            "scores": scores.tolist(),
            "real": real,
            "presets": MASK_PRESETS,
            "ways": EMPTY_ROWS,
        },
        title="A mask decides which scores reach the softmax",
        still=plot_attention(weights, **tokens, mask=mask, title="Hidden keys get weight 0"),
        alt=f"a causal mask and a padding mask together allow {int(mask.sum())} of {mask.numel()} "
        "cells: every row distributes its attention over the real words up to its own",
        height=590,
        phone_height=1060,
    )


def draw_positions(position: int, shift: int) -> Figure:
    """Draw the hands of position p and of position p + k on every clock face."""
    return plot_turning_hands(position, shift, d_model=D_MODEL)


def describe_positions(position: int, shift: int) -> str:
    """The picture in words, for its alternative text."""
    angles = (shift * 10_000 ** (-2 * pair / D_MODEL) for pair in range(D_MODEL // 2))
    turns = ", ".join(f"{angle:g}" for angle in angles)
    return (
        f"clock faces of positions {position} and {position + shift}: the hands differ by {turns} "
        "radians, wherever they start"
    )


def explore_positions() -> None:
    """Let the reader move a position and see all hands turn, the angles between them fixed."""
    explore(
        draw_positions,
        describe_positions,
        position=widgets.IntSlider(value=5, min=0, max=60, description="position p"),
        shift=widgets.IntSlider(value=4, min=0, max=30, description="shift k"),
    )


def explore_head_switches(
    accuracy: Callable[[Collection[int]], Mapping[str, float]], *, num_heads: int
) -> None:
    """Let the reader switch the heads of a model off and on, and see what it still can do.

    Args:
        accuracy: From the heads that are off, counted from 1, to fractions by what is asked.
        num_heads: How many there are.
    """

    def off(switches: Mapping[str, bool]) -> list[int]:
        return [number for number, is_on in enumerate(switches.values(), start=1) if not is_on]

    def name(switches: Mapping[str, bool]) -> str:
        heads = " and ".join(f"head {number}" for number in off(switches))
        return f"{heads} switched off" if heads else "All heads are on"

    def draw(**switches: bool) -> Figure:
        bars = accuracy(off(switches))
        return plot_bars(bars, y_label="fraction right", title=name(switches).capitalize(), top=1)

    def describe(**switches: bool) -> str:
        kept = [what for what, share in accuracy(off(switches)).items() if share > 0.9]
        return f"{name(switches)}: right more than nine times in ten: {', '.join(kept) or 'none'}"

    explore(
        draw,
        describe,
        **{
            f"head_{number}": widgets.Checkbox(value=True, description=f"head {number} is on")
            for number in range(1, num_heads + 1)
        },
    )
