"""What lessons about attention let a reader move: thin controls, and figures without a kernel."""

from collections.abc import Callable, Collection, Mapping

import ipywidgets as widgets
import torch
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.model.masks import target_mask
from transformer_edu.model.vocabulary import PADDING_ID, START_ID
from transformer_edu.teaching.display import explore
from transformer_edu.teaching.figures.attention import plot_mask
from transformer_edu.teaching.figures.charts import plot_bars
from transformer_edu.teaching.figures.lookup import plot_lookup
from transformer_edu.teaching.figures.positions import plot_turning_hands
from transformer_edu.teaching.viewer.live import show_live

D_MODEL = 8  # of the clock faces
# What the reader finds in the plane: hand-made vectors, as in the lesson.
PLANE_WORDS, PLANE_FEATURES = ("animal", "street", "tired", "cross"), ("alive", "does not move")
PLANE_QUERY = [1.2, 0.6]
PLANE_KEY = [[2.4, -0.8], [-0.8, 2.0], [0.7, 1.3], [-1.5, -1.0]]
PLANE_VALUE = [[2.2, -1.6], [-2.0, -1.4], [1.6, 2.0], [-1.4, 1.8]]
PLANE_WIDTHS = (2, 8, 32, 128, 512)  # twice a square each: scores grow by whole numbers
TARGET_TOKENS = ("<s>", "the", "cat", "sat", "down", "here")


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
        height=540,
        phone_height=870,
    )


def _explored_mask(num_padding: int, hide_padding: bool, hide_future: bool) -> Tensor:
    """The mask of a target of six positions whose last num_padding are padding, (query, key)."""
    length = len(TARGET_TOKENS)
    token_ids = torch.full((1, length), START_ID, device="cpu")
    if hide_padding:
        token_ids[0, length - num_padding :] = PADDING_ID
    both = target_mask(token_ids)[0, 0]
    return both if hide_future else both[-1:].expand(length, length)


def draw_masks(num_padding: int, hide_padding: bool, hide_future: bool) -> Figure:
    """Draw the mask of a target with some padding at its end."""
    words = TARGET_TOKENS[: len(TARGET_TOKENS) - num_padding]
    tokens = [*words, *["<pad>"] * num_padding]
    mask = _explored_mask(num_padding, hide_padding, hide_future)
    title = f"{int(mask.sum())} of {mask.numel()} cells are allowed"
    return plot_mask(mask, query_tokens=tokens, key_tokens=tokens, title=title)


def describe_masks(num_padding: int, hide_padding: bool, hide_future: bool) -> str:
    """The picture in words, for its alternative text."""
    mask = _explored_mask(num_padding, hide_padding, hide_future)
    hidden = [
        name for name, on in (("padding", hide_padding), ("the future", hide_future)) if on
    ] or ["nothing"]
    return (
        f"mask of {len(TARGET_TOKENS)} positions, {num_padding} of them padding, hiding "
        f"{' and '.join(hidden)}: {int(mask.sum())} of {mask.numel()} cells are allowed"
    )


def explore_masks() -> None:
    """Let the reader switch the two masks on and off and see them combine."""
    explore(
        draw_masks,
        describe_masks,
        num_padding=widgets.IntSlider(value=2, min=0, max=4, description="padding tokens"),
        hide_padding=widgets.Checkbox(value=True, description="hide padding (padding mask)"),
        hide_future=widgets.Checkbox(value=True, description="hide the future (causal mask)"),
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
