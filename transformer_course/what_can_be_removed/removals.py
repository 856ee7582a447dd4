"""Heads to click off: what a translator writes without one head, or without a row of heads.

Also what each removal changes, as a grid of layers and heads.
"""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import ipywidgets as widgets
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch import Tensor, nn

from transformer_course.drawing.display import explore
from transformer_course.drawing.grid import as_array, draw_signed, number_axis, number_cells
from transformer_course.drawing.style import (
    literal,
    styled,
    title_above,
)
from transformer_course.looking.ablation import HeadName
from transformer_course.looking.attention_maps import printable
from transformer_course.texts.sentences import require_groups
from transformer_course.viewer.live import live_element
from transformer_course.what_can_be_removed.parts import ATTENTIONS
from transformer_course.what_can_be_removed.removing import heads_switched_off_by_row
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.generation.continuation import padding_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator
from transformer_edu.model.refusals import require_whole
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.training.machine.device import device_of

MOST_HEADS, MOST_LAYERS = 8, 8  # of a figure: smaller tiles have no room for their numbers
TILE = 36  # pixels from one row of tiles to the next


def explore_removals(translator: Translator, pairs: Sequence[tuple[str, str]]) -> None:
    """Let the reader switch off one head, or all heads of one attention, and read what changes.

    The sentences are computed beforehand, greedily, and need no kernel; where one runs, the reader
    can type others. For those the whole model's own translation counts as correct.

    Args:
        translator: With a Transformer of this package, on any device, which has at most
            MOST_HEADS heads and MOST_LAYERS layers, as many in the decoder as in the encoder.
        pairs: A few short sentences, each with a correct translation.

    Raises:
        ValueError: If the model has more heads or layers, or two stacks of different depths.
    """
    pairs = require_groups("pairs", pairs, "sentence, translation")
    config = translator.model.config
    require_whole("num_heads", config.num_heads, maximum=MOST_HEADS)
    require_whole("num_layers", config.num_layers, maximum=MOST_LAYERS)
    depths = (config.decoder_depth, config.num_layers)
    if depths[0] != depths[1]:  # each row of tiles shows a layer of both stacks
        raise ValueError(
            f"num_decoder_layers must equal num_layers, got {depths[0]} and {depths[1]}"
        )
    if (heads := config.decoder_sizes["num_heads"]) != config.num_heads:
        raise ValueError(f"num_decoder_heads must equal num_heads, got {heads}")
    if not pairs:
        raise ValueError("pairs must hold at least one pair, got none")
    ready = removals(translator, pairs)
    sentences = ready["sentences"]
    (first, _), *_ = pairs

    def live(text: str) -> str:
        typed = []
        if not text.strip():
            raise ValueError("there must be a sentence to translate, got none")
        if text not in dict(pairs):
            own = removals(translator, [(text, translator.translate(text, width=1))])
            typed = [{**each, "own": True} for each in own["sentences"]]
        place = 0 if typed else [english for english, _ in pairs].index(text)
        data = {**ready, "sentences": [*typed, *sentences], "first": place}
        words = "heads that can be switched off, and the translation without them"
        return live_element(__file__, data, title=title, alt=words, **heights)

    heights = _heights(ready["layers"], ready["in_a_row"])
    title = _title(ready)
    still = _plot(ready, title)
    explore(
        lambda **_: still,
        lambda **_: still.get_label(),
        live=live,
        text=widgets.Text(value=first, continuous_update=False, description="English, then Enter"),
    )


def _title(data: Mapping[str, object]) -> str:
    """How many translations stay the same without one head."""
    singles = [
        text
        for sentence in data["sentences"]
        for number, (text, _) in enumerate(sentence["results"][1:])
        if number % (data["heads"] + 1) < data["heads"]
    ]
    return f"Without one head, {singles.count(0)} of {len(singles)} translations stay the same"


def _plot(data: Mapping[str, object], title: str) -> Figure:
    """The first sentence's changes in points, as the figure shows them."""
    first, heads = data["sentences"][0], data["heads"]
    means = torch.tensor([probability for _, probability in first["results"]], dtype=torch.float64)
    points = (100 * means + 0.5).floor()  # as scripts of a page round
    # (layer, kind, head or all of them): how many points more or less
    changes = (points[1:] - points[0]).view(data["layers"], -1, heads + 1)
    by_kind = dict(zip(ATTENTIONS, changes.unbind(dim=1), strict=True))
    return plot_removals(by_kind, sentence=first["english"], title=title)


def _heights(layers: int, in_a_row: Mapping[str, int]) -> dict[str, int]:
    """Of the frame, in pixels, where a window is wide and where it is narrow."""
    blocks = {window: -(-len(ATTENTIONS) // number) for window, number in in_a_row.items()}
    block = 60 + TILE * layers  # of the tiles of a kind, with their names
    return {
        "height": 341 + block * blocks["wide"],
        "phone_height": 452 + block * max(blocks["narrow"], 2),
    }


def kinds_in_a_row(heads: int) -> dict[str, int]:
    """How many kinds of attention stand side by side in a wide window, and in a narrow one.

    Args:
        heads: Of every attention; there is a tile for each, and one for all.
    """
    least = 35 * (heads + 1)  # units of the picture, which is 800 or 400 wide
    return {
        "wide": min(len(ATTENTIONS), 800 // (least + 30)),
        "narrow": min(2, 400 // (least + 25)),
    }


def removals(translator: Translator, pairs: Sequence[tuple[str, str]]) -> dict[str, object]:
    """What a translator writes with all its heads, and without some.

    Args:
        translator, pairs: As for explore_removals.

    Returns:
        The kinds of attention, the number of layers and of heads, and for each sentence the
        different texts, and its results: a text's number and the mean probability of a correct
        token, at first for the whole model, then for each removal in the order of each_removal.
    """
    config = translator.model.config
    sentences = []
    for english, reference in pairs:
        texts, means = _without_each(translator, english, reference)
        different = list(dict.fromkeys(texts))
        sentences.append(
            {
                "english": printable(english, longest=None),
                "reference": printable(reference, longest=None),
                "texts": [_with_new_words(different[0], text) for text in different],
                "results": [
                    [different.index(text), round(mean, 4)]
                    for text, mean in zip(texts, means, strict=True)
                ],
            }
        )
    sizes = {"layers": config.num_layers, "heads": config.num_heads}
    sizes["in_a_row"] = kinds_in_a_row(config.num_heads)
    return {"kinds": list(ATTENTIONS), **sizes, "sentences": sentences}


def _without_each(
    translator: Translator, english: str, reference: str
) -> tuple[list[str], list[float]]:
    """The texts and probabilities with all heads and with each removal, from a batch of copies."""
    model = translator.model
    ids = translator.source_ids(english), translator.target_ids(reference)
    without = [[], *each_removal(model.config)]
    count = len(without)
    batch = make_batch([ids] * count, model)
    with heads_switched_off_by_row(model, without):
        texts = translator.translate_all([english] * count, width=1, batch_size=count)
        return texts, probabilities(model, batch.to(device_of(model))).tolist()


def each_removal(config: TransformerConfig) -> list[list[HeadName]]:
    """Layer by layer, kind by kind: the heads one by one, then all of them."""
    numbers = range(1, config.num_heads + 1)
    return [
        [(name.format(layer), number) for number in chosen]
        for layer in range(config.num_layers)
        for name in ATTENTIONS.values()
        for chosen in (*([number] for number in numbers), numbers)
    ]


def probabilities(model: nn.Module, batch: Batch) -> Tensor:
    """The geometric mean of the correct tokens' probabilities, one for each sentence."""
    with evaluation_mode(model):
        logits = model(batch.source_ids, batch.decoder_input_ids).transpose(1, 2)
    padding_id = padding_id_of(model)
    losses = F.cross_entropy(logits, batch.label_ids, ignore_index=padding_id, reduction="none")
    return torch.exp(-losses.sum(dim=1) / (batch.label_ids != padding_id).sum(dim=1))


def _with_new_words(before: str, after: str) -> dict[str, list]:
    """The words of a text, and the places of those that were not there before."""
    old, words = before.split(), after.split()
    changes = SequenceMatcher(None, old, words, autojunk=False).get_opcodes()
    new = [place for kind, _, _, *ends in changes if kind != "equal" for place in range(*ends)]
    return {"words": [printable(word, longest=None) for word in words], "new": new}


@styled
def plot_removals(changes: Mapping[str, Tensor], *, sentence: str, title: str) -> Figure:
    """Draw what the removal of each head, and of all heads of a row, changes: a panel for a kind.

    Args:
        changes: By kind of attention, shape (layer, head + 1), the last column for all heads: in
            percentage points, whole numbers.
        sentence: Whose numbers these are.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; its label is the figure in words.
    """
    layers, columns = next(iter(changes.values())).shape
    size = (1.0 + len(changes) * columns * 0.55, 1.5 + layers * 0.5)
    figure, places = plt.subplots(1, len(changes), figsize=size, squeeze=False, sharey=True)
    largest = max(float(each.abs().max()) for each in changes.values())
    for axes, (kind, points) in zip(places[0], changes.items(), strict=True):
        draw_signed(axes, points, largest=largest, paleness=2)
        number_cells(axes, as_array(points), _signed)
        axes.axvline(columns - 1.5, color="0.4", linewidth=1)
        axes.set_xticks(range(columns), [*range(1, columns), "all"])
        axes.set_title(literal(kind, longest=None), fontsize=13, loc="center")
        axes.tick_params(length=0)
    number_axis(places[0][0].yaxis, layers)
    places[0][0].set_ylabel("layer")
    about = "Points by which the probability of a correct token changes"
    caption = literal(sentence, longest=60)
    figure.supxlabel(f"the head that is off. {about}:\n“{caption}”", fontsize=13)
    title_above(figure, title)
    lowest = ", ".join(f"{kind} {points.min():.0f}" for kind, points in changes.items())
    figure.set_label(f"{title}. {about} in “{sentence}”, at the lowest: {lowest}")
    return figure


def _signed(points: float) -> str:
    return f"{points:+.0f}".replace("-", "−") if points else "0"
