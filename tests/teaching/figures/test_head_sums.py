"""Several heads at once: lines to words, sums of numbers, marks of runs."""

import pytest
import torch

from transformer_edu.teaching.figures.head_sums import (
    FAINTEST,
    plot_head_sum,
    plot_heads_of_word,
    plot_lookups,
)

WORDS = ["who", "plays", "what"]


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_every_head_has_a_line_for_each_weight_that_can_be_seen():
    weights = torch.tensor([[0.9, 0.08, 0.02], [0.0, 0.3, 0.7]])
    figure = plot_heads_of_word(weights, words=WORDS, word=1)
    (axes,) = figure.axes
    widths = sorted(line.get_linewidth() for line in axes.lines if len(set(line.get_ydata())) > 1)
    seen = [10 * weight for weight in weights.flatten().tolist() if weight > FAINTEST]
    assert widths == pytest.approx(sorted([2.5, 2.5, *seen]))  # two come from the query
    assert "2 different words" in axes.get_title(loc="left")
    assert figure.get_label().endswith("who, what")


def test_heads_of_one_mind_are_counted_as_one_word():
    figure = plot_heads_of_word(torch.tensor([[0.9, 0.1, 0.0]] * 2), words=WORDS, word=1)
    assert figure.axes[0].get_title(loc="left").endswith("go to 1 word")


def test_a_sum_shows_its_terms_and_its_total():
    added = torch.tensor([[1.0, 0.0], [2.0, -3.0]])
    figure = plot_head_sum({"sum": added}, title="One sum")
    (axes,) = figure.axes
    assert texts(axes) == [
        "",
        "head 1",
        "1",
        "·",
        "+",
        "head 2",
        "2",
        "−3",
        "=",
        "output",
        "3",
        "−3",
    ]
    assert "the heads fill 1, 2 of 2" in figure.get_label()


def test_every_run_has_its_mark_and_the_title_compares_the_worst_with_the_best():
    runs = {
        "one head": [{"before": 1.0, "after": 0.1, "both": both} for both in (0.1, 0.3)],
        "two heads": [{"before": 1.0, "after": 1.0, "both": both} for both in (1.0, 0.9)],
    }
    figure = plot_lookups(runs, chance=0.05)
    (axes,) = figure.axes
    marks = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert list(marks["one head"]) == [1.0, 1.0, 0.1, 0.1, 0.1, 0.3]
    title = "Both right: best run with one head 30%, worst with two heads 90%"
    assert axes.get_title(loc="left") == title
    assert title in figure.get_label()
