"""How well a translator does on everyday sentences, of which each translation is right or wrong."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from transformer_edu.data.everyday import held_out, normal
from transformer_edu.data.parallel_text import ParallelText, TextPair
from transformer_edu.generation.translator import Translator
from transformer_edu.runs.settings import EVERYDAY
from transformer_edu.training.machine.device import pick_device, suitable_threads

Sentence = tuple[str, tuple[str, ...]]  # English, and the accepted translations
REPEATS = re.compile(r"\b(\w+(?:\W+\w+){0,3}?)(?:\W+\1\b){2}")  # up to four words, three times


@dataclass(frozen=True)
class EverydayScore:
    """Shares of the sentences, from 0 to 1.

    BLEU says little of short sentences. A translation of one is right when it is one of the
    accepted ones, but for capitals and the final mark.

    Args:
        count: How many sentences.
        exact: Translated as accepted.
        unbroken: Without an unknown word and without a repetition, right or wrong.
    """

    count: int
    exact: float
    unbroken: float


class EverydayScorer:
    """Scores translators on everyday sentences: generated ones to choose by, others to scorer by.

    Args:
        corpora: All that the translators have learned from, by name, EVERYDAY among them.
    """

    def __init__(self, corpora: Mapping[str, ParallelText]) -> None:
        self.texts = corpora[EVERYDAY]
        self.known = known_words([pair for each in corpora.values() for pair in each.train])

    def validate(self, translator: Translator, width: int, alpha: float) -> float:
        """The share of validation sentences that are exactly right."""
        sentences = as_sentences(self.texts.validation)
        return score_everyday(translator, sentences, self.known, width=width, alpha=alpha).exact

    def test(
        self, translator: Translator, widths: Sequence[int], alpha: float
    ) -> dict[tuple[str, int], EverydayScore]:
        """The scores on test sentences and on those written by hand, by kind and width."""
        unseen = {"generated": as_sentences(self.texts.test), "written by hand": held_out()}
        return {
            (kind, width): score_everyday(
                translator, sentences, self.known, width=width, alpha=alpha
            )
            for kind, sentences in unseen.items()
            for width in widths
        }


def score_everyday(
    translator: Translator,
    sentences: Sequence[Sentence],
    known: Set[str],
    *,
    width: int,
    alpha: float,
) -> EverydayScore:
    """Translate sentences and look at each.

    Args:
        translator: Is moved to the best device here.
        sentences: At least one.
        known: German words in small letters; all others are unknown, but for those of the source.
        width: Hypotheses of beam search; 1 is greedy search.
        alpha: How much beam search favors long targets.
    """
    model = translator.model.to(pick_device())
    with suitable_threads(model):
        written = translator.translate_all([e for e, _ in sentences], width=width, alpha=alpha)
    pairs = list(zip(written, sentences, strict=True))
    exact = sum(normal(text) in map(normal, accepted) for text, (_, accepted) in pairs)
    unbroken = sum(not is_broken(text, english, known) for text, (english, _) in pairs)
    return EverydayScore(len(pairs), exact / len(pairs), unbroken / len(pairs))


def is_broken(text: str, source: str, known: Set[str]) -> bool:
    """Whether a translation has an unknown word, or says something three times in a row."""
    words = _words_in(text)
    unknown = words - _words_in(source) - known
    return bool(unknown or REPEATS.search(text.lower()))


def _words_in(text: str) -> set[str]:
    """The words of a text in small letters."""
    return set(re.findall(r"\w+", text.lower()))


def known_words(pairs: Iterable[TextPair]) -> set[str]:
    """The words of all translations."""
    return set().union(*(_words_in(target) for _, target in pairs))


def as_sentences(pairs: Iterable[TextPair]) -> list[Sentence]:
    """Pairs with one accepted translation each."""
    return [(source, (target,)) for source, target in pairs]
