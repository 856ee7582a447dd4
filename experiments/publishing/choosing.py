"""How a published translator is chosen: by all kinds of validation text, never by test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from experiments.publishing.everyday_scores import as_sentences, is_right
from transformer_edu.data.everyday import PHRASES_TO_CHOOSE_BY
from transformer_edu.data.parallel_text import ParallelText, TextPair
from transformer_edu.generation.translator import Translator
from transformer_edu.runs.settings import EVERYDAY
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.machine.device import pick_device, suitable_threads

ALPHA, WIDTH = 0.6, 5  # the length penalty of the paper (§6.1), the beam of Wu et al. 2021
ALPHAS = (0.0, ALPHA, 1.0, 1.4, 1.8)  # no length penalty, the paper's, and stronger ones
WIDTHS = (1, 3, WIDTH, 8)
MOST = 400  # sentences of a kind
CLOSE = 0.3  # points of the mean; smaller leads are chance


@dataclass(frozen=True)
class Trial:
    """Weights and a way of searching that might be published, and what they reach.

    Args:
        weights: Which, in words.
        alpha, width, end_loops: As for Translator.translate.
        scores: Of each kind of validation text, from 0 to 100.
    """

    weights: str
    alpha: float = ALPHA
    width: int = WIDTH
    end_loops: bool = True
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """The mean over the kinds, what the choice goes by."""
        return sum(self.scores.values()) / len(self.scores)


def best_of(trials: Sequence[Trial]) -> Trial:
    """The trial with the highest mean; of those close to it, the one nearest to the paper's search.

    Args:
        trials: At least one, with scores; the first of several alike is taken.
    """
    bound = max(trial.mean for trial in trials) - CLOSE
    close = [trial for trial in trials if trial.mean >= bound]
    return min(close, key=lambda trial: (abs(trial.alpha - ALPHA), not trial.end_loops))


class Chooser:
    """Scores trials on validation text.

    Captions and pairs of captions joined into a longer text are scored by BLEU; everyday sentences,
    generated and written by hand, by how many are exactly right.

    Args:
        corpora: The texts that a run has learned from, by name.
    """

    def __init__(self, corpora: Mapping[str, ParallelText]) -> None:
        first = next(iter(corpora.values())).validation
        self.by_bleu = {"one text": first, "two texts joined": _joined(first)}
        self.by_hand: dict[str, Sequence[TextPair]] = {}
        if EVERYDAY in corpora:
            everyday = corpora[EVERYDAY].validation
            generated, by_hand = everyday[:-PHRASES_TO_CHOOSE_BY], everyday[-PHRASES_TO_CHOOSE_BY:]
            self.by_hand = {"generated": generated, "by hand": by_hand}

    def scores(self, translator: Translator, trial: Trial) -> dict[str, float]:
        """What a translator reaches when it searches as the trial says, by kind of text."""
        found = {}
        for kind, pairs in self.by_bleu.items():
            written = _translate(translator, _some(pairs), trial)
            found[kind] = corpus_bleu(written, [target for _, target in _some(pairs)]).score
        for kind, pairs in self.by_hand.items():
            written = _translate(translator, _some(pairs), trial)
            sentences = as_sentences(_some(pairs))
            right = sum(map(is_right, written, [accepted for _, accepted in sentences]))
            found[kind] = 100 * right / len(written)
        return found


def _translate(translator: Translator, pairs: Sequence[TextPair], trial: Trial) -> list[str]:
    """The translations of sources, searched for as the trial says."""
    asked = {"width": trial.width, "alpha": trial.alpha, "end_loops": trial.end_loops}
    model = translator.model.to(pick_device())
    with suitable_threads(model):
        return translator.translate_all([source for source, _ in pairs], **asked)


def _some(pairs: Sequence[TextPair]) -> Sequence[TextPair]:
    """At most MOST of the pairs, from the whole part."""
    return pairs[:: -(-len(pairs) // MOST)]


def _joined(pairs: Sequence[TextPair]) -> list[TextPair]:
    """Every two pairs as one; a last one alone is left out."""
    couples = zip(pairs[::2], pairs[1::2], strict=False)
    return [(f"{a} {c}", f"{b} {d}") for (a, b), (c, d) in couples]
