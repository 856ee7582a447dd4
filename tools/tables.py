"""Write again what is told twice: ``python -m tools.tables``; ``--check`` only says what is stale.

The lessons are the source. README's list of lessons, the map in lesson 00 and the tables in
TEACHING.md repeat what they say, between comments such as ``<!-- lessons -->`` and
``<!-- /lessons -->``; and each room lists what its lesson imports (rooms.py). Some words in these
tables stand nowhere else, so they stay as they are: the lessons' names in README, and in
TEACHING.md which answer of a Predict is right, which wrong one is usual, and what to say about it.
The right answers are also written into a file, from which ``predict`` tells them in the outcome,
and the questions with all answers into one for the review.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from tools import facts, rooms
from tools.colab import with_colab_links, write_if_changed
from tools.lesson import Lesson
from tools.notebooks import (
    BEFORE,
    NAMES,
    ROOT,
    lesson_paths,
    read,
    refusal,
    repository_address,
    source_hash,
    stored,
)
from tools.rules import all_lessons
from transformer_course.asking.predict import RIGHT_ANSWERS
from transformer_course.review.questions import QUESTIONS

README, TEACHING = ROOT / "README.md", ROOT / "TEACHING.md"
PARTS = {0: "Build it", 10: "Make it work", 18: "Go on"}  # by the number of their first lesson
NOTES = re.compile(r"(?ms)^### (\d\d) · [^\n]+\n(.*?)(?=^##)")
SECTION_MINUTES = re.compile(r"(?m)^\*\*\d+ minutes:\*\* (.*)$")
PREDICT = re.compile(r"(?m)^\| \S+ \| (.+?) \| (.+?)( †)? \| \*(.+?)\*: (.+) \|$")
WEEK = re.compile(r"(?m)^(\| \d+ \| )([^|]*)( \| )\d+( \| [^|\n]* \|)$")
LESSON_IN_PLAN = re.compile(r"(?<![.\d])(\d\d)(?![.\d])")
UNKNOWN = "?"


class Told(NamedTuple):
    """What TEACHING.md says about one Predict."""

    question: str
    right: str
    trained: str  # " †" if the answer comes from trained weights
    wrong: str
    say: str


def table(*rows: Sequence[str]) -> str:
    """A Markdown table; the first row is its head."""
    lines = [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n"


def with_block(text: str, name: str, content: str) -> str:
    """A text with this content between the comments ``<!-- name -->`` and ``<!-- /name -->``.

    Raises:
        ValueError: If the text does not hold both comments once.
    """
    block = re.compile(rf"(?s)(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)")
    if len(block.findall(text)) != 1:
        raise ValueError(f"the text must hold <!-- {name} --> and <!-- /{name} --> once")
    return block.sub(lambda _: content, text)


def part_of(number: int) -> str:
    """The part of the course to which a lesson belongs."""
    return next(PARTS[begin] for begin in sorted(PARTS, reverse=True) if begin <= number)


def list_in_readme(lessons: Sequence[Lesson], names: dict[str, str]) -> str:
    """README's list of lessons."""
    rows = [["", "lesson", "the question", "minutes", "paper"]]
    for lesson in lessons:
        minutes = " + ".join(map(str, facts.times(lesson.notebook)))
        link = f"[{names[lesson.name]}](notebooks/{lesson.name})"
        question, paper = facts.question(lesson.notebook), facts.paper(lesson.notebook)
        rows.append([lesson.name[:2], link, question, minutes, paper])
    return table(*rows)


def map_in_lesson_0(lessons: Sequence[Lesson], names: dict[str, str]) -> str:
    """The map of the course in lesson 00: every lesson after it, by parts."""
    rows, before = [["", "lesson", "its question"]], ""
    for lesson in lessons[1:]:
        part = part_of(lesson.number)
        link = f"[{lesson.number} · {names[lesson.name]}]({lesson.name})"
        begins = f"**{part.lower()}**" if part != before else ""
        rows.append([begins, link, facts.question(lesson.notebook)])
        before = part
    return table(*rows)


def lessons_in_numbers(lessons: Sequence[Lesson], names: dict[str, str]) -> str:
    """TEACHING's table of minutes and exercises."""
    rows = [["", "lesson", "minutes", "in class", "exercises, with their minutes"]]
    for lesson in lessons:
        minutes = " + ".join(map(str, facts.times(lesson.notebook)))
        link = f"[{names[lesson.name]}](notebooks/{lesson.name})"
        exercises = " · ".join(" ".join(map(str, e)) for e in facts.exercises(lesson.notebook))
        in_class = str(facts.minutes_in_class(lesson.notebook))
        rows.append([lesson.name[:2], link, minutes, in_class, exercises])
    return table(*rows)


def predict_table(asked: Sequence[facts.Predict], told: Sequence[Told]) -> str:
    """TEACHING's table of a lesson's Predicts.

    Args:
        asked: The Predicts, as the lesson asks them.
        told: What the table said before. What it says about a question that was reworded is found
            by the order, and an answer that was reworded by its likeness to the old one.
    """
    rows = [["§", "Predict", "right answer", "a usual wrong answer, and what to say"]]
    by_question = {each.question: each for each in told}
    questions = {each.question for each in asked}
    renamed = [each for each in told if each.question not in questions]
    for predict in asked:
        known = by_question.get(predict.question)
        if known is None:
            known = renamed.pop(0) if renamed else Told("", UNKNOWN, "", UNKNOWN, UNKNOWN)
        right = _as_asked(known.right, predict.answers, besides=known.wrong)
        wrong = _as_asked(known.wrong, predict.answers, besides=right)
        said = f"*{wrong}*: {known.say}"
        rows.append([predict.section, predict.question, right + known.trained, said])
    return table(*rows)


def _as_asked(answer: str, answers: list[str], *, besides: str) -> str:
    """The answer as the lesson words it now, or as it was if none is like it."""
    others = [each for each in answers if each != besides]
    return [*get_close_matches(answer, others, n=1), answer][0]


def section_minutes(notes: str) -> dict[str, int]:
    """The minutes in class that the notes on a lesson give to each section, by its number."""
    parts = dict(each.split(": ") for each in SECTION_MINUTES.search(notes)[1].split(" · "))
    return {name.removeprefix("§"): int(minutes) for name, minutes in parts.items()}


def planned(lesson: Lesson, notes: str, words: str) -> int:
    """The minutes of a lesson in the plan for a term.

    Args:
        lesson: The lesson.
        notes: TEACHING's notes on it.
        words: What the plan says of it: which sections are left out, which exercises are done.
    """
    parts = section_minutes(notes)
    left_out = sum(parts[each] for each in re.findall(r"§(\d+)", words))
    exercises = {each.number: each.minutes for each in facts.exercises(lesson.notebook)}
    done = sum(exercises[each] for each in re.findall(r"\d+\.\d", words))
    return sum(parts.values()) - left_out + done


def with_plan(guide: str, lessons: Sequence[Lesson]) -> str:
    """TEACHING.md with the minutes of every week in the plan for a term."""
    notes = dict(NOTES.findall(guide))

    def rewrite(week: re.Match[str]) -> str:
        _, *parts = LESSON_IN_PLAN.split(week[2])
        each_lesson = zip(parts[::2], parts[1::2], strict=True)
        minutes = sum(planned(lessons[int(n)], notes[n], words) for n, words in each_lesson)
        return f"{week[1]}{week[2]}{week[3]}{minutes}{week[4]}"

    return re.sub(r"(?ms)^## A term\n.*?(?=^## )", lambda term: WEEK.sub(rewrite, term[0]), guide)


def with_notes(guide: str, lessons: Sequence[Lesson], names: dict[str, str]) -> str:
    """TEACHING.md with every lesson's name, its minutes in class and its table of Predicts.

    Raises:
        ValueError: If the notes on a lesson have no place for them.
    """
    by_number = {lesson.name[:2]: lesson for lesson in lessons}

    def rewrite(found: re.Match[str]) -> str:
        lesson, notes = by_number.get(found[1]), found[2]
        if lesson is None or not SECTION_MINUTES.search(notes) or "<!-- predicts -->" not in notes:
            raise ValueError(
                f"TEACHING.md, ### {found[1]}: there must be this lesson, and its notes need "
                "its minutes (**40 minutes:** opening: 5 · §1: 35) and a table of Predicts between "
                "<!-- predicts --> and <!-- /predicts -->"
            )
        notebook = lesson.notebook
        if notebook.metadata.get("source_hash") == source_hash(notebook):  # else run it first
            told = [Told(*each) for each in PREDICT.findall(notes)]
            notes = with_block(notes, "predicts", predict_table(facts.predicts(notebook), told))
        total = sum(section_minutes(notes).values())
        notes = SECTION_MINUTES.sub(rf"**{total} minutes:** \1", notes)
        return f"### {found[1]} · {names[lesson.name]}\n{notes}"

    return NOTES.sub(rewrite, guide)


def does_not_fit(guide: str, lessons: Sequence[Lesson]) -> Iterator[str]:
    """Where a person's words in TEACHING.md no longer fit what a lesson says."""
    notes = dict(NOTES.findall(guide))
    for lesson in lessons:
        number = lesson.name[:2]
        where, again = f"TEACHING.md, ### {number}", f"then run: make lesson LESSON={number}"
        if number not in notes:
            yield f"{where}: there are no notes on {lesson.path}; {again}"
            continue
        told = {each[0]: Told(*each) for each in PREDICT.findall(notes[number])}
        asked = facts.predicts(lesson.notebook)
        for predict in asked:
            answers, known = predict.answers, told.get(predict.question)
            if known and (not {known.right, known.wrong} <= set(answers)):
                yield (
                    f"{where}: the right and the wrong answer to {predict.question!r} must be two "
                    f"of {answers}, got {known.right!r} and {known.wrong!r}; {again}"
                )
        parts = section_minutes(notes[number])
        in_class = facts.minutes_in_class(lesson.notebook)
        if sum(parts.values()) != in_class:
            yield (
                f"{where}: the minutes of the sections must add up to {in_class}, the lesson's "
                f"time without its exercises, got {sum(parts.values())}; {again}"
            )
        with_predict = {each.section for each in asked}
        numbered = facts.sections(lesson.notebook).items()
        wanted = [n for n, words in numbered if n in with_predict or "xercises" not in words]
        if list(parts) != ["opening", *wanted]:
            yield (
                f"{where}: the minutes must be those of {['opening', *wanted]}, "
                f"got {list(parts)}; {again}"
            )


def right_answers(guide: str) -> str:
    """The file of right answers: what TEACHING.md says, by the questions, and what is observed."""
    told = [Told(*each) for each in PREDICT.findall(guide)]
    known = {each.question: each.right + each.trained for each in told if each.right != UNKNOWN}
    return json.dumps(known, ensure_ascii=False, indent=1) + "\n"


def questions(lessons: Sequence[Lesson]) -> str:
    """The file of questions: where each Predict is asked, and its answers."""
    asked = {"Before you start": read(BEFORE)}
    asked |= {f"Lesson {each.number}": each.notebook for each in lessons}
    asked["The names on model cards"] = read(NAMES)
    rows = [
        json.dumps([f"{place}, section {p.section}", p.question, p.answers], ensure_ascii=False)
        for place, notebook in asked.items()
        for p in facts.predicts(notebook)
    ]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def write_right_answers() -> None:
    """Write the file of right answers again, before a lesson runs and tells them."""
    write_if_changed(RIGHT_ANSWERS, right_answers(TEACHING.read_text(encoding="utf-8")))


def written(lessons: Sequence[Lesson]) -> dict[str, str]:
    """All that is told twice, as it should be, by the paths of the files."""
    readme, guide = README.read_text(encoding="utf-8"), TEACHING.read_text(encoding="utf-8")
    names = {each.name: each.name[3:-6].replace("_", " ").capitalize() for each in lessons}
    names |= facts.names_in_readme(readme)
    address = repository_address()
    readme = with_block(readme, "notebooks", list_in_readme(lessons, names))
    guide = with_block(guide, "lessons", lessons_in_numbers(lessons, names))
    guide = with_plan(with_notes(guide, lessons, names), lessons)
    start = lessons[0].notebook
    is_fresh = start.metadata.get("source_hash") == source_hash(start)
    for cell in start.cells:
        if "<!-- lessons -->" in cell.source:
            cell.source = with_block(cell.source, "lessons", map_in_lesson_0(lessons, names))
    if is_fresh:  # the table is no code: the stored outputs still belong to the sources
        start.metadata["source_hash"] = source_hash(start)
    return {
        "README.md": with_colab_links(readme, address),
        "TEACHING.md": guide,
        RIGHT_ANSWERS.relative_to(ROOT).as_posix(): right_answers(guide),
        QUESTIONS.relative_to(ROOT).as_posix(): questions(lessons),
        lessons[0].path: stored(start, address),
    }


def main(arguments: list[str]) -> int:
    """The command: write what is stale, or only say so; and say what a person must write."""
    about = "Write again what is told twice; the lessons are the source."
    parser = argparse.ArgumentParser(prog="python -m tools.tables", description=about)
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    is_check = parser.parse_args(arguments).check
    lessons, complaints = all_lessons(), []
    try:
        texts = written(lessons)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    if is_check:
        for lesson in filter(rooms.is_stale, lesson_paths()):
            words = "its room's __init__.py does not list what its cells import"
            complaints.append(refusal(lesson.name, words))
        for path, text in texts.items():
            if (ROOT / path).read_text(encoding="utf-8") != text:
                again = "make lesson with the number of the lesson, or python -m tools.tables"
                complaints.append(f"{path}: a table is stale; run: {again}")
    else:
        rooms.write(lesson_paths())
        for path, text in texts.items():
            before = (ROOT / path).read_text(encoding="utf-8").splitlines()
            write_if_changed(ROOT / path, text)
            changed = [line for line in text.splitlines() if line[:1] == "|" and line not in before]
            for line in changed:
                print(f"  {line}")
    complaints += does_not_fit(TEACHING.read_text(encoding="utf-8"), lessons)
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
