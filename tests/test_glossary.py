"""The glossary has one sentence and one lesson for each term, and every link to it arrives."""

import re

import pytest

from tools.notebooks import ROOT, lesson_paths, read

PATH = ROOT / "notebooks" / "glossary.ipynb"
WORDS = "\n".join(cell.source for cell in read(PATH).cells)
ENTRY = re.compile(r"(?m)^### (.+)\n\n(.+) \[Lesson (\d+)\]\((.+)\)$")
ENTRIES = ENTRY.findall(WORDS)
LINK = re.compile(r"\[[^\]]+\]\(glossary\.ipynb(?:#([^)]+))?\)")


def anchor(heading: str) -> str:
    """The fragment under which Jupyter finds a heading."""
    return heading.replace(" ", "-")


def test_every_heading_is_an_entry_and_the_order_is_alphabetical():
    terms = [term for term, *_ in ENTRIES]
    assert terms == re.findall(r"(?m)^### (.+)$", WORDS)
    assert terms == sorted(set(terms), key=str.lower)
    letters = re.findall(r"(?m)^## (.)$", WORDS)
    assert letters == sorted({term[0].upper() for term in terms})


@pytest.mark.parametrize(("term", "text", "number", "name"), ENTRIES, ids=[e[0] for e in ENTRIES])
def test_an_entry_is_one_short_sentence_and_names_a_lesson_that_there_is(term, text, number, name):
    assert text.endswith(".") and not re.search(r"[.?!] [A-Z]", text)
    assert len(text.split()) <= 30
    assert name in [path.name for path in lesson_paths()] and name.startswith(f"{int(number):02}_")


@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.stem)
def test_every_link_to_the_glossary_arrives(path):
    anchors = {anchor(term) for term, *_ in ENTRIES}
    targets = [target for cell in read(path).cells for target in LINK.findall(cell.source)]
    assert set(targets) - {""} <= anchors
    assert targets, "no first use is linked to the glossary"
