"""The stream of a word through an encoder, under the hand, without a kernel."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from transformer_course.feed_forward_add_and_norm.depth_charts import plot_stream
from transformer_course.feed_forward_add_and_norm.stream import lengths_and_angles
from transformer_course.looking.attention_maps import printable
from transformer_course.viewer.live import show_live
from transformer_edu.model.encoder import Encoder

FIRST_PLACE = 2  # the feed-forward network of layer 1


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
