"""How much of the code that a reader sees is about the model: ``python -m tools.share [folder]``.

Counted are the lines of visible code: of every code cell that is not folded (``source_hidden``) and
not tagged ``setup`` or ``claim``, the lines that are neither blank nor only a comment. Such a line
is **machinery** if it belongs to

- an import from ``transformer_course``;
- the question and the answers of ``with predict(…):`` (what stands inside is judged by itself);
- a statement that draws, shows, explains or checks: a call of ``show``, ``show_…``, ``plot_…``,
  ``describe_…``, ``explore…``, ``view_…``, ``check_…`` or of matplotlib, also with its result
  kept under a name;
- a ``print`` that puts text together (an f-string, a join or a format), as for a table;
- an assignment of words for a figure, to a name such as ``title``, ``labels`` or ``alt``;
- a ``for``, ``if``, ``with`` or ``def`` with nothing but machinery inside.

Every other line is about tensors, the model, its training or its data. The share is the part of
the visible lines that they make up. Import lines are those of visible cells that import from our
two packages. Places are the doors or modules of ours from which one cell imports, visible or not.

The minutes are what a beginner needs by reckoning: the words of the prose at 130 a minute, the
visible lines at three a minute, and the exercises as their headings say. The lines of exercises are
in the exercises' minutes, and a project counts apart. CONTRIBUTING.md says what to do with them.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from tools.cell_rules import words_in
from tools.facts import PROJECT, exercises
from tools.lesson import has_tag, is_folded
from tools.notebooks import ROOT, read
from tools.syntax import dotted

WORDS_A_MINUTE, LINES_A_MINUTE = 130, 3
OURS = ("transformer_edu", "transformer_course")
SHOWS = re.compile(r"(show|plot|describe|explore|view|check)(_\w+)?$|explore_\w+$")
DRAWS = ("plt", "axes", "figure")
WORDS = re.compile(r"title|alt\b|label|caption|heading|column_names|row_names")
BLOCKS = ast.For | ast.While | ast.If | ast.With | ast.FunctionDef | ast.ClassDef


class Share(NamedTuple):
    """What is counted in one lesson."""

    visible: int
    about_the_model: int
    import_lines: int
    most_places: int
    minutes: float


def visible_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The code cells that a reader sees open, set-up and claims apart."""
    return [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code"
        and not is_folded(cell)
        and not has_tag(cell, "setup")
        and not has_tag(cell, "claim")
    ]


def is_machinery(node: ast.stmt) -> bool:
    """Whether a statement shows or checks something, or is there for what shows it."""
    if isinstance(node, BLOCKS):
        return all(is_machinery(each) for each in node.body) and not isinstance(node, ast.ClassDef)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] == "transformer_course"
    if isinstance(node, ast.Assign) and WORDS.search(ast.unparse(node.targets[0])):
        return True
    value = getattr(node, "value", None)
    if not isinstance(value, ast.Call):
        return False
    name = dotted(value.func)
    if name == "print":
        return any(puts_text_together(each) for each in ast.walk(value))
    return bool(SHOWS.match(name.rsplit(".", 1)[-1])) or name.split(".")[0] in DRAWS


def puts_text_together(node: ast.AST) -> bool:
    """Whether it is an f-string, or a call of join, format, ljust or rjust."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return isinstance(node, ast.JoinedStr) or (
        is_call and node.func.attr in ("join", "format", "ljust", "rjust")
    )


def machinery_lines(body: list[ast.stmt]) -> Iterator[int]:
    """The numbers of the lines that are machinery."""
    for node in body:
        if is_machinery(node):
            yield from range(node.lineno, node.end_lineno + 1)
        elif isinstance(node, BLOCKS):
            if isinstance(node, ast.With) and "predict(" in ast.unparse(node.items[-1]):
                yield from range(node.lineno, node.body[0].lineno)
            yield from machinery_lines([*node.body, *getattr(node, "orelse", [])])


def imports_of_ours(tree: ast.Module) -> list[ast.ImportFrom | ast.Import]:
    """The statements that import from our two packages."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if any(name.split(".")[0] in OURS for name in names):
            found.append(node)
    return found


def share_of(notebook: NotebookNode) -> Share:
    """Count one lesson."""
    visible = about = import_lines = to_read = 0
    for cell in visible_cells(notebook):
        tree, lines = ast.parse(cell.source), cell.source.splitlines()
        code = {n for n, line in enumerate(lines, 1) if line.strip() and line.lstrip()[0] != "#"}
        visible += len(code)
        to_read += 0 if has_tag(cell, "exercise") else len(code)
        about += len(code - set(machinery_lines(tree.body)))
        import_lines += sum(n.end_lineno - n.lineno + 1 for n in imports_of_ours(tree))
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    minutes = sum(map(words_in, prose)) / WORDS_A_MINUTE + to_read / LINES_A_MINUTE
    minutes += sum(each.minutes for each in exercises(notebook) if each.minutes < PROJECT)
    return Share(visible, about, import_lines, max(map(places_of, notebook.cells)), minutes)


def places_of(cell: NotebookNode) -> int:
    """From how many doors or modules of ours a cell imports."""
    if cell.cell_type != "code":
        return 0
    imports = imports_of_ours(ast.parse(cell.source))
    return len({getattr(node, "module", None) or ast.unparse(node) for node in imports})


def main(arguments: list[str]) -> int:
    """The command: a line for each lesson in the course, or in another folder, and their sum."""
    about = "Count how much of a lesson's visible code is about the model, and its minutes."
    parser = argparse.ArgumentParser(prog="python -m tools.share", description=about)
    folders = "of lessons; the course's when none"
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "notebooks", help=folders)
    folder = parser.parse_args(arguments).folder
    if not [*folder.glob("[0-9]*.ipynb")]:
        print(f"{folder} must be a folder of lessons", file=sys.stderr)
        return 2
    shares = {path.stem: share_of(read(path)) for path in sorted(folder.glob("[0-9]*.ipynb"))}
    *sums, places, minutes = zip(*shares.values(), strict=True)
    shares["all lessons"] = Share(*map(sum, sums), max(places), sum(minutes))
    print(f"{'lesson':<30} {'lines':>6} {'share':>6} {'imports':>8} {'places':>7} {'minutes':>8}")
    for name, each in shares.items():
        part = f"{each.about_the_model / each.visible:.0%}"
        counts = f"{each.import_lines:>8} {each.most_places:>7} {each.minutes:>8.0f}"
        print(f"{name:<30} {each.visible:>6} {part:>6} {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
