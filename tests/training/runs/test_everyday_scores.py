"""An everyday sentence is right or wrong; a wrong one may still be German."""

import pytest
from torch import nn

from transformer_edu.training.runs.everyday_scores import (
    as_sentences,
    is_broken,
    known_words,
    score_everyday,
)

PAIRS = [("I sleep.", "Ich schlafe."), ("Good night!", "Gute Nacht!")]


class Echo:
    """A translator that says what it is told to."""

    def __init__(self, *answers: str) -> None:
        self.answers = answers
        self.model = nn.Linear(1, 1)

    def translate_all(self, texts, *, width, alpha):
        assert (len(texts), width, alpha) == (len(self.answers), 3, 0.5)
        return list(self.answers)


@pytest.mark.parametrize(
    ("answers", "exact", "unbroken"),
    [
        (("ich schlafe", "Gute Nacht."), 1.0, 1.0),  # case and final mark aside
        (("Gute Nacht!", "Ich schlafe."), 0.0, 1.0),
        (("Ich schlafe.", "Gutenacht!"), 0.5, 0.5),
    ],
)
def test_shares_of_right_and_of_unbroken_translations(answers, exact, unbroken):
    score = score_everyday(
        Echo(*answers), as_sentences(PAIRS), known_words(PAIRS), width=3, alpha=0.5
    )
    assert (score.count, score.exact, score.unbroken) == (2, exact, unbroken)


def test_one_of_several_accepted_translations_is_right():
    sentences = [("Good night!", ("Gute Nacht!", "Schlaf gut!"))]
    score = score_everyday(Echo("Schlaf gut."), sentences, set(), width=3, alpha=0.5)
    assert score.exact == 1.0


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("Ich sehe Anna.", False),  # the source's own word
        ("Ich sehe Otto.", True),
        ("Ich sehe, sehe Anna.", False),  # twice may be meant
        ("Ich sehe sehe sehe Anna.", True),
        ("Ich sehe Anna, sehe Anna, sehe Anna.", True),
        ("Ich", False),
    ],
)
def test_broken_is_an_unknown_word_or_a_threefold_repetition(text, broken):
    assert is_broken(text, "I see Anna.", {"ich", "sehe"}) == broken
