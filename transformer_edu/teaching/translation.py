"""A translation and where each written word looked, for the number translator of lesson 00."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ipywidgets as widgets
import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

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
        source: What was read, as one text.
        target: What was written, as one text.
        source_words: The words that were read.
        target_words: The words that were written.
        attention: Cross-attention by layer, first to last, each (heads, written word or end,
            source word); a row is the step at which that word was chosen.
    """

    source: str
    target: str
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
    with evaluation_mode(model), record_attention(model.decoder) as recorded:
        model(source_ids, target_ids)
    cross = [
        recorded[f"layers.{layer}.cross_attention"][0].cpu()
        for layer in range(len(model.decoder.layers))
    ]
    target_words = vocabulary.decode(written)
    return Translation(" ".join(words), " ".join(target_words), list(words), target_words, cross)


def remember_last(
    translate: Callable[..., Translation], model: nn.Module
) -> Callable[..., Translation]:
    """The same function, but asked the same again it has its last answer ready.

    It asks anew once any weight of the model is another one, however that came about.

    Args:
        translate: Its arguments can be compared; its answer depends on them and the weights alone.
        model: The one that it asks.
    """
    question: tuple = ()
    weights: list[Tensor] = []
    answer: Translation | None = None

    def remembering(*arguments: object) -> Translation:
        nonlocal question, weights, answer
        now = list(model.state_dict().values())
        if answer is None or arguments != question or not _are_equal(weights, now):
            answer = None  # in case this one is refused
            question, weights = arguments, [each.clone() for each in now]
            answer = translate(*arguments)
        return answer

    return remembering


def _are_equal(some: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    """Whether there are the same numbers, of the same kind and in the same place."""
    return len(some) == len(others) and all(
        (one.device, one.dtype) == (other.device, other.dtype) and one.equal(other)
        for one, other in zip(some, others, strict=True)
    )


def draw_translation(
    translation: Translation, *, layer: int, head: int, title: str | None = None
) -> Figure:
    """Draw where each written word looked.

    Args:
        translation: From translate.
        layer: Counted from 1.
        head: Counted from 1.
        title: What stands above layer and head; when None, what is to be seen stands beside them.
    """
    _require_place(translation, layer, head)
    weights = translation.attention[layer - 1][head - 1]
    place = f"Layer {layer}, head {head}"
    return plot_attention(
        weights,
        query_tokens=[*translation.target_words, END_TOKEN][: len(weights)],
        key_tokens=translation.source_words,
        title=f"{place}: where each word looked" if title is None else f"{title}\n{place}",
    )


def describe_translation(translation: Translation, *, layer: int, head: int) -> str:
    """The translation and each written word's favourite source word, in words."""
    _require_place(translation, layer, head)
    weights = translation.attention[layer - 1][head - 1]
    looks = [
        f"{word} at {translation.source_words[int(row.argmax())]}"
        for word, row in zip([*translation.target_words, END_TOKEN], weights, strict=False)
    ]
    said = f"{translation.source} → {translation.target}"
    return f"{said}. Layer {layer}, head {head} looked most: {', '.join(looks)}"


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

    def translate_number(number: int) -> Translation:
        return translate(model, vocabulary, english_words(number))

    translated = remember_last(translate_number, model)
    first = translated(number)
    _require_place(first, layer, head)
    layers, heads = len(first.attention), len(first.attention[0])

    def draw(number: int, layer: int, head: int) -> Figure:
        translation = translated(number)
        title = f"{number:,} → {translation.target}"
        return draw_translation(translation, layer=layer, head=head, title=title)

    def describe(number: int, layer: int, head: int) -> str:
        return describe_translation(translated(number), layer=layer, head=head)

    slider = widgets.IntSlider(
        value=number, min=1, max=LARGEST_NUMBER, description="or slide to one"
    )
    typed = widgets.BoundedIntText(
        value=number, min=1, max=LARGEST_NUMBER, description="type a number"
    )
    widgets.link((slider, "value"), (typed, "value"))
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
