"""The glossary has one sentence and one lesson for each term, and every link to it arrives."""

import re

import pytest

from tools.notebooks import BEFORE, GLOSSARY, NAMES, lesson_paths, read, refusal

OTHERS = {"Before you start": BEFORE.name, "Names on model cards": NAMES.name}
WORDS = "\n".join(cell.source for cell in read(GLOSSARY).cells)
ENTRY = re.compile(rf"(?m)^### (.+)\n\n(.+) \[(Lesson \d+|{'|'.join(OTHERS)})\]\((.+)\)$")
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


def test_an_entry_is_one_short_sentence_and_names_a_lesson_that_there_is():
    names = [path.name for path in lesson_paths()]
    for term, text, place, name in ENTRIES:
        assert text.endswith(".") and not re.search(r"[.?!] [A-Z]", text), term
        assert len(text.split()) <= 30, term
        if place in OTHERS:
            assert name == OTHERS[place], term
        else:
            number = int(place.removeprefix("Lesson "))
            assert name in names and name.startswith(f"{number:02}_"), term


def test_an_entry_that_leads_to_the_names_on_model_cards_is_a_name_there():
    names = read(NAMES).cells[3].source.lower()
    for term, _, _, name in ENTRIES:
        assert name != NAMES.name or term.lower() in names, term


@pytest.mark.parametrize("path", [BEFORE, *lesson_paths(), NAMES], ids=lambda path: path.stem)
def test_every_link_to_the_glossary_arrives(path):
    anchors = {anchor(term) for term, *_ in ENTRIES}
    targets = [target for cell in read(path).cells for target in LINK.findall(cell.source)]
    lost = set(targets) - {""} - anchors
    assert not lost, refusal(path.name, f"links to entries that the glossary lacks: {lost}")
    assert targets, refusal(path.name, "no first use is linked to the glossary")
