"""Lesson 15: right answers pass, and each usual wrong answer is named."""

import math
from collections import Counter

import pytest

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.translation import checks as lesson_15
from transformer_edu.data.tokenizer import train_tokenizer
from transformer_edu.generation.translator import Translator
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.bleu import corpus_bleu

CHECKS = checks_of(lesson_15)
NUMBERS = [f"number {a} and number {b} and {a + b} more" for a in range(40) for b in range(30)]
PAIRS = [(text, text.replace("number", "Zahl").replace("and", "und")) for text in NUMBERS]
TRAIN, TEST = PAIRS[:1000], PAIRS[1000:]
TOKENIZER = train_tokenizer([text for pair in TRAIN for text in pair], vocabulary_size=300)
SIZES = {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 8}


class Half(Translator):
    """Translates one of two words, and both where there is a 5."""

    def translate_all(self, texts, **options):
        texts = [text.replace("number", "Zahl") for text in texts]
        return [text.replace("and", "und") if "5" in text else text for text in texts]


def translator(tokenizer=TOKENIZER, kind=Half):
    return kind(Transformer(TransformerConfig(vocabulary_size=len(tokenizer), **SIZES)), tokenizer)


def bleu(pairs, *, moved=0):
    sources, targets = zip(*pairs[:200], strict=True)
    return corpus_bleu(translator().translate_all(sources), targets[moved:] + targets[:moved]).score


MEASURED = {
    "training": bleu(TRAIN),
    "unseen": bleu(TEST),
    "wrong references": bleu(TEST, moved=1),
}


def project(*, by=None, train=TRAIN, test=TEST, **measured):
    names = {"wrong": "wrong references"}
    scores = MEASURED | {names.get(name, name): score for name, score in measured.items()}
    return (by or translator(), train, test, scores)


def grams(words, n):
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def sums(hypotheses, references, n):
    """Clipped, unclipped, written and in the reference, of every sentence."""
    for written, reference in zip(hypotheses, references, strict=True):
        ours, theirs = grams(written, n), grams(reference, n)
        unclipped = sum(count for gram, count in ours.items() if gram in theirs)
        yield (ours & theirs).total(), unclipped, ours.total(), theirs.total()


def corpus_precision(hypotheses, references, n):
    clipped, _, written, _ = map(sum, zip(*sums(hypotheses, references, n), strict=True))
    return clipped / written


def unclipped_precision(hypotheses, references, n):
    _, unclipped, written, _ = map(sum, zip(*sums(hypotheses, references, n), strict=True))
    return unclipped / written


def precision_of_kinds(hypotheses, references, n):
    pairs = [
        (grams(ours, n), grams(theirs, n))
        for ours, theirs in zip(hypotheses, references, strict=True)
    ]
    return sum(len(a & b) for a, b in pairs) / sum(a.total() for a, _ in pairs)


def total_below_zero(hypotheses, references, n):
    clipped, *_ = map(sum, zip(*sums(hypotheses, references, n), strict=True))
    return clipped / sum(len(words) - n + 1 for words in hypotheses)


def at_least_one(hypotheses, references, n):
    rows = [*sums(hypotheses, references, n)]
    return sum(row[0] for row in rows) / sum(max(1, row[2]) for row in rows)


def without_short_references(hypotheses, references, n):
    pairs = zip(hypotheses, references, strict=True)
    kept = [(ours, theirs) for ours, theirs in pairs if min(len(ours), len(theirs)) >= n]
    return corpus_precision(*zip(*kept, strict=True), n)


def pooled_precision(hypotheses, references, n):
    ours, theirs = (
        sum((grams(words, n) for words in texts), Counter()) for texts in (hypotheses, references)
    )
    return (ours & theirs).total() / ours.total()


def pooled_for_pairs_alone(hypotheses, references, n):
    return (corpus_precision if n == 1 else pooled_precision)(hypotheses, references, n)


def recall(hypotheses, references, n):
    clipped, _, _, reference = map(sum, zip(*sums(hypotheses, references, n), strict=True))
    return clipped / reference


def crossing_off(hypotheses, references, n):
    right = written = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        left = reference if n == 1 else [*zip(*(reference[i:] for i in range(n)), strict=False)]
        for gram in (
            hypothesis if n == 1 else zip(*(hypothesis[i:] for i in range(n)), strict=False)
        ):
            written += 1
            if gram in left:
                left.remove(gram)
                right += 1
    return right / written


def mean_of_all(hypotheses, references, n):
    rows = list(sums(hypotheses, references, n))
    return sum(clipped / max(written, 1) for clipped, _, written, _ in rows) / len(rows)


def mean_of_those_with_any(hypotheses, references, n):
    rows = [row for row in sums(hypotheses, references, n) if row[2]]
    return sum(clipped / written for clipped, _, written, _ in rows) / len(rows)


def mean_that_divides_by_zero(hypotheses, references, n):
    rows = list(sums(hypotheses, references, n))
    return sum(clipped / written for clipped, _, written, _ in rows) / len(rows)


def right_for_words_alone(hypotheses, references, n):
    if n == 1:
        return corpus_precision(hypotheses, references, n)
    return mean_that_divides_by_zero(hypotheses, references, n)


ROOT = 0.0384**0.25

test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("15.1", corpus_precision),
        ("15.2", 100 * math.exp(-1) * ROOT),
        ("15.2", 16),
        ("15.3", project()),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("15.1", crossing_off, "changes the list that it gets"),
        ("15.1", mean_of_all, "a mean of the sentences' precisions"),
        ("15.1", mean_of_those_with_any, "a mean of the sentences' precisions"),
        ("15.1", mean_that_divides_by_zero, "a mean of the sentences' precisions"),
        ("15.1", right_for_words_alone, "For n = 2 you divide by zero"),
        ("15.1", unclipped_precision, "clip the counts"),
        ("15.1", total_below_zero, "it adds 0 to them"),
        ("15.1", at_least_one, "it adds 0 to them"),
        ("15.1", without_short_references, "For n = "),
        ("15.1", precision_of_kinds, "add up the counts"),
        ("15.1", pooled_precision, "Clip in each sentence"),
        ("15.1", pooled_for_pairs_alone, "Clip in each sentence"),
        ("15.1", recall, "Divide by how much was written"),
        ("15.1", lambda h, r, n: 100 * corpus_precision(h, r, n), "from 0 to 1"),
        ("15.1", lambda h, r, n: corpus_precision(h, r, 1), "For n = 2: the precision is"),
        ("15.2", 100 * ROOT, "what is the other factor"),
        ("15.2", 100 * math.exp(-1), "The precisions are below 1"),
        ("15.2", 50 * math.exp(-1), "is the geometric one: the fourth root"),
        ("15.2", 50, "geometric one, and the text is too short"),
        ("15.2", 1.41, "Take its fourth root"),
        ("15.2", 50 * ROOT, "not the ratio itself"),
        ("15.2", 100 * math.exp(0.5) * ROOT, "Upside down"),
        ("15.2", 0.163, "from 0 to 100"),
        ("15.2", 90, "What are the two"),
        ("15.2", "a third", "is a number"),
        ("15.3", TRAIN, "has four parts"),
        ("15.3", ("a model", TRAIN, TEST, MEASURED), "must be a Translator"),
        ("15.3", project(train=TRAIN[:900]), "training pairs must be a list of at least 1,000"),
        ("15.3", project(test=TEST[:50]), "test pairs must be a list of at least 200"),
        ("15.3", project(test=[*TEST, TRAIN[7]]), "1 test sentences are also in the training"),
        (
            "15.3",
            project(by=translator(train_tokenizer(["another text"] * 2, vocabulary_size=262))),
            "trained on other texts",
        ),
        ("15.3", (translator(), TRAIN, TEST, {"unseen": 3.0}), "needs the entries training"),
        ("15.3", project(unseen=MEASURED["unseen"] / 100), "unseen: BLEU is on a scale"),
        ("15.3", project(unseen=MEASURED["training"]), "the score of the training pairs"),
        ("15.3", project(wrong=MEASURED["unseen"]), "the score of the test pairs"),
        ("15.3", project(training=3.0), r"training: .* yours is 3\.0"),
    ],
)


@pytest.mark.parametrize("part", range(4))
def test_a_project_with_three_dots_waits(part, capsys):
    answer = list(project())
    answer[part] = ...
    CHECKS["15.3"](answer)
    assert "is waiting" in capsys.readouterr().out


def test_scores_with_three_dots_wait(capsys):
    CHECKS["15.3"](project(unseen=...))
    assert "is waiting" in capsys.readouterr().out
