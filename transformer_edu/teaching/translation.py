"""A translation and where each written word looked, for the number translator of lesson 00."""

from collections.abc import Sequence
from dataclasses import dataclass

import ipywidgets as widgets
import torch
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.refusals import require_whole
from transformer_edu.model.transformer import Transformer
from transformer_edu.model.vocabulary import END_ID, SPECIAL_TOKENS, START_ID
from transformer_edu.teaching.display import explore
from transformer_edu.teaching.plots import plot_attention
from transformer_edu.teaching.recording import record_attention
from transformer_edu.training.number_words import LARGEST_NUMBER, english_words
from transformer_edu.training.vocabulary import Vocabulary

END_TOKEN = SPECIAL_TOKENS[END_ID]


@dataclass(frozen=True)
class Translation:
    """What went in, what came out, and where each written word looked.

    Args:
        source_words: The words that were read.
        target_words: The words that were written.
        attention: Cross-attention by layer, first to last, each (heads, written word or end,
            source word); a row is the step at which that word was chosen.
    """

    source_words: list[str]
    target_words: list[str]
    attention: list[Tensor]


def translate(model: Transformer, vocabulary: Vocabulary, words: Sequence[str]) -> Translation:
    """Translate a sentence greedily and keep the cross-attention.

    Args:
        model: A trained model.
        vocabulary: Its joint vocabulary.
        words: The sentence, word by word; unknown words are read as the unknown token.

    Returns:
        The words written and where each looked.

    Raises:
        TypeError, ValueError: If words is a single text or empty.
    """
    device = model.output_projection.weight.device
    source_ids = torch.tensor([vocabulary.encode(words)], dtype=torch.long, device=device)
    (written,) = greedy_search(model, source_ids)
    read = [START_ID, *written][: model.config.max_length]  # no room for the end after the longest
    target_ids = torch.tensor([read], device=device)
    with evaluation_mode(model), record_attention(model) as recorded:
        model(source_ids, target_ids)
    cross = [
        recorded[f"decoder.layers.{layer}.cross_attention"][0].cpu()
        for layer in range(len(model.decoder.layers))
    ]
    return Translation(list(words), vocabulary.decode(written), cross)


def draw_translation(translation: Translation, *, layer: int, head: int) -> Figure:
    """Draw where each written word looked: one head of one layer, both counted from 1."""
    _require_place(translation, layer, head)
    weights = translation.attention[layer - 1][head - 1]
    return plot_attention(
        weights,
        query_tokens=[*translation.target_words, END_TOKEN][: len(weights)],
        key_tokens=translation.source_words,
        title=f"Layer {layer}, head {head}: where each German word looked",
    )


def describe_translation(translation: Translation, *, layer: int, head: int) -> str:
    """The translation and each written word's favourite source word, in words."""
    _require_place(translation, layer, head)
    weights = translation.attention[layer - 1][head - 1]
    looks = [
        f"{word} at {translation.source_words[int(row.argmax())]}"
        for word, row in zip([*translation.target_words, END_TOKEN], weights, strict=False)
    ]
    source, target = " ".join(translation.source_words), " ".join(translation.target_words)
    return f"{source} → {target}. Layer {layer}, head {head} looked most: {', '.join(looks)}"


def explore_numbers(
    model: Transformer, vocabulary: Vocabulary, *, number: int, layer: int, head: int
) -> None:
    """Let the reader type or slide to a number, and see its translation and attention.

    Args:
        model: A trained number translator.
        vocabulary: Its joint vocabulary.
        number: The number of the first picture, 1 to 999,999.
        layer: The decoder layer of the first picture, counted from 1.
        head: The head of the first picture, counted from 1.

    Raises:
        TypeError, ValueError: If number, layer or head is out of range.
    """
    first = translate(model, vocabulary, english_words(number))
    _require_place(first, layer, head)

    def draw(number: int, layer: int, head: int) -> Figure:
        translation = translate(model, vocabulary, english_words(number))
        figure = draw_translation(translation, layer=layer, head=head)
        figure.suptitle(f"{number:,} → {' '.join(translation.target_words)}", fontsize=14)
        return figure

    def describe(number: int, layer: int, head: int) -> str:
        translation = translate(model, vocabulary, english_words(number))
        return describe_translation(translation, layer=layer, head=head)

    slider = widgets.IntSlider(
        value=number, min=1, max=LARGEST_NUMBER, description="or slide to one"
    )
    typed = widgets.BoundedIntText(
        value=number, min=1, max=LARGEST_NUMBER, description="type a number"
    )
    widgets.link((slider, "value"), (typed, "value"))
    layers, heads = len(first.attention), len(first.attention[0])
    explore(
        draw,
        describe,
        also=[typed],
        number=slider,
        layer=widgets.IntSlider(value=layer, min=1, max=layers, description="decoder layer"),
        head=widgets.IntSlider(value=head, min=1, max=heads, description="head"),
    )


def _require_place(translation: Translation, layer: int, head: int) -> None:
    """Refuse a layer or head that the model does not have."""
    for name, value, most in (
        ("layer", layer, len(translation.attention)),
        ("head", head, len(translation.attention[0])),
    ):
        require_whole(name, value)
        if value > most:
            raise ValueError(f"{name} must be at most {most}, got {value}")
