"""TEACHING.md says of every lesson what is true of it."""

import ast
import importlib.util
import re
from collections.abc import Iterator

import pytest

from tools.exercises import HEADING
from tools.lesson import Lesson
from tools.notebooks import ROOT
from tools.rules import all_lessons
from tools.skeleton_rules import front, title

GUIDE = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
LESSONS = all_lessons()
SECTIONS = dict(re.findall(r"(?ms)^### (\d\d) · [^\n]+\n(.*?)(?=^##)", GUIDE))
PROJECT = 40  # minutes: from there on an exercise is a project, which the lesson counts apart


def row(lesson: Lesson) -> str:
    """What the table of lessons must say of a lesson."""
    time = re.search(r"\*\*Time:\*\*(.*)", front(lesson))[1]
    total, *more = re.findall(r"(\d+)(?= minutes| more)", time)
    found = [each for cell in lesson.markdown_cells for each in HEADING.finditer(cell.source)]
    exercises = [(int(each["minutes"]), each) for each in found]
    in_class = int(total) - sum(minutes for minutes, _ in exercises if minutes < PROJECT)
    cells = [
        f"{lesson.number:02}",
        f"[{title(lesson)}](notebooks/{lesson.name})",
        " + ".join([total, *more]),
        str(in_class),
        " · ".join(
            f"{e['lesson']}.{e['number']} {e['kind']} {minutes}" for minutes, e in exercises
        ),
    ]
    return f"| {' | '.join(cells)} |"


def texts_of(lesson: Lesson) -> Iterator[str]:
    """Every text in the code of a lesson, in order, and then of its checks."""
    code = "\n".join(cell.source for cell in lesson.code_cells)
    modules = set(re.findall(r"from (transformer_edu\.teaching\.checks\.\w+) import", code))
    sources = [code]
    for module in modules:
        sources.append(importlib.util.find_spec(module).loader.get_source(module))
    for source in sources:
        found = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Constant)]
        for node in sorted(found, key=lambda each: (each.lineno, each.col_offset)):
            if isinstance(node.value, str):
                yield " ".join(node.value.split())


def test_the_table_of_lessons_says_what_their_first_pages_say():
    table = re.search(r"<!-- lessons -->\n(.*?)<!-- /lessons -->", GUIDE, re.DOTALL)[1]
    assert table.splitlines()[2:] == [row(lesson) for lesson in LESSONS]


def test_every_lesson_has_its_notes():
    assert list(SECTIONS) == [f"{lesson.number:02}" for lesson in LESSONS]
    for number, notes in SECTIONS.items():
        for words in ("- Ask “", "Exercise", "- Short of time:"):
            assert words in notes, f"lesson {number} lacks {words!r}"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_what_the_notes_quote_stands_in_the_lesson_or_in_its_checks(lesson):
    notes = " ".join(SECTIONS[f"{lesson.number:02}"].split())
    texts = list(texts_of(lesson))
    quoted = re.findall(r"“(.*?)”", notes)
    assert quoted and not [quote for quote in quoted if not any(quote in text for text in texts)]
    questions = re.findall(r"Ask “(.*?)”", notes)
    order = [next(i for i, text in enumerate(texts) if quote in text) for quote in questions]
    assert order == sorted(order), "the Predicts are in another order"


def test_the_plans_name_every_lesson_and_link_to_what_there_is():
    term = re.search(r"(?ms)^## A term\n(.*?)^## ", GUIDE)[1]
    weeks = " ".join(re.findall(r"(?m)^\| \d+ \| ([^|]*) \|", term))
    planned = {int(number) for number in re.findall(r"\b\d\d\b", weeks)}
    assert planned == {lesson.number for lesson in LESSONS} - {13}  # for which there is a sentence
    assert "Lesson 13 is for students" in term
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)\)", GUIDE):
        assert (ROOT / target).exists(), target
    for module in re.findall(r"python -m (transformer_edu[\w.]+)", GUIDE):
        assert importlib.util.find_spec(module), module
