"""Checks of lesson 15: translation."""

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    exercise,
    refuse_numbers,
    require_number,
    require_untouched,
)
from transformer_edu.data.parallel_text import TextPair
from transformer_edu.data.tokenizer import Tokenizer, train_tokenizer
from transformer_edu.generation.translator import Translator
from transformer_edu.training.bleu import corpus_bleu

TOLERANCE = 1e-6
PRECISIONS = (0.8, 0.6, 0.4, 0.2)
GEOMETRIC, BREVITY = math.prod(PRECISIONS) ** 0.25, math.exp(1 - 2)
SHORT_TEXT = 100 * BREVITY * GEOMETRIC
JUDGED, FEWEST_TO_LEARN = 200, 1000  # pairs of the project
SCORES = ("training", "unseen", "wrong references")
ROUNDING = 0.5  # of BLEU; devices differ

Corpus = Sequence[Sequence[str]]
# Sentences of very different lengths: one with a word that is right twice, one too short for a
# 2-gram, one that repeats itself, one longer than its reference, and words that only the reference
# of another sentence has.
WRITTEN: Corpus = tuple(
    map(str.split, ("the dog runs on the grass", "the the the", "nobody", "a cat on a bed", "sing"))
)
REFERENCES: Corpus = tuple(
    map(
        str.split,
        (
            "the dog runs over the grass",
            "the bird",
            "nobody",
            "a cat",
            "the birds sing on a very big bed",
        ),
    )
)


@exercise("15.1")
def check_corpus_precision(answer: Callable[[Corpus, Corpus, int], float]) -> None:
    """Exercise 15.1: the precision of a whole text, not the mean of its sentences'."""
    for n in (1, 2, 3):  # a sentence of one word has no 3-gram, and not one less than none
        texts = [*map(list, WRITTEN)], [*map(list, REFERENCES)]
        given = copy.deepcopy(texts)
        try:
            precision = ask(answer, *given, n)
        except ZeroDivisionError:
            raise AnswerError(
                f"For n = {n} you divide by zero: a sentence of one word has no 2-gram. "
                "Add up first, divide once."
            ) from None
        require_untouched(given, texts)
        precision = require_number(precision)
        found, clipped = _counts(n)
        right = sum(clipped) / sum(found)
        if abs(precision - right) > TOLERANCE:
            _refuse_precision(precision, n, right)


def _refuse_precision(precision: float, n: int, right: float) -> None:
    """Name the mistake that leads to this precision."""
    found, clipped = _counts(n)
    means = [part / whole for part, whole in zip(clipped, found, strict=True) if whole]
    references = sum(max(0, len(sentence) - n + 1) for sentence in REFERENCES)
    kinds = sum(
        len({*_grams(written, n)} & {*_grams(reference, n)})
        for written, reference in zip(WRITTEN, REFERENCES, strict=True)
    )
    hits = (
        sum(gram in set(_grams(reference, n)) for gram in _grams(written, n))
        for written, reference in zip(WRITTEN, REFERENCES, strict=True)
    )
    pooled = [
        Counter(gram for text in texts for gram in _grams(text, n))
        for texts in (WRITTEN, REFERENCES)
    ]
    too_short = "a sentence shorter than n has no n-gram: it adds 0 to them, no less and no more."
    mean = (
        "that is a mean of the sentences' precisions, in which a sentence of one word counts as "
        "much as a long one. Add up all counts, then divide once."
    )
    hints = {
        sum(means) / len(means): mean,
        sum(means) / len(found): mean,
        sum(hits) / sum(found): "an n-gram that is written three times and is in the reference "
        "once counts once: clip the counts.",
        (pooled[0] & pooled[1]).total() / sum(found): "you add up the n-grams of all sentences "
        "before you clip, so a word matches another sentence's reference. Clip in each sentence, "
        "then add up.",
        sum(clipped) / references: "that is the fraction of the reference that was found. Divide "
        "by how much was written.",
        kinds / sum(found): "an n-gram that is right twice counts twice: add up the counts, not "
        "the different n-grams.",
        sum(clipped) / sum(len(words) - n + 1 for words in WRITTEN): too_short,
        sum(clipped) / sum(max(1, whole) for whole in found): too_short,
        100 * right: "a precision is from 0 to 1; the 100 comes at the very end.",
    }
    refuse_numbers(precision, hints, within=TOLERANCE)
    raise AnswerError(f"For n = {n}: the precision is {right:.4f}; yours is {precision:.4f}.")


def _grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def _counts(n: int) -> tuple[list[int], list[int]]:
    """For each sentence its number of n-grams, and how many of them count as right."""
    found, clipped = [], []
    for written, reference in zip(WRITTEN, REFERENCES, strict=True):
        grams = Counter(_grams(written, n))
        found.append(grams.total())
        clipped.append((grams & Counter(_grams(reference, n))).total())
    return found, clipped


@exercise("15.2")
def check_short_text(answer: float) -> None:
    """Exercise 15.2: the BLEU of a text with these precisions, half as long as its references."""
    answer = require_number(answer)
    arithmetic = sum(PRECISIONS) / 4
    hints = {
        100 * GEOMETRIC: "You have the precisions. The text is also too short: what is the other "
        "factor?",
        100 * BREVITY: "You have the brevity penalty. The precisions are below 1, too.",
        100 * BREVITY * arithmetic: "The mean of the precisions is the geometric one: the fourth "
        "root of their product.",
        100 * arithmetic: "The mean is the geometric one, and the text is too short.",
        100 * BREVITY * math.prod(PRECISIONS): "That is the product of the precisions. Take its "
        "fourth root.",
        50 * GEOMETRIC: "The brevity penalty is not the ratio itself, but exp(1 - r/c).",
        100 * math.exp(1 - 0.5) * GEOMETRIC: "Upside down: r/c is 2 here, not a half.",
        SHORT_TEXT / 100: "That is on a scale from 0 to 1. BLEU is from 0 to 100.",
    }
    if abs(answer - SHORT_TEXT) <= 0.5:
        return
    refuse_numbers(answer, hints, within=0.3)
    raise AnswerError("BLEU is the brevity penalty times the geometric mean. What are the two?")


@exercise("15.3")
def check_own_translator(
    answer: tuple[Translator, Sequence[TextPair], Sequence[TextPair], Mapping[str, float]],
) -> None:
    """Exercise 15.3: the project: honest scores of a translator that the reader has trained.

    Args:
        answer: The translator, the pairs that it has learned from, others, and three BLEU scores
            by greedy search: on the first 200 training pairs, on the first 200 of the others, and
            of the latter's translations against references moved by one place.
    """
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        raise AnswerError(
            "The answer has four parts: the translator, its training pairs, the test pairs, and "
            "the dictionary of scores."
        )
    translator, train, test, measured = answer
    scores = measured.values() if isinstance(measured, Mapping) else ()
    if any(part is ... for part in (*answer, *scores)):
        ask(lambda: ...)
    if not isinstance(translator, Translator):
        raise AnswerError("The first part must be a Translator(model, tokenizer).")
    _require_apart(train, test)
    _require_own_tokenizer(translator.tokenizer, train)
    if not isinstance(measured, Mapping) or set(measured) != set(SCORES):
        raise AnswerError(f"The dictionary needs the entries {', '.join(SCORES)}.")
    own = dict(zip(SCORES, _scores(translator, train, test), strict=True))
    for name, score in own.items():
        _require_score(name, require_number(measured[name]), own)
        if score > 99 and name == "unseen":
            raise AnswerError("Every unseen sentence is right: are they really unseen?")


def _require_apart(train: Sequence[TextPair], test: Sequence[TextPair]) -> None:
    """Refuse texts that are too few, and test sentences that were learned."""
    for name, pairs, fewest in (("training", train, FEWEST_TO_LEARN), ("test", test, JUDGED)):
        if not isinstance(pairs, Sequence) or len(pairs) < fewest:
            raise AnswerError(f"The {name} pairs must be a list of at least {fewest:,}.")
    known = {source for source, _ in train}
    leaked = [source for source, _ in test if source in known]
    if leaked:
        raise AnswerError(
            f"{len(leaked):,} test sentences are also in the training pairs, such as "
            f"{leaked[0]!r}. A test on known sentences measures memory."
        )


def _require_own_tokenizer(tokenizer: object, train: Sequence[TextPair]) -> None:
    """Refuse a tokenizer that was learned from other texts than the training pairs."""
    if not isinstance(tokenizer, Tokenizer):
        raise AnswerError("Make the tokenizer with train_tokenizer.")
    lines = [text for pair in train for text in pair]
    if train_tokenizer(lines, vocabulary_size=len(tokenizer)).merges != tokenizer.merges:
        raise AnswerError(
            "The tokenizer was trained on other texts. Train it on all training pairs, both "
            "languages, and on no test pair."
        )


def _scores(
    translator: Translator, train: Sequence[TextPair], test: Sequence[TextPair]
) -> Iterator[float]:
    """The BLEU of each of SCORES."""
    for pairs in (train, test):
        sources, targets = zip(*pairs[:JUDGED], strict=True)
        written = translator.translate_all(sources, width=1)
        yield corpus_bleu(written, targets).score
    yield corpus_bleu(written, [*targets[1:], targets[0]]).score


def _require_score(name: str, given: float, own: Mapping[str, float]) -> None:
    """Refuse a score that the check does not find again."""
    if abs(given - own[name]) <= ROUNDING:
        return
    hints = {
        own[name] / 100: f"{name}: BLEU is on a scale from 0 to 100.",
        own["training"]: f"{name}: this is the score of the training pairs.",
        own["unseen"]: f"{name}: this is the score of the test pairs.",
    }
    refuse_numbers(given, hints, within=ROUNDING / 100)
    raise AnswerError(
        f"{name}: greedy search on the first {JUDGED} pairs gives {own[name]:.1f}; yours is "
        f"{given:.1f}."
    )
