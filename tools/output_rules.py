"""What the stored outputs must be like: complete, fresh, readable everywhere, of no machine."""

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from tools.cell_rules import MACHINE_PATH, REMOTE
from tools.exercises import exercise_indices, number_of, printed_by
from tools.lesson import Lesson, has_tag, start
from tools.notebooks import (
    CELL_METADATA,
    COLAB_METADATA,
    KERNELSPEC,
    NOTEBOOK_METADATA,
    WIDGET_VIEW,
    source_hash,
)

LARGEST_FILE = 550_000
PICTURES = ("image/png", "image/jpeg", "image/svg+xml")
ADDRESS_IN_MEMORY = re.compile(r"\bat 0x[0-9a-f]+")


def outputs(lesson: Lesson) -> Iterator[tuple[NotebookNode, NotebookNode]]:
    """Every output with the cell it belongs to."""
    for cell in lesson.code_cells:
        for output in cell.outputs:
            yield cell, output


def texts(output: NotebookNode) -> str:
    """Everything in an output that can be read, pictures apart."""
    data = {kind: text for kind, text in output.get("data", {}).items() if kind not in PICTURES}
    trace = output.get("traceback", [])
    return "\n".join([output.get("text", ""), *map(str, data.values()), *trace])


def cells_ran_from_top_to_bottom(lesson: Lesson) -> Iterator[str]:
    """The counts are 1, 2, 3 … n: without them nothing would be compared."""
    counts = [cell.execution_count for cell in lesson.code_cells]
    if counts != list(range(1, len(counts) + 1)):
        yield f"the counts are {counts}"


def outputs_belong_to_the_sources(lesson: Lesson) -> Iterator[str]:
    """Nothing was edited after the last run."""
    if lesson.notebook.metadata.get("source_hash") != source_hash(lesson.notebook):
        yield "a cell was edited and not run again"


def exercises_wait(lesson: Lesson) -> Iterator[str]:
    """The check of each exercise says that it waits for its answer."""
    for index in exercise_indices(lesson.notebook):
        number = number_of(lesson.notebook, index)
        if f"Exercise {number} is waiting for you" not in printed_by(lesson.cells[index]):
            yield f"exercise {number} does not wait for its answer"


def no_cell_failed(lesson: Lesson) -> Iterator[str]:
    """No error, except where a cell announces it."""
    for cell, output in outputs(lesson):
        if output.output_type == "error" and not has_tag(cell, "raises-exception"):
            yield f"{start(cell)} failed with {output.ename}"


def no_cell_warned(lesson: Lesson) -> Iterator[str]:
    """Nothing on stderr, no progress bar."""
    for cell, output in outputs(lesson):
        if output.get("name") == "stderr" or "\r" in texts(output):
            yield f"{start(cell)} shows a warning or a progress bar"


def no_output_names_a_machine(lesson: Lesson) -> Iterator[str]:
    """No path of somebody's machine, no address in memory."""
    for cell, output in outputs(lesson):
        for pattern in (MACHINE_PATH, ADDRESS_IN_MEMORY):
            if found := pattern.search(texts(output)):
                yield f"{start(cell)} shows {found[0]!r}"


def nothing_in_the_outputs_is_remote(lesson: Lesson) -> Iterator[str]:
    """No output runs a script or loads something from the network."""
    for cell, output in outputs(lesson):
        if "application/javascript" in output.get("data", {}) or REMOTE.search(texts(output)):
            yield f"{start(cell)} shows a script or something from the network"


def no_widget_is_stored(lesson: Lesson) -> Iterator[str]:
    """No widget view and no widget state: they are dead in a file."""
    if "widgets" in lesson.notebook.metadata:
        yield "widget state is stored"
    for cell, output in outputs(lesson):
        if WIDGET_VIEW in output.get("data", {}):
            yield f"{start(cell)} stores a widget view"


def pictures_have_words(lesson: Lesson) -> Iterator[str]:
    """Every picture has an alternative text, as show(figure, alt) gives it."""
    for cell, output in outputs(lesson):
        for kind in set(PICTURES) & set(output.get("data", {})):
            if not output.metadata.get(kind, {}).get("alt", "").strip():
                yield f"{start(cell)} shows a picture without alternative text"
        for image in re.findall(r"<img\b[^>]*>", texts(output)):
            if not re.search(r"alt=[\"'][^\"']", image):
                yield f"{start(cell)} shows a picture without alternative text"


def metadata_is_the_same_everywhere(lesson: Lesson) -> Iterator[str]:
    """The kernel is python3, and nothing else about the machine is stored."""
    metadata = lesson.notebook.metadata
    known = {*NOTEBOOK_METADATA, "kernelspec", "language_info", "source_hash"}
    stray = set(metadata) - known - {"widgets"}
    stray |= set(metadata.get("colab", {})) - set(COLAB_METADATA)
    for cell in lesson.cells:
        stray |= set(cell.metadata) - set(CELL_METADATA)
    if metadata.get("kernelspec") != KERNELSPEC or stray:
        yield f"the kernel must be python3 and nothing more be stored, got {sorted(stray)}"


def the_file_is_small(lesson: Lesson) -> Iterator[str]:
    """At most 550 KB with its sharp pictures, so that it opens fast and its history stays small."""
    if lesson.size > LARGEST_FILE:
        yield f"the file has {lesson.size} bytes, at most {LARGEST_FILE}"


OUTPUT_RULES = [
    cells_ran_from_top_to_bottom,
    outputs_belong_to_the_sources,
    exercises_wait,
    no_cell_failed,
    no_cell_warned,
    no_output_names_a_machine,
    nothing_in_the_outputs_is_remote,
    no_widget_is_stored,
    pictures_have_words,
    metadata_is_the_same_everywhere,
    the_file_is_small,
]
