"""A translation, and where each written word attends: for number words and for text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ipywidgets as widgets
import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.translator import Translator, write_all
from transformer_edu.model.transformer import Transformer
from transformer_edu.model.vocabulary import END_ID, SPECIAL_TOKENS, START_ID
from transformer_edu.refusals import require_whole
from transformer_edu.teaching.display import explore
from transformer_edu.teaching.figures.attention import plot_attention
from transformer_edu.teaching.inspect.recording import record_attention
from transformer_edu.teaching.inspect.refusals import require_ids
from transformer_edu.teaching.inspect.words_of_pieces import group_pieces, join_pieces, spell_word
from transformer_edu.teaching.style import literal
from transformer_edu.training.data.number_words import LARGEST_NUMBER, english_words
from transformer_edu.training.data.vocabulary import Vocabulary

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


END = b""  # what the end token has for a piece
ALL_HEADS = 0  # in place of a head's number: the mean of them all
MOST_WORDS = 40  # of a sentence in a figure: more could not be read


def translate_text(translator: Translator, text: str, *, width: int = 1) -> Translation:
    """Translate a sentence and keep the cross-attention, from word to word.

    Where a written word has several pieces, its row is the mean of theirs; where a word that was
    read has several, its column is the sum. So every row still sums to one.

    Args:
        translator: Its model is on the CPU or anywhere else.
        text: In the source language.
        width: Hypotheses of beam search; 1 is greedy search.

    Returns:
        The words, and for each layer the attention (heads, written word or end, source word).

    Raises:
        TypeError: If translator is no Translator with a Tokenizer, text is none, or width is not a
            whole number.
        ValueError: If text is empty or blank, has more than 40 words or more pieces than the model
            has positions, or width is below 1.
    """
    _require_translator(translator)
    source_ids = translator.tokenizer.encode(text)
    pieces = translator.tokenizer.pieces
    source_words = group_pieces([pieces[token_id] for token_id in source_ids])
    count = len(source_words) if text.strip() else 0
    if not 0 < count <= MOST_WORDS:
        raise ValueError(f"text must have 1 to {MOST_WORDS} words, got {count}")
    (written,) = write_all(translator.model, [source_ids], width=width)
    written = written[: translator.model.config.max_length - 1]  # room for the start token
    target_words = group_pieces([pieces[token_id] for token_id in written])
    attention = [
        join_pieces(weights, [*target_words, [END]], source_words)
        for weights in cross_attention(translator.model, source_ids, written)
    ]
    return Translation(
        source=text,
        target=translator.tokenizer.decode(written),
        source_words=[spell_word(word) for word in source_words],
        target_words=[spell_word(word) for word in target_words],
        attention=attention,
    )


def _require_translator(translator: Translator) -> None:
    tokenizer = getattr(translator, "tokenizer", translator)
    if not isinstance(translator, Translator) or not hasattr(tokenizer, "pieces"):
        got = type(tokenizer).__name__
        raise TypeError(f"translator must be a Translator with a Tokenizer, got {got}")


def cross_attention(
    model: torch.nn.Module, source_ids: Sequence[int], written: Sequence[int]
) -> list[Tensor]:
    """Where each written piece looked, and at last the end token.

    Args:
        model: A Transformer.
        source_ids: What it read.
        written: What it wrote, without start and end.

    Returns:
        By layer, each (heads, written piece or end, source piece).

    Raises:
        TypeError: If source_ids or written is no list of whole numbers.
        ValueError: If source_ids is empty, or the model has no such id or fewer positions.
    """
    require_ids("source_ids", source_ids)
    require_ids("written", written)
    device = next(model.parameters()).device
    read = torch.tensor([[START_ID, *written]], device=device)
    with evaluation_mode(model), record_attention(model.decoder) as recorded:
        model(torch.tensor([list(source_ids)], dtype=torch.long, device=device), read)
    names = [f"layers.{n}.cross_attention" for n in range(len(model.decoder.layers))]
    return [recorded[name][0].cpu() for name in names]


def word_attention(translation: Translation, *, layer: int, head: int = ALL_HEADS) -> Tensor:
    """One head's attention, or the mean of a layer's heads: (written word or end, source word).

    Args:
        translation: From translate_text.
        layer: Counted from 1.
        head: Counted from 1; 0 is the mean of them all.

    Raises:
        TypeError, ValueError: If there is no such layer or head.
    """
    require_whole("layer", layer)
    require_whole("head", head, minimum=0)
    for name, value, most in (
        ("layer", layer, len(translation.attention)),
        ("head", head, len(translation.attention[0])),
    ):
        if value > most:
            raise ValueError(f"{name} must be at most {most}, got {value}")
    weights = translation.attention[layer - 1]
    return weights.mean(dim=0) if head == ALL_HEADS else weights[head - 1]


def draw_text_translation(
    translation: Translation, *, layer: int, head: int = ALL_HEADS, title: str | None = None
) -> Figure:
    """Draw where each written word looked.

    Args:
        translation: From translate_text.
        layer: Counted from 1.
        head: Counted from 1; 0 is the mean of them all.
        title: What the reader should see; the translation when None.

    Returns:
        A new figure.

    Raises:
        TypeError, ValueError: If there is no such layer or head.
    """
    return plot_attention(
        word_attention(translation, layer=layer, head=head),
        query_tokens=[*translation.target_words, END_TOKEN],
        key_tokens=translation.source_words,
        title=literal(translation.target if title is None else title, longest=None),
    )


def describe_text_translation(
    translation: Translation, *, layer: int, head: int = ALL_HEADS
) -> str:
    """The translation and each written word's favourite source word, in words.

    Args:
        translation: From translate_text.
        layer: Counted from 1.
        head: Counted from 1; 0 is the mean of them all.

    Raises:
        TypeError, ValueError: If there is no such layer or head.
    """
    weights = word_attention(translation, layer=layer, head=head)
    looks = [
        f"{word} at {translation.source_words[int(row.argmax())]}"
        for word, row in zip([*translation.target_words, END_TOKEN], weights, strict=True)
    ]
    who = "all heads" if head == ALL_HEADS else f"head {head}"
    said = f"“{translation.source}” → “{translation.target}”"
    return f"{said}; layer {layer}, {who} looked most: {', '.join(looks)}"


def explore_text(
    translator: Translator, text: str, *, layer: int, head: int = ALL_HEADS, width: int = 1
) -> None:
    """Let the reader type a sentence, and see its translation and where each word looked.

    Args:
        translator: Of texts.
        text: The sentence of the first picture.
        layer: The decoder layer of the first picture, counted from 1.
        head: The head of the first picture, counted from 1; 0 is the mean of them all.
        width: Of beam search, in the first picture.

    Raises:
        TypeError, ValueError: If translate_text refuses what it is given, or there is no such
            layer or head.
    """
    _require_translator(translator)

    def translate_width(text: str, width: int) -> Translation:
        return translate_text(translator, text, width=width)

    translated = remember_last(translate_width, translator.model)
    first = translated(text, width)
    word_attention(first, layer=layer, head=head)
    layers, heads = len(first.attention), len(first.attention[0])

    def draw(text: str, width: int, layer: int, head: int) -> Figure:
        translation = translated(text, width)
        title = f"{'Greedy' if width == 1 else f'Beam {width}'}: {translation.target}"
        return draw_text_translation(translation, layer=layer, head=head, title=title)

    def describe(text: str, width: int, layer: int, head: int) -> str:
        return describe_text_translation(translated(text, width), layer=layer, head=head)

    explore(
        draw,
        describe,
        text=widgets.Text(value=text, continuous_update=False, description="English, then Enter"),
        width=widgets.IntSlider(value=width, min=1, max=8, description="beam (1 is greedy)"),
        layer=widgets.IntSlider(value=layer, min=1, max=layers, description="decoder layer"),
        head=widgets.IntSlider(value=head, min=0, max=heads, description="head (0: mean of all)"),
    )
