"""A stranger's first minute: a fresh clone, ``make lab``, and figures that answer at once.

No cell is run here, and nothing is allowed or confirmed. JupyterLab is the one that ``make lab``
starts, with a home of its own in which Jupyter has never run.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from tests.fresh_clone import clone_into
from tools.notebooks import BEFORE, lesson_paths, read

FIRST, *_ = lesson_paths()
PLACES_OF_JUPYTER = ("JUPYTER", "XDG_", "IPYTHON", "TRANSFORMER_EDU")
SCREENSHOTS = os.environ.get("TRANSFORMER_EDU_SCREENSHOTS")
NOTEBOOK = ".jp-NotebookPanel .jp-Notebook"
FRAMES = f"{NOTEBOOK} .jp-OutputArea .live-frame > iframe"

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no make"),
    pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here"),
]


def number_of_frames(path: Path) -> int:
    """How many live figures and viewers a lesson has stored."""
    outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
    return sum(each.get("data", {}).get("text/html", "").count("<iframe") for each in outputs)


LIVE = [path for path in (BEFORE, *lesson_paths()) if number_of_frames(path)]


def command(*arguments: str) -> list[str]:
    """``make lab`` in the environment of these tests, which is ready."""
    place = f"BIN={Path(sys.executable).parent}"
    return ["make", "lab", place, "READY=", f"LAB_ARGS={' '.join(arguments)}"]


def strangers(folder: Path) -> dict[str, str]:
    """The variables of somebody who has never run Jupyter, for a clone in this folder."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(PLACES_OF_JUPYTER)}
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return kept | {"HOME": str(home), "PYTHONPATH": str(folder / "clone")}


@contextmanager
def make_lab(folder: Path) -> Iterator:
    """The JupyterLab that ``make lab`` starts in ``folder / "clone"``."""
    from tests.browser.jupyterlab import Server, free_port, started  # need what a test may lack

    server = Server(folder / "clone", free_port(), token="")
    options = ("--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--ServerApp.token=")
    options = (*options, f"--ServerApp.port={server.port}", "--ServerApp.port_retries=0")
    with started(server, command(*options), strangers(folder), folder / "log.txt"):
        yield server


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory) -> Iterator:
    """The JupyterLab of a fresh clone."""
    folder = tmp_path_factory.mktemp("stranger")
    clone_into(folder / "clone")
    with make_lab(folder) as server:
        yield server


@pytest.fixture(scope="module")
def updated_lab(chromium, tmp_path_factory) -> Iterator:
    """The same where ``make lab`` was run before, and then the lessons changed, as by a pull."""
    folder = tmp_path_factory.mktemp("updated")
    clone = clone_into(folder / "clone")
    lesson, copy = clone / "notebooks" / FIRST.name, clone / "work" / FIRST.name
    older = read(lesson)
    older.cells[0].source += "\n\nAn older sentence."
    nbformat.write(older, lesson)
    only_copies = command("--version")  # JupyterLab says its version and ends
    subprocess.run(only_copies, cwd=clone, env=strangers(folder), check=True, capture_output=True)
    assert read(copy).cells == older.cells
    shutil.copy(FIRST, lesson)
    with make_lab(folder) as server:
        assert read(copy).cells == read(FIRST).cells
        yield server


@pytest.fixture(scope="module")
def context(chromium):
    """One for all lessons, so that JupyterLab is loaded once."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(120_000)
    yield context
    context.close()


@pytest.fixture
def opened(context) -> Iterator:
    """Open an address; in the end no dialog has opened, and no cell was run."""
    pages, sent = [], []

    def open_it(address: str):
        page = context.new_page()
        pages.append(page)
        page.on("websocket", lambda each: each.on("framesent", lambda text: sent.append(text)))
        page.goto(address)
        page.wait_for_selector(f"{NOTEBOOK} .jp-Cell")
        return page

    yield open_it
    dialogs = [text for page in pages for text in page.locator(".jp-Dialog").all_inner_texts()]
    asked = b"".join(each if isinstance(each, bytes) else each.encode() for each in sent)
    for page in pages:
        page.close()
    assert dialogs == []
    assert b"execute_request" not in asked


def keep(page, name: str) -> None:
    """Keep what is seen, where somebody wants to look at it."""
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS, f"{name}.png"))


@pytest.mark.parametrize("server", ["lab", "updated_lab"])
def test_the_first_screen_is_lesson_0_and_a_word_in_its_figure_answers(opened, server, request):
    page = opened(request.getfixturevalue(server).address)
    assert page.url.endswith(f"/lab/tree/work/{FIRST.name}")
    frame = page.locator(FRAMES).first
    frame.wait_for()
    keep(page, f"first-minute-{server}-0")
    frame.scroll_into_view_if_needed()
    readout = frame.content_frame.locator("[data-part=readout]")
    words = frame.content_frame.locator("[aria-pressed]")
    said = []
    for place in range(3):
        words.nth(place).hover()
        said.append(readout.inner_text())
        answer = f"To write “{words.nth(place).text_content()}”, the translator attends to “"
        assert said[-1].startswith(answer)
    assert len(set(said)) == len(said)
    keep(page, f"first-minute-{server}-1")


@pytest.mark.parametrize("path", LIVE, ids=lambda path: path.stem)
def test_every_live_figure_is_live_as_soon_as_its_lesson_is_open(lab, opened, path):
    page = opened(f"{lab.address}/lab/tree/work/{path.name}?reset")
    frames = page.locator(FRAMES)
    wanted = number_of_frames(path)
    page.wait_for_function(
        "([css, count]) => document.querySelectorAll(css).length >= count", arg=[FRAMES, wanted]
    )
    assert frames.count() == wanted
    for frame in frames.all():
        frame.scroll_into_view_if_needed()
        said = frame.content_frame.locator("[data-part=readout]").first  # a script writes it
        said.filter(has_text=re.compile(r"\w")).wait_for()
    keep(page, f"first-minute-{path.stem}")
