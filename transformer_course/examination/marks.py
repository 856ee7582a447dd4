"""Answers to an examination, judged by the key in this process: a table, a picture, a page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_course.drawing.style import BLUE, literal, styled
from transformer_course.examination.answers import Sheet
from transformer_course.examination.examinations import (
    TITLES,
    sheet_name,
    tasks_and_keys,
    variant,
)
from transformer_course.examination.inventory import as_csv
from transformer_course.examination.question import is_read, is_right
from transformer_course.examination.sheets import as_page, as_table, picture, png

Marked = tuple[Sheet, dict[str, int]]  # a sheet, and the points of each part


def mark(
    name: str, sheets: Sequence[Sheet], students: Sequence[str], secret: bytes
) -> list[Marked]:
    """Judge every sheet by the key of its student's own variant.

    A sheet gets no points, and a problem, if its student is not on the list, has handed in twice,
    or has answered another examination, or one that was drawn with another secret.
    """
    names = (name, sheet_name(name, secret))
    count = Counter(sheet.student for sheet in sheets if sheet.name in names)
    marked = []
    for sheet in sheets:
        problem = sheet.problem
        if not problem and sheet.name not in names:
            problem = f"This is not the examination {name}."
            if sheet.name.startswith(f"{name}-"):
                problem = "This sheet was drawn with another secret."
        if not problem and sheet.student not in students:
            problem = "The student is not on the list."
        if not problem and count[sheet.student] > 1:
            problem = "There is another sheet of this student: decide which one counts."
        parts = [] if problem else tasks_and_keys(variant(name, sheet.student, secret))
        points = {
            part: worth if is_right(sheet.answers.get(part), key) else 0
            for part, worth, _, key in parts
        }
        unread = _unread(sheet, {part: key for part, _, _, key in parts})
        note = f"{sheet.note} {unread}".strip()
        marked.append((replace(sheet, problem=problem, note=note), points))
    return marked


def report(name: str, marked: Sequence[Marked], students: Sequence[str]) -> dict[str, str]:
    """A table and a page of all marks, by the name of the file."""
    worth = {part: points for part, points, _, _ in tasks_and_keys(variant(name, "", b""))}
    heads = ["student", "file", "points", *worth, "problem"]
    rows = [
        [sheet.student, sheet.file, sum(points.values())]
        + [points.get(part, "") for part in worth]
        + [sheet.problem or sheet.note]
        for sheet, points in sorted(marked, key=lambda each: each[0].student)
    ]
    missing = sorted(set(students) - {sheet.student for sheet, _ in marked})
    rows += [
        [student, "", "", *[""] * len(worth), "No sheet was handed in."] for student in missing
    ]
    judged = [points for sheet, points in marked if not sheet.problem]
    body = f"<h1>{TITLES[name]}</h1>\n<p>{len(judged)} sheets of {len(students)} students.</p>\n"
    if judged:
        figure = plot_marks(judged, worth)
        words = "; ".join(f"{text.get_text()}" for text in figure.axes[1].texts)
        body += picture(png(figure), f"{figure.axes[0].get_title(loc='left')}. {words}", 900)
    page = as_page(TITLES[name], body + as_table(heads, rows))
    return {f"marks-{name}.csv": as_csv([heads, *rows]), f"marks-{name}.html": page}


def _unread(sheet: Sheet, keys: Mapping[str, object]) -> str:
    """Which answers are no numbers, or not as many as are asked for; empty if all are."""
    given = {part: answer for part, answer in sheet.answers.items() if answer not in ("", None)}
    found = [part for part, key in keys.items() if part in given and not is_read(given[part], key)]
    return f"Not read as what is asked for, look: {', '.join(found)}." if found else ""


@styled
def plot_marks(judged: Sequence[dict[str, int]], worth: dict[str, int]) -> Figure:
    """How many students have how many points, and how many solved each part."""
    totals, most = [sum(points.values()) for points in judged], sum(worth.values())
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(12, 2 + 0.23 * len(worth)), width_ratios=(2, 3)
    )
    left.hist(totals, bins=range(0, most + 6, 5), color=BLUE, edgecolor="white")
    left.set(xlabel=f"points, of {most}", ylabel="students")
    left.set_title(f"The mean is {sum(totals) / len(totals):.1f} points")
    shares = [sum(points[part] > 0 for points in judged) / len(judged) for part in worth]
    bars = right.barh(list(worth), shares, color=BLUE)
    right.bar_label(
        bars,
        [f"{literal(part)}: {share:.0%}" for part, share in zip(worth, shares, strict=True)],
        padding=3,
        fontsize=10,
    )
    right.invert_yaxis()
    right.set(xlabel="fraction of students with a right answer", xlim=(0, 1.15), yticks=[])
    right.set_title("Which parts were solved")
    return figure
