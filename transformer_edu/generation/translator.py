"""A model and its tokenizer together: text in, text out.

Met in notebooks/00_start_here.ipynb and 15_translation.ipynb.
"""

import unicodedata
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import nn

from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.continuation import (
    LARGEST_WIDTH,
    config_field,
    padding_id_of,
    require_model,
)
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.hypotheses import require_alpha
from transformer_edu.model.refusals import (
    are_ids,
    require_flag,
    require_text,
    require_texts,
    require_whole,
)

WIDTH, ALPHA = 5, 0.6  # chosen by all kinds of validation text: see the published card
BATCH_SIZE = 32  # sources; larger batches of beams do not fit into a processor's cache
UNSEEN = *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A)
PLAIN = str.maketrans("‘’‚‛′ʻʼ´`‹›“”„«»″‐‑‒–—―−", 11 * "'" + 6 * '"' + 7 * "-")
PLAIN |= dict.fromkeys([0xAD, 0x61C, 0xFE0E, 0xFE0F, 0xFEFF, *UNSEEN])


class TextCoder(Protocol):
    """What turns text into token ids and back: a tokenizer, or a list of words."""

    def encode(self, text: str) -> list[int]:
        """The ids that the model reads: without a start, and in most models without an end."""

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of ids."""


class TextTooLongError(ValueError):
    """A text has more tokens than the model has positions."""


@dataclass(frozen=True)
class Translator:
    """Translates with a trained model.

    Args:
        model: As for greedy_search; it stays on its device.
        tokenizer: The one that it was trained with.
        normalize: Whether a text is read as our training texts are written, since a model has not
            learned others: one in capitals in lower case; curly quotes, primes, long dashes plain.

    Raises:
        TypeError: If the model or the tokenizer lacks a method.
    """

    model: nn.Module
    tokenizer: TextCoder
    normalize: bool = True

    def __post_init__(self) -> None:
        """Refuse a model or a tokenizer that lacks a method."""
        require_model(self.model)
        require_flag("normalize", self.normalize)
        for method in ("encode", "decode"):
            if not callable(getattr(self.tokenizer, method, None)):
                got = type(self.tokenizer).__name__
                raise TypeError(f"tokenizer must have the method {method}, got {got}")
        got = len(self.tokenizer) if isinstance(self.tokenizer, Sized) else 0
        if got > (size := config_field(self.model, "vocabulary_size", got)):
            raise ValueError(f"tokenizer must have at most the model's {size} tokens, got {got}")

    def translate(
        self, text: str, *, width: int = WIDTH, alpha: float = ALPHA, end_loops: bool = True
    ) -> str:
        """Translate one sentence; an empty one stays empty.

        Args:
            text: In the source language; white space counts as single spaces.
            width, alpha, end_loops: As in write_all.

        Raises:
            TypeError: If text is not a string.
            TextTooLongError: If the text has more tokens than the model has positions.
        """
        asked = {"width": width, "alpha": alpha, "end_loops": end_loops}
        return self.translate_all([require_text("text", text)], **asked)[0]

    def translate_all(
        self,
        texts: Sequence[str],
        *,
        width: int = WIDTH,
        alpha: float = ALPHA,
        batch_size: int = BATCH_SIZE,
        end_loops: bool = True,
    ) -> list[str]:
        """Translate sentences, each on its own, in their order.

        Args:
            texts: In the source language.
            width, alpha, batch_size, end_loops: As in write_all.

        Raises:
            TypeError: If texts is a single string, or one of them is not a string.
            TextTooLongError: If a text has more tokens than the model has positions.
        """
        sources = [self.source_ids(text) for text in require_texts("texts", texts)]
        asked = {"width": width, "alpha": alpha, "batch_size": batch_size, "end_loops": end_loops}
        written = iter(self._write([source for source in sources if source], **asked))
        return [self.tokenizer.decode(next(written)) if source else "" for source in sources]

    def source_ids(self, text: str) -> list[int]:
        """The ids of a text in the source language, as translate reads it."""
        if self.normalize:
            text = unicodedata.normalize("NFKC", require_text("text", text).translate(PLAIN))
            text = text.lower() if text.isupper() else text
        ids = self.tokenizer.encode(" ".join(require_text("text", text).split()))
        if len(ids) > (room := config_field(self.model, "max_length", len(ids))):
            got = f"{len(ids)} in {text[:30]!r}"
            raise TextTooLongError(f"text must have at most {room} tokens, got {got}")
        return ids

    def target_ids(self, text: str) -> list[int]:
        """The ids of a text in the target language; a tokenizer of two has ``encode_target``."""
        return getattr(self.tokenizer, "encode_target", self.tokenizer.encode)(text)

    def _write(self, sources: list[list[int]], **asked: float) -> list[list[int]]:
        return write_all(self.model, sources, **asked)


def write_all(
    model: nn.Module,
    sources: Sequence[Sequence[int]],
    *,
    width: int = 1,
    alpha: float = ALPHA,
    batch_size: int = BATCH_SIZE,
    end_loops: bool = True,
) -> list[list[int]]:
    """Write a target for each source, those of similar length together.

    Args:
        model: As for greedy_search.
        sources: Token ids of each source, none of them empty.
        width: Hypotheses of beam search; 1 is greedy search.
        alpha: How much beam search favors long targets.
        batch_size: Sources to compute at once.
        end_loops: As in greedy_search, but here the default is True.

    Returns:
        The ids written, in the order of the sources.

    Raises:
        TypeError, ValueError: If model lacks a method, a source is empty or not a list of token
            ids, or a number is out of its range.
    """
    require_model(model)
    require_whole("width", width, maximum=LARGEST_WIDTH)
    require_whole("batch_size", batch_size)
    require_alpha(alpha)
    if isinstance(sources, str) or not hasattr(sources, "__len__"):
        raise TypeError(f"sources must be a list of lists of token ids, got {sources!r}")
    for source in sources:
        if not are_ids(source):
            raise TypeError(f"sources must hold lists of token ids, got {source!r}")
        if len(source) == 0:
            raise ValueError(f"sources must have a token each, got {source!r}")
    device = next((each.device for each in model.parameters()), None)
    order = sorted(range(len(sources)), key=lambda number: len(sources[number]))
    written, padding_id = {}, padding_id_of(model)
    for start in range(0, len(order), batch_size):
        numbers = order[start : start + batch_size]
        rows = [torch.tensor(sources[number], device=device) for number in numbers]
        source_ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding_id)
        if width == 1:
            answers = greedy_search(model, source_ids, end_loops=end_loops)
        else:
            found = beam_search(model, source_ids, width=width, alpha=alpha, end_loops=end_loops)
            answers = [hypotheses[0].token_ids for hypotheses in found]
        written |= zip(numbers, answers, strict=True)
    return [written[number] for number in range(len(sources))]
