"""Which cells of a lesson have something to be moved, which cells those need, and their pages."""

import ast
import copy
import re
from collections.abc import Collection
from functools import cache

from nbconvert import HTMLExporter
from nbformat import NotebookNode

from tools.notebooks import ROOT
from tools.syntax import bound_names, read_names

# What a function calls that lets a reader move or point at something.
PUBLISHERS = frozenset({"explore", "_publish_viewer", "show_live"})


@cache
def interactive_functions(known: frozenset[str] = PUBLISHERS) -> frozenset[str]:
    """The package's explorers and viewers: what calls a known one, perhaps by a neighbor."""
    found = {"explore"}
    for path in (ROOT / "transformer_course").rglob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        calls = {node.name: called(node) for node in body if isinstance(node, ast.FunctionDef)}
        publishers = set(known)
        while new := {name for name in calls if calls[name] & publishers} - publishers:
            publishers |= new
        found |= publishers - known
    return frozenset(found)


def called(tree: ast.AST) -> set[str]:
    """The names that are called in a piece of code."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {getattr(each, "id", getattr(each, "attr", "")) for each in calls}


def interactive_cells(notebook: NotebookNode, known: frozenset[str] = PUBLISHERS) -> list[int]:
    """The indices of the cells that show an explorer or a viewer."""
    functions = interactive_functions(known)
    return [index for index, tree in _code(notebook).items() if called(tree) & functions]


def with_needed_cells(notebook: NotebookNode, wanted: Collection[int]) -> NotebookNode:
    """The lesson with these cells and those whose names they need; all others are left out.

    A cell is needed when it binds a name, or a part of what a name stands for, that a needed cell
    after it reads. What it does to an object by a call alone, as by training, is not seen.
    """
    names: set[str] = set()
    kept: list[int] = []
    for index, tree in reversed(_code(notebook).items()):
        if index in wanted or set(bound_names(tree)) & names:
            kept.insert(0, index)
            names |= read_names(tree)
    shorter = copy.deepcopy(notebook)
    shorter.cells = [shorter.cells[index] for index in kept]
    return shorter


def _code(notebook: NotebookNode) -> dict[int, ast.Module]:
    return {
        index: ast.parse(cell.source)
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code"
    }


def exported(notebook: NotebookNode, template: str = "lab") -> str:
    """The lesson as an HTML page, as nbconvert writes it, that loads no script from anywhere.

    Args:
        notebook: The lesson.
        template: One of nbconvert's; of these, "classic" alone keeps the pictures' words.
    """
    exporter = HTMLExporter(
        template_name=template, require_js_url="", mathjax_url="", mermaid_js_url="data:,"
    )
    page, _ = exporter.from_notebook_node(notebook)
    return re.sub(r'<script src=""></script>', "", page)
