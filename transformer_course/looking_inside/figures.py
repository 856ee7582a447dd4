"""The figures of lesson 16: what the heads' roles are, and how maps come into being."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.attention_grid import plot_attention, plot_heads
from transformer_course.drawing.style import require_one_each
from transformer_course.looking_inside.role_grids import CLEAR_ROLE, plot_head_roles


def plot_role_scores(roles: Mapping[str, Mapping[str, Tensor]]) -> Figure:
    """Draw the strongest role of every head; the title counts the heads that have one clearly.

    Args:
        roles: By kind of attention, then by role: the score minus the uniform score, shape
            (layer, head).
    """
    strongest = [torch.stack([*scores.values()]).amax(dim=0) for scores in roles.values()]
    clear = sum(int((scores >= CLEAR_ROLE).sum()) for scores in strongest)
    heads = sum(scores.numel() for scores in strongest)
    title = f"{clear} of {heads} heads score at least {CLEAR_ROLE} more than a uniform head"
    return plot_head_roles(roles, label="score minus uniform score", title=title)


def plot_diagonal(weights: Tensor, source_tokens: Sequence[str], written: Sequence[str]) -> Figure:
    """Draw the map of a head of cross-attention whose large weights are near the diagonal.

    Args:
        weights: From 0 to 1, shape (query, key), padded to any size.
        source_tokens: One for each key.
        written: The token that each row writes.
    """
    weights = weights[: len(written), : len(source_tokens)]
    title = "One head of cross-attention"
    steps = weights.argmax(dim=1).float() - torch.arange(len(weights), device=weights.device)
    if steps.abs().median() < min(2.5, len(steps) / 4):
        title = "The large weights are near the diagonal: does this head count positions?"
    figure = plot_attention(weights, query_tokens=written, key_tokens=source_tokens, title=title)
    figure.set_label(title)
    return figure


def plot_moments(path: Tensor, correct: Tensor, steps: Sequence[int], symbols: list[str]) -> Figure:
    """Draw the map of a head at some moments of training, with what the correct keys get.

    Args:
        path: From 0 to 1, shape (moment, query, key).
        correct: The mean weight of the correct keys, shape (moment,).
        steps: The moments, in training steps; of several, the title leaves out the first.
        symbols: The source; the rows write it in reverse, then the end token.
    """
    require_one_each(len(correct), "moments", steps=steps)
    said = [f"{weight:.2f} at {step}" for weight, step in zip(correct.tolist(), steps, strict=True)]
    title = f"Correct keys: {', '.join(said[1:] or said)}"  # before training, the map is random
    title = title.replace(" at ", " at step ", 1)
    tokens = {"query_tokens": [*symbols[::-1], "</s>"], "key_tokens": symbols}
    figure = plot_heads(path, **tokens, names=[f"step {step}" for step in steps], title=title)
    figure.set_label(title)
    return figure
