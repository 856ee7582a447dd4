"""Exercises: a code cell with a stub, and below it a Markdown cell with the solution.

The cell is tagged ``exercise``. Its answer stands between the comment ``# Your answer:`` and the
first line after it that begins with ``check_``, or a ``print`` right above that line. Everything
else in the cell stays as it is:

    from transformer_course.attention.checks import check_hides_one_word

    # Your answer:
    mask = ...

    check_hides_one_word(mask, hidden=words.index("cat"))

The next cell holds the solution, between ``<details>`` and ``</details>``, as one block fenced with
```` ```python ````. It is what the reader would write in place of the stub.
"""

import copy
import re

from nbformat import NotebookNode

HEADING = re.compile(
    r"(?m)^### Exercise (?P<lesson>\d+)\.(?P<number>\d+) · "
    r"(?P<kind>Predict|Build|Break|Debug) \((?P<minutes>\d+) minutes?\)"
)
STUB = re.compile(r"(?m)^(# Your answer:[^\n]*\n)(.*?)(?=^(?:print\([^\n]*\n)?check_)", re.DOTALL)
SOLUTION = re.compile(r"<details>.*?^```python\n(.*?)^```.*?</details>", re.DOTALL | re.MULTILINE)


def exercise_indices(notebook: NotebookNode) -> list[int]:
    """Where the exercise cells are."""
    return [
        index
        for index, cell in enumerate(notebook.cells)
        if "exercise" in cell.metadata.get("tags", [])
    ]


def solution_of(notebook: NotebookNode, index: int) -> str | None:
    """The code of the solution below the exercise at index, or None when there is none."""
    if index + 1 == len(notebook.cells):
        return None
    found = SOLUTION.search(notebook.cells[index + 1].source)
    return found[1] if found else None


def number_of(notebook: NotebookNode, index: int) -> str | None:
    """The number ("2.1") in the last exercise heading above the cell at index."""
    above = "\n".join(
        cell.source for cell in notebook.cells[:index] if cell.cell_type == "markdown"
    )
    found = list(HEADING.finditer(above))
    return f"{found[-1]['lesson']}.{found[-1]['number']}" if found else None


def with_answer(source: str, answer: str) -> str:
    """An exercise cell's source with the answer in place of its stub.

    Raises:
        ValueError: If the cell has no stub.
    """
    if not STUB.search(source):
        raise ValueError(f"the cell must hold '# Your answer:' above a check_ line, got {source!r}")
    return STUB.sub(lambda stub: f"{stub[1]}{answer.rstrip()}\n\n", source, count=1)


def solved(notebook: NotebookNode) -> NotebookNode:
    """A copy of the notebook in which every exercise holds its solution.

    Raises:
        ValueError: If an exercise has no stub or no solution.
    """
    answered = copy.deepcopy(notebook)
    for index in exercise_indices(answered):
        answer = solution_of(answered, index)
        if answer is None:
            raise ValueError(
                f"exercise {number_of(answered, index)} must be followed by a solution"
            )
        answered.cells[index].source = with_answer(answered.cells[index].source, answer)
    return answered


def printed_by(cell: NotebookNode) -> str:
    """What an executed cell printed."""
    return "".join(out.text for out in cell.outputs if out.output_type == "stream")
