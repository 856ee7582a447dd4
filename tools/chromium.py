"""The machine's own Chromium or Chrome, driven from Python: for tests and for printing."""

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
# A page of this course needs no sandbox, no network of its own and no shared memory.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nobody else can be reached
]


def browser_path() -> str | None:
    """$CHROMIUM, else Chromium or Chrome as it is installed."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def launch(playwright: "Playwright") -> "Browser":
    """Start the machine's own Chromium or Chrome.

    Raises:
        playwright.sync_api.Error: If none can be started.
    """
    path = browser_path()
    place = {"executable_path": path} if path else {"channel": "chrome"}
    return playwright.chromium.launch(args=ARGUMENTS, **place)
