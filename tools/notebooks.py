"""Run the lessons in place and tidy them: ``python -m tools.notebooks [files…]``.

A second run writes the same bytes again. What a reader does not need stays out of the file: widget
views and state, progress bars, times, the machine's Python version.

Colab opens a notebook without its neighbors. So where the repository has an address, links between
notebooks lead to Colab in the stored files. ``read`` makes them relative, ``write`` does not.
"""

import argparse
import copy
import hashlib
import json
import os
import re
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from tools.working_copies import LINK_TO_COLAB
from transformer_course.grading.limited_run import KERNEL_SETTINGS
from transformer_edu.training.machine.atomic_files import replace_file

ROOT = Path(__file__).resolve().parent.parent
BEFORE = ROOT / "notebooks" / "before_you_start.ipynb"
NAMES = BEFORE.with_name("names_on_model_cards.ipynb")
PROBLEMS = BEFORE.with_name("open_problems.ipynb")
REVIEW = BEFORE.with_name("review.ipynb")
GLOSSARY = BEFORE.with_name("glossary.ipynb")
AFTERWARDS = (NAMES, PROBLEMS, REVIEW, GLOSSARY)  # what follows the lessons
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = ("tags", "slideshow", "jupyter", "cellView")
NOTEBOOK_METADATA = ("accelerator", "colab")
COLAB_METADATA = ("gpuType", "toc_visible")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
COLAB = "https://colab.research.google.com/github"
RELATIVE_LINK = re.compile(r"\]\((?=[\w.-]+\.ipynb\b)")
SECONDS_PER_CELL = 1200  # ends what hangs: ten times what the slowest cell takes


class LessonError(Exception):
    """A lesson that did not run to its end; the message names the cell."""


def lesson_paths(root: Path = ROOT) -> list[Path]:
    """All lessons, in order."""
    return sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb"))


def refusal(lesson: str, words: str) -> str:
    """What is wrong with a lesson: the file to open, the words, and the command to run afterwards.

    Args:
        lesson: The file's name, such as ``02_attention.ipynb``.
        words: What is wrong.
    """
    return f"notebooks/{lesson}: {words}; then run: make lesson LESSON={lesson[:2]}"


def read(path: Path) -> NotebookNode:
    """Read a notebook in the present format (cells with ids), with relative links to its like."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except nbformat.reader.NotJSONError as error:
        raise ValueError(f"{path} is damaged: {str(error).splitlines()[0]}") from None
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(LINK_TO_COLAB, "](", cell.source)
    return notebook


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook as it is stored.

    Args:
        notebook: With relative links.
        path: The file.
    """
    replace_file(path, [stored(notebook, repository_address()).encode()])


def stored(notebook: NotebookNode, address: str | None) -> str:
    """The text of a notebook's file.

    Args:
        notebook: With relative links, which lead to Colab in the text if there is an address.
        address: The repository's, or None.
    """
    notebook = copy.deepcopy(notebook)
    if address:
        folder = f"{COLAB}/{address.removeprefix('https://github.com/')}/blob/main/notebooks/"
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = RELATIVE_LINK.sub(f"]({folder}", cell.source)
    return nbformat.writes(notebook) + "\n"


def repository_address(pyproject: str | None = None) -> str | None:
    """The repository's address, or None while there is none.

    Args:
        pyproject: The text of pyproject.toml; None for that of this repository.
    """
    text = pyproject or (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"].get("urls", {}).get("Repository")


def source_hash(notebook: NotebookNode) -> str:
    """A fingerprint of every cell's source: it changes when a cell is edited, moved or removed."""
    sources = [[cell.cell_type, cell.source] for cell in notebook.cells]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()[:16]


def tidy(notebook: NotebookNode) -> None:
    """Keep what a reader needs, and remember which sources the outputs belong to.

    Args:
        notebook: The executed notebook; changed in place.
    """
    kept = {key: notebook.metadata[key] for key in NOTEBOOK_METADATA if key in notebook.metadata}
    if "colab" in kept:
        kept["colab"] = {key: kept["colab"][key] for key in COLAB_METADATA if key in kept["colab"]}
    notebook.metadata = nbformat.from_dict(
        {
            **kept,
            "kernelspec": KERNELSPEC,
            "language_info": {"name": "python"},
            "source_hash": source_hash(notebook),
        }
    )
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict(
            {key: cell.metadata[key] for key in CELL_METADATA if key in cell.metadata}
        )
        if cell.cell_type == "code":
            cell.outputs = tidy_outputs(cell.outputs)


def tidy_outputs(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Drop progress bars and widget views, and join what was printed in pieces."""
    tidied: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream":
            if is_progress(output):
                continue
            before = tidied[-1] if tidied else None
            if before and before.output_type == "stream" and before.name == output.name:
                before.text += output.text
                continue
        if "data" in output:
            output.data.pop(WIDGET_VIEW, None)
            if not output.data:
                continue
        tidied.append(output)
    return tidied


def is_progress(output: NotebookNode) -> bool:
    """Whether text comes from a progress bar; what it writes last may come alone, and is blank."""
    return "\r" in output.text or (output.name == "stderr" and not output.text.strip())


def execute(notebook: NotebookNode, *, name: str, folder: Path) -> None:
    """Run every cell in a fresh kernel, from top to bottom.

    Args:
        notebook: Changed in place: outputs and counts are filled in.
        name: How error messages call it.
        folder: The working folder of the kernel.

    Raises:
        LessonError: If a cell fails, takes too long, or writes a warning.
    """
    running = {"cell": 0}
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        store_widget_state=False,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        on_cell_start=lambda cell, cell_index: running.update(cell=cell_index),
    )
    try:
        client.execute(env={**os.environ, **KERNEL_SETTINGS})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        reason = _first_words(error)
        place = _describe(notebook, running["cell"])
        raise LessonError(refusal(name, f"{place} failed with {reason}")) from error
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr" and not is_progress(output):
                complaint = output.text.strip()
                raise LessonError(refusal(name, f"{_describe(notebook, index)} warns: {complaint}"))


def _first_words(error: Exception) -> str:
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}"
    return str(error).strip().splitlines()[0]


def _describe(notebook: NotebookNode, index: int) -> str:
    first_line = (notebook.cells[index].source.strip().splitlines() or [""])[0]
    return f"cell {index + 1} ({first_line!r})"


def run_in_place(path: Path) -> float:
    """Run one lesson, tidy it, write it back.

    Returns:
        The seconds it took, its kernel's start included.

    Raises:
        LessonError: If it did not run to its end; the file is then left as it was.
    """
    notebook = read(path)
    begin = time.perf_counter()
    execute(notebook, name=path.name, folder=path.parent)
    seconds = time.perf_counter() - begin
    tidy(notebook)
    nbformat.validate(notebook)
    write(notebook, path)
    return seconds


def _report(path: Path) -> str:
    """Run one lesson and say how it went; an empty answer means that it failed."""
    try:
        print(f"{run_in_place(path):6.1f} s  {path.name}", flush=True)
    except LessonError as error:
        print(f"FAILED    {error}", file=sys.stderr, flush=True)
        return ""
    return path.name


def main(arguments: list[str] | None = None) -> int:
    """The command: run the named lessons, or all."""
    parser = argparse.ArgumentParser(description="Run lessons in place and tidy them.")
    parser.add_argument("files", nargs="*", type=Path, help="notebooks; all of them when none")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at once (default 2)")
    options = parser.parse_args(arguments)
    for file in options.files:
        if file.suffix != ".ipynb" or not file.is_file():
            parser.error(f"{file} must be a notebook")
    if options.jobs < 1:
        parser.error(f"--jobs must be at least 1, got {options.jobs}")
    with ThreadPoolExecutor(options.jobs) as pool:
        finished = list(pool.map(_report, options.files or lesson_paths()))
    return 0 if all(finished) else 1


if __name__ == "__main__":
    sys.exit(main())
