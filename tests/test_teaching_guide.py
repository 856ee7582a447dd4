"""TEACHING.md says of every lesson what is true of it."""

import ast
import importlib.util
import re
from collections.abc import Iterator

import pytest

from tools.exercises import HEADING
from tools.lesson import Lesson, headings
from tools.notebooks import ROOT
from tools.rules import all_lessons
from tools.skeleton_rules import front
from transformer_course.asking.predict import OUTCOME

GUIDE = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
LESSONS = all_lessons()
NAMES = dict(
    re.findall(
        r"\| (\d\d) \| \[([^]]+)\]\(notebooks/", (ROOT / "README.md").read_text(encoding="utf-8")
    )
)
SECTIONS = {
    number: (name, notes)
    for number, name, notes in re.findall(r"(?ms)^### (\d\d) · ([^\n]+)\n(.*?)(?=^##)", GUIDE)
}
PREDICT = re.compile(r"(?m)^\| (\d) \| (.+?) \| (.+?)(?: †)? \| \*(.+?)\*: .+ \|$")
PROJECT = 40  # minutes: from there on an exercise is a project, which the lesson counts apart
MEETING = {90: 80, 75: 65}  # minutes: what remains after ten on the hints that students got

by_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def notes_on(lesson: Lesson) -> str:
    """What the guide says of a lesson."""
    return SECTIONS[f"{lesson.number:02}"][1]


def exercises_of(lesson: Lesson) -> dict[str, tuple[str, int]]:
    """The kind and the minutes of every exercise, by its number, such as 2.1."""
    found = [each for cell in lesson.markdown_cells for each in HEADING.finditer(cell.source)]
    return {f"{e['lesson']}.{e['number']}": (e["kind"], int(e["minutes"])) for e in found}


def times_of(lesson: Lesson) -> list[int]:
    """The minutes at the top of a lesson: of the lesson, and of what may be left out."""
    told = re.search(r"\*\*Time:\*\*(.*)", front(lesson))[1]
    return [int(each) for each in re.findall(r"(\d+)(?= minutes| more)", told)]


def in_class(lesson: Lesson) -> int:
    """The minutes of a lesson without its exercises."""
    minutes = [each for _, each in exercises_of(lesson).values()]
    return times_of(lesson)[0] - sum(each for each in minutes if each < PROJECT)


def row(lesson: Lesson) -> str:
    """What the table of lessons must say of a lesson."""
    number, exercises = f"{lesson.number:02}", exercises_of(lesson).items()
    cells = [
        number,
        f"[{NAMES[number]}](notebooks/{lesson.name})",
        " + ".join(map(str, times_of(lesson))),
        str(in_class(lesson)),
        " · ".join(f"{name} {kind} {minutes}" for name, (kind, minutes) in exercises),
    ]
    return f"| {' | '.join(cells)} |"


def numbered_sections(lesson: Lesson) -> dict[str, str]:
    """The words of every section's heading, by its number."""
    found = [
        words for each in lesson.markdown_cells for level, words in headings(each) if level == 2
    ]
    return dict(words.split(" · ", 1) for words in found if re.match(r"\d · ", words))


def predicts_of(lesson: Lesson) -> list[tuple[str, str, list[str]]]:
    """The section's number, the question and the answers of every Predict, as it is shown."""
    section, found = "", []
    for cell in lesson.cells:
        if cell.cell_type == "markdown":
            section = [section, *(words for level, words in headings(cell) if level == 2)][-1]
        for output in cell.get("outputs", []):
            if OUTCOME in output.get("data", {}):
                question, *answers = output["data"]["text/plain"].splitlines()
                found.append((section[0], question, [each[len("( ) ") :] for each in answers]))
    return found


def texts_of(lesson: Lesson) -> Iterator[str]:
    """Every text of a lesson: its words, the texts in its code and those of its checks."""
    for cell in lesson.markdown_cells:
        yield " ".join(cell.source.split())
    code = "\n".join(cell.source for cell in lesson.code_cells)
    modules = set(re.findall(r"from (transformer_edu\.teaching\.checks\.\w+) import", code))
    sources = [importlib.util.find_spec(name).loader.get_source(name) for name in modules]
    for source in [code, *sources]:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield " ".join(node.value.split())


def test_the_table_of_lessons_says_what_their_first_pages_say():
    table = re.search(r"<!-- lessons -->\n(.*?)<!-- /lessons -->", GUIDE, re.DOTALL)[1]
    assert table.splitlines()[2:] == [row(lesson) for lesson in LESSONS]


def test_every_lesson_has_its_notes_under_the_name_that_readme_gives_it():
    assert {number: name for number, (name, _) in SECTIONS.items()} == NAMES
    assert list(SECTIONS) == [f"{lesson.number:02}" for lesson in LESSONS]
    for number, (_, notes) in SECTIONS.items():
        for words in (" minutes:** ", "| § | Predict | ", "Exercise", "- Short of time:"):
            assert words in notes, f"lesson {number} lacks {words!r}"


@by_lesson
def test_the_notes_name_every_predict_with_its_section_and_one_of_its_answers(lesson):
    asked, told = predicts_of(lesson), PREDICT.findall(notes_on(lesson))
    code = "\n".join(cell.source for cell in lesson.code_cells)
    opened = re.findall(r"(?m)^with (?:.*, )?predict\(", code)
    assert len(asked) == len(opened), "an outcome is not stored"
    assert [each[:2] for each in told] == [each[:2] for each in asked]
    assert {section for section, *_ in told} <= set(numbered_sections(lesson))
    for (_, question, right, wrong), (*_, answers) in zip(told, asked, strict=True):
        assert {right, wrong} <= set(answers) and right != wrong, question


def minutes_of(lesson: Lesson) -> tuple[int, dict[str, int]]:
    """The minutes in class that the notes give to the lesson, and to each section by its number."""
    told, line = re.search(r"(?m)^\*\*(\d+) minutes:\*\* (.*)$", notes_on(lesson)).groups()
    parts = dict(each.split(": ") for each in line.split(" · "))
    return int(told), {name.removeprefix("§"): int(minutes) for name, minutes in parts.items()}


@by_lesson
def test_the_minutes_of_the_sections_add_up_to_the_time_in_class(lesson):
    told, parts = minutes_of(lesson)
    assert told == sum(parts.values()) == in_class(lesson)
    asked = {section for section, *_ in predicts_of(lesson)}
    numbered = numbered_sections(lesson).items()
    sections = [each for each, words in numbered if each in asked or "xercises" not in words]
    assert list(parts) == ["opening", *sections]


@by_lesson
def test_what_the_notes_quote_stands_in_the_lesson_or_in_its_checks(lesson):
    notes = " ".join(notes_on(lesson).split())
    texts = list(texts_of(lesson))
    quoted = re.findall(r"“(.*?)”", notes)
    assert quoted and not [quote for quote in quoted if not any(quote in text for text in texts)]


def planned(lesson: Lesson, words: str) -> int:
    """The minutes of a lesson in a plan, whose words leave sections out and name exercises."""
    told, parts = minutes_of(lesson)
    left_out = sum(parts[each] for each in re.findall(r"§(\d)", words))
    exercises = exercises_of(lesson)
    return told - left_out + sum(exercises[each][1] for each in re.findall(r"\d+\.\d", words))


def test_the_plan_for_a_term_has_every_lesson_and_fits_into_its_meetings():
    term = re.search(r"(?ms)^## A term\n(.*?)^## ", GUIDE)[1]
    weeks = re.findall(r"(?m)^\| (\d+) \| ([^|]*) \| (\d+) \|", term)
    seen, long = [], []
    for week, plan, minutes in weeks:
        parts = re.split(r"(?<![.\d])(\d\d)(?![.\d])", plan)[1:]
        numbers = [int(each) for each in parts[::2]]
        rest = zip(numbers, parts[1::2], strict=True)
        assert int(minutes) == sum(planned(LESSONS[n], words) for n, words in rest), week
        assert int(minutes) <= MEETING[90], week
        seen += numbers
        long += [week] if int(minutes) > MEETING[75] else []
    assert seen == [lesson.number for lesson in LESSONS if lesson.number != 13]
    assert "Lesson 13 is for students" in term
    assert f"weeks {', '.join(long[:-1])} and {long[-1]} need two each" in " ".join(term.split())
    slow = [f"{each.number:02}" for each in LESSONS if times_of(each)[0] > MEETING[90]]
    assert f"except in lessons {' and '.join(slow)}" in term


def test_what_the_guide_links_to_is_there():
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)\)", GUIDE):
        assert (ROOT / target).exists(), target
    for module in re.findall(r"python -m (transformer_edu[\w.]+)", GUIDE):
        assert importlib.util.find_spec(module), module
