"""A translation and where each generated word attends, for words and texts alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ipywidgets as widgets
import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from transformer_course.drawing.attention_grid import plot_attention
from transformer_course.drawing.display import explore
from transformer_course.drawing.marked_links import describe_marked_links, plot_marked_links
from transformer_course.drawing.style import literal
from transformer_course.looking.attention_maps import printable
from transformer_course.looking.found_heads import END
from transformer_course.looking.head_roles import group_pieces, spell_word
from transformer_course.looking.recording import record_attention
from transformer_course.viewer.live import live_element
from transformer_edu.data.number_words import LARGEST_NUMBER, english_words
from transformer_edu.data.vocabulary import Vocabulary, Words
from transformer_edu.generation.continuation import start_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import TextCoder, Translator, write_all
from transformer_edu.model.refusals import require_whole
from transformer_edu.model.special_ids import END_ID, SPECIAL_TOKENS
from transformer_edu.training.machine.device import device_of

END_TOKEN = SPECIAL_TOKENS[END_ID]
END_PIECE = b""  # stands for the end token among the pieces
ALL_HEADS = 0  # in place of a head's number: the mean of them all
MOST_WORDS = 40  # of a sentence in a figure: more could not be read


@dataclass(frozen=True)
class Translation:
    """A source, its translation, and the cross-attention between their words.

    Args:
        source: The source, as one text.
        target: What the model generated, as one text.
        source_words: The words of the source.
        target_words: The words of the target.
        attention: Cross-attention by layer, first to last, each (heads, target word or end,
            source word); a row is the step at which that word was chosen.
    """

    source: str
    target: str
    source_words: list[str]
    target_words: list[str]
    attention: list[Tensor]


def translate(model: nn.Module, vocabulary: Vocabulary, words: Sequence[str]) -> Translation:
    """Translate a list of words greedily and keep the cross-attention.

    Args:
        model: A trained model.
        vocabulary: Its joint vocabulary.
        words: The sentence, word by word; unknown words become the unknown token.

    Raises:
        TypeError: If words is a single text.
        ValueError: If there are no words or more than 40.
    """
    translator, source_ids = Translator(model, Words(vocabulary)), vocabulary.encode(words)
    return _translate(translator, source_ids, translator.tokenizer.decode(source_ids))


def translate_text(translator: Translator, text: str) -> Translation:
    """Translate a sentence and keep the cross-attention, from word to word.

    The row of a generated word that has several pieces is the mean of their rows; the column of
    a source word that has several is the sum of their columns. So every row still sums to one.

    Args:
        translator: On any device.
        text: In the source language.

    Raises:
        ValueError: If text is blank, has more than 40 words or more pieces than the model has
            positions.
    """
    return _translate(translator, translator.source_ids(text), text.strip())


def _translate(translator: Translator, source_ids: Sequence[int], source: str) -> Translation:
    model, coder = translator.model, translator.tokenizer
    source_words = _group(coder, source_ids)
    count = len(source_words) if source.strip() else 0
    if not 0 < count <= MOST_WORDS:
        raise ValueError(f"text must have 1 to {MOST_WORDS} words, got {count}")
    (written,) = write_all(model, [source_ids])
    written = written[: model.config.max_length - 1]  # room for the start token
    target_words = _group(coder, written)
    attention = [
        join_pieces(weights, [*target_words, [END_PIECE]], source_words)
        for weights in cross_attention(model, source_ids, written)
    ]
    spelled = ([spell_word(word) for word in words] for words in (source_words, target_words))
    return Translation(source, coder.decode(written), *spelled, attention)


def _group(coder: TextCoder, token_ids: Sequence[int]) -> list[list[bytes]]:
    """The pieces of each word; without pieces every token is a word."""
    if hasattr(coder, "pieces"):
        return group_pieces([coder.pieces[token_id] for token_id in token_ids])
    return [[coder.decode([token_id]).encode()] for token_id in token_ids]


def cross_attention(
    model: nn.Module, source_ids: Sequence[int], written: Sequence[int]
) -> list[Tensor]:
    """The cross-attention of every generated piece, and of the end token after them.

    Args:
        model: A Transformer.
        source_ids: Its source.
        written: What it generated, without start and end.

    Returns:
        By layer, each (heads, generated piece or end, source piece), on the CPU.
    """
    device = device_of(model)
    source = torch.tensor([list(source_ids)], dtype=torch.long, device=device)
    with evaluation_mode(model), record_attention(model.decoder) as recorded:
        model(source, torch.tensor([[start_id_of(model), *written]], device=device))
    names = [f"layers.{n}.cross_attention" for n in range(len(model.decoder.layers))]
    return [recorded[name][0].cpu() for name in names]


def word_attention(translation: Translation, *, layer: int, head: int = ALL_HEADS) -> Tensor:
    """One head's attention, or the mean of a layer's heads: (target word or end, source word).

    Args:
        translation: From translate or translate_text.
        layer: Counted from 1.
        head: Counted from 1; 0 is the mean of them all.

    Raises:
        ValueError: If there is no such layer or head.
    """
    layers = translation.attention
    if layer not in range(1, len(layers) + 1):
        raise ValueError(f"layer must be from 1 to {len(layers)}, got {layer!r}")
    weights = layers[layer - 1]
    if head not in range(len(weights) + 1):
        raise ValueError(f"head must be from 0 to {len(weights)}, got {head!r}")
    return weights.mean(dim=0) if head == ALL_HEADS else weights[head - 1]


def draw_translation(
    translation: Translation, *, layer: int, head: int = ALL_HEADS, title: str | None = None
) -> Figure:
    """Draw where each generated word attends.

    Args:
        translation: From translate or translate_text.
        layer: Counted from 1.
        head: Counted from 1; 0 is the mean of them all.
        title: What the reader should see; layer and head when None.

    Returns:
        A new figure, whose label says it in words.
    """
    title = f"{_place(layer, head)}: where each word attends" if title is None else title
    figure = plot_attention(
        word_attention(translation, layer=layer, head=head),
        query_tokens=[*translation.target_words, END_TOKEN],
        key_tokens=translation.source_words,
        title="\n".join(literal(line, longest=None) for line in title.split("\n")),
    )
    figure.set_label(describe_translation(translation, layer=layer, head=head))
    return figure


def describe_translation(translation: Translation, *, layer: int, head: int = ALL_HEADS) -> str:
    """The translation and the source word with the largest weight of each word, in words.

    Args:
        translation, layer, head: As for draw_translation.
    """
    weights = word_attention(translation, layer=layer, head=head)
    largest = [
        f"{word} to {translation.source_words[int(row.argmax())]}"
        for word, row in zip([*translation.target_words, END_TOKEN], weights, strict=True)
    ]
    said = f"{translation.source} → {translation.target}"
    return f"{said}. {_place(layer, head)}, most attention: {', '.join(largest)}"


def _place(layer: int, head: int) -> str:
    return f"Layer {layer}, " + ("all heads" if head == ALL_HEADS else f"head {head}")


def remember_last(
    translate: Callable[..., Translation], model: nn.Module
) -> Callable[..., Translation]:
    """The same function, which keeps its last result until its arguments or the weights change.

    Args:
        translate: Takes its arguments by name; its result depends on them and the weights alone.
        model: The model that translate runs.
    """
    known: dict[str, object] = {}
    weights: list[Tensor] = []
    result: Translation | None = None

    def remembering(**arguments: object) -> Translation:
        nonlocal known, weights, result
        now = list(model.state_dict().values())
        if result is None or arguments != known or not _are_equal(weights, now):
            result = None  # in case these arguments are refused
            known, weights = arguments, [each.clone() for each in now]
            result = translate(**arguments)
        return result

    return remembering


def _are_equal(some: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    """Whether these are the same numbers, of the same type and on the same device."""
    return len(some) == len(others) and all(
        (one.device, one.dtype) == (other.device, other.dtype) and one.equal(other)
        for one, other in zip(some, others, strict=True)
    )


def explore_numbers(
    model: nn.Module, vocabulary: Vocabulary, *, number: int, layer: int, head: int
) -> None:
    """Let the reader type or slide to a number, and see its translation and attention.

    Args:
        model: A trained number translator.
        vocabulary: Its joint vocabulary.
        number: The number of the first picture, 1 to 999,999.
        layer: The decoder layer of the first picture, counted from 1.
        head: The head of the first picture, counted from 1; 0 is the mean of them all.

    Raises:
        TypeError, ValueError: If layer or head names nothing.
    """

    def translate_number(number: int) -> Translation:
        return translate(model, vocabulary, english_words(number))

    def title(found: Translation, layer: int, head: int, number: int) -> str:
        return f"{number:,} → {found.target}\n{_place(layer, head)}"

    translated = remember_last(translate_number, model)
    first = translated(number=number)
    one, other = (
        kind(value=number, min=1, max=LARGEST_NUMBER, description=description)
        for kind, description in (
            (widgets.IntSlider, "or slide to one"),
            (widgets.BoundedIntText, "type a number"),
        )
    )
    widgets.link((one, "value"), (other, "value"))
    _explore(translated, title, first, layer, head, also=[other], number=one)


def explore_links(
    translator: Translator, sentences: Sequence[tuple[str, str]], *, layer: int, head: int
) -> None:
    """Let the reader point at a German word to see which English words it attends to.

    The sentences can be chosen without a kernel; where one runs, the reader can type others.

    Args:
        translator: Of texts.
        sentences: Each a kind of sentence and a sentence of it; the first is shown first.
        layer: The decoder layer whose attention is shown, counted from 1.
        head: The head, counted from 1.

    Raises:
        ValueError: As for translate_text, or if sentences are not such pairs, or none.
    """
    try:
        texts = [text for _, text in sentences]
        first = texts[0]
    except (TypeError, ValueError, IndexError):
        wanted = "pairs of a kind and a sentence, one or more"
        raise ValueError(f"sentences must be {wanted}, got {sentences!r}") from None

    def pictured(text: str) -> dict[str, object]:
        found = translate_text(translator, text)
        weights = word_attention(found, layer=layer, head=head)
        return {
            "attention_weights": weights,
            "query_words": [*found.target_words, END],
            "key_words": found.source_words,
            "marked": _most_crossed(weights, found.target_words),
        }

    def live(text: str) -> str:
        typed = [] if text in texts else [_for_page("your own", text, **pictured(text))]
        return live_element(
            __file__,
            {"sentences": [*typed, *ready], "first": texts.index(text) if not typed else 0},
            title="Point at a German word: the English words that it attends to light up",
            alt="English words, the German words that are written from them, and lines between",
            height=490,
            phone_height=800,
        )

    ready = [_for_page(kind, text, **pictured(text)) for kind, text in sentences]
    explore(
        lambda text: plot_marked_links(**pictured(text)),
        lambda text: describe_marked_links(**pictured(text)),
        live=live,
        text=widgets.Text(value=first, continuous_update=False, description="English, then Enter"),
    )


def _for_page(
    kind: str,
    text: str,
    *,
    attention_weights: Tensor,
    query_words: Sequence[str],
    key_words: Sequence[str],
    marked: int,
) -> dict[str, object]:
    """What first_translation.js needs of one sentence."""
    words = {"english": key_words, "german": query_words}
    return {
        "kind": kind,
        "text": printable(text, longest=60),
        **{name: [printable(word, longest=16) for word in of] for name, of in words.items()},
        "weights": [[round(weight, 4) for weight in row] for row in attention_weights.tolist()],
        "marked": marked,
    }


def _most_crossed(weights: Tensor, target_words: Sequence[str]) -> int:
    """The word, of more than three letters if there is one, whose thickest line crosses most."""
    rows = weights[: len(target_words)]
    best = rows.argmax(dim=-1)
    order = torch.arange(len(rows))
    sides = (order - order[:, None]) * (best - best[:, None])  # below zero where two lines cross
    merits = [
        (len(word) > 3, int(crossings), float(row.max()))
        for word, crossings, row in zip(target_words, (sides < 0).sum(dim=-1), rows, strict=True)
    ]
    return merits.index(max(merits)) if merits else 0


def _explore(
    translated: Callable[..., Translation],
    title: Callable[..., str],
    first: Translation,
    layer: int,
    head: int,
    *,
    also: Sequence[widgets.ValueWidget] = (),
    **inputs: widgets.ValueWidget,
) -> None:
    """One figure with controls for the inputs, the layer and the head."""
    layers, heads = len(first.attention), len(first.attention[0])
    require_whole("layer", layer, maximum=layers)
    require_whole("head", head, minimum=ALL_HEADS, maximum=heads)

    def draw(layer: int, head: int, **given: object) -> Figure:
        found = translated(**given)
        words = title(found, layer, head, **given)
        return draw_translation(found, layer=layer, head=head, title=words)

    def describe(layer: int, head: int, **given: object) -> str:
        return describe_translation(translated(**given), layer=layer, head=head)

    explore(
        draw,
        describe,
        also=also,
        **inputs,
        layer=widgets.IntSlider(value=layer, min=1, max=layers, description="decoder layer"),
        head=widgets.IntSlider(value=head, min=0, max=heads, description="head (0: mean of all)"),
    )


def join_pieces(
    weights: Tensor,
    target_words: Sequence[Sequence[bytes]],
    source_words: Sequence[Sequence[bytes]],
) -> Tensor:
    """Attention between words, from that between their pieces.

    Args:
        weights: Shape (heads, target piece, source piece).
        target_words: The pieces of each word, row by row; at least one piece each.
        source_words: The pieces of each word, column by column; at least one piece each.

    Returns:
        Shape (heads, target word, source word); its rows sum to what those of weights do.
    """
    rows = weights.split(list(map(len, target_words)), dim=1)
    by_word = torch.stack([row.mean(dim=1) for row in rows], dim=1)
    columns = by_word.split(list(map(len, source_words)), dim=2)
    return torch.stack([column.sum(dim=2) for column in columns], dim=2)
