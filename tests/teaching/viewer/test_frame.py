"""A frame holds its page unchanged, and a page runs no script but its own."""

import base64
import hashlib
import html
import re
from html.parser import HTMLParser

import pytest

from transformer_edu.teaching.viewer.frame import framed, html_page

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
    page = html_page("a", "<p>b</p>", {}, ["plane.js"])
    (policy,) = re.findall(r"Content-Security-Policy' content=\"([^\"]*)\"", page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith(f"script-src 'sha256-{digest}'")
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("):
        assert dangerous not in script
