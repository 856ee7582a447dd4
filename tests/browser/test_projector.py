"""On a projector and on a phone: what `make lab` shows is not cut off, and grows with the text."""

import math
import re
import shlex
import time
from collections.abc import Iterator
from itertools import zip_longest

import nbformat
import pytest

from tools.notebooks import KERNELSPEC, ROOT

PROJECTOR, PHONE = {"width": 1024, "height": 768}, {"width": 390, "height": 844}
LONGEST, TOO_LONG = 88, 100  # columns of code
CODE = "\n".join(("# " + "words " * 20)[:columns] for columns in (LONGEST, TOO_LONG))
FIGURES = """\
import ipywidgets as widgets
import matplotlib.pyplot as plt
from transformer_course.drawing.display import explore, show
from transformer_course.asking.predict import predict

def draw(**values):
    figure, axes = plt.subplots(figsize=(4, 3))
    axes.plot([0, 1])
    return figure

show(draw(), alt="a line")
with predict("Which one?", "a first answer " * 9, "second"):
    show(draw(), alt="a line")
explore(
    draw,
    lambda **values: "a line",
    number=widgets.IntSlider(description="head (0: mean of all)"),
    choice=widgets.SelectionSlider(options=[0.1, 10.0], description="temperature"),
    ticked=widgets.Checkbox(description="divide the scores by √d_k"),
    text=widgets.Text(description="English, then Enter"),
)"""
PRESENT = "() => window.jupyterapp.commands.execute('application:toggle-presentation-mode')"
FOLD_SIDES = """() => {
    window.jupyterapp.shell.collapseLeft();
    window.jupyterapp.shell.collapseRight();
    for (const outcome of document.querySelectorAll(".jp-Notebook details")) outcome.open = true;
}"""
# Of what must grow: how wide the pictures are, how high the words.
SIZES = """() => Object.fromEntries(Object.entries({
    picture: [".jp-RenderedImage img", e => e.getBoundingClientRect().width],
    outcome: ["fieldset img", e => e.getBoundingClientRect().width],
    explorer: [".widget-html img", e => e.getBoundingClientRect().width],
    control: [".widget-label", e => e.getBoundingClientRect().height],
    answer: ["fieldset label", e => parseFloat(getComputedStyle(e).fontSize)],
    words: [".jp-RenderedMarkdown p", e => parseFloat(getComputedStyle(e).fontSize)],
}).map(([name, [where, size]]) =>
    [name, size(document.querySelector(".jp-Notebook").querySelector(where))]))"""
# Each row of an explorer: its edges, by how much it reaches beyond the box, and by how much its
# content is wider than it.
ROWS = """box => [...box.children].map(row => {
    const edges = row.getBoundingClientRect(), words = row.querySelector("label, span") ?? row;
    return {
        top: edges.top, bottom: edges.bottom,
        beyond: edges.right - box.getBoundingClientRect().right,
        hidden: Math.max(row.scrollWidth - row.clientWidth, words.scrollWidth - words.clientWidth),
    };
})"""
SECONDS_TO_ARRANGE = 60  # JupyterLab does it a while after the window's size has changed


def options_of_make_lab() -> list[str]:
    """What the Makefile tells JupyterLab about how things look."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", "")
    (recipe,) = re.findall(r"(?m)^\t.* -m jupyterlab (.*)$", makefile)
    looks = [each for each in shlex.split(recipe) if re.search("tools/jupyterlab|custom_css", each)]
    return [each.replace("tools/", f"{ROOT.as_posix()}/tools/") for each in looks]


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(chromium, tmp_path_factory) -> Iterator:
    """A JupyterLab as `make lab` starts it, on one notebook."""
    from tests.browser.jupyterlab import running_lab  # needs what a test may lack

    folder = tmp_path_factory.mktemp("projector")
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": KERNELSPEC})
    notebook.cells = [
        nbformat.v4.new_markdown_cell("Words."),
        nbformat.v4.new_code_cell(CODE),
        nbformat.v4.new_code_cell(FIGURES),
    ]
    nbformat.write(notebook, folder / "lesson.ipynb")
    with running_lab(folder, options_of_make_lab()) as server:
        yield server


@pytest.fixture(scope="module")
def lesson(server, chromium) -> Iterator:
    """The notebook, run, on a projector."""
    from tests.browser.lab_page import LabPage

    context = chromium.new_context(viewport=PROJECTOR)
    context.set_default_timeout(120_000)
    lesson = LabPage(context.new_page(), server, "lesson.ipynb")
    lesson.run_all()
    assert lesson.failures() == []
    lesson.page.evaluate(FOLD_SIDES)
    yield lesson
    lesson.end_kernel()
    context.close()


@pytest.fixture
def projected(lesson) -> Iterator:
    """The page in presentation mode."""
    lesson.page.evaluate(PRESENT)
    yield lesson.page
    lesson.page.evaluate(PRESENT)


def test_88_columns_of_code_fit_on_a_projector_and_what_is_longer_wraps(projected):
    code = projected.locator(".jp-Notebook .cm-content").nth(1)
    one, two = (line.bounding_box()["height"] for line in code.locator(".cm-line").all())
    assert two == pytest.approx(2 * one, rel=0.05)
    hidden = "e => e.scrollWidth - e.clientWidth"
    assert projected.locator(".jp-Notebook .cm-scroller").nth(1).evaluate(hidden) == 0


def test_figures_and_controls_grow_with_the_words(lesson):
    before = lesson.page.evaluate(SIZES)
    lesson.page.evaluate(PRESENT)
    after = lesson.page.evaluate(SIZES)
    lesson.page.evaluate(PRESENT)
    for name, size in before.items():
        assert 1.15 < after[name] / size < 1.3, f"{name}: {size} becomes {after[name]}"


def cut_off(page) -> list[dict]:
    """The rows of the explorer that still hide something or lie over the next one at the end."""
    latest = time.monotonic() + SECONDS_TO_ARRANGE
    while True:
        rows = page.locator(".jp-Notebook .widget-vbox").evaluate(ROWS)
        assert len(rows) == 5
        found = [
            row
            for row, following in zip_longest(rows, rows[1:], fillvalue={"top": math.inf})
            if row["bottom"] > following["top"] + 1 or row["beyond"] > 4 or row["hidden"] > 0
        ]
        if not found or time.monotonic() > latest:
            return found
        page.wait_for_timeout(100)


def test_no_control_is_cut_off_or_reaches_into_the_picture_on_a_projector(projected):
    assert cut_off(projected) == []


def test_no_control_is_cut_off_or_reaches_into_the_picture_on_a_phone(lesson):
    lesson.page.set_viewport_size(PHONE)
    lesson.page.wait_for_function("() => innerWidth < 400")
    found = cut_off(lesson.page)
    lesson.page.set_viewport_size(PROJECTOR)
    assert found == []
