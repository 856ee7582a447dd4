"""How far a word reaches in an encoder, under the hand, without a kernel."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_course.encoder.layer_maps import plot_by_layer
from transformer_course.looking.attention_maps import printable
from transformer_course.viewer.live import show_live
from transformer_edu.model.refusals import require_whole

SMALLEST = 0.0001  # of shares of influence; what is larger than 0 is shown as larger than 0


def show_reach_live(
    influence_on: Callable[[int, Tensor], Tensor],
    words: Sequence[str],
    distance: Tensor,
    *,
    word: int,
) -> None:
    """Let the reader choose a vector of an encoder, and see which input words it depends on.

    Args:
        influence_on: Takes a word's index and a mask, True where a query may attend to a key,
            (word, word); returns how much each input word influences the word after every layer,
            as fractions, (layer, input word).
        words: Of the sentence.
        distance: How many steps each word is from each other, (word, word), on the model's device.
        word: The index of the word that is chosen at first, after the last layer.
    """
    require_whole("word", word, minimum=0, maximum=len(words) - 1)
    size = range(len(words))
    shares = torch.stack(
        [influence_on(each, distance <= most).cpu() for most in size for each in size]
    ).unflatten(0, (len(words), len(words)))  # (neighbors on each side, word, layer, input word)
    last = shares.size(2)
    neighbors = "one neighbor on each side" if len(words) > 1 else "one word"
    near = shares[min(1, len(words) - 1)]  # with one neighbor, of every word
    reach = f"{last} word{'s' * (last > 1)} to each side"
    if (near[:, -1] > 0).all():
        reach = "every word here"
    title = f"With {neighbors}, {last} layer{'s' * (last > 1)} reach{'es' * (last == 1)} {reach}"
    show_live(
        __file__,
        {
            "words": [printable(each, longest=12) for each in words],
            "shares": _rounded(shares).tolist(),
            "word": word,
        },
        title="Layer after layer, a word's vector depends on words further away",
        still=plot_by_layer(
            {neighbors: near[word], "all words": shares[-1, word]},
            words=words,
            rows=[f"layer {number}" for number in range(1, last + 1)],
            title=title,
            bar="share of influence",
        ),
        alt=f"which words {words[word]} depends on after each layer, if each word attends to one "
        f"neighbor on each side, and to all words. {title}",
        height=580,
        phone_height=740,
    )


def _rounded(shares: Tensor) -> Tensor:
    """To four digits; a share larger than 0 stays larger than 0."""
    digits = shares.double().round(decimals=4)
    return digits.clamp(min=SMALLEST).where(shares > 0, 0)
