"""The explorer's drawing works without its controls and says what it shows."""

import itertools

import matplotlib.pyplot as plt
import pytest

from tests.published import caught_explorers
from transformer_course.exploring import attention_explorer as explorers
from transformer_course.exploring.attention_explorer import (
    MOST_NUMBERS,
    explore_attention,
    explore_head_switches,
    show_clocks_live,
)
from transformer_edu.pretrained.loading import load_pretrained


@pytest.fixture
def explored(monkeypatch) -> list[tuple]:
    return caught_explorers(monkeypatch, explorers)


def test_every_state_of_the_switches_is_drawn_and_described(explored):
    explore_head_switches(lambda off: {"both": 1 - len(off) / 2}, num_heads=2)
    ((draw, alt, controls),) = explored
    assert all(control.description for control in controls.values())
    for states in itertools.product([False, True], repeat=2):
        switches = dict(zip(controls, states, strict=True))
        draw(**switches)
        assert alt(**switches)
        plt.close("all")


def test_a_head_without_its_tick_is_switched_off(explored):
    explore_head_switches(lambda off: {"before": 0.0 if 1 in off else 1.0}, num_heads=2)
    ((draw, alt, controls),) = explored
    assert [control.description for control in controls.values()] == [
        "head 1 is on",
        "head 2 is on",
    ]
    on, off = {"head_1": True, "head_2": True}, {"head_1": False, "head_2": True}
    (bar,) = draw(**off).axes[0].patches
    assert bar.get_height() == 0
    assert alt(**on) == "All heads are on: right more than nine times in ten: before"
    assert alt(**off) == "head 1 switched off: right more than nine times in ten: none"


@pytest.mark.parametrize(
    ("d_model", "words"),
    [
        (2, "at least 4, got 2"),
        (7, "even, got 7"),
        (MOST_NUMBERS + 2, f"at most {MOST_NUMBERS}, got {MOST_NUMBERS + 2}"),
    ],
)
def test_clock_faces_without_a_place_are_refused(d_model, words):
    with pytest.raises(ValueError, match=f"d_model must be {words}"):
        show_clocks_live(d_model=d_model)


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
