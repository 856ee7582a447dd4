"""The concept inventory: its forms, their keys, and what students get.

The items stand in concepts.toml. Nothing that students get contains a key.
"""

import csv
import io
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from transformer_course.examination.sheets import (
    Task,
    as_article,
    as_notebook,
    as_page,
)

SOURCE = Path(__file__).with_name("concepts.toml")
FORMS = {
    "A": "before the course",
    "B": "after the course",
    "C": "four weeks later",
}
LETTERS = "abcd"
RIGHT = "right"
ABOUT = """\
{count} questions, {minutes} minutes. Choose one answer to each. If you do not know, leave the \
question out. This is no examination: it shows what the course must explain better. Use the same \
code each time, and not your name."""
Item = tuple[str, Sequence[tuple[str, str]]]


@dataclass(frozen=True)
class Concept:
    """What an item asks for.

    Attributes:
        name: The concept, as a sentence or a noun.
        lesson: Where the course explains it.
        misconceptions: What readers believe who choose a wrong answer, by a short name.
        items: By the form: a question, and for each answer "right" or a misconception, and a text.
    """

    name: str
    lesson: int
    misconceptions: dict[str, str]
    items: dict[str, Item]


@cache
def read_concepts() -> list[Concept]:
    """All concepts, in the order of the course's parts."""
    content = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    return [
        Concept(
            entry["name"],
            entry["lesson"],
            entry["misconceptions"],
            {
                form: (entry[form]["question"], [tuple(each) for each in entry[form]["answers"]])
                for form in FORMS
                if form in entry
            },
        )
        for entry in content["concept"]
    ]


def concepts_of(form: str) -> list[Concept]:
    """The concepts of a form: item 1 asks for the first one."""
    return [concept for concept in read_concepts() if form in concept.items]


def key(form: str) -> list[str]:
    """The letter of the right answer of each item."""
    return [
        LETTERS[[name for name, _ in concept.items[form][1]].index(RIGHT)]
        for concept in concepts_of(form)
    ]


def tasks_of_form(form: str) -> list[Task]:
    """The items as a sheet shows them."""
    tasks = []
    for number, concept in enumerate(concepts_of(form), start=1):
        question, answers = concept.items[form]
        texts = [text for _, text in answers]
        tasks.append(Task(question, [(str(number), "")], list(zip(LETTERS, texts, strict=False))))
    return tasks


def sheets(form: str) -> dict[str, str]:
    """What students get, by the name of the file: a notebook, a page to print, two tables."""
    tasks, title = tasks_of_form(form), f"What do you know about Transformers? Form {form}"
    about = ABOUT.format(count=len(tasks), minutes=5 * round(1.25 * len(tasks) / 5))
    name = f"inventory-{form}"
    fill_in = " Write your code into the cell below: `student`."
    numbers = [str(number) for number in range(1, len(tasks) + 1)]
    items = [[task.parts[0][0], task.text, *(text for _, text in task.choices)] for task in tasks]
    return {
        f"{name}.ipynb": as_notebook(title, about + fill_in, form, "", tasks),
        f"{name}.html": as_page(title, as_article(title, about, "", tasks)),
        f"{name}.csv": as_csv([["item", "question", *LETTERS], *items]),
        f"{name}-answers.csv": as_csv([["sheet", "student", *numbers]]),
    }


def key_table(form: str) -> str:
    """For the instructor: the key, the concept and the lesson, and why a wrong answer is chosen."""
    rows = [["item", "right", "concept", "lesson", *LETTERS]]
    for number, (concept, right) in enumerate(zip(concepts_of(form), key(form), strict=True), 1):
        reasons = [
            f"right: {text}" if name == RIGHT else concept.misconceptions[name]
            for name, text in concept.items[form][1]
        ]
        rows.append([str(number), right, concept.name, f"{concept.lesson:02}", *reasons])
    return as_csv(rows)


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """A table. A spreadsheet takes no text of it for a formula."""
    file = io.StringIO()
    csv.writer(file).writerows([_harmless(str(cell)) for cell in row] for row in rows)
    return file.getvalue()


def _harmless(cell: str) -> str:
    """A number as it is, and a text that begins like a formula with a mark before it."""
    is_number = re.fullmatch(r"-?[\d.]+", cell)
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) and not is_number else cell
