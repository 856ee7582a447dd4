"""The candidates that may be drawn are told from those that may not."""

import pytest
import torch

from transformer_course.generation.candidates import (
    MOST_CANDIDATES,
    describe_candidates,
    plot_candidates,
)
from transformer_course.generation.live_sampling import show_sampling_live
from transformer_edu.generation.sampling import candidate_probabilities

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


def test_logits_without_a_token_are_refused():
    with pytest.raises(ValueError, match="tokens must be one for each of 13 logits, got 4"):
        plot_candidates(LOGITS, tokens=TOKENS[:4])
    with pytest.raises(ValueError, match="tokens must be one for each of 13 logits, got 4"):
        show_sampling_live({"next": LOGITS}, tokens=TOKENS[:4])
