"""A frame holds its page unchanged, and a page runs no script but its own."""

import base64
import hashlib
import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from transformer_course.viewer import frame as module
from transformer_course.viewer.frame import SHARED_SCRIPT, framed, html_page

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><b>",
    "\"><img src=x onerror='alert(1)'>",
    "'><svg/onload=alert(1)>",
    "<!--",
    "]]>",
    "--></title></style></iframe>",
    "\u2028\u2029",
    "&lt;&quot;&#39;",
    "{0}{title}%s",
]
every_text = pytest.mark.parametrize("text", ["plain", *HOSTILE], ids=ascii)


def elements(page: str) -> list[tuple[str, ...]]:
    """The elements of a page with the names of their attributes."""
    found: list[tuple[str, ...]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.append((tag, *(name for name, _ in attrs)))
    parser.feed(page)
    parser.close()
    return found


@every_text
def test_the_frame_holds_the_page_unchanged_beside_the_picture_that_stands_in(text):
    page = html_page(text, "<p>body</p>", {"words": [text]}, [])
    frame = framed(page, text, 500, kind="live-figure", picture="<img>")
    (holder,) = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(holder) == page
    assert [tag for tag, *_ in elements(frame)] == ["div", "style", "iframe", "img"]
    assert 'sandbox="allow-scripts"' in frame


def test_only_the_pages_own_script_may_run():
    page = html_page("a", "<p>b</p>", {}, ["viewer.js"])
    (policy,) = re.findall(r"Content-Security-Policy' content=\"([^\"]*)\"", page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith(f"script-src 'sha256-{digest}'")
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("):
        assert dangerous not in script


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_a_page_could_not_read_is_refused(number):
    with pytest.raises(ValueError, match="data must have finite numbers only, got NaN or infinity"):
        html_page("a", "<p>b</p>", {"weights": [[0.5, number]]}, [])


NAME = re.compile(r"(?m)^(?:const|let|function|class) (\w+)")
SCRIPTS = {
    path.name: path.read_text()
    for path in Path(module.__file__).parents[1].glob("*/*.js")
    if path.parent.name not in ("live_translator", "review")  # they stand alone
}


@pytest.mark.parametrize("name", sorted(SCRIPTS.keys() - {SHARED_SCRIPT}))
def test_what_scripts_share_is_written_once(name):
    assert {"write", "heading", "bold", "listed"} <= set(NAME.findall(SCRIPTS[SHARED_SCRIPT]))
    assert not set(NAME.findall(SCRIPTS[name])) & set(NAME.findall(SCRIPTS[SHARED_SCRIPT]))
    assert not re.search(r"Object\.entries\(.*\)\)?\s+\S+\.setAttribute\(", SCRIPTS[name])
