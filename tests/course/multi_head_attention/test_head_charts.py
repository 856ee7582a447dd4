"""A head keeps its color, its vectors and its place."""

import pytest
import torch
from matplotlib.patches import Rectangle

from transformer_course.multi_head_attention.head_charts import (
    FAINTEST,
    HEAD_COLORS,
    plot_head_split,
    plot_heads_of_word,
    plot_lookups,
)

TOKENS = ["the", "cat", "$sat"]
NUMBERS = torch.arange(12).view(3, 4)  # (position, d_model)
RIGHT = NUMBERS.unflatten(-1, (2, 2)).transpose(0, 1)
WRONG = NUMBERS.view(2, 3, 2)


def draw(**splits):
    return plot_head_split(splits, tokens=TOKENS, d_model=4, title="a split")


def cells(axes):
    """The written names of a panel's cells, top to bottom and left to right."""
    words = [text for text in axes.texts if not text.get_text().startswith("head")]
    words.sort(key=lambda text: (text.get_position()[1], text.get_position()[0]))
    return [text.get_text() for text in words]


def test_the_right_split_keeps_every_word_in_its_row():
    axes = draw(right=RIGHT).axes[0]
    expected = ["t1", "t2", "t3", "t4", "c1", "c2", "c3", "c4", r"\$1", r"\$2", r"\$3", r"\$4"]
    assert cells(axes) == expected


def test_the_wrong_split_shows_two_words_in_one_head():
    assert cells(draw(wrong=WRONG).axes[0])[:4] == ["t1", "t2", "c3", "c4"]


def test_a_cell_has_the_color_of_its_word():
    axes = draw(wrong=WRONG).axes[0]
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    colors = [patch.get_facecolor() for patch in patches]
    assert len(colors) == 12 and len(set(colors)) == len(TOKENS) <= len(HEAD_COLORS)


def test_an_unsplit_matrix_is_drawn_without_heads():
    figure = draw(before=NUMBERS, after=RIGHT)
    names = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert "head 1" not in names[0] and {"head 1", "head 2"} < set(names[1])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["before", "after"]


SENTENCE = ["who", "plays", "what"]


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_every_head_has_a_line_for_each_weight_that_can_be_seen():
    weights = torch.tensor([[0.9, 0.08, 0.02], [0.0, 0.3, 0.7]])
    figure = plot_heads_of_word(weights, words=SENTENCE, word=1)
    (axes,) = figure.axes
    widths = sorted(line.get_linewidth() for line in axes.lines if len(set(line.get_ydata())) > 1)
    seen = [10 * weight for weight in weights.flatten().tolist() if weight > FAINTEST]
    assert widths == pytest.approx(sorted([1, 1, *seen]))  # two come from the query
    assert "2 different words" in axes.get_title(loc="left")
    assert figure.get_label().endswith("who, what")


@pytest.mark.parametrize(
    ("words", "word", "message"),
    [
        (SENTENCE, 3, "word must be at most 2, got 3"),
        (SENTENCE, -1, "word must be at least 0, got -1"),
        (SENTENCE[:2], 1, "words must be one for each of 3 keys, got 2"),
    ],
)
def test_a_word_that_is_not_there_and_words_of_another_number_are_refused(words, word, message):
    with pytest.raises(ValueError, match=message):
        plot_heads_of_word(torch.ones(2, 3) / 3, words=words, word=word)


def test_heads_of_one_mind_are_counted_as_one_word():
    figure = plot_heads_of_word(torch.tensor([[0.9, 0.1, 0.0]] * 2), words=SENTENCE, word=1)
    assert figure.axes[0].get_title(loc="left").endswith("go to 1 word")


def test_every_run_has_its_mark_and_the_title_compares_the_worst_with_the_best():
    runs = {
        "one head": [{"before": 1.0, "after": 0.1, "both": both} for both in (0.1, 0.3)],
        "two heads": [{"before": 1.0, "after": 1.0, "both": both} for both in (1.0, 0.9)],
    }
    figure = plot_lookups(runs, chance=0.05)
    (axes,) = figure.axes
    marks = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert list(marks["one head"]) == [1.0, 1.0, 0.1, 0.1, 0.1, 0.3]
    places = {line.get_label(): list(line.get_xdata()) for line in axes.lines}
    assert len(set(places["one head"])) == 3  # runs are above each other: no trend
    numbers = [text.get_text() for text in axes.texts]
    assert numbers[:4] == ["all runs", "all runs", "run 1", "run 2"]
    title = "Both right: best run with one head 30%, worst with two heads 90%"
    assert axes.get_title(loc="left") == title
    assert title in figure.get_label()


def test_one_head_is_counted_and_weights_of_all_queries_are_refused():
    title = plot_heads_of_word(torch.ones(1, 3) / 3, words=SENTENCE, word=1).axes[0]
    assert title.get_title(loc="left").startswith("1 head of a layer")
    with pytest.raises(ValueError, match=r"\(head, key\) of one word, got \(2, 3, 3\)"):
        plot_heads_of_word(torch.ones(2, 3, 3) / 3, words=SENTENCE, word=1)
    with pytest.raises(ValueError, match="weights must be from 0 to 1, got nan"):
        plot_heads_of_word(torch.full((2, 3), torch.nan), words=SENTENCE, word=1)
