"""How well a translator does on everyday sentences, of which each translation is right or wrong."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from transformer_edu.data.everyday import HELD_OUT, held_out, normal
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


def score_unseen(
    translator: Translator,
    corpora: Mapping[str, ParallelText],
    widths: Sequence[int],
    alpha: float,
) -> dict[tuple[str, int], EverydayScore]:
    """The scores on everyday sentences that nobody chose by, by kind and width of the beam.

    Args:
        translator: Is moved to the best device here.
        corpora: All that it has learned from, by name, EVERYDAY among them.
        widths: Hypotheses of beam search; 1 is greedy search.
        alpha: How much beam search favors long targets.
    """
    known = known_words([pair for each in corpora.values() for pair in each.train])
    unseen = {"generated": as_sentences(corpora[EVERYDAY].test)}
    unseen |= {kind: held_out(kind) for kind in HELD_OUT}
    return {
        (kind, width): score_everyday(
            translator, sentences, known, width=width, alpha=alpha, judge=JUDGES.get(kind, is_right)
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
    judge: Callable[[str, Sequence[str]], bool],
) -> EverydayScore:
    """Translate sentences and look at each.

    Args:
        translator: Is moved to the best device here.
        sentences: At least one.
        known: German words in small letters; all others are unknown, but for those of the source.
        width: Hypotheses of beam search; 1 is greedy search.
        alpha: How much beam search favors long targets.
        judge: Whether a translation is right, from it and from what is accepted.
    """
    model = translator.model.to(pick_device())
    with suitable_threads(model):
        written = translator.translate_all([e for e, _ in sentences], width=width, alpha=alpha)
    pairs = list(zip(written, sentences, strict=True))
    exact = sum(judge(text, accepted) for text, (_, accepted) in pairs)
    unbroken = sum(not is_broken(text, english, known) for text, (english, _) in pairs)
    return EverydayScore(len(pairs), exact / len(pairs), unbroken / len(pairs))


def is_right(text: str, accepted: Sequence[str]) -> bool:
    """Whether a translation is accepted, capitals and final mark aside."""
    return normal(text) in map(normal, accepted)


def keeps_word(text: str, accepted: Sequence[str]) -> bool:
    """Whether a translation has the one word that has to be copied, and not as a part of another.

    A German genitive, as in Saoirses, counts.
    """
    return re.search(rf"(?<!\w){re.escape(accepted[0])}s?(?!\w)", text) is not None


def is_broken(text: str, source: str, known: Set[str]) -> bool:
    """Whether a translation has an unknown word, or says something three times in a row."""
    words = _words_in(text)
    unknown = words - _words_in(source) - known
    return bool(unknown or REPEATS.search(text.lower()))


def _words_in(text: str) -> set[str]:
    """The words of a text in small letters."""
    return set(re.findall(r"\w+", text.lower()))


JUDGES = {"copied": keeps_word}  # of kinds of held-out sentences; of all others, is_right


def known_words(pairs: Iterable[TextPair]) -> set[str]:
    """The words of all translations."""
    return set().union(*(_words_in(target) for _, target in pairs))


def as_sentences(pairs: Iterable[TextPair]) -> list[Sentence]:
    """Pairs with one accepted translation each."""
    return [(source, (target,)) for source, target in pairs]
