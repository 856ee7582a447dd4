"""The lessons in a real browser: every control and viewer works, with a kernel and without one.

What needs a kernel is moved in JupyterLab. All else is moved on the page that a lesson becomes
without one, with the live figures and viewers that its cells publish now. What is seen on the way
is kept in the folder TRANSFORMER_EDU_SCREENSHOTS, where this variable names one.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tests.lesson_widgets import exported, interactive_cells, with_needed_cells
from tests.published import caught_bundles
from tools.notebooks import lesson_paths, read
from transformer_course.drawing import display as display_module

# This one runs from top to bottom; of the others, only what their explorers need.
WHOLE = ("00",)
VIEWERS = "16"
WITH_KERNEL = frozenset({"explore"})


PAGES = [path for path in lesson_paths() if interactive_cells(read(path))]
EXPLORERS = [path for path in PAGES if interactive_cells(read(path), WITH_KERNEL)]
LESSONS = [path for path in PAGES if path in EXPLORERS or path.name.startswith(VIEWERS)]
SCREENSHOTS = os.environ.get("TRANSFORMER_EDU_SCREENSHOTS")
LOOPBACK = re.compile(r"(https?|wss?)://127\.0\.0\.1:\d+/|data:|blob:|about:")
MOST_STEPS = 6  # one step may leave the picture as it is; so many may not
# JupyterLab's own complaints, which say nothing about a lesson.
HARMLESS: tuple[str, ...] = ()


@pytest.fixture(scope="module")
def server(chromium, tmp_path_factory) -> Iterator:
    """A JupyterLab on copies of the lessons, those that are not WHOLE cut down."""
    from tests.browser.jupyterlab import running_lab  # needs what a test may lack

    folder = tmp_path_factory.mktemp("lab")
    for path in LESSONS:
        notebook = read(path)
        if not path.name.startswith(WHOLE):
            notebook = with_needed_cells(notebook, interactive_cells(notebook))
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs.clear()  # what is seen must be new
        nbformat.write(notebook, folder / path.name)
    with running_lab(folder) as server:
        yield server


@pytest.fixture(scope="module")
def context(chromium):
    """One for all lessons, so that JupyterLab is loaded once."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(120_000)
    yield context
    context.close()


@pytest.fixture
def open_lesson(server, context) -> Iterator:
    """Open a lesson; in the end the page must not have complained, nor asked anybody else."""
    from tests.browser.lab_page import LabPage

    pages, lessons, complaints = [], [], []

    def notice(kind: str, text: str) -> None:
        if not any(each in text for each in HARMLESS):
            complaints.append(f"{kind}: {text}")

    def asked(request) -> None:
        if not LOOPBACK.match(request.url):
            complaints.append(f"request: {request.url}")

    def open_it(name: str) -> LabPage:
        page = context.new_page()
        pages.append(page)
        page.on("console", lambda told: told.type == "error" and notice("console", told.text))
        page.on("pageerror", lambda error: notice("error", str(error)))
        page.on("request", asked)
        page.on("websocket", asked)
        lessons.append(LabPage(page, server, name))
        return lessons[-1]

    yield open_it
    for lesson in lessons:
        lesson.end_kernel()
    for page in pages:
        page.close()
    assert complaints == []


def move(explorer, control) -> int:
    """Move a control until the picture is another; how many steps it took."""
    picture, value = explorer.picture(), control.value()
    for steps in range(1, MOST_STEPS + 1):
        control.step()
        assert control.value() != value, f"{control.label} does not move"
        if explorer.has_another(picture):
            return steps
    raise AssertionError(f"the picture stays as it is, whatever {control.label} is")


def keep(locator, name: str) -> None:
    """Keep what is seen, where somebody wants to look at it."""
    if SCREENSHOTS:
        locator.screenshot(path=Path(SCREENSHOTS, f"{name}.png"))


@pytest.mark.slow
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_cell_runs_and_every_control_changes_the_picture(open_lesson, path):
    lesson = open_lesson(path.name)
    lesson.run_all()
    assert lesson.failures() == []
    lesson.wait_for(len(interactive_cells(read(path))))
    explorers, viewers, live = lesson.explorers(), lesson.viewers(), lesson.live_figures()
    for number, explorer in enumerate(explorers, start=1):
        name = f"{path.stem[:2]}-explorer-{number}"
        keep(explorer.box, f"{name}-0")
        controls = explorer.controls()
        assert controls
        for place, control in enumerate(controls, start=1):
            first, value = explorer.picture(), control.value()
            steps = move(explorer, control)
            assert explorer.picture().startswith(("data:image/png;base64,", "<svg", "<!DOCTYPE"))
            keep(explorer.box, f"{name}-{place}")
            for _ in range(steps):
                control.step_back()
                explorer.settle()
            assert explorer.has_again(first)
            assert control.value() == value
    for number, frame in enumerate(viewers, start=1):
        point_at_tokens(frame, f"{path.stem[:2]}-viewer-{number}")
    for number, frame in enumerate(live, start=1):
        move_by_keyboard(frame, f"{path.stem[:2]}-live-{number}")
    for number, box in enumerate(lesson.predictions(), start=1):
        choose_by_keyboard(box, f"{path.stem[:2]}-predict-{number}")


def move_by_keyboard(frame, name: str) -> None:
    """A key on the first thing that can be moved changes the picture or what is said of it."""
    frame.scroll_into_view_if_needed()
    keep(frame, f"{name}-0")
    drawn = frame.content_frame.locator(".draggable, .roving")
    controls = frame.content_frame.locator("[data-part=controls] input")
    drawn.or_(controls).first.wait_for(state="attached")
    # The browser itself answers keys on a control, so what is drawn comes first.
    first, keys = drawn, ("ArrowRight",)
    if not drawn.count():
        first, keys = controls, ("ArrowRight", "ArrowLeft", "Space")  # a slider; a box
    first = first.first

    def seen() -> list[str]:
        parts = frame.content_frame.locator("[data-part=figure], [data-part=readout]")
        return parts.evaluate_all("all => all.map(e => e.innerHTML)")

    first.focus()  # which may choose it
    before = seen()
    for key in keys:
        if seen() == before:
            first.press(key)
    assert seen() != before
    keep(frame, f"{name}-1")


def choose_by_keyboard(box, name: str) -> None:
    """Choose the first answer, then the second, and only then see the outcome."""
    first, second = box.get_by_role("radio").all()[:2]
    outcome = box.locator("details")
    assert outcome.get_attribute("open") is None
    first.press("Space")
    assert first.is_checked()
    first.press("ArrowDown")
    assert second.is_checked()
    keep(box, f"{name}-closed")
    outcome.locator("summary").press("Enter")
    assert outcome.get_attribute("open") is not None
    keep(box, f"{name}-open")


def point_at_tokens(frame, name: str) -> None:
    """In both views: point at a token, and read whom it looks at and how much."""
    frame.scroll_into_view_if_needed()
    viewer = frame.content_frame
    for view in ("lines", "grid"):
        viewer.get_by_role("radio", name=view, exact=True).check(force=True)
        readout = viewer.locator("[data-part=readout]")
        assert "Point at a token" in readout.inner_text()
        viewer.locator("[aria-label^='query 1:']").hover()
        said = r"(The row that reads )?“.+” attends to “.+” (\(no\. \d+\) )?[01]\.\d{3}"
        assert re.match(said, readout.inner_text())
        keep(frame, f"{name}-{view}")
        viewer.locator("[data-part=place]").hover()


def test_the_lesson_that_runs_from_top_to_bottom_and_the_explorers_are_there():
    assert [path.name[:2] for path in LESSONS if path.name.startswith(WHOLE)] == [*WHOLE]
    assert len(EXPLORERS) >= 4


def with_new_figures(path: Path, patch: pytest.MonkeyPatch) -> NotebookNode:
    """The stored lesson, with what the cells with something to be moved publish now."""
    notebook = read(path)
    cells = {cell.id: cell for cell in notebook.cells}
    moving = {notebook.cells[index].id for index in interactive_cells(notebook)}
    patch.chdir(path.parent)
    patch.setenv("TRANSFORMER_EDU_KEEP", "0")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in with_needed_cells(notebook, interactive_cells(notebook)).cells:
        bundles = caught_bundles(patch, display_module)
        exec(cell.source, namespace)
        if cell.id in moving:
            assert any("<iframe" in each["data"].get("text/html", "") for each in bundles)
            cells[cell.id].outputs = [
                nbformat.v4.new_output("display_data", **each) for each in bundles
            ]
    return notebook


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path not in EXPLORERS], ids=lambda path: path.stem
)
def test_a_lesson_works_as_a_page_without_a_kernel_or_a_network(
    open_page, tmp_path, monkeypatch, path
):
    file, number = tmp_path / "lesson.html", path.stem[:2]
    file.write_text(exported(with_new_figures(path, monkeypatch)), encoding="utf-8")
    page = open_page(file)
    for place, box in enumerate(page.locator("fieldset:has(details)").all(), start=1):
        choose_by_keyboard(box, f"{number}-page-predict-{place}")
    for image in page.locator("img:not(iframe + img)").all():
        assert image.is_visible() and image.evaluate("image => image.naturalWidth") > 100
    viewers = page.locator(".attention-viewer > iframe").all()
    live = page.locator(".live-figure > iframe").all()
    assert len(viewers) + len(live) >= len(interactive_cells(read(path)))
    for place, frame in enumerate(viewers, start=1):
        point_at_tokens(frame, f"{number}-page-viewer-{place}")
    for place, frame in enumerate(live, start=1):
        move_by_keyboard(frame, f"{number}-page-live-{place}")
