"""How good is the model at its task, in the measure that is usual for the task?"""

from collections.abc import Sequence
from typing import Protocol

from transformer_edu.generation.translator import TextCoder, write_all
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.machine.device import suitable_threads
from transformer_edu.training.machine.one_process import ALONE, OneProcess


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
        processes: Those that share the work; each translates a part.
    """

    name = "bleu"

    def __init__(
        self,
        tokenizer: TextCoder,
        pairs: Sequence[tuple[str, str]],
        *,
        processes: OneProcess = ALONE,
    ) -> None:
        self.tokenizer, self.processes = tokenizer, processes
        self.sources = [tokenizer.encode(source) for source, _ in pairs]
        self.references = [target for _, target in pairs]

    def __call__(self, model: Transformer, evaluation: Evaluation) -> float:
        """The score of a model that was just evaluated."""
        count = len(self.sources)
        with suitable_threads(model):
            written = write_all(model, [self.sources[row] for row in self.processes.rows(count)])
        rows = self.processes.gather(written, count)
        return corpus_bleu([self.tokenizer.decode(ids) for ids in rows], self.references).score
