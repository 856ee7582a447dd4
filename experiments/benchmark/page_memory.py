"""The memory of the live page, in a browser that nobody watches.

A library that drives a browser records its network, which takes memory of its own. So the page
itself types, and tells by its title how many sentences it has shown.
"""

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from urllib.request import urlopen

from experiments.benchmark.timing import markdown_table
from tools.chromium import ARGUMENTS, browser_path
from transformer_course.live_translator.page.live_page import (
    folder_files,
    page_files,
    translator_file,
    write_files,
)

PATIENCE = 300  # seconds until the page has shown what it must
IDLE = 20  # seconds without a key, after the last sentence
TYPING = """
addEventListener("load", async () => {
  const texts = %s, field = document.querySelector("#text");
  const pause = () => new Promise((end) => setTimeout(end, 50));
  while (!document.querySelector("#figure .box")) await pause();
  document.title = "0";
  await new Promise((end) => setTimeout(end, 3000));
  for (const [count, text] of texts.entries()) {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    while (document.querySelector("#bar span")?.textContent !== `${text} → `) await pause();
    await pause();
    document.title = count + 1;
  }
});
"""


def report_memory_of_page(texts: Sequence[str]) -> Iterator[str]:
    """Measure the page on a website and the page on a disk, above an empty page.

    Args:
        texts: The sentences, which are typed one after the other.

    Yields:
        What is measured, then a table.
    """
    yield "MiB above an empty page, private (and resident, which counts the browser's code, too):"
    rows = []
    for kind in ("website", "disk"):
        with TemporaryDirectory() as name:
            folder = Path(name)
            if kind == "website":
                write_files(folder, page_files(lessons="../notebooks/"))
                (folder / "translator.bin").write_bytes(translator_file())
            else:
                write_files(folder, folder_files())
            with (folder / "page.js").open("a", encoding="utf-8") as script:
                script.write(TYPING % json.dumps(list(texts)))
            with _served(folder) as address:
                page = address if kind == "website" else (folder / "index.html").as_uri()
                rows.append([f"on a {kind}", *_measure(page, len(texts))])
    last = f"{len(texts)} sentences"
    yield markdown_table(["page", "loaded", "30", "100", last, f"{IDLE} s later"], rows)


def _measure(page: str, count: int) -> list[str]:
    """The memory of a page when it is loaded, at two points of its way, at its end, and later."""
    import psutil

    def used() -> tuple[int, int]:
        every = psutil.Process(browser.pid).children(recursive=True)
        tabs = [each for each in every if "--type=renderer" in each.cmdline()]
        largest = max((each.memory_full_info() for each in tabs), key=lambda each: each.rss)
        return largest.uss, largest.rss

    def reached(title: int) -> tuple[int, int]:
        end = time.monotonic() + PATIENCE
        while int(_title(profile) or -1) < title:
            if time.monotonic() > end:
                raise TimeoutError(f"{page} did not show {title} sentences in {PATIENCE} s")
            time.sleep(0.1)
        return used()

    with TemporaryDirectory() as profile:
        options = ["--headless=new", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
        for address in ("about:blank", page):
            command = [browser_path(), *ARGUMENTS, *options, address]
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as browser:
                try:
                    if address == "about:blank":
                        time.sleep(5)  # until it is there
                        empty = used()
                        continue
                    found = [reached(min(title, count)) for title in (0, 30, 100, count)]
                    time.sleep(IDLE)
                    found.append(used())
                finally:
                    browser.terminate()
    above = [
        [(now - then) / 2**20 for now, then in zip(each, empty, strict=True)] for each in found
    ]
    return [f"{private:.0f} ({resident:.0f})" for private, resident in above]


def _title(profile: str) -> str:
    """The title of the page that a browser shows, once that is a number."""
    try:
        port = (Path(profile) / "DevToolsActivePort").read_text().split()[0]
        with urlopen(f"http://127.0.0.1:{port}/json") as answer:
            titles = [tab["title"] for tab in json.load(answer) if tab["type"] == "page"]
    except (OSError, IndexError):
        return ""  # it starts
    return next((title for title in titles if title.isdecimal()), "")


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """The address of a folder that is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()
