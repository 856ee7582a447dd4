"""A live figure in a frame: hostile texts, one still picture, a limit of its size."""

import json
import re
from inspect import getfile

import matplotlib.pyplot as plt
import pytest

from tests.course.viewer.test_frame import elements, every_text
from tests.published import caught_bundles
from transformer_course.attention.live_lookup import show_plane_live
from transformer_course.drawing import display as display_module
from transformer_course.drawing.display import SHOWN_AT, shown_width
from transformer_course.viewer.frame import COLORS
from transformer_course.viewer.live import MOST_BYTES, live_element, live_page, show_live

PLANE = getfile(show_plane_live)
SIZES = {"height": 500, "phone_height": 700}


@every_text
def test_no_title_no_word_and_no_alternative_text_changes_what_a_page_is_made_of(text):
    plain = live_page(PLANE, {"words": ["a"]}, title="b", alt="c")
    hostile = live_page(PLANE, {"words": [text]}, title=text, alt=f"words {text}")
    assert elements(hostile) == elements(plain)
    (found,) = re.findall(r"<script type='application/json'[^>]*>(.*?)</script>", hostile, re.S)
    assert json.loads(found) == {"colors": list(COLORS), "words": [text]}


def test_a_small_still_picture_stands_after_the_frame_and_none_in_the_page(monkeypatch):
    bundles = caught_bundles(monkeypatch, display_module)
    show_live(PLANE, {}, title="a", still=plt.figure(figsize=(1, 1)), alt="words & more", **SIZES)
    (bundle,) = bundles
    data = bundle["data"]
    assert data["text/plain"] == bundle["metadata"]["image/png"]["alt"] == "words & more"
    page, after = data["text/html"].split("</iframe>")
    (stored,) = re.findall(r'alt="words &amp; more" src="data:image/png;base64,([^"]*)"', after)
    assert stored == data["image/png"] and "base64," not in page
    assert shown_width(stored) <= 1.3 * SHOWN_AT
    assert "--height: 500px; --phone-height: 700px" in page
    element = live_element(PLANE, {}, title="a", alt="words & more", **SIZES)
    assert element == f"{page}</iframe></div>"


def test_too_large_a_page_is_refused():
    with pytest.raises(ValueError, match=f"at most {MOST_BYTES} bytes, got "):
        live_page(PLANE, {"words": "x" * MOST_BYTES}, title="a", alt="b")


def test_the_limit_counts_bytes_and_not_characters():
    fits = {"title": "a", "alt": "b" * (MOST_BYTES // 2)}
    live_page(PLANE, {}, **fits)
    with pytest.raises(ValueError, match=f"at most {MOST_BYTES} bytes, got "):
        live_page(PLANE, {}, **fits | {"alt": "ä" * (MOST_BYTES // 2)})


@pytest.mark.parametrize("alt", ["", " \n"])
def test_a_figure_without_words_is_refused(alt):
    with pytest.raises(ValueError, match="alt must say the first state in words, got "):
        show_live(PLANE, {}, title="a", still=plt.figure(figsize=(1, 1)), alt=alt, **SIZES)
    with pytest.raises(ValueError, match="alt must say the first state in words, got "):
        live_element(PLANE, {}, title="a", alt=alt, **SIZES)
