"""The picture of scores shows both judgements of every model, on a scale from 0 to 1."""

import pytest

from transformer_edu.teaching.score_bars import plot_scores
from transformer_edu.training.evaluation import Evaluation

GOOD = Evaluation(step=3, loss=0.1, token_accuracy=0.9, exact_match=0.75)
BAD = Evaluation(step=3, loss=0.0, token_accuracy=1.0, exact_match=0.0)


def test_each_model_has_a_bar_for_tokens_and_one_for_what_it_writes_alone():
    axes = plot_scores({"shifted": GOOD, "not $shifted$": BAD}, title="t").axes[0]
    tokens, alone = axes.containers
    assert [bar.get_height() for bar in tokens] == [0.9, 1.0]
    assert [bar.get_height() for bar in alone] == [0.75, 0.0]
    assert [text.get_text() for text in axes.texts] == ["0.90", "1.00", "0.75", "0.00"]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["shifted", r"not \$shifted\$"]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["tokens, fed as in training", "sequences, written alone"]


def test_the_two_kinds_of_bars_differ_in_more_than_colour():
    tokens, alone = plot_scores({"a": GOOD}, title="t").axes[0].containers
    assert (tokens[0].get_hatch(), alone[0].get_hatch()) == (None, "//")


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="evaluations must hold at least one model, got none"):
        plot_scores({}, title="t")
