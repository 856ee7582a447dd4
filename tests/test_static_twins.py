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
    with_needed_cells,
)
from tools.notebooks import WIDGET_VIEW, lesson_paths, read

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
    assert without_still_picture(read(path)) == []


@every_lesson
def test_no_widget_stands_before_its_picture(path):
    for cell in read(path).cells:
        for output in cell.get("outputs", []):
            assert WIDGET_VIEW not in output.get("data", {}) or "image/png" in output["data"]


@every_lesson
def test_an_exported_page_keeps_every_figure_and_asks_nobody_for_anything(path):
    notebook = read(path)
    page = exported(notebook)
    assert different_figures(notebook, page, with_words=False) == 0
    assert not re.search(
        r"""<(script|link|img|iframe)\b[^>]*\b(src|href)=["']?(https?:)?//""", page
    )


def test_a_page_of_the_classic_template_keeps_the_words_too():
    notebook = read(LESSONS[0])
    notebook.cells = [cell for cell in notebook.cells if stored_figures(cell)]  # to be quicker
    assert different_figures(notebook, exported(notebook, "classic"), with_words=True) == 0


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


@pytest.mark.parametrize(
    "outputs",
    [
        [],
        [nbformat.v4.new_output("stream", text="VBox()")],
        [displayed(alt=" ")],
        [displayed(**{"image/png": base64.b64encode(b"GIF").decode()})],
    ],
    ids=["nothing", "text", "no words", "no picture"],
)
def test_a_missing_still_picture_is_noticed(outputs):
    assert without_still_picture(lesson_with(*outputs)) == [1]
    assert without_still_picture(lesson_with(displayed())) == []


def test_a_figure_that_a_page_lost_is_noticed():
    notebook = lesson_with(displayed(), displayed(alt="another"))
    page = exported(notebook, "classic")
    for changed, difference in (
        (page, 0),
        (page.replace("another", "else"), 2),
        (page.replace("data:image/png", "picture"), 2),
        (exported(lesson_with(displayed()), "classic"), 1),
    ):
        assert different_figures(notebook, changed, with_words=True) == difference


def test_every_explorer_and_viewer_is_known():
    known = interactive_functions()
    assert {"explore", "explore_links", "view_attention", "view_weights"} <= known
    assert {"show_plane_live", "show_mask_live"} <= known
    assert not {"show", "plot_mask_row", "plot_still"} & known


def test_a_cell_is_needed_for_the_names_that_it_binds():
    sources = [
        "import torch",
        "unused = torch.ones(1)",
        "def double(x):\n    return x * torch.tensor(2)",
        "for each in (1, 2):\n    print(each)",
        "table = {}",
        "table['a'] = [double(each) for each in (1, 2)]",
        "explore_table(table)",
        "table = None",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    shorter = with_needed_cells(nbformat.v4.new_notebook(cells=cells), [6])
    kept = [sources.index(cell.source) for cell in shorter.cells]
    assert kept == [0, 2, 4, 5, 6]
