"""What lessons about attention let a reader move: thin controls, and figures without a kernel."""

from collections.abc import Callable, Collection, Mapping, Sequence

import ipywidgets as widgets
import torch
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.attention_flow import plot_lookup
from transformer_course.drawing.attention_grid import plot_mask_row
from transformer_course.drawing.charts import plot_bars
from transformer_course.drawing.display import explore
from transformer_course.drawing.position_charts import plot_turning_hands
from transformer_course.looking.attention_maps import maps_of_model, printable
from transformer_course.looking.head_roles import record_pairs
from transformer_course.viewer.live import show_live
from transformer_course.viewer.show import AttentionViewer, model_viewer
from transformer_edu.generation.translator import Translator
from transformer_edu.model.refusals import require_whole
from transformer_edu.model.vocabulary import END_ID, SPECIAL_TOKENS, START_ID

# What the reader finds in the plane: hand-made vectors, as in the lesson.
PLANE_WORDS, PLANE_FEATURES = ("animal", "street", "tired", "cross"), ("alive", "does not move")
PLANE_QUERY = [1.2, 0.6]
PLANE_KEY = [[2.4, -0.8], [-0.8, 2.0], [0.7, 1.3], [-1.5, -1.0]]
PLANE_VALUE = [[2.2, -1.6], [-2.0, -1.4], [1.6, 2.0], [-1.4, 1.8]]
PLANE_WIDTHS = (2, 8, 32, 128, 512)  # twice a square each: scores grow by whole numbers
MOST_NUMBERS = 16  # of a position's encoding, with a clock face for every two
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


def show_mask_live(masks: Mapping[str, Tensor], *, tokens: Sequence[str]) -> None:
    """Let the reader click the cells of a mask, and see the scores and weights that it leaves.

    Args:
        masks: By name, True where a query may attend, broadcastable to (query, key). The last one
            is shown first.
        tokens: Of the queries, and of the keys.
    """
    size = len(tokens)
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 4, (size, size), generator=generator, device="cpu")
    allowed = {name: mask.expand(size, size) for name, mask in masks.items()}
    total = int(list(allowed.values())[-1].sum())
    title = f"The last mask allows {total} of {size * size} cells"
    labels = {"query_tokens": tokens, "key_tokens": tokens}
    show_live(
        "mask",
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
        phone_height=1060,
    )


def show_clocks_live(*, d_model: int = 8) -> None:
    """Let the reader move two positions, and see their hands turn and their dot product stay.

    Args:
        d_model: Width of the encoding, even and at most MOST_NUMBERS; a clock face for every two
            numbers.

    Raises:
        ValueError: If d_model is odd, less than 4 or more than MOST_NUMBERS.
    """
    require_whole("d_model", d_model, minimum=4, maximum=MOST_NUMBERS)
    if d_model % 2:
        raise ValueError(f"d_model must be even, got {d_model}")
    position, shift = 5, 4
    faces = d_model // 2
    frequencies = [10_000 ** (-2 * pair / d_model) for pair in range(faces)]
    turns = ", ".join(f"{shift * each:g}" for each in frequencies)
    show_live(
        "clocks",
        {"frequencies": frequencies, "p": position, "k": shift, "last": 50, "farthest": 30},
        title="All hands turn with p, but the angles between them stay",
        still=plot_turning_hands(position, shift, d_model=d_model),
        alt=f"clock faces of positions {position} and {position + shift}: the hands differ by "
        f"{turns} radians, wherever they start",
        height=420 + 190 * -(-faces // 4),  # a row of four faces; of two on a phone
        phone_height=498 + 176 * -(-faces // 2),
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


def explore_attention(
    translator: Translator, english: str, german: str, *, start: str, head: int
) -> None:
    """Show all attention maps of a sentence; where a kernel runs, of any that the reader types.

    The decoder reads a translation: the given one, or what the translator writes for the reader's
    sentence. A row is named after the token that it reads and the one that it writes.

    Args:
        translator: With a Transformer of this package, on any device.
        english: The first sentence.
        german: Its translation.
        start: The name of the layer that is shown first.
        head: The head that is shown first, counted from 1.

    Raises:
        ValueError: If a sentence has no tokens or more than 128, or start or head names nothing.
    """
    encode, names = translator.tokenizer.encode, translator.tokenizer.tokens

    def viewer(text: str) -> AttentionViewer:
        if not text.strip():
            raise ValueError("there must be a sentence to translate, got none")
        source = encode(text)
        target = encode(german if text == english else translator.translate(text))
        words = names(target)
        maps = maps_of_model(
            record_pairs(translator.model, [(source, target)]).attention,
            source_tokens=names(source),
            target_tokens=[SPECIAL_TOKENS[START_ID], *words],
            written_tokens=[*words, SPECIAL_TOKENS[END_ID]],
            sentence=0,
        )
        return model_viewer(maps, start, head)

    explore(
        lambda text: viewer(text).still(),
        lambda text: viewer(text).words(),
        live=lambda text: viewer(text).element(),
        text=widgets.Text(
            value=english, continuous_update=False, description="English, then Enter"
        ),
    )
