"""What a person wrote in TEACHING.md is true of the lessons; tools/tables.py writes the rest."""

import ast
import copy
import importlib.util
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tools import facts
from tools.lesson import Lesson
from tools.notebooks import ROOT, refusal
from tools.rules import all_lessons
from tools.tables import (
    NOTES,
    WEEK,
    Told,
    predict_table,
    right_answers,
    with_block,
    with_notes,
)
from transformer_course.asking.predict import OBSERVED, shuffled

GUIDE = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
TERM = re.search(r"(?ms)^## A term\n(.*?)^## ", GUIDE)[1]
LESSONS = all_lessons()
MEETING = {90: 80, 75: 65}  # minutes: what remains after ten on the hints that students got


def texts_of(lesson: Lesson) -> Iterator[str]:
    """Every text of a lesson: its words, the texts in its code, its own and shared checks."""
    for cell in lesson.markdown_cells:
        yield " ".join(cell.source.split())
    code = "\n".join(cell.source for cell in lesson.code_cells)
    rooms = [ROOT / "transformer_course" / name for name in (lesson.name[3:-6], "asking")]
    files = [path for room in rooms for path in room.glob("*.py")]
    for source in [code, *(path.read_text(encoding="utf-8") for path in files)]:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield " ".join(node.value.split())


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_what_the_notes_quote_stands_in_the_lesson_or_in_its_room(lesson):
    notes = " ".join(dict(NOTES.findall(GUIDE))[lesson.name[:2]].split())
    texts = list(texts_of(lesson))
    quoted = re.findall(r"“(.*?)”", notes)
    lost = [quote for quote in quoted if not any(quote in text for text in texts)]
    words = f"TEACHING.md, ### {lesson.name[:2]}, quotes what is not there: {lost}"
    assert quoted and not lost, refusal(lesson.name, words)


def test_the_plan_for_a_term_has_every_lesson_and_fits_into_its_meetings():
    weeks = {
        week: re.split(r"\s*\|\s*", row)
        for week, row in re.findall(r"(?m)^\| (\d+) \| (.*)$", TERM)
    }
    numbers = [
        int(n) for plan, *_ in weeks.values() for n in re.findall(r"(?<![.\d])\d\d(?![.\d])", plan)
    ]
    minutes = {week: int(row[1]) for week, row in weeks.items()}
    assert numbers == [lesson.number for lesson in LESSONS if lesson.number != 13]
    assert "Lesson 13 is for students" in TERM
    assert max(minutes.values()) <= MEETING[90], minutes
    *long, last = [week for week, each in minutes.items() if each > MEETING[75]]
    assert f"weeks {', '.join(long)} and {last} need two each" in " ".join(TERM.split())
    slow = [e.name[:2] for e in LESSONS if facts.times(e.notebook)[0] > MEETING[90]]
    assert f"except in lesson{'s' * (len(slow) > 1)} {' and '.join(slow)}." in TERM


def test_what_the_guide_links_to_is_there():
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)\)", GUIDE):
        assert (ROOT / target).exists(), target
    for module in re.findall(r"python -m ((?:transformer_|tools)[\w.]+)", GUIDE):
        assert importlib.util.find_spec(module), module


def test_a_reworded_predict_keeps_what_a_person_said_about_it():
    told = [
        Told("How many?", "six times", "", "five times", "count"),
        Told("Why?", "x", " †", "y", "z"),
    ]
    asked = [
        facts.Predict("2", "How many steps?", ["five times", "exactly six times"]),
        facts.Predict("3", "Why?", ["x", "y"]),
        facts.Predict("3", "New?", ["a", "b"]),
    ]
    rows = predict_table(asked, told).splitlines()[2:]
    assert rows == [
        "| 2 | How many steps? | exactly six times | *five times*: count |",
        "| 3 | Why? | x † | *y*: z |",
        "| 3 | New? | ? | *?*: ? |",
    ]


def test_a_block_is_replaced_between_its_comments_and_must_be_there():
    text = "a\n<!-- b -->\nold\n<!-- /b -->\nc"
    assert with_block(text, "b", "new\n") == text.replace("old", "new")
    with pytest.raises(ValueError, match="must hold <!-- x -->"):
        with_block(text, "x", "new")


def test_every_week_of_the_plan_is_found():
    assert len(WEEK.findall(TERM)) == len(re.findall(r"(?m)^\| \d+ \|", TERM)) > 10


def test_the_right_answer_stands_at_each_place_about_equally_often():
    right, places = json.loads(right_answers(GUIDE).replace(OBSERVED, "")), Counter()
    for lesson in LESSONS:
        for asked in facts.predicts(lesson.notebook):
            answers = shuffled(asked.question, asked.answers)
            if asked.question in right:  # else the lesson waits to be stored
                places[len(answers), answers.index(right[asked.question])] += 1
    assert places.total() > 100
    for count in (2, 3, 4):
        found = [places[count, place] for place in range(count)]
        fair = sum(found) / count
        assert max(abs(each - fair) for each in found) <= max(fair / 3, 2), (count, found)


def test_an_answer_that_nobody_has_given_yet_is_not_told():
    row = "| 1 | {} | {} † | *{}*: {} |\n"
    notes = row.format("Why?", "so", "no", "say") + row.format("New?", "?", "?", "?")
    assert json.loads(right_answers(notes)) == {"Why?": "so †"}


def test_a_lesson_that_was_not_run_again_keeps_what_a_person_wrote_of_its_questions():
    edited = copy.deepcopy(LESSONS[2].notebook)
    for cell in edited.cells:
        cell.source += "\n"
        if cell.cell_type == "code":
            cell.outputs = []
    names = {lesson.name: lesson.name for lesson in LESSONS}
    lessons = [*LESSONS[:2], replace(LESSONS[2], notebook=edited), *LESSONS[3:]]
    questions = re.findall(r"(?m)^\| \d+ \| .+\? \|", dict(NOTES.findall(GUIDE))["02"])
    kept = dict(NOTES.findall(with_notes(GUIDE, lessons, names)))["02"]
    assert questions and all(question in kept for question in questions)
