"""Bars of next words, and the grids of what a prediction depends on."""

import pytest
import torch

from tests.hatching import hatched_corners
from transformer_course.drawing.next_word_bars import (
    MOST_CANDIDATES,
    describe_candidates,
    plot_candidates,
    plot_influence,
    plot_next_words,
)
from transformer_edu.generation.sampling import candidate_probabilities

EXPECTED = {"a": {"b": 0.7, "c": 0.2}, "a b": {"d": 0.9, "e": 0.1}}


def test_each_beginning_has_its_panel_and_the_title_names_the_likeliest_words():
    figure = plot_next_words(EXPECTED)
    assert [axes.get_title("left") for axes in figure.axes] == ["a …", "a b …"]
    for axes, words in zip(figure.axes, EXPECTED.values(), strict=True):
        assert [bar.get_width() for bar in axes.patches] == list(words.values())
        assert [label.get_text() for label in axes.get_yticklabels()] == list(words)
    assert figure.get_suptitle().endswith(": b, d")
    assert "after a: b" in figure.get_label() and "after a b: d" in figure.get_label()


def test_a_small_probability_is_not_written_as_zero():
    axes = plot_next_words({"a": {"b": 0.99, "c": 0.006, "d": 0.004}}).axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.99", "0.01", "< 0.01"]


def test_only_cells_without_any_change_are_hatched_and_the_label_counts_the_others():
    full, triangle = torch.full((2, 3), 0.5), torch.tensor([[2.0, 0.0], [0.1, 0.2]])
    panels = {"left": (["x", "y", "z"], full), "right": (["a", "b"], triangle)}
    figure = plot_influence(panels, rows=["a → b", "b → c"], title="t")
    left, right = figure.axes[:2]
    assert not hatched_corners(left)
    assert hatched_corners(right) == [(0.5, -0.5)]
    torch.testing.assert_close(right.images[0].get_array().data[1].tolist(), [0.5, 1.0])
    assert "left: 6 of 6" in figure.get_label() and "right: 3 of 4" in figure.get_label()


TOKENS = [f"${letter}$" for letter in "abcdefghijklm"]
LOGITS = torch.tensor([0.5, 3.0, 1.5, 2.0, 0.1, -1.0, 0.2, 0.3, -0.5, 1.0, -2.0, 0.9, 2.5])
OWN = LOGITS.softmax(dim=0)


def bars(**choice: float | None) -> tuple[list[float], list[float]]:
    """Heights of the full bars and of the hatched ones."""
    axes = plot_candidates(LOGITS, tokens=TOKENS, **choice).axes[0]
    full = [bar.get_height() for bar in axes.patches if not bar.get_hatch()]
    return full, [bar.get_height() for bar in axes.patches if bar.get_hatch()]


def test_with_nothing_turned_each_bar_is_the_models_own_probability():
    full, cut = bars()
    best = OWN.sort(descending=True).values
    assert full[:-1] == pytest.approx(best[:MOST_CANDIDATES].tolist())
    assert full[-1] == pytest.approx(best[MOST_CANDIDATES:].sum().item())
    assert cut == []


@pytest.mark.parametrize(
    "choice",
    [{"temperature": 0.5}, {"temperature": 2.0, "top_k": 3}, {"top_p": 0.8}, {"min_p": 0.2}],
    ids=str,
)
def test_a_full_bar_is_what_is_drawn_and_a_hatched_one_what_is_cut_off(choice):
    full, cut = bars(**choice)
    drawn = candidate_probabilities(LOGITS, **choice)
    expected = drawn[OWN.sort(descending=True).indices]
    shown = [*expected[:MOST_CANDIDATES].tolist(), expected[MOST_CANDIDATES:].sum().item()]
    assert full == pytest.approx([each for each in shown if each > 0])
    assert len(full) + len(cut) == MOST_CANDIDATES + 1


def test_the_black_lines_stay_whatever_is_turned():
    heights = []
    for choice in ({}, {"temperature": 0.1, "top_k": 2}):
        axes = plot_candidates(LOGITS, tokens=TOKENS, **choice).axes[0]
        heights.append([line[0][1] for line in axes.collections[0].get_segments()])
    assert heights[0] == heights[1]


def test_tokens_are_drawn_literally_and_cut_ones_are_called_so():
    axes = plot_candidates(LOGITS, tokens=TOKENS, top_k=2).axes[0]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names[:2] == [r"\$b\$", r"\$m\$"] and names[-1] == "3 others"
    assert [text.get_text() for text in axes.texts].count("cut") == MOST_CANDIDATES - 1


def test_the_title_counts_the_tokens_that_may_be_drawn():
    axes = plot_candidates(LOGITS, tokens=TOKENS, top_k=4).axes[0]
    share = candidate_probabilities(LOGITS, top_k=4).max()
    assert axes.get_title(loc="left").startswith("4 of 13 tokens may be drawn")
    assert f"{share:.0%}" in axes.get_title(loc="left")
    said = describe_candidates(LOGITS, tokens=TOKENS, temperature=0.5, top_k=4)
    assert "temperature 0.5, top-k 4, top-p off, min-p off: 4 of 13 tokens" in said
    assert f"$b$ {OWN[1]:.2f} → " in said
