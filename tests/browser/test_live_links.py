"""The links: the word that is pointed at says what torch has computed, in every sentence."""

import re
from inspect import getfile

import pytest
import torch

from tests.published import published_element, published_page
from transformer_course.start_here.first_translation import (
    explore_links,
    translate_text,
    word_attention,
)
from transformer_course.viewer.live import live_page
from transformer_edu.pretrained.loading import load_pretrained

SENTENCES = [("short", "Two dogs."), ("long", "A man is playing the guitar on the old street.")]
PLACE = {"layer": 3, "head": 1}
WIDE, PHONE = {"width": 800, "height": 520}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def translator():
    return load_pretrained()


@pytest.fixture(scope="module")
def links(translator) -> str:
    """The page of SENTENCES."""
    return published_page(explore_links, translator, SENTENCES, **PLACE)


def readout(page) -> str:
    return page.locator("[data-part=readout]").inner_text()


def german(page):
    return page.locator("[aria-pressed]")


def two_words(*weights: list[float]) -> str:
    """The page of English a, b, c, and of German words with these weights."""
    names = ["eins", "zwei", "drei"][: len(weights)]
    words = {"english": ["a", "b", "c"], "german": [*names[:-1], "(end)"], "weights": weights}
    sentence = {"kind": "a kind", "text": "a b c", **words, "marked": 0}
    return live_page(
        getfile(explore_links),
        {"sentences": [sentence], "first": 0},
        title="links",
        alt="words",
    )


def test_every_word_of_every_sentence_says_its_weights(opened, translator, links):
    page = opened(links)
    for number, (_, text) in enumerate(SENTENCES):
        page.locator("select").select_option(str(number))
        found = translate_text(translator, text)
        weights = word_attention(found, **PLACE)
        assert german(page).all_text_contents() == [*found.target_words, "(end)"]
        for place, row in enumerate(weights):
            german(page).nth(place).hover()
            said = [int(each) for each in re.findall(r"(\d+)%", readout(page))]
            large = row[row >= 0.05].sort(descending=True).values
            expected = (100 * large).clamp(max=99)  # 99.5% and more is said as "> 99%"
            assert said[: len(large)] == pytest.approx(expected.tolist(), abs=0.51)
            assert f"“{found.source_words[int(row.argmax())]}”" in readout(page)
            assert sum(said) == pytest.approx(100, abs=len(said))


def test_what_is_said_also_stands_at_the_words_and_the_thickest_line_ends_at_the_first(opened):
    page = opened(two_words([0.9, 0.06, 0.04], [0.0, 0.25, 0.75]))
    shown = page.locator("[data-part=figure] text").all_text_contents()
    assert [text for text in shown if "%" in text] == ["90%", "6%"]  # 4% is only drawn
    assert "To write “eins”, the translator attends to “a” 90%, “b” 6%" in readout(page)
    assert "all other words together 4%" in readout(page)
    german(page).last.hover()
    assert readout(page).startswith("To end the sentence, the translator attends to “c” 75%, “b”")
    lines = page.locator("[stroke-linecap]").all()
    thickest = max(lines, key=lambda line: float(line.get_attribute("stroke-width")))
    word = page.locator("[data-part=figure]").get_by_text("c", exact=True)
    box, line = (each.bounding_box() for each in (word, thickest))
    assert line["x"] <= box["x"] + box["width"] / 2 <= line["x"] + line["width"] + 8


def test_a_line_is_drawn_for_every_weight_that_counts(opened):
    rows = torch.tensor([[0.5, 0.3, 0.2], [0.9, 0.09, 0.01], [0.98, 0.015, 0.005]])
    page = opened(two_words(*rows.tolist()))
    assert page.locator("[stroke-linecap]").count() == 3 + 1 + 1  # of others from 10% on
    german(page).nth(1).hover()
    assert page.locator("[stroke-linecap]").count() == 3 + 2 + 1  # of its own from 2% on


def test_the_button_goes_round_the_sentences_and_escape_back_to_the_first_word(opened, links):
    page = opened(links)
    first, start = german(page).all_text_contents(), readout(page)
    german(page).last.press("Home")
    page.keyboard.press("End")
    assert readout(page).startswith("To end the sentence")
    page.keyboard.press("Escape")
    assert readout(page) == start
    page.get_by_role("button", name="Next sentence").click()
    assert page.locator("select").input_value() == "1" and german(page).all_text_contents() != first
    page.get_by_role("button", name="Next sentence").click()
    assert german(page).all_text_contents() == first and readout(page) == start


@pytest.mark.parametrize("window", [WIDE, PHONE], ids=str)
def test_words_do_not_overlap_and_are_large_enough_for_a_finger(opened, translator, window):
    sentences = [("long", "An old man is reading the long newspaper and " * 3 + "is happy.")]
    page = opened(published_page(explore_links, translator, sentences, **PLACE), viewport=window)
    boxes = [each.bounding_box() for each in page.locator("[data-part=figure] rect").all()]
    for number, one in enumerate(boxes):
        assert one["height"] >= (28 if window == PHONE else 24)
        for other in boxes[:number]:
            apart = any(
                one[at] + one[size] <= other[at] or other[at] + other[size] <= one[at]
                for at, size in (("x", "width"), ("y", "height"))
            )
            assert apart


@pytest.mark.parametrize("runs", [True, False], ids=["with a script", "without"])
def test_the_still_picture_is_seen_only_where_no_script_may_run(opened, translator, runs):
    element = published_element(explore_links, translator, SENTENCES, **PLACE)
    page = opened(element, java_script_enabled=runs)
    assert page.locator("iframe").is_visible() == runs
    assert page.locator("img").is_visible() != runs
