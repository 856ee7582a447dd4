"""Texts and their translations as a task to train on: token ids, none too long for the model."""

from dataclasses import dataclass

from transformer_edu.model.refusals import require_whole
from transformer_edu.model.vocabulary import SPECIAL_TOKENS
from transformer_edu.training.parallel_text import ParallelText, TextPair
from transformer_edu.training.tasks import Pair, Task
from transformer_edu.training.tokenizer import Tokenizer
from transformer_edu.training.vocabulary import Vocabulary

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, kw_only=True)
class TranslationTask(Task):
    """A Task whose pairs are texts. Its vocabulary shows the tokenizer's pieces.

    Args:
        tokenizer: What made the ids, and makes texts of what the model writes.
        texts: The text of every pair, in the same order.
        left_out: How many pairs of each part were too long or empty, by the part's name.
    """

    tokenizer: Tokenizer
    texts: ParallelText
    left_out: dict[str, int]


def translation_task(
    parallel: ParallelText,
    tokenizer: Tokenizer,
    *,
    max_length: int = 128,
    name: str = "translation",
) -> TranslationTask:
    """Encode texts for fit; pairs that are too long for the model are left out and counted.

    Args:
        parallel: What to learn from, to watch by and to be judged by.
        tokenizer: Made from parallel.train only, or the others would not be unseen.
        max_length: Positions of a side at the most, the end token included.
        name: What the task is called in messages.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If max_length is below 2, or a part has no pair that fits.
    """
    if not isinstance(parallel, ParallelText):
        raise TypeError(f"parallel must be a ParallelText, got {type(parallel).__name__}")
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"tokenizer must be a Tokenizer, got {type(tokenizer).__name__}")
    require_whole("max_length", max_length, minimum=2)
    encoded: dict[str, list[Pair]] = {}
    texts: dict[str, list[TextPair]] = {}
    left_out = {}
    for part in PARTS:
        given = getattr(parallel, part)
        fitting = [
            (pair, text)
            for pair, text in zip(_encode(given, tokenizer), given, strict=True)
            if 0 < len(pair[0]) < max_length and 0 < len(pair[1]) < max_length
        ]
        if not fitting:
            raise ValueError(
                f"{part} must hold a pair of at most {max_length} tokens a side, got none"
            )
        encoded[part] = [pair for pair, _ in fitting]
        texts[part] = [text for _, text in fitting]
        left_out[part] = len(given) - len(fitting)
    return TranslationTask(
        name=name,
        vocabulary=Vocabulary(tokenizer.tokens(range(len(SPECIAL_TOKENS), len(tokenizer)))),
        **encoded,
        distinct_pairs=len({text for part in texts.values() for text in part}),
        tokenizer=tokenizer,
        texts=ParallelText(**texts),
        left_out=left_out,
    )


def _encode(pairs: list[TextPair], tokenizer: Tokenizer) -> list[Pair]:
    """The ids of sources and targets, pair by pair."""
    sources = tokenizer.encode_all([source for source, _ in pairs])
    targets = tokenizer.encode_all([target for _, target in pairs])
    return list(zip(sources, targets, strict=True))
