"""The figures of lesson 6, each with its title and its description.

Used in notebooks/06_feed_forward_add_and_norm.ipynb.
"""

from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing import course_map
from transformer_course.feed_forward_add_and_norm.layer_order import (
    describe_layer_order,
    plot_layer_order,
)
from transformer_course.feed_forward_add_and_norm.normalization import plot_normalization
from transformer_course.feed_forward_add_and_norm.stream import untrained_twins
from transformer_course.looking.recording import vectors_by_layer
from transformer_edu.generation.translator import Translator
from transformer_edu.model.encoder import Encoder, EncoderLayer


def show_map() -> None:
    """Show what of a layer this lesson is about."""
    parts = ["feed-forward", "add & norm", "residual connection"]
    course_map.show_map(parts, title="A layer is more than attention")


def plot_normalized_rows(before: Tensor, after: Tensor) -> Figure:
    """Draw three rows before and after layer normalization; the title counts different rows.

    Args:
        before: A small, a large and a shifted row, and perhaps others, shape (row, d_model).
        after: The same shape.

    Returns:
        A new figure.
    """
    if before.dim() != 2 or before.shape != after.shape or not before.numel():
        got = f"{tuple(before.shape)} and {tuple(after.shape)}"
        raise ValueError(f"before and after must have the same shape (row, d_model), got {got}")
    rounded = (rows.mul(100).round().nan_to_num() for rows in (before, after))  # NaN is not NaN
    were, are = (len(rows.unique(dim=0)) for rows in rounded)
    title = f"Different rows: {were} before, {are} after"
    names = [f"row {number}" for number in range(1, len(before) + 1)]
    means, sizes = before.float().mean(dim=1).abs(), before.float().std(dim=1, correction=0)
    if len(before) > 2 and sizes[0] < sizes[1] and means[2] > means[:2].max():
        names[:3] = "small", "large", "shifted"
    figure = plot_normalization(before, after, row_names=names, title=title)
    figure.set_label(title)
    return figure


def plot_norm_orders(post: EncoderLayer, pre: EncoderLayer) -> Figure:
    """Draw where a post-norm and a pre-norm layer put their norms.

    Args:
        post: A layer that normalizes after each addition.
        pre: A layer that normalizes the input of each sub-layer.

    Returns:
        A new figure.
    """
    orders = {layer.around_self_attention.norm_first for layer in (post, pre)}
    title = "Only pre-norm leaves the stream free"
    if len(orders) == 1:
        title = f"Twice {'pre' if True in orders else 'post'}-norm"
    figure = plot_layer_order(post, pre, title=title)
    figure.set_label(f"{describe_layer_order(post)}. {describe_layer_order(pre)}")
    return figure


def prepare_stacks(
    translator: Translator, sentence: str
) -> tuple[list[str], Tensor, dict[str, Encoder]]:
    """What show_stream_live follows: a sentence through the translator's encoder and two others.

    Args:
        translator: Its model is pre-norm, its tokenizer the package's.
        sentence: What the encoders read.

    Returns:
        The words; the vectors that enter the first layer, shape (word, d_model); and by name the
        translator's encoder and its untrained twins.
    """
    words, vectors = vectors_by_layer(translator, sentence)
    encoder = translator.model.encoder
    stacks = {"the translator: pre-norm, trained": encoder, **untrained_twins(encoder)}
    return words, vectors[0], stacks
