"""The explorer reads the given translation, and its own of a reader's sentence."""

import pytest

from tests.published import caught_explorers
from transformer_course.looking_inside import chosen_head
from transformer_course.looking_inside.chosen_head import explore_attention
from transformer_edu.pretrained.loading import load_pretrained


@pytest.fixture
def explored(monkeypatch) -> list[tuple]:
    return caught_explorers(monkeypatch, chosen_head)


def test_the_decoder_reads_the_given_translation_and_its_own_of_the_readers_sentence(explored):
    translator, english = load_pretrained(), "A cat sleeps."
    place = {"start": "decoder.layers.1.cross_attention", "head": 3}
    explore_attention(translator, english, "Ein Kater schläft.", **place)
    ((draw, words, controls),) = explored
    assert controls["text"].value == english
    assert "Cross-attention, layer 2, head 3 of" in words(text=english)
    for text, german in (
        (english, "Ein Kater schläft."),
        ("Two dogs.", translator.translate("Two dogs.")),
    ):
        tokens = translator.tokenizer.tokens(translator.tokenizer.encode(german))
        rows = zip(["<s>", *tokens], [*tokens, "</s>"], strict=True)
        assert all(f"{read} → {written} to" in words(text=text) for read, written in rows)
    with pytest.raises(ValueError, match="there must be a sentence to translate"):
        draw(text=" ")
