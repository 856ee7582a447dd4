"""The links: every German word has its lines and lights up the English words that it attends to."""

import re
from xml.etree import ElementTree

import pytest
import torch

from transformer_edu.teaching.viewer.links import FAINTEST, SAID, links_element

WEIGHTS = torch.tensor([[0.9, 0.1 - FAINTEST / 2, FAINTEST / 2], [0.0, 0.25, 0.75]])
GERMAN, ENGLISH = ["<Ja>", "(end)"], ["Yes & no", "no", "."]


def element(weights: torch.Tensor = WEIGHTS, marked: int = 1) -> ElementTree.Element:
    page = links_element(weights, query_words=GERMAN, key_words=ENGLISH, marked=marked)
    return ElementTree.fromstring(page)  # well-formed, one element


def groups(page: ElementTree.Element) -> list[ElementTree.Element]:
    return [each for each in page.iter("g") if "word" in each.get("class").split()]


def test_a_word_can_be_reached_by_the_keyboard_and_says_what_it_attends_to():
    words = groups(element())
    assert [each.get("aria-label") for each in words] == [
        "<Ja> attends most to Yes & no",
        "(end) attends most to .",
    ]
    assert {each.get("tabindex") for each in words} == {"0"}


def test_only_the_marked_word_is_brought_out_at_first():
    for marked in (0, 1):
        classes = [each.get("class") for each in groups(element(marked=marked))]
        assert [name == "word first" for name in classes] == [marked == 0, marked == 1]


def test_lines_are_as_thick_as_weights_are_large_and_the_faintest_are_left_out():
    first, second = (
        [float(p.get("stroke-width")) for p in g.iter("path")] for g in groups(element())
    )
    assert len(first) == len(second) == 2
    assert first[0] > second[1] > second[0] > first[1]


def test_a_line_ends_at_its_word_and_the_word_lights_up_there():
    page = element()
    *_, dot = (text for text in page.iter("text") if text.text == ".")
    best = list(groups(page)[1].iter("path"))[-1]
    assert re.search(r"L(\d+) ", best.get("d"))[1] == dot.get("x")
    (said,) = (g for g in groups(page)[1].iter("g") if g.get("class") == "said")
    light = max(said.iter("rect"), key=lambda rect: float(rect.get("fill-opacity")))
    middle = float(light.get("x")) + float(light.get("width")) / 2
    assert middle == pytest.approx(float(dot.get("x")), abs=1)
    assert [text.text for text in said.iter("text")] == ["25%", "75%"]


def test_small_weights_are_not_written_as_a_percentage():
    weights = torch.tensor([[1 - SAID / 2, SAID / 2, 0.0], [0.0, 0.0, 1.0]])
    (said, _) = (g for g in element(weights).iter("g") if g.get("class") == "said")
    assert len(list(said.iter("rect"))) == 2 and len(list(said.iter("text"))) == 1


def test_words_do_not_overlap_and_long_sentences_get_a_wider_picture():
    long = [f"word{number}" for number in range(30)]
    weights = torch.eye(30)
    page = ElementTree.fromstring(
        links_element(weights, query_words=long, key_words=long, marked=0)
    )
    boxes = [rect for rect in page.iter("rect") if rect.get("class") == "hit"]
    ends = [(float(b.get("x")), float(b.get("x")) + float(b.get("width"))) for b in boxes]
    assert all(end <= start for (_, end), (start, _) in zip(ends, ends[1:], strict=False))
    assert ends[-1][1] <= float(page.find("svg").get("width"))


def test_nothing_is_loaded_and_no_script_runs():
    page = links_element(WEIGHTS, query_words=GERMAN, key_words=ENGLISH, marked=0)
    assert not re.search(r"<script|https?:|url\(|@import|\son\w+=", page)
