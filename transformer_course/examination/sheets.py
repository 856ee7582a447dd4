"""Sheets for students, as notebooks and on paper: of the inventory and of the examinations.

A sheet knows no key. The notebook has no hints and no checks; its last cell writes the answers into
a file of data, which is all that a student hands in.
"""

import base64
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import mistune
from matplotlib.figure import Figure
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes

from transformer_course.drawing.attention_grid import plot_attention
from transformer_course.examination.question import Question

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
STYLE = Path(__file__).with_name("sheet.css")
SAVE = """\
import json

name = "".join(c if c.isalnum() or c in "-_." else "-" for c in f"answers-{sheet}-{student}")
name = f"{name[:100]}.json"
words = {part: "None" if it is None else it for part, it in answers.items()}  # none is an answer
content = {"sheet": sheet, "student": student, "answers": words}
text = json.dumps(
    content,
    default=lambda it: None if it is ... else it.tolist() if hasattr(it, "tolist") else str(it),
)
with open(name, "w", encoding="utf-8") as file:
    file.write(text)
print(f"Hand in the file {name}: {sum(a is not ... for a in answers.values())} answers")"""
markdown = mistune.create_markdown(plugins=["table"])


@dataclass(frozen=True)
class Task:
    """What a sheet asks at one place.

    Attributes:
        text: The question, in Markdown.
        parts: The number of every answer, and its line.
        choices: Letters and answers to choose from; none where the answer is written.
        picture: A PNG file with its alternative text.
    """

    text: str
    parts: Sequence[tuple[str, str]]
    choices: Sequence[tuple[str, str]] = ()
    picture: tuple[bytes, str] | None = None
    title: str = ""


def tasks_of(questions: Sequence[Question]) -> list[Task]:
    """The questions of an examination, as a sheet shows them."""
    tasks = []
    for number, each in enumerate(questions, 1):
        parts = [
            (f"{number}{letter}", f"{task} [{points}]")
            for letter, (points, task) in zip("abcde", each.parts, strict=False)
        ]
        title = f"{number} · {each.title} ({each.minutes} minutes, {each.points} points)"
        tasks.append(Task(each.text, parts, picture=_map(each), title=title))
    return tasks


def _map(question: Question) -> tuple[bytes, str] | None:
    """The map of a question, drawn, with its numbers as alternative text."""
    if question.drawn.map is None:
        return None
    weights, rows, columns = question.drawn.map
    figure = plot_attention(weights, query_tokens=rows, key_tokens=columns, title="One head")
    words = "; ".join(
        f"{word}: {', '.join(f'{weight:.2f}' for weight in row)}"
        for word, row in zip(rows, weights.tolist(), strict=True)
    )
    return png(figure), f"Attention weights to {', '.join(columns)}. {words}"


def png(figure: Figure) -> bytes:
    """A figure as a PNG file; the figure is closed."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    plt.close(figure)
    return file.getvalue()


def as_notebook(title: str, about: str, sheet: str, student: str, tasks: Sequence[Task]) -> str:
    """A notebook to answer in.

    Args:
        title: Of the sheet.
        about: What students must know before they begin, in Markdown.
        sheet: What the file of answers calls it.
        student: The student's name; empty if students fill it in.
        tasks: In order.
    """
    start = f"sheet, student = {sheet!r}, {student!r}\nanswers = {{}}"
    if any(task.choices for task in tasks):
        start += '\na, b, c, d = "abcd"'
    cells = [new_markdown_cell(f"# {title}\n\n{about}"), new_code_cell(start)]
    for task in tasks:
        cells.append(_markdown_cell(task))
        for number, line in task.parts:
            if not task.choices:
                cells.append(new_markdown_cell(f"**{number}** {line}"))
            letters = ", ".join(letter for letter, _ in task.choices)
            comment = f"  # {letters}" if letters else ""
            cells.append(new_code_cell(f'answers["{number}"] = ...{comment}'))
    cells += [new_markdown_cell("Run this cell last."), new_code_cell(SAVE)]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return writes(new_notebook(cells=cells, metadata={"kernelspec": kernel})) + "\n"


def _markdown_cell(task: Task) -> NotebookNode:
    """The text of a task, its picture and its choices."""
    heading = [f"## {task.title}"] if task.title else []
    blocks = [*heading, task.text if heading else f"**{task.parts[0][0]}** {task.text}"]
    blocks += [f"- ({letter}) {words}" for letter, words in task.choices]
    cell = new_markdown_cell("\n\n".join(blocks).replace("\n\n- (", "\n- ("))
    if task.choices:
        cell.source = cell.source.replace("\n- (", "\n\n- (", 1)
    if task.picture:
        file, words = task.picture
        cell.source += f"\n\n![{words}](attachment:map.png)"
        cell.attachments = {"map.png": {"image/png": base64.b64encode(file).decode()}}
    return cell


def as_article(title: str, about: str, student: str, tasks: Sequence[Task]) -> str:
    """One student's sheet on paper."""
    name = html.escape(student) or "Code: ____________________"
    blocks = [f"<h1>{html.escape(title)}</h1>\n<p><b>{name}</b></p>", markdown(about)]
    for task in tasks:
        head = f"<h2>{html.escape(task.title)}</h2>\n" if task.title else ""
        lead = "" if task.title else f"**{task.parts[0][0]}** "
        block = head + markdown(lead + task.text)
        if task.picture:
            block += picture(*task.picture)
        for letter, words in task.choices:
            block += f'<p class="choice">☐ ({letter}) {markdown(words)[3:-5]}</p>\n'
        if not task.choices:
            for number, line in task.parts:
                block += f'<div class="task">{markdown(f"**{number}** {line}")}'
                block += '<div class="answer"></div></div>\n'
        kind = ' class="long"' if task.title else ""
        blocks.append(f"<section{kind}>{block}</section>")
    return "<article>\n" + "\n".join(blocks) + "\n</article>"


def picture(file: bytes, words: str, width: int = 420) -> str:
    """A PNG file inside a page."""
    data = base64.b64encode(file).decode()
    return f'<img width="{width}" alt="{html.escape(words)}" src="data:image/png;base64,{data}">\n'


def as_page(title: str, body: str) -> str:
    """A page that needs nothing from elsewhere, to print or to read."""
    return PAGE.format(title=html.escape(title), style=STYLE.read_text(encoding="utf-8"), body=body)


def as_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of a page; a cell's text is shown as it is."""
    lines = ["".join(f'<th scope="col">{html.escape(head)}</th>' for head in heads)]
    lines += ["".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) for row in rows]
    return "<table>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>\n"
