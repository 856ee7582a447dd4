"""BLEU: how many of the words and phrases that were written are also in the reference.

Computed by sacrebleu, so that the score may stand beside others; built from scratch in
notebooks/14_translation.ipynb.
"""

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass

from transformer_edu.refusals import require_flag
from transformer_edu.training.data.multi30k import import_extra

TOKENIZERS = ("13a", "intl", "char", "none", "zh")  # those that need nothing further installed


@dataclass(frozen=True)
class Bleu:
    """A score, and everything that another must have in common to be compared with it.

    Args:
        score: From 0 to 100; higher is better.
        signature: How it was computed; report it with the score.
    """

    score: float
    signature: str


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    lowercase: bool = False,
    tokenize: str = "13a",
) -> Bleu:
    """Compare translations with references, over all sentences at once.

    It matters which is which: BLEU counts how much of the hypotheses is in the references, and
    punishes hypotheses that are shorter in all. An empty one counts like any other.

    Args:
        hypotheses: What the model wrote.
        references: What a person wrote, one for each hypothesis.
        lowercase: Whether Man and man are the same word.
        tokenize: How texts are cut into words: "13a", "intl", "char", "none" or "zh".

    Raises:
        ModuleNotFoundError: If the library sacrebleu is not installed.
        TypeError: If an argument is of another type.
        ValueError: If the counts differ, there is nothing to compare, or tokenize is unknown.
    """
    require_flag("lowercase", lowercase)
    if tokenize not in TOKENIZERS:
        raise ValueError(f"tokenize must be one of {', '.join(TOKENIZERS)}, got {tokenize!r}")
    _require_texts("hypotheses", hypotheses)
    _require_texts("references", references)
    if len(hypotheses) != len(references):
        raise ValueError(
            f"references must be as many as hypotheses, "
            f"got {len(references):,} and {len(hypotheses):,}"
        )
    # force: a text that is cut into words already is no reason to print a warning.
    metric = import_extra("sacrebleu").BLEU(lowercase=lowercase, tokenize=tokenize, force=True)
    result = metric.corpus_score(list(hypotheses), [list(references)])
    return Bleu(result.score, str(metric.get_signature()))


def _require_texts(name: str, texts: Sequence[str]) -> None:
    """Refuse what is not a list of at least one text."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Sequence):
        raise TypeError(f"{name} must be a list of texts, got {reprlib.repr(texts)}")
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{name} must hold texts, got {reprlib.repr(text)}")
    if len(texts) == 0:
        raise ValueError(f"{name} must hold at least one text, got none")
