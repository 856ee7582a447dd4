"""The figures of lesson 03, each with its title and its alternative text."""

from matplotlib.figure import Figure

from transformer_course.drawing import course_map
from transformer_course.masks.masked_heads import PADDING, BatchHead
from transformer_course.masks.masked_maps import plot_masked_heads
from transformer_course.masks.score_bars import plot_scores
from transformer_edu.training.evaluation import Evaluation


def show_map() -> None:
    """Show the map of the Transformer with both masks marked."""
    course_map.show_map(("padding mask", "causal mask"), title="Every attention box has a mask")


def plot_both_masks(encoder: BatchHead, decoder: BatchHead) -> Figure:
    """Draw a head of the encoder and one of the decoder, with what their masks hide.

    Args:
        encoder: With a batch of two sentences, of which the second is padded.
        decoder: The first sentence of its batch is drawn.
    """
    if len(encoder.words) < 2:
        raise ValueError(f"encoder must hold two sentences, got {len(encoder.words)}")
    kind = "padding" if PADDING in encoder.words[1] else "nothing is hidden"
    also = " and padding" if PADDING in decoder.words[0] else ""
    hidden = f"later words{also}" if len(decoder.words[0]) > 1 else "nothing is hidden"
    titles = f"encoder: {kind}", f"decoder: {hidden}"
    return plot_masked_heads(dict(zip(titles, ((encoder, 1), (decoder, 0)), strict=True)))


def plot_last_scores(right: Evaluation, broken: Evaluation) -> Figure:
    """Draw token accuracy and exact match with the causal mask and without.

    Args:
        right: The last evaluation of the model with the causal mask.
        broken: That of the model without.
    """
    measured = f"{broken.token_accuracy:.0%} of the tokens, exact match {broken.exact_match:.0%}"
    title = f"No causal mask: {measured}"
    figure = plot_scores({"causal mask": right, "no causal mask": broken}, title=title)
    figure.set_label(f"pairs of bars. {title}")
    return figure
