"""The interval in a card is that of sacreBLEU's score, drawn on the same sentences for all."""

import numpy as np
import pytest

from experiments.publishing.bootstrap import (
    bleu_of,
    count_ngrams,
    describe_sureness,
    draw_bleu,
)
from transformer_edu.training.bleu import corpus_bleu

REFERENCES = ["Ein Mann spielt Gitarre.", "Zwei Hunde rennen durch den Schnee.", "Es regnet."]
WRITTEN = ["Ein Mann spielt auf der Gitarre.", "Zwei Hunde laufen durch den Schnee.", "Regen."]


def test_the_sums_of_all_sentences_give_the_score_of_the_text():
    rows = count_ngrams(WRITTEN, REFERENCES)
    assert rows.shape == (3, 10)
    assert bleu_of(rows.sum(axis=0)) == pytest.approx(corpus_bleu(WRITTEN, REFERENCES).score)


def test_a_draw_is_the_score_of_the_drawn_sentences():
    rows, draws = count_ngrams(WRITTEN, REFERENCES), 5
    generator = np.random.default_rng(3)
    for found in draw_bleu([rows], draws, seed=3)[0]:
        places = generator.integers(3, size=3)
        texts = [[texts[place] for place in places] for texts in (WRITTEN, REFERENCES)]
        assert found == pytest.approx(corpus_bleu(*texts).score)


def test_systems_are_compared_on_the_same_draws():
    rows = count_ngrams(WRITTEN, REFERENCES)
    one, other = draw_bleu([rows, rows], 20)
    assert (one == other).all()
    assert len(set(one)) > 3


class Written:
    """A translator that knows its answers, and a better one for a wider beam."""

    def translate_all(self, sources, *, width, alpha):
        assert alpha == 0.6
        return REFERENCES if width == 5 else WRITTEN


def test_a_card_names_both_intervals_and_what_the_wider_beam_adds():
    pairs = [("", reference) for reference in REFERENCES]
    first, second, gain = describe_sureness(Written(), pairs, widths=(1, 5), alpha=0.6)
    assert first.startswith("- test, beam 1, cased: chrF **")
    assert "beam 5, cased: chrF **100.0**, BLEU" in second
    assert "to 100.0 in the middle 95%" in second
    assert gain.startswith("- test, beam 5 minus beam 1, cased: +")
    assert len(describe_sureness(Written(), pairs, widths=(1, 1), alpha=0.6)) == 1
