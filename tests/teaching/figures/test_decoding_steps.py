"""A step of generation shows the probabilities and the attention that the model really had."""

import pytest
import torch

from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.sampling import candidate_probabilities
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.model.vocabulary import END_ID, START_ID
from transformer_edu.teaching.figures.decoding_steps import (
    MOST_BARS,
    MOST_CANDIDATES,
    decoding_steps,
    describe_candidates,
    describe_decoding_step,
    plot_candidates,
    plot_decoding_step,
)
from transformer_edu.teaching.inspect.recording import record_attention
from transformer_edu.training.data.number_words import ENGLISH_WORDS, GERMAN_WORDS
from transformer_edu.training.data.vocabulary import Vocabulary

HEADS, LAYERS = 4, 2
WORDS = ["three", "hundred", "forty"]
VOCABULARY = Vocabulary([*ENGLISH_WORDS, *GERMAN_WORDS])


def build(max_length: int = 80) -> Transformer:
    torch.manual_seed(1)
    sizes = {"d_model": 16, "num_heads": HEADS, "num_layers": LAYERS, "d_ff": 24}
    config = TransformerConfig(vocabulary_size=len(VOCABULARY), max_length=max_length, **sizes)
    return Transformer(config)


@pytest.fixture
def steps():
    return decoding_steps(build(max_length=9), VOCABULARY, WORDS)


def test_the_tokens_chosen_are_those_of_greedy_search():
    model = build()
    model.output_projection.bias.data[END_ID] = 2.0  # so that it ends by itself
    found = decoding_steps(model, VOCABULARY, WORDS)
    (written,) = greedy_search(model, torch.tensor([VOCABULARY.encode(WORDS)]))
    words = VOCABULARY.decode(written)
    assert [step.chosen for step in found] == [*words, "</s>"]
    assert [step.written for step in found] == [words[:n] for n in range(len(words) + 1)]


def test_each_step_holds_the_logits_and_the_attention_of_its_own_step(steps):
    model = build(max_length=9).eval()
    source_ids = torch.tensor([VOCABULARY.encode(WORDS)])
    for step in steps:
        read = torch.tensor([[START_ID, *VOCABULARY.encode(step.written)]])
        with torch.no_grad(), record_attention(model) as recorded:
            logits = model(source_ids, read)
        torch.testing.assert_close(step.logits, logits[0, -1])
        last = recorded[f"decoder.layers.{LAYERS - 1}.cross_attention"]
        torch.testing.assert_close(step.attention, last[0, :, -1])
        assert step.attention.shape == (HEADS, len(WORDS))


def test_a_target_that_fills_the_model_to_the_brim_has_a_step_for_each_position():
    model = build(max_length=9)
    model.output_projection.bias.data[END_ID] = -1e3  # it never ends by itself
    assert len(decoding_steps(model, VOCABULARY, WORDS)) == 9


def test_the_model_is_not_changed():
    model = build().train()
    decoding_steps(model, VOCABULARY, WORDS)
    assert model.training


def test_the_bars_are_the_likeliest_tokens_and_all_others_together(steps):
    bars, heads, _ = plot_decoding_step(steps, step=2, tokens=VOCABULARY.tokens).axes
    widths = [bar.get_width() for bar in bars.patches]
    best = steps[1].logits.softmax(dim=-1).sort(descending=True)
    assert widths[:-1] == pytest.approx(best.values[:MOST_BARS].tolist())
    assert sum(widths) == pytest.approx(1)
    names = [label.get_text() for label in bars.get_yticklabels()]
    assert names[0] == steps[1].chosen == VOCABULARY.tokens[best.indices[0]]
    assert names[-1] == f"{len(VOCABULARY) - MOST_BARS} others"
    weights = torch.tensor(heads.images[0].get_array())
    torch.testing.assert_close(weights, steps[1].attention)


def test_the_token_that_is_taken_differs_in_more_than_color(steps):
    bars = plot_decoding_step(steps, step=1, tokens=VOCABULARY.tokens).axes[0]
    weights = [label.get_fontweight() for label in bars.get_yticklabels()]
    assert weights[0] == "bold" and set(weights[1:]) == {"normal"}


def test_the_title_and_the_words_say_what_is_written_and_chosen(steps):
    figure = plot_decoding_step(steps, step=3, tokens=VOCABULARY.tokens)
    title = figure.get_suptitle()
    assert title == f"Step 3 of 9: <s> {' '.join(steps[2].written)} → {steps[2].chosen}"
    said = describe_decoding_step(steps, step=3, tokens=VOCABULARY.tokens)
    largest = WORDS[int(steps[2].attention[1].argmax())]
    assert f"generated so far: {' '.join(steps[2].written)}" in said
    assert f"head 2 to {largest}" in said and f"{steps[2].chosen} 0." in said
    assert "generated so far: nothing" in describe_decoding_step(
        steps, step=1, tokens=VOCABULARY.tokens
    )


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
    [{"temperature": 0.5}, {"temperature": 2.0, "top_k": 3}, {"top_p": 0.8}],
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
    assert "temperature 0.5, top-k 4, top-p off: 4 of 13 tokens" in said
    assert f"$b$ {OWN[1]:.2f} → " in said
