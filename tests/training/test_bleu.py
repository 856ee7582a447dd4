"""BLEU is sacrebleu's, in the right direction, over the whole corpus."""

import math
from collections import Counter

import pytest

from transformer_edu.training.bleu import corpus_bleu

sacrebleu = pytest.importorskip("sacrebleu")

REFERENCES = [
    "Ein Mann fährt auf einem blauen Fahrrad durch die Stadt.",
    "Zwei Hunde spielen im Schnee, und ein Kind lacht!",
    "Eine Frau liest.",
]
HYPOTHESES = [
    "Ein Mann fährt auf einem Fahrrad durch die Stadt.",
    "Zwei Hunde spielen in dem Schnee, und ein kind lacht!",
    "Eine Frau liest ein Buch.",
]


def bleu_of_words(hypotheses: list[str], references: list[str]) -> float:
    """BLEU as its paper defines it (Papineni et al. 2002), for words between spaces."""
    right, written = [0] * 4, [0] * 4
    hypothesis_length = reference_length = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        own, other = hypothesis.split(), reference.split()
        hypothesis_length += len(own)
        reference_length += len(other)
        for size in range(1, 5):
            phrases, allowed = (
                Counter(tuple(words[i : i + size]) for i in range(len(words) - size + 1))
                for words in (own, other)
            )
            right[size - 1] += (phrases & allowed).total()
            written[size - 1] += phrases.total()
    precisions = [math.log(r / w) for r, w in zip(right, written, strict=True)]
    brevity = min(0.0, 1 - reference_length / hypothesis_length)
    return 100 * math.exp(sum(precisions) / 4 + brevity)


def test_the_same_texts_score_100_and_no_common_word_scores_0():
    assert corpus_bleu(REFERENCES, REFERENCES).score == 100
    assert corpus_bleu(iter(REFERENCES), iter(REFERENCES)).score == 100
    assert corpus_bleu(["x"] * 3, REFERENCES).score == 0


def test_it_is_the_score_that_the_paper_defines():
    found = corpus_bleu(HYPOTHESES, REFERENCES, tokenize="none")
    assert found.score == pytest.approx(bleu_of_words(HYPOTHESES, REFERENCES))


def test_it_is_sacrebleus_score_for_the_corpus():
    for lowercase in (False, True):
        for tokenize in ("13a", "intl", "char", "none"):
            expected = sacrebleu.corpus_bleu(
                HYPOTHESES, [REFERENCES], lowercase=lowercase, tokenize=tokenize
            )
            found = corpus_bleu(HYPOTHESES, REFERENCES, lowercase=lowercase, tokenize=tokenize)
            assert found.score == expected.score
            assert f"|tok:{tokenize}|" in found.signature
            assert ("|case:lc|" if lowercase else "|case:mixed|") in found.signature


def test_the_direction_is_right():
    """Texts that are cut short hold no wrong phrase and are punished for their length alone."""
    short = [" ".join(text.split()[:-1]) for text in REFERENCES]
    forward, backward = (
        corpus_bleu(*texts, tokenize="none").score
        for texts in ((short, REFERENCES), (REFERENCES, short))
    )
    words = sum(len(text.split()) for text in REFERENCES)
    assert forward == pytest.approx(100 * math.exp(1 - words / (words - len(REFERENCES))))
    assert backward == pytest.approx(bleu_of_words(REFERENCES, short))
    assert abs(forward - backward) > 1


def test_an_empty_translation_counts():
    with_gap = ["", *HYPOTHESES[1:]]
    without = corpus_bleu(HYPOTHESES[1:], REFERENCES[1:]).score
    assert corpus_bleu(with_gap, REFERENCES).score < 0.8 * without
    assert corpus_bleu([""], ["Ein Mann."]).score == 0


def test_texts_that_are_cut_into_words_already_print_no_warning(capfd):
    corpus_bleu(["a man sits ."] * 200, ["A man sits."] * 200)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "changes", "error", "message"),
    [
        ((["a"], ["a", "b"]), {}, ValueError, "references must be as many as hypotheses, got 2 a"),
        (([], []), {}, ValueError, "hypotheses must hold at least one text, got none"),
        (("a", ["a"]), {}, TypeError, "hypotheses must be several texts, got 'a'"),
        ((["a"], "a"), {}, TypeError, "references must be several texts, got 'a'"),
        ((["a"], [5]), {}, TypeError, "references must be text, got 5"),
        ((["a"], ["a"]), {"lowercase": "no"}, TypeError, "lowercase must be True or False, got"),
        ((["a"], ["a"]), {"tokenize": "mine"}, ValueError, "tokenize must be one of 13a, .* 'mine"),
        (
            (["a"], ["a"]),
            {"tokenize": None},
            ValueError,
            "tokenize must be one of 13a, .* got None",
        ),
    ],
    ids=range(8),
)
def test_what_cannot_be_compared_is_refused(arguments, changes, error, message):
    with pytest.raises(error, match=message):
        corpus_bleu(*arguments, **changes)
