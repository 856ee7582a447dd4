"""Each model has its two bars."""

from transformer_course.masks.score_bars import plot_scores
from transformer_edu.training.evaluation import Evaluation

GOOD = Evaluation(step=3, loss=0.1, token_accuracy=0.9, exact_match=0.75)
BAD = Evaluation(step=3, loss=0.0, token_accuracy=1.0, exact_match=0.0)


def test_each_model_has_a_bar_for_tokens_and_one_for_what_it_writes_alone():
    axes = plot_scores({"shifted": GOOD, "not $shifted$": BAD}, title="t").axes[0]
    tokens, alone = axes.containers
    assert [bar.get_height() for bar in tokens] == [0.9, 1.0]
    assert [bar.get_height() for bar in alone] == [0.75, 0.0]
    assert (tokens[0].get_hatch(), alone[0].get_hatch()) == (None, "//")
    assert [text.get_text() for text in axes.texts] == ["0.90", "1.00", "0.75", "0.00"]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["shifted", r"not \$shifted\$"]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["tokens (teacher forcing)", "sequences (exact match)"]
