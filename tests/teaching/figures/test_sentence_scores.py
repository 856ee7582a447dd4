"""The curve of equal score separates the sentences that would win from those that would not."""

import math

import numpy as np
import pytest

from transformer_edu.generation.hypotheses import length_penalty
from transformer_edu.teaching.figures.search import (
    best_sentence,
    describe_sentence_scores,
    plot_sentence_scores,
)

# Log-probabilities of the empty sentence and of sentences of 1, 3 and 6 words.
SENTENCES = {"": -2.0, "stop": -2.6, "the $cat$ slept": -2.2, "the cat sat on the mat": -2.4}
ALL = list(SENTENCES)


def score(sentence: str, alpha: float) -> float:
    return SENTENCES[sentence] / length_penalty(len(sentence.split()) + 1, alpha)


@pytest.mark.parametrize(
    ("alpha", "best"),
    [(0.0, ""), (0.3, "the $cat$ slept"), (1.0, "the cat sat on the mat")],
)
def test_the_longer_the_favoured_the_longer_the_winner(alpha, best):
    assert best_sentence(SENTENCES, found=ALL, alpha=alpha) == best
    assert all(score(best, alpha) >= score(each, alpha) for each in ALL)


def test_only_what_was_found_can_win():
    assert best_sentence(SENTENCES, found=["stop"], alpha=0.0) == "stop"


def test_of_equal_scores_the_one_that_was_found_first_wins():
    equal = {"yes": -1.5, "no": -1.5}
    for found in (["yes", "no"], ["no", "yes"]):
        assert best_sentence(equal, found=found, alpha=0.6) == found[0]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_the_curve_goes_through_the_winner_and_above_every_other(alpha):
    axes = plot_sentence_scores(SENTENCES, found=ALL, alpha=alpha).axes[0]
    lengths, heights = axes.lines[0].get_data()
    best = best_sentence(SENTENCES, found=ALL, alpha=alpha)
    for sentence, log_probability in SENTENCES.items():
        height = np.interp(len(sentence.split()) + 1, lengths, heights)
        if sentence == best:
            assert math.isclose(height, log_probability, abs_tol=1e-3)
        else:
            assert height > log_probability


def test_the_curve_is_level_without_a_penalty_and_falls_with_one():
    for alpha, falls in ((0.0, False), (0.6, True)):
        axes = plot_sentence_scores(SENTENCES, found=ALL, alpha=alpha).axes[0]
        _, heights = axes.lines[0].get_data()
        assert (np.diff(heights) < 0).all() == falls


def test_found_and_not_found_and_best_have_their_own_markers():
    axes = plot_sentence_scores(SENTENCES, found=["", "stop"], alpha=0.0).axes[0]
    _, hidden, found, best = axes.lines
    assert sorted(hidden.get_xdata()) == [4, 7] and hidden.get_markerfacecolor() == "white"
    assert list(found.get_xdata()) == [2] and found.get_marker() == "o"
    assert list(best.get_xdata()) == [1] and best.get_marker() == "*"


def test_the_best_of_each_length_is_written_beside_its_point():
    sentences = SENTENCES | {"a $cat$ slept": -3.0}
    axes = plot_sentence_scores(sentences, found=list(sentences), alpha=0.0).axes[0]
    written = [text.get_text() for text in axes.texts]
    assert r"“the \$cat\$ slept”" in written and r"“a \$cat\$ slept”" not in written
    assert "(empty)" in written


def test_the_title_and_the_words_name_the_winner():
    axes = plot_sentence_scores(SENTENCES, found=ALL, alpha=0.0).axes[0]
    assert axes.get_title(loc="left") == "α = 0: the empty sentence wins"
    said = describe_sentence_scores(SENTENCES, found=["", "stop"], alpha=0.0)
    assert "4 sentences" in said
    assert said.index("the empty sentence with") < said.index("“stop” with")
