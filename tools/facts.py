"""What a lesson says of itself: its question, times, paper sections, exercises and Predicts."""

import re
from typing import NamedTuple

from nbformat import NotebookNode

from tools.exercises import HEADING
from tools.lesson import headings
from transformer_course.asking.predict import OUTCOME

QUESTION = re.compile(r"\A# \d+ · (.+)")
TIME = re.compile(r"\*\*Time:\*\*(.*)")
MINUTES = re.compile(r"\d+(?= minutes| more)")
PAPER = re.compile(r"\*\*Paper:\*\*(.*)")
PLACE_IN_PAPER = re.compile(r"Figure \d|§\d[\d.]*\d|§\d|last pages")
PROJECT = 40  # minutes: from there on an exercise is a project, which the lesson counts apart
NAME_IN_README = re.compile(r"\[([^]]+)\]\(notebooks/(\w+\.ipynb)\)")


class Exercise(NamedTuple):
    """One exercise, as its heading names it."""

    number: str
    kind: str
    minutes: int


class Predict(NamedTuple):
    """One Predict, as it is shown: its section's number, the question and the answers."""

    section: str
    question: str
    answers: list[str]


def question(notebook: NotebookNode) -> str:
    """The lesson's title, without its number."""
    return QUESTION.search(notebook.cells[0].source)[1]


def times(notebook: NotebookNode) -> list[int]:
    """The minutes at the top of a lesson, and those of what may be left out."""
    return [int(each) for each in MINUTES.findall(TIME.search(notebook.cells[0].source)[1])]


def paper(notebook: NotebookNode) -> str:
    """The sections of the paper that the lesson's first cell names."""
    places = PLACE_IN_PAPER.findall(PAPER.search(notebook.cells[0].source)[1])
    return ", ".join(dict.fromkeys(places))


def exercises(notebook: NotebookNode) -> list[Exercise]:
    """The exercises, in order."""
    found = [
        each
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for each in HEADING.finditer(cell.source)
    ]
    return [Exercise(f"{e['lesson']}.{e['number']}", e["kind"], int(e["minutes"])) for e in found]


def minutes_in_class(notebook: NotebookNode) -> int:
    """The minutes of a lesson without its exercises."""
    at_home = [each.minutes for each in exercises(notebook) if each.minutes < PROJECT]
    return times(notebook)[0] - sum(at_home)


def sections(notebook: NotebookNode) -> dict[str, str]:
    """The words of every numbered section's heading, by its number."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    found = [words for cell in cells for level, words in headings(cell) if level == 2]
    return dict(words.split(" · ", 1) for words in found if re.match(r"\d+ · ", words))


def predicts(notebook: NotebookNode) -> list[Predict]:
    """The Predicts whose outcomes are stored, in order."""
    section, found = "", []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            section = [section, *(words for level, words in headings(cell) if level == 2)][-1]
        for output in cell.get("outputs", []):
            if OUTCOME in output.get("data", {}):
                asked, *answers = output["data"]["text/plain"].splitlines()
                answers = [each.removeprefix("( ) ") for each in answers]
                found.append(Predict(section.partition(" · ")[0], asked, answers))
    return found


def names_in_readme(readme: str) -> dict[str, str]:
    """The name that README's list gives to each lesson, by the name of its file."""
    return {file: name for name, file in NAME_IN_README.findall(readme)}
