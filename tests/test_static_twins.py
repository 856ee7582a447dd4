"""Nothing is lost without a kernel: what moves has a still picture, and exported pages have all.

Opened on GitHub, exported to HTML or shown on slides, a lesson has no widgets.
"""

import base64
import html
import re
from collections import Counter

import nbformat
import pytest
from nbformat import NotebookNode

from tests.lesson_widgets import (
    exported,
    interactive_cells,
    interactive_functions,
)
from tools.notebooks import lesson_paths, read, refusal

LESSONS = lesson_paths()
PNG = b"\x89PNG\r\n\x1a\n"
IMAGE = re.compile(r"<img\b[^>]*>", re.DOTALL)
every_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)

Figure = tuple[bytes, str]  # its bytes and its alternative text


def stored_figures(cell: NotebookNode) -> list[Figure]:
    """The still pictures in a cell's stored outputs."""
    found: list[Figure] = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text/html" in data and (framed := figures_of(data["text/html"])):
            found += framed  # a page prefers this to the picture beside it
        elif "image/png" in data:
            alt = output.metadata.get("image/png", {}).get("alt", "")
            found.append((base64.b64decode(data["image/png"]), alt))
    return found


def figures_of(page: str) -> list[Figure]:
    """The pictures in HTML that bring their own bytes."""
    found = []
    for image in IMAGE.findall(page):
        attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', image))
        kind, _, content = attributes.get("src", "").partition(";base64,")
        if kind == "data:image/png":
            found.append((base64.b64decode(content), html.unescape(attributes.get("alt", ""))))
    return found


def without_still_picture(notebook: NotebookNode) -> list[int]:
    """The indices of the cells that show something to be moved, and no still picture of it."""
    return [
        index
        for index in interactive_cells(notebook)
        if not any(
            png.startswith(PNG) and alt.strip()
            for png, alt in stored_figures(notebook.cells[index])
        )
    ]


def different_figures(notebook: NotebookNode, page: str, *, with_words: bool) -> int:
    """How many are in the notebook and not on the page, or on the page and not in the notebook."""
    stored = [figure for cell in notebook.cells for figure in stored_figures(cell)]
    here, there = (
        Counter(figure if with_words else figure[0] for figure in figures)
        for figures in (stored, figures_of(page))
    )
    return (here - there).total() + (there - here).total()


@every_lesson
def test_all_that_moves_has_a_still_picture_with_words(path):
    found = without_still_picture(read(path))
    assert not found, refusal(path.name, f"no still picture with words in the cells {found}")


@pytest.mark.slow
@every_lesson
def test_an_exported_page_keeps_every_figure_and_asks_nobody_for_anything(path):
    notebook = read(path)
    page = exported(notebook)
    assert different_figures(notebook, page, with_words=False) == 0
    assert not re.search(
        r"""<(script|link|img|iframe)\b[^>]*\b(src|href)=["']?(https?:)?//""", page
    )


# Below: what these tests rely on, shown to notice what is missing.

EXPLORING = "from transformer_course.attention import show_plane_live\n\nshow_plane_live()"


def lesson_with(*outputs: NotebookNode) -> NotebookNode:
    """A notebook with one explorer and these stored outputs."""
    cells = [
        nbformat.v4.new_code_cell("words = ['a']\nunused = 1"),
        nbformat.v4.new_code_cell(EXPLORING, outputs=list(outputs)),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def displayed(alt: str = "a mask", **data: str) -> NotebookNode:
    """An output as an explorer leaves it."""
    data = {"image/png": base64.b64encode(PNG + b"1").decode(), "text/plain": alt} | data
    return nbformat.v4.new_output("display_data", data=data, metadata={"image/png": {"alt": alt}})


def test_every_explorer_and_viewer_is_known():
    known = interactive_functions()
    assert {"explore", "explore_links", "view_attention", "view_weights"} <= known
    assert {"show_plane_live", "show_mask_live"} <= known
    assert not {"show", "plot_mask_row", "plot_still"} & known
