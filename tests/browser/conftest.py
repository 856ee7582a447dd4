"""A browser for tests: the machine's own Chromium, driven from Python.

Where none can be had the tests are skipped, and say so; with the environment variable CI set they
fail instead, so that they cannot silently stop to exist.
"""

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from tools.chromium import launch


def no_browser(reason: str) -> NoReturn:
    """Skip, or fail where tests are run for everybody."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; with CI set the browser tests must run", pytrace=False)
    pytest.skip(reason)


def violations(page) -> list[str]:
    """What axe-core finds against the rules of accessibility, with the first element of each."""
    if find_spec("axe_playwright_python") is None:
        no_browser("axe-playwright-python is not installed")
    script = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page.evaluate(f"() => {{ if (!window.axe) {{ {script} }} }}")
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests: $CHROMIUM, else Chromium or Chrome as it is installed."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        no_browser("playwright is not installed (pip install playwright)")
    with sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except Error as error:
            no_browser(f"no Chromium can be started: {str(error).strip().splitlines()[0]}")
        yield browser
        browser.close()


class Silent(SimpleHTTPRequestHandler):
    """Gives out files and says nothing."""

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(site):
    """Where the folder that a test module has as its site is published."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=site)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def open_at(chromium) -> Iterator[Callable]:
    """Open an address in a window of its own; in the end none may have complained or loaded more.

    The function that the test gets takes the address, how others may begin from which something
    is loaded, which kinds of messages in the console are complaints, and options of the browser's
    context.
    """
    contexts, complaints, allowed = [], [], ["data:"]

    def hear(message, kinds: tuple[str, ...]) -> None:
        if not kinds or message.type in kinds:
            complaints.append(f"console: {message.text}")

    def check(request) -> None:
        if not request.url.startswith(tuple(allowed)):
            complaints.append(f"request: {request.url}")

    def open_address(
        address: str, *others: str, kinds: tuple[str, ...] = (), **options: object
    ) -> object:
        context = chromium.new_context(**options)
        contexts.append(context)
        allowed.extend((address, *others))
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("console", lambda message: hear(message, kinds))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", check)
        page.goto(address)
        return page

    yield open_address
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def open_page(open_at):
    """Open an HTML file; the function that the test gets takes it and options, as open_at."""

    def open_file(path: Path, **options: object):
        text = path.read_text(encoding="utf-8")
        if "charset" not in text[:2000]:  # a fragment: the page around it says what the bytes mean
            path.write_text(f'<!DOCTYPE html><meta charset="utf-8">{text}', encoding="utf-8")
        window = {"viewport": {"width": 1000, "height": 800}}
        return open_at(path.resolve().as_uri(), **window | options)

    return open_file


@pytest.fixture
def opened(tmp_path, open_page, request):
    """Open a page, given as text, in a window of its own: as large as the test module's WIDE."""

    def open_text(text: str, **options: object):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        return open_page(path, **{"viewport": request.module.WIDE} | options)

    return open_text
