"""A translation's picture shows where each written word really looked."""

import ipywidgets as widgets
import pytest
import torch

from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.model.vocabulary import END_ID, START_ID
from transformer_edu.teaching import translation as module
from transformer_edu.teaching.recording import record_attention
from transformer_edu.teaching.translation import (
    describe_translation,
    draw_translation,
    explore_numbers,
    remember_last,
    translate,
)
from transformer_edu.training.number_words import ENGLISH_WORDS, GERMAN_WORDS
from transformer_edu.training.vocabulary import Vocabulary

HEADS, LAYERS = 4, 2
WORDS = ["three", "hundred", "forty"]


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary([*ENGLISH_WORDS, *GERMAN_WORDS])


def build(vocabulary: Vocabulary, *, max_length: int) -> Transformer:
    torch.manual_seed(1)
    sizes = {"d_model": 16, "num_heads": HEADS, "num_layers": LAYERS, "d_ff": 24}
    return Transformer(
        TransformerConfig(vocabulary_size=len(vocabulary), max_length=max_length, **sizes)
    )


@pytest.fixture
def model(vocabulary) -> Transformer:
    return build(vocabulary, max_length=80)


def test_the_words_written_are_those_of_greedy_search(model, vocabulary):
    translation = translate(model, vocabulary, WORDS)
    (written,) = greedy_search(model, torch.tensor([vocabulary.encode(WORDS)]))
    assert translation.target_words == vocabulary.decode(written)
    assert translation.source_words == WORDS


def test_a_row_is_the_step_at_which_the_word_was_chosen(model, vocabulary):
    translation = translate(model, vocabulary, WORDS)
    prefix = [START_ID, *vocabulary.encode(translation.target_words[:2])]
    with record_attention(model.eval()) as recorded:
        model(torch.tensor([vocabulary.encode(WORDS)]), torch.tensor([prefix]))
    for layer, weights in enumerate(translation.attention):
        assert weights.shape == (HEADS, len(translation.target_words) + 1, len(WORDS))
        at_the_third_word = recorded[f"decoder.layers.{layer}.cross_attention"][0, :, 2]
        torch.testing.assert_close(weights[:, 2], at_the_third_word)


def test_a_translation_that_fills_the_model_to_the_brim_is_drawn(vocabulary):
    model = build(vocabulary, max_length=9)
    model.output_projection.bias.data[END_ID] = -1e3  # it never ends by itself
    translation = translate(model, vocabulary, WORDS)
    assert len(translation.target_words) == len(translation.attention[0][0]) == 9
    draw_translation(translation, layer=1, head=1)
    assert describe_translation(translation, layer=1, head=1)


def test_translating_leaves_the_model_as_it_was(model, vocabulary):
    model.train()
    translate(model, vocabulary, WORDS)
    assert model.training


def test_the_picture_is_the_asked_head_of_the_asked_layer(model, vocabulary):
    translation = translate(model, vocabulary, WORDS)
    drawn = draw_translation(translation, layer=2, head=3).axes[0].images[0].get_array()
    torch.testing.assert_close(torch.tensor(drawn), translation.attention[1][2])


def test_the_words_name_each_favourite(model, vocabulary):
    translation = translate(model, vocabulary, WORDS)
    favourite = WORDS[int(translation.attention[0][1][0].argmax())]
    said = describe_translation(translation, layer=1, head=2)
    assert f"{translation.target_words[0]} at {favourite}" in said


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"layer": 3, "head": 1}, "layer must be at most 2, got 3"),
        ({"layer": 1, "head": 5}, "head must be at most 4, got 5"),
        ({"layer": 0, "head": 1}, "layer must be at least 1, got 0"),
    ],
)
def test_a_place_that_the_model_lacks_is_refused(model, vocabulary, place, message):
    with pytest.raises(ValueError, match=message):
        draw_translation(translate(model, vocabulary, WORDS), **place)


def test_a_text_that_is_not_split_is_refused(model, vocabulary):
    with pytest.raises(TypeError, match="must be a list of words, got the single text"):
        translate(model, vocabulary, "three hundred")


def test_a_title_stands_above_layer_and_head(model, vocabulary):
    translation = translate(model, vocabulary, WORDS)
    titles = [
        draw_translation(translation, layer=2, head=3, title=title).axes[0].get_title("left")
        for title in ("340 → dreihundert", None)
    ]
    assert titles == [
        "340 → dreihundert\nLayer 2, head 3",
        "Layer 2, head 3: where each word looked",
    ]


def test_the_same_question_is_asked_again_once_any_weight_is_another(model):
    asked = []
    remembering = remember_last(lambda *question: asked.append(question) or len(asked), model)
    assert [remembering("a", 1), remembering("a", 1), remembering("b", 1)] == [1, 1, 2]
    parameter = model.decoder.layers[0].feed_forward.widen.weight
    parameter.data[0, 0] += 1  # unseen by the counters of changes
    assert [remembering("b", 1), remembering("b", 1)] == [3, 3]
    model.double()
    assert remembering("b", 1) == 4
    assert asked == [("a", 1), ("b", 1), ("b", 1), ("b", 1)]


def test_a_question_that_was_refused_has_no_answer(model):
    remembering = remember_last(lambda number: 1 / number, model)
    assert remembering(2) == 0.5
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            remembering(0)


@pytest.fixture
def explored(model, vocabulary, monkeypatch) -> tuple:
    """What explore_numbers hands to explore."""
    calls = []
    monkeypatch.setattr(
        module, "explore", lambda draw, alt, **controls: calls.append((draw, alt, controls))
    )
    explore_numbers(model, vocabulary, number=342, layer=2, head=1)
    return calls[0]


def test_the_picture_and_the_words_follow_a_model_that_is_trained_further(
    explored, model, vocabulary
):
    draw, describe, _ = explored
    place = {"layer": 2, "head": 1}
    before = describe(number=3, **place)
    model.output_projection.bias.data[vocabulary.encode(["neun"])[0]] = 1e3
    assert "neun" in draw(number=3, **place).axes[0].get_title("left")
    assert describe(number=3, **place).startswith("three → neun neun") and "neun neun" not in before


def test_what_is_written_is_the_one_title(explored, model, vocabulary):
    draw, _, _ = explored
    written = " ".join(translate(model, vocabulary, ["seven"]).target_words)
    figure = draw(number=7, layer=1, head=2)
    assert not figure.get_suptitle()
    *said, place = figure.axes[0].get_title("left").split("\n")
    assert f"7 → {written}".startswith(" ".join(said).removesuffix(" …"))
    assert place == "Layer 1, head 2"


def test_typing_and_sliding_are_one_number(explored):
    draw, _, controls = explored
    (typed,) = controls["also"]
    assert isinstance(typed, widgets.BoundedIntText)
    typed.value = 77
    assert controls["number"].value == 77
    assert controls["layer"].max == LAYERS and controls["head"].max == HEADS
    first = draw(number=342, layer=1, head=1).axes[0].images[0].get_array()
    other = draw(number=77, layer=1, head=1).axes[0].images[0].get_array()
    assert first.shape != other.shape
