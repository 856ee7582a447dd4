"""A step of writing shows the probabilities and the looks that the model really had."""

import pytest
import torch

from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.model.vocabulary import END_ID, START_ID
from transformer_edu.teaching.figures.decoding_steps import (
    MOST_BARS,
    decoding_steps,
    describe_decoding_step,
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


def test_each_step_holds_the_logits_and_looks_of_its_own_moment(steps):
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


def test_looking_leaves_the_model_as_it_was():
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
    favourite = WORDS[int(steps[2].attention[1].argmax())]
    assert f"written is {' '.join(steps[2].written)}" in said
    assert f"head 2 at {favourite}" in said and f"{steps[2].chosen} 0." in said
    assert "written is nothing" in describe_decoding_step(steps, step=1, tokens=VOCABULARY.tokens)


@pytest.mark.parametrize(
    ("step", "error", "sentence"),
    [
        (10, ValueError, "step must be at most 9, got 10"),
        (0, ValueError, "step must be at least 1, got 0"),
        (True, TypeError, "step must be a whole number, got True"),
    ],
)
def test_a_step_that_there_is_none_of_is_refused(steps, step, error, sentence):
    for function in (plot_decoding_step, describe_decoding_step):
        with pytest.raises(error) as caught:
            function(steps, step=step, tokens=VOCABULARY.tokens)
        assert str(caught.value) == sentence


def test_a_text_that_is_not_split_is_refused():
    with pytest.raises(TypeError, match="must be a list of words, got the single text"):
        decoding_steps(build(), VOCABULARY, "three hundred")
