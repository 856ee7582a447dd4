"""How good is the model at its task, in the one number that its task is known by?

Several processes that train together judge together: each writes a part.
"""

from collections.abc import Sequence
from typing import Protocol

from transformer_edu.generation.translator import TextCoder, write_all
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.machine.device import suitable_threads
from transformer_edu.training.machine.processes import gather_rows, own_rows


class Judge(Protocol):
    """Gives one score, of which more is better."""

    name: str

    def __call__(self, model: Transformer, evaluation: Evaluation) -> float:
        """The score of a model that was just evaluated."""


class ExactMatchJudge:
    """The share of targets that the model writes right from start to end."""

    name = "exact_match"

    def __call__(self, model: Transformer, evaluation: Evaluation) -> float:
        """The score of a model that was just evaluated."""
        return evaluation.exact_match


class BleuJudge:
    """BLEU of greedy translations.

    Args:
        tokenizer: The model's own.
        pairs: Source texts and their translations.
    """

    name = "bleu"

    def __init__(self, tokenizer: TextCoder, pairs: Sequence[tuple[str, str]]) -> None:
        self.tokenizer = tokenizer
        self.sources = [tokenizer.encode(source) for source, _ in pairs]
        self.references = [target for _, target in pairs]

    def __call__(self, model: Transformer, evaluation: Evaluation) -> float:
        """The score of a model that was just evaluated."""
        count = len(self.sources)
        with suitable_threads(model):
            written = write_all(model, [self.sources[row] for row in own_rows(count)])
        texts = [self.tokenizer.decode(ids) for ids in gather_rows(written, count)]
        return corpus_bleu(texts, self.references).score
