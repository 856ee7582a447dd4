"""The lines of the solutions that nobody but a solution writes, to search an edition for them."""

import re
from collections.abc import Iterable

from nbformat import NotebookNode

SOLUTION = re.compile(r"<details>\s*<summary>Solution</summary>.*?</details>", re.DOTALL)
SUBSTANCE = 6  # letters and digits: a shorter line, such as "else:", says nothing


def plain(line: str) -> str:
    """A line of code without its indentation and its comment."""
    return re.sub(r"\s+#.*$|^#.*$", "", line.strip())


def own_lines(lessons: dict[str, NotebookNode]) -> dict[tuple[str, int], set[str]]:
    """For every solution, the lines that give it away.

    A line of substance counts unless the lesson writes it above the solution, or the code of
    another lesson writes it anyway: ``loss.backward()`` gives nothing away.

    Args:
        lessons: All lessons, by their names.

    Returns:
        The lines by the lesson's name and the index of the solution's cell.
    """
    code = {name: _lines(cell.source for cell in _code(each)) for name, each in lessons.items()}
    found = {}
    for name, lesson in lessons.items():
        elsewhere = set().union(*(lines for other, lines in code.items() if other != name))
        above: list[str] = []
        for index, cell in enumerate(lesson.cells):
            above.append(SOLUTION.sub("", cell.source))
            for solution in SOLUTION.findall(cell.source):
                blocks = re.findall(r"^```\w*\n(.*?)^```", solution, re.DOTALL | re.MULTILINE)
                lines = _lines(blocks) - elsewhere - _lines(above)
                found[name, index] = {
                    line for line in lines if len(re.sub(r"[\W_]", "", line)) >= SUBSTANCE
                }
    return found


def leaks(text: str, solutions: dict[tuple[str, int], set[str]]) -> list[str]:
    """Which lines of which solutions stand in a text.

    Args:
        text: Of a page or of a notebook's cells, a line of code to a line.
        solutions: As own_lines returns them.
    """
    lines = _lines([text])
    return [
        f"{lesson}, cell {index}: {line}"
        for (lesson, index), own in solutions.items()
        for line in sorted(own & lines)
    ]


def _code(lesson: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in lesson.cells if cell.cell_type == "code"]


def _lines(texts: Iterable[str]) -> set[str]:
    return {plain(line) for text in texts for line in text.splitlines()}
