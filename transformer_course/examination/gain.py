"""Two or three collections of answers to the inventory: gain, items, and what to teach again."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from pathlib import Path
from random import Random

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from transformer_course.drawing.style import BLUE, GRAY, VERMILION, literal, styled
from transformer_course.examination.answers import numbers_of, read_sheets
from transformer_course.examination.inventory import (
    FORMS,
    LETTERS,
    RIGHT,
    as_csv,
    concepts_of,
    key,
)
from transformer_course.examination.sheets import as_page, as_table, picture, png

DRAWS = 2000
WEAK = 0.6  # a concept that fewer know is taught again
INVENTED = "invented"


@dataclass(frozen=True)
class Collection:
    """What a class has answered to a form: for each student's code the letters, "" for none."""

    form: str
    choices: dict[str, list[str]]
    path: Path

    def right(self, students: Sequence[str]) -> np.ndarray:
        """Which answers are right, shape (student, item)."""
        return np.array([self.choices[student] for student in students]) == np.array(key(self.form))


def read_collection(path: Path) -> Collection:
    """The answers of a class to one form, from a table or a folder of files.

    Raises:
        ValueError: If a file holds something else, such as an answer that is no letter of its
            item, or a student twice.
    """
    collected = read_sheets([path])
    for sheet in collected:
        if sheet.problem or not sheet.student:
            raise ValueError(f"{sheet.file}: {sheet.problem or 'A sheet has no student.'}")
    forms = {sheet.name for sheet in collected}
    if len(forms) != 1 or not forms <= set(FORMS):
        raise ValueError(f"{path} must hold answers to one form, A, B or C, got {sorted(forms)}")
    twice = [code for code, n in Counter(sheet.student for sheet in collected).items() if n > 1]
    if twice:
        raise ValueError(f"{path} must hold each student once, got twice: {', '.join(twice)}")
    (form,) = forms
    letters = {
        number: list(LETTERS[: len(concept.items[form][1])])
        for number, concept in zip(numbers_of(form), concepts_of(form), strict=True)
    }
    for sheet, (number, own) in product(collected, letters.items()):
        answer = sheet.answers.get(number)
        if _letter(answer) not in ("", *own):
            wanted = f"a letter from a to {own[-1]} as answer {number} of {sheet.student}"
            raise ValueError(f"{sheet.file} must hold {wanted}, got {answer}")
    if notes := [sheet.note for sheet in collected if sheet.note]:
        raise ValueError(f"{path}: {notes[0]}")
    return Collection(
        form,
        {
            sheet.student: [_letter(sheet.answers.get(number)) for number in letters]
            for sheet in collected
        },
        path,
    )


def _letter(answer: object) -> str:
    """A letter, also of "(A)" or "a."; of no answer, nothing."""
    return "" if answer in (None, "None", []) else str(answer).strip(" ().").casefold()


def gain(before: np.ndarray, after: np.ndarray) -> float:
    """Hake's normalized gain, from each student's fraction of right answers, before and after."""
    missing = 1 - before.mean()
    return float((after.mean() - before.mean()) / missing) if missing > 0 else float("nan")


def interval(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """The middle 95% of the gain if the students are drawn again and again."""
    drawn = np.random.default_rng(0).integers(len(before), size=(DRAWS, len(before)))
    gains = [gain(before[each], after[each]) for each in drawn if before[each].mean() < 1]
    low, high = np.percentile(gains or [float("nan")], [2.5, 97.5])
    return float(low), float(high)


def discrimination(right: np.ndarray) -> list[float]:
    """For each item of (student, item): its correlation with the rest; NaN if all agree."""
    rest = right.sum(axis=1, keepdims=True) - right
    return [
        float(np.corrcoef(item, others)[0, 1]) if np.ptp(item) and np.ptp(others) else float("nan")
        for item, others in zip(right.astype(int).T, rest.T, strict=True)
    ]


def report(before: Collection, after: Collection, later: Collection | None) -> dict[str, str]:
    """A page and a table about the students who have answered both times.

    Raises:
        ValueError: If fewer than two students have answered both.
    """
    students = sorted(before.choices.keys() & after.choices.keys())
    if len(students) < 2:
        raise ValueError(f"two students or more must have answered both, got {len(students)}")
    if "C" in (before.form, after.form):
        raise ValueError("form C comes third: it is compared with the same concepts of the second")
    first, second = before.right(students), after.right(students)
    known = [first.mean(axis=1), second.mean(axis=1)]
    low, high = interval(*known)
    concepts, apart = concepts_of(after.form), discrimination(second)
    rows = [
        [number, concept.name, f"{concept.lesson:02}", f"{a:.0%}", f"{b:.0%}", f"{d:.2f}"]
        + _usual_mistake(after, students, number - 1)
        for number, (concept, a, b, d) in enumerate(
            zip(concepts, first.mean(axis=0), second.mean(axis=0), apart, strict=True), 1
        )
    ]
    heads = ["item", "concept", "lesson", "before", "after", "discrimination"]
    heads += ["usual mistake after", "chosen by"]
    again = [row for row, share in zip(rows, second.mean(axis=0), strict=True) if share < WEAK]
    alone = [len(each.choices) - len(students) for each in (before, after)]
    when = zip(("Before", "after", "later"), filter(None, (before, after, later)), strict=False)
    taken = [f"{name}: {escape(str(each.path))} (form {each.form})" for name, each in when]
    words = (
        f"{', '.join(taken)}. "
        f"{len(students)} students answered both, {alone[0]} only before, {alone[1]} only after. "
        f"Right answers: {known[0].mean():.0%} before, {known[1].mean():.0%} after. "
        f"Normalized gain (Hake): {gain(*known):.2f}, "
        f"95% interval {low:.2f} to {high:.2f} (students drawn again {DRAWS} times)."
    )
    if later:
        words += f" {_kept(after, later)}"
    title = "The concept inventory, before and after"
    if all(student.startswith(INVENTED) for student in students):
        title += ": INVENTED DATA, no class has answered this"
    body = f"<h1>{title}</h1>\n<p>{words}</p>\n<h2>What to teach again</h2>\n"
    body += as_table(heads, again) if again else f"<p>Every concept is known to {WEAK:.0%}.</p>"
    charts = [
        (plot_concepts([concept.name for concept in concepts], first, second), 760),
        (plot_items(second, apart), 640),
        (plot_students(*known), 400),
    ]
    body += "".join(
        picture(png(figure), figure.axes[0].get_title(loc="left"), width)
        for figure, width in charts
    )
    body += f"<h2>All items</h2>\n{as_table(heads, rows)}"
    return {"inventory.html": as_page(title, body), "inventory-items.csv": as_csv([heads, *rows])}


def _usual_mistake(after: Collection, students: Sequence[str], item: int) -> list[str]:
    """The misconception behind the wrong answer that most students chose, and how many did."""
    concept = concepts_of(after.form)[item]
    names = dict(zip(LETTERS, (name for name, _ in concept.items[after.form][1]), strict=False))
    wrong = Counter(names.get(after.choices[student][item], RIGHT) for student in students)
    del wrong[RIGHT]
    if not wrong:
        return ["", ""]
    (name, count), *_ = wrong.most_common(1)
    return [concept.misconceptions[name], f"{count / len(students):.0%}"]


def _kept(after: Collection, later: Collection) -> str:
    """How many of the concepts of the third form were known after the course, and are later."""
    students = sorted(after.choices.keys() & later.choices.keys())
    if later.form != "C" or not students:
        raise ValueError("the third table must hold form C, of students who answered the second")
    names = [concept.name for concept in concepts_of(after.form)]
    places = [names.index(concept.name) for concept in concepts_of("C")]
    then, now = after.right(students)[:, places].mean(), later.right(students).mean()
    return f"The {len(places)} concepts of form C: {then:.0%} after the course, {now:.0%} later."


@styled
def plot_concepts(names: Sequence[str], before: np.ndarray, after: np.ndarray) -> Figure:
    """Each concept's fraction of right answers, before and after, the best known on top."""
    order = np.argsort(after.mean(axis=0), kind="stable")
    old, new = before.mean(axis=0)[order], after.mean(axis=0)[order]
    figure, axes = plt.subplots(figsize=(10, 8))
    axes.hlines(range(len(order)), old, new, color=GRAY)
    axes.plot(old, range(len(order)), "o", color=VERMILION, mfc="white", label="before")
    axes.plot(new, range(len(order)), "s", color=BLUE, label="after")
    axes.axvline(WEAK, color=GRAY, linestyle=":")
    axes.set_yticks(
        range(len(order)), [literal(names[n], longest=None) for n in order], fontsize=10
    )
    axes.set(xlabel="fraction of right answers", xlim=(-0.02, 1.02))
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    axes.set_title(f"{int((new < WEAK).sum())} of {len(order)} concepts are to be taught again")
    return figure


@styled
def plot_items(right: np.ndarray, apart: Sequence[float]) -> Figure:
    """Each item by how many know it, and by how well it tells students apart."""
    figure, axes = plt.subplots(figsize=(8, 5))
    for number, (share, value) in enumerate(zip(right.mean(axis=0), apart, strict=True), 1):
        axes.text(share, value, str(number), ha="center", va="center", color=BLUE)
    axes.axhline(0.2, color=GRAY, linestyle=":")
    axes.set(xlim=(0, 1.02), ylim=(-0.5, 1), xlabel="fraction of right answers after")
    axes.set_ylabel("correlation with the rest")
    weak, silent = sum(value < 0.2 for value in apart), int(np.isnan(apart).sum())
    said = [f"{weak} items hardly tell students apart (below the line)"][silent == len(apart) :]
    if silent:
        said.append(f"{silent} of {len(apart)} items tell nothing: they or the rest have no spread")
    axes.set_title("\n".join(said))
    return figure


@styled
def plot_students(before: np.ndarray, after: np.ndarray) -> Figure:
    """Each student, before and after."""
    figure, axes = plt.subplots(figsize=(5, 4.4))
    axes.plot([0, 1], [0, 1], color=GRAY, linestyle=":")
    axes.plot(before, after, "o", color=BLUE, alpha=0.6)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="right answers before", ylabel="right answers after")
    axes.set_title(f"{int((after > before).sum())} of {len(after)} students know more")
    return figure


def invented_class(form: str, known: float, *, count: int = 30) -> str:
    """A table of answers that nobody has given; known says how often, from 0 to 1."""
    rng, right = Random(f"{form} {known}"), key(form)
    ease = [rng.uniform(-0.35, 0.35) for _ in right]
    rows = [["sheet", "student", *map(str, range(1, len(right) + 1))]]
    for number in range(1, count + 1):
        skill = known + (number / count - 0.5) * 0.6
        letters = [
            letter if rng.random() < skill + more else rng.choice(LETTERS[:3])
            for letter, more in zip(right, ease, strict=True)
        ]
        rows.append([form, f"{INVENTED}-{number:02}", *letters])
    return as_csv(rows)
