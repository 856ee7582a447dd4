"""BLEU: how many words and phrases of the translations are also in the references.

sacrebleu computes it, so the score is comparable with published ones. The lesson
notebooks/15_translation.ipynb builds it from scratch.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from transformer_edu.model.refusals import require_choice, require_flag, require_texts
from transformer_edu.training.machine.failures import import_extra

TOKENIZERS = ("13a", "intl", "char", "none", "zh")  # these need no other package


@dataclass(frozen=True)
class Bleu:
    """A score, and the settings that a comparable score must share.

    Args:
        score: From 0 to 100; higher is better.
        signature: How it was computed; report it with the score.
    """

    score: float
    signature: str


def corpus_bleu(
    hypotheses: Iterable[str],
    references: Iterable[str],
    *,
    lowercase: bool = False,
    tokenize: str = "13a",
) -> Bleu:
    """Compare translations with references, over all sentences at once.

    The order matters: BLEU counts how much of the hypotheses is in the references, and penalizes
    hypotheses that are shorter in total. An empty hypothesis counts like any other.

    Args:
        hypotheses: What the model wrote.
        references: The correct translations, one for each hypothesis.
        lowercase: Whether *Man* and *man* count as the same word.
        tokenize: How texts are cut into words: "13a", "intl", "char", "none" or "zh".

    Raises:
        ModuleNotFoundError: If the library sacrebleu is not installed.
        TypeError, ValueError: If there are no texts, the counts differ, or a switch is unknown.
    """
    require_choice("tokenize", tokenize, TOKENIZERS)
    require_flag("lowercase", lowercase)
    hypotheses = require_texts("hypotheses", hypotheses)
    references = require_texts("references", references)
    if not hypotheses:
        raise ValueError("hypotheses must hold at least one text, got none")
    if len(hypotheses) != len(references):
        got = f"{len(references):,} and {len(hypotheses):,}"
        raise ValueError(f"references must be as many as hypotheses, got {got}")
    # force: no warning about texts that are already split into words.
    metric = import_extra("sacrebleu").BLEU(lowercase=lowercase, tokenize=tokenize, force=True)
    result = metric.corpus_score(hypotheses, [references])
    return Bleu(min(100.0, result.score), str(metric.get_signature()))
