"""A translation's picture shows where each generated word attends."""

import html
import json
import re

import ipywidgets as widgets
import matplotlib.pyplot as plt
import pytest
import torch

from tests.published import caught_explorers
from transformer_course.drawing.style import literal
from transformer_course.looking.head_roles import (
    group_pieces,
)
from transformer_course.looking.recording import record_attention
from transformer_course.start_here import first_translation as module
from transformer_course.start_here.first_translation import (
    Translation,
    cross_attention,
    describe_translation,
    draw_translation,
    explore_links,
    explore_numbers,
    join_pieces,
    remember_last,
    translate,
    translate_text,
    word_attention,
)
from transformer_course.texts.sentences import CAPTION_PAIRS
from transformer_edu.data.number_words import ENGLISH_WORDS, GERMAN_WORDS
from transformer_edu.data.tokenizer import train_tokenizer
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.translator import Translator, write_all
from transformer_edu.model.special_ids import END_ID, START_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

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
    model.train()
    translation = translate(model, vocabulary, WORDS)
    assert model.training  # left as it was
    source_ids = torch.tensor([vocabulary.encode(WORDS)])
    (written,) = greedy_search(model, source_ids, end_loops=True)
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


def test_the_answer_is_kept_until_the_question_or_any_weight_changes(model):
    asked = []
    remembering = remember_last(lambda **given: asked.append(given) or len(asked), model)
    assert [remembering(a=1), remembering(a=1), remembering(a=2)] == [1, 1, 2]
    parameter = model.decoder.layers[0].feed_forward.widen.weight
    parameter.data[0, 0] += 1  # unseen by the counters of changes
    assert [remembering(a=2), remembering(a=2)] == [3, 3]
    model.double()
    assert remembering(a=2) == 4
    assert asked == [{"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}]


def test_a_question_that_was_refused_has_no_answer(model):
    remembering = remember_last(lambda number: 1 / number, model)
    assert remembering(number=2) == 0.5
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            remembering(number=0)


@pytest.fixture
def explored(model, vocabulary, monkeypatch) -> tuple:
    """What explore_numbers hands to explore."""
    shown = caught_explorers(monkeypatch, module)
    explore_numbers(model, vocabulary, number=342, layer=2, head=1)
    return shown[0]


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


TEXT_LAYERS, TEXT_HEADS = 3, 2
TEXT = "A bookshop is on the beach."


def build_for_text(*, max_length: int = 100) -> Translator:
    texts = [text for pair in CAPTION_PAIRS for text in pair]
    tokenizer = train_tokenizer(texts, vocabulary_size=400)
    torch.manual_seed(0)
    sizes = {
        "d_model": 16,
        "num_heads": TEXT_HEADS,
        "num_layers": TEXT_LAYERS,
        "d_ff": 24,
    }
    config = TransformerConfig(vocabulary_size=len(tokenizer), max_length=max_length, **sizes)
    return Translator(Transformer(config), tokenizer)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return build_for_text()


@pytest.fixture(scope="module")
def found(translator) -> Translation:
    return translate_text(translator, TEXT)


def test_the_words_written_are_those_of_the_translator(translator, found):
    written = translator.translate(TEXT, width=1)
    assert "".join(found.target_words).replace(" ", "") == written.replace(" ", "")
    assert found.source_words == ["A", "bookshop", "is", "on", "the", "beach", "."]
    assert len(found.attention) == TEXT_LAYERS
    for weights in found.attention:
        assert weights.shape == (
            TEXT_HEADS,
            len(found.target_words) + 1,
            len(found.source_words),
        )
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:2]))


def test_the_rows_are_those_of_the_words_in_order_and_the_last_one_is_the_end(translator, found):
    source_ids = translator.tokenizer.encode(TEXT)
    (written,) = write_all(translator.model, [source_ids])
    written = written[: translator.model.config.max_length - 1]  # room for the start
    read_words, written_words = (
        group_pieces([translator.tokenizer.pieces[token_id] for token_id in ids])
        for ids in (source_ids, written)
    )
    by_piece = cross_attention(translator.model, source_ids, written)
    for weights, pieces in zip(found.attention, by_piece, strict=True):
        first = join_pieces(pieces[:, : len(written_words[0])], written_words[:1], read_words)
        end = join_pieces(pieces[:, -1:], [[b""]], read_words)
        torch.testing.assert_close(weights[:, :1], first)
        torch.testing.assert_close(weights[:, -1:], end)


def test_head_zero_is_the_mean_of_all(found):
    for layer in range(1, TEXT_LAYERS + 1):
        heads = [word_attention(found, layer=layer, head=head) for head in range(1, TEXT_HEADS + 1)]
        assert torch.stack(heads).equal(found.attention[layer - 1])
        mean = torch.stack(heads).mean(dim=0)
        torch.testing.assert_close(word_attention(found, layer=layer), mean)


@pytest.mark.parametrize("drawn_or_told", [word_attention, draw_translation, describe_translation])
@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"layer": 0}, "layer must be from 1 to 3, got 0"),
        ({"layer": -1}, "layer must be from 1 to 3, got -1"),
        ({"layer": 4}, "layer must be from 1 to 3, got 4"),
        ({"layer": "1"}, "layer must be from 1 to 3, got '1'"),
        ({"layer": 1, "head": -1}, "head must be from 0 to 2, got -1"),
        ({"layer": 1, "head": 3}, "head must be from 0 to 2, got 3"),
    ],
)
def test_a_layer_or_head_that_is_not_there_is_refused(found, drawn_or_told, place, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        drawn_or_told(found, **place)


def test_the_figure_shows_these_weights_with_a_row_for_the_end(found):
    figure = draw_translation(found, layer=3, head=2, title=found.target)
    assert figure.get_label() == describe_translation(found, layer=3, head=2)
    (axes, *_) = figure.axes
    torch.testing.assert_close(
        torch.tensor(axes.images[0].get_array()), word_attention(found, layer=3, head=2)
    )
    assert axes.get_yticklabels()[-1].get_text() == "</s>"
    assert axes.get_xticklabels()[1].get_text() == "bookshop"
    title = axes.get_title("left").replace("\n", " ")
    assert literal(found.target, longest=None).startswith(title.removesuffix(" …"))


def test_what_is_read_and_written_is_spelt_as_its_readers_do(translator, found):
    assert (found.source, found.target) == (TEXT, translator.translate(TEXT, width=1))
    said = describe_translation(found, layer=1)
    assert said.startswith(f"{TEXT} → {found.target}. Layer 1, all heads")


def test_the_words_name_the_largest_weight_of_every_word(found):
    said = describe_translation(found, layer=1)
    largest = found.source_words[int(word_attention(found, layer=1)[0].argmax())]
    assert f"{found.target_words[0]} to {largest}" in said
    assert "all heads" in said and "</s> to" in said
    assert "head 2" in describe_translation(found, layer=1, head=2)


def test_a_translation_that_fills_the_model_to_the_brim_is_drawn():
    translator = build_for_text(max_length=24)
    translator.model.output_projection.bias.data[END_ID] = -1e3  # it never ends by itself
    found = translate_text(translator, "A man.")
    (written,) = write_all(translator.model, [translator.tokenizer.encode("A man.")])
    shown = written[: 24 - 1]  # room for the start
    assert found.target == translator.tokenizer.decode(shown)
    assert all(len(each[0]) == len(found.target_words) + 1 for each in found.attention)
    assert draw_translation(found, layer=1).axes


def test_a_reader_points_at_the_words_of_given_and_of_typed_sentences(translator, monkeypatch):
    shown = caught_explorers(monkeypatch, module)
    explore_links(translator, [("given", TEXT), ("given", "A man.")], layer=2, head=1)
    ((draw, describe, controls),) = shown
    assert isinstance(controls["text"], widgets.Text) and controls["text"].value == TEXT
    first, known, typed = (links_data(controls["live"](text)) for text in (TEXT, "A man.", "Dogs."))
    assert [each["text"] for each in first["sentences"]] == [TEXT, "A man."]
    assert first["sentences"] == known["sentences"] == typed["sentences"][1:]
    assert (first["first"], known["first"], typed["first"]) == (0, 1, 0)
    found, own = translate_text(translator, "Dogs."), typed["sentences"][0]
    assert (own["text"], own["english"]) == ("Dogs.", found.source_words)
    assert own["german"] == [*found.target_words, "(end)"]
    weights = word_attention(found, layer=2, head=1)
    torch.testing.assert_close(torch.tensor(own["weights"]), weights, atol=1e-4, rtol=0)
    figure = draw(text=TEXT)
    assert figure.get_label() == describe(text=TEXT)
    plt.close(figure)
    with pytest.raises(ValueError, match="text must have 1 to 40 words, got 0"):
        controls["live"](text=" ")


def links_data(element: str) -> dict:
    """What the script in a live figure finds."""
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', element)[1])
    return json.loads(re.search(r"data-part='data'>(.*?)</script>", page)[1])


def test_the_word_whose_thickest_line_crosses_most_is_marked_first():
    straight = torch.eye(4)
    assert module._most_crossed(straight, ["ab", "word", "de", "fg"]) == 1  # the only long one
    crossing = straight[[0, 2, 3, 1]]
    assert module._most_crossed(crossing, ["Mann", "laut", "dort", "Haus"]) == 3
    assert module._most_crossed(crossing, ["Mann", "laut", "dort", "im"]) in (1, 2)
    assert module._most_crossed(torch.ones(1, 3), []) == 0  # nothing was written


@pytest.mark.parametrize("sentences", [[], ["A dog runs."]])
def test_sentences_come_with_their_kinds(sentences):
    with pytest.raises(ValueError, match="sentences must be pairs of a kind and a sentence, one"):
        explore_links(None, sentences, layer=1, head=1)


def test_a_title_is_drawn_literally_and_line_by_line(translator):
    found = translate_text(translator, "$x_1$ \\frac")
    figure = draw_translation(found, layer=1, title="5 $ or\n$ 6")
    assert figure.axes[0].get_title("left") == "5 \\$ or\n\\$ 6"
    figure.canvas.draw()
    title = draw_translation(found, layer=2, head=1).axes[0].get_title("left")
    assert title == "Layer 2, head 1: where each word attends"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", ValueError, "text must have 1 to 40 words, got 0"),
        (" \xa0 ", ValueError, "text must have 1 to 40 words, got 0"),
        ("a " * 41, ValueError, "text must have 1 to 40 words, got 4[12]"),
        ("xq" * 400, ValueError, "must"),
        (None, TypeError, "text must be"),
    ],
    ids=["empty", "blank", "long", "one endless word", "none"],
)
def test_what_cannot_be_shown_is_refused(translator, text, error, message):
    with pytest.raises(error, match=message):
        translate_text(translator, text)


def test_words_are_a_list_of_at_least_one_and_numbers_in_range(model, vocabulary):
    with pytest.raises(TypeError, match="words must be several texts, got"):
        translate(model, vocabulary, "three hundred")
    with pytest.raises(ValueError, match="must have 1 to 40 words, got 0"):
        translate(model, vocabulary, [])


PIECE_HEADS = 2


def test_rows_are_means_and_columns_sums_so_rows_still_sum_to_one():
    weights = torch.rand(PIECE_HEADS, 4, 5).softmax(dim=-1)
    joined = join_pieces(weights, [[b"a"], [b"b", b"c"], [b""]], [[b"x", b"y", b"z"], [b"v", b"w"]])
    assert joined.shape == (PIECE_HEADS, 3, 2)
    torch.testing.assert_close(joined[:, 1, 0], weights[:, 1:3, :3].sum(dim=2).mean(dim=1))
    torch.testing.assert_close(joined[:, 2, 1], weights[:, 3, 3:].sum(dim=1))
    torch.testing.assert_close(joined.sum(dim=-1), torch.ones(PIECE_HEADS, 3))


def test_a_sentence_is_read_as_translate_reads_it(translator):
    plain = translate_text(translator, "It isn't a dog.")
    curly = translate_text(translator, "It isn’t\u00a0a dog.")
    assert curly.source_words == plain.source_words and curly.target_words == plain.target_words


@pytest.mark.parametrize(
    ("place", "name"), [((3, 1), "layer"), ((0, 1), "layer"), ((2, 9), "head")]
)
def test_a_first_picture_that_the_model_does_not_have_is_refused(place, name, model, vocabulary):
    with pytest.raises(ValueError, match=f"{name} must be at"):
        explore_numbers(model, vocabulary, number=3, layer=place[0], head=place[1])
