"""The stream of a word through an encoder, still and under the hand, without a kernel."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.style import literal, styled
from transformer_course.feed_forward_add_and_norm.stream import lengths_and_angles
from transformer_course.looking.attention_maps import printable
from transformer_course.viewer.live import show_live
from transformer_edu.model.encoder import Encoder
from transformer_edu.model.refusals import require_whole

FIRST_PLACE = 2  # the feed-forward network of layer 1


@styled
def plot_stream(lengths: Mapping[str, Sequence[float]], *, word: str) -> Figure:
    """Draw how long a word's vector on the residual stream is after each sub-layer.

    Args:
        lengths: For each stack, the length at the input and after every sub-layer.
        word: Whose vector it is.

    Returns:
        A new figure; its title names the stack with the longest vector at the end.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    for name, line in lengths.items():
        axes.plot(range(len(line)), line, label=literal(name, longest=None))
    axes.legend()
    axes.set(xlabel="after sub-layer (0: the input)", ylabel="length", ylim=(0, None))
    most = max(lengths, key=lambda name: lengths[name][-1])
    axes.set_title(f"{literal(word)} is longest in: {literal(most, longest=None)}")
    stacks = "; ".join(lengths)
    figure.set_label(
        f"how long the vector of {word} is after each sub-layer, one line for each of: {stacks}. "
        f"At the end it is longest in: {most}"
    )
    return figure


def show_stream_live(
    stacks: Mapping[str, Encoder], words: Sequence[str], x: Tensor, *, word: int
) -> None:
    """Let the reader follow a word's vector through the sub-layers of several encoders.

    Args:
        stacks: By name; each keeps the width of x.
        words: Of the sentence.
        x: The vectors that enter the first layer, shape (word, d_model).
        word: The index of the word that is followed at first.
    """
    require_whole("word", word, minimum=0, maximum=len(words) - 1)
    numbers = {name: lengths_and_angles(stack, x).cpu() for name, stack in stacks.items()}
    paths = [
        {
            "name": name,
            "normFirst": stack.layers[0].around_self_attention.norm_first,
            "sublayers": 2 * len(stack.layers),
            "words": numbers[name].transpose(0, 1).double().round(decimals=4).tolist(),
        }
        for name, stack in stacks.items()
    ]
    show_live(
        __file__,
        {
            "words": [printable(each, longest=12) for each in words],
            "stacks": paths,
            "word": word,
            "at": FIRST_PLACE,
        },
        title="Sub-layers add to a word's vector; a norm on the stream sets its length",
        still=plot_stream(
            {
                name: numbers[name][: each["sublayers"] + 1, word, 3].tolist()
                for name, each in zip(stacks, paths, strict=True)
            },
            word=words[word],
        ),
        height=600,
        phone_height=900,
    )
