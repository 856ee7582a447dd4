"""One lesson, with what the rules must know about it."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from tools.notebooks import read
from tools.syntax import dotted

# What a lesson says of an outcome stands in a fold: it would give the answer away.
SEEN = re.compile(r"<details><summary>What you see</summary>\n(.*?)</details>\s*", re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A notebook and its surroundings.

    Attributes:
        name: The file's name, such as ``02_attention.ipynb``.
        notebook: What is in the file.
        size: The file's length in bytes.
        address: The repository's address, None while there is none.
        next_name: The file name of the lesson that follows; None for the last.
        package_names: Every class and function that the package defines.
        package_constants: Every constant that it sets, as ``NAME = value``.
    """

    name: str
    notebook: NotebookNode
    size: int
    address: str | None
    next_name: str | None
    package_names: frozenset[str]
    package_constants: frozenset[str]

    @property
    def path(self) -> str:
        """The file's path in the repository."""
        return f"notebooks/{self.name}"

    @property
    def number(self) -> int:
        """The lesson's number, as in its file's name."""
        return int(self.name.split("_")[0])

    @property
    def cells(self) -> list[NotebookNode]:
        """All cells, in order."""
        return self.notebook.cells

    @property
    def code_cells(self) -> list[NotebookNode]:
        """The code cells, in order."""
        return [cell for cell in self.cells if cell.cell_type == "code"]

    @property
    def markdown_cells(self) -> list[NotebookNode]:
        """The Markdown cells, in order."""
        return [cell for cell in self.cells if cell.cell_type == "markdown"]


Rule = Callable[[Lesson], Iterator[str]]


def load(
    path: Path,
    *,
    following: Path | None,
    address: str | None,
    names: frozenset[str],
    constants: frozenset[str],
) -> Lesson:
    """Read one lesson from its file.

    Args:
        path: The notebook.
        following: The notebook after it, None for the last.
        address: The repository's address, None while there is none.
        names: Every class and function that the package defines.
        constants: Every constant that it sets, as ``NAME = value``.
    """
    return Lesson(
        name=path.name,
        notebook=read(path),
        size=path.stat().st_size,
        address=address,
        next_name=following.name if following else None,
        package_names=names,
        package_constants=constants,
    )


def start(cell: NotebookNode) -> str:
    """How a complaint names a cell: by its first words."""
    return repr((cell.source.strip().splitlines() or [""])[0][:60])


def has_tag(cell: NotebookNode, tag: str) -> bool:
    """Whether the cell carries this tag."""
    return tag in cell.metadata.get("tags", [])


def lines_of_code(cell: NotebookNode) -> int:
    """The number of lines that are not blank."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def headings(cell: NotebookNode) -> list[tuple[int, str]]:
    """The level and the words of every heading in a Markdown cell."""
    text = FENCE.sub("", cell.source)
    return [(len(marks), words) for marks, words in re.findall(r"(?m)^(#{1,6}) (.+?)\s*$", text)]


def blocks_of_predict(tree: ast.Module) -> list[ast.With]:
    """Every ``with predict(…):`` of a cell."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
        and any(
            isinstance(item.context_expr, ast.Call) and dotted(item.context_expr.func) == "predict"
            for item in node.items
        )
    ]


def is_folded(cell: NotebookNode) -> bool:
    """Whether JupyterLab shows the cell's source only when asked for."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))
