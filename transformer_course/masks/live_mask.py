"""A mask whose cells a reader clicks, without a kernel."""

from collections.abc import Sequence

import torch

from transformer_course.looking.attention_maps import printable
from transformer_course.masks.masked_heads import PADDING, START
from transformer_course.masks.masked_maps import plot_mask_row
from transformer_course.viewer.live import show_live

TARGET = (START, "Zwei", "Hunde", "rennen", ".", PADDING, PADDING)
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


def show_mask_live(tokens: Sequence[str] = TARGET) -> None:
    """Let the reader click the cells of a mask, and see the scores and weights that it leaves.

    It begins with the decoder's mask.

    Args:
        tokens: Of the queries, and of the keys; some are padding.
    """
    real = torch.tensor([word != PADDING for word in tokens], device="cpu")
    causal = torch.ones(len(tokens), len(tokens), dtype=torch.bool, device="cpu").tril()
    masks = {"padding": real, "causal": causal, "both, &": real & causal}
    size = len(tokens)
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 4, (size, size), generator=generator, device="cpu")
    allowed = {name: mask.expand(size, size) for name, mask in masks.items()}
    total = int(list(allowed.values())[-1].sum())
    title = f"The last mask allows {total} of {size * size} cells"
    labels = {"query_tokens": tokens, "key_tokens": tokens}
    show_live(
        __file__,
        {
            "words": [printable(token, longest=12) for token in tokens],
            "scores": scores.tolist(),
            "masks": {"none": [True] * size**2}
            | {name: mask.flatten().tolist() for name, mask in allowed.items()},
            "ways": EMPTY_ROWS,
        },
        title="A mask decides which scores reach the softmax",
        still=plot_mask_row(masks, **labels, title=title),
        alt=f"masks of {size} tokens next to each other: {', '.join(masks)}. {title}",
        height=590,
        phone_height=760,
    )
