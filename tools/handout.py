"""Print lessons for A4 paper: ``python -m tools.handout [02 …]``.

A handout is a lesson's page of the site without solutions and folded code, as a PDF file. It shows
the stored outputs, and every figure as its still picture.
"""

import argparse
import html
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tools.chromium import launch
from tools.notebooks import ROOT, lesson_paths
from tools.site import SiteError, build

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HANDOUTS = ROOT / "build" / "handout"
MARGIN = {"top": "16mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}
FOOT = """<div style="width: 100%; margin: 0 16mm; font: 8pt sans-serif; display: flex;
justify-content: space-between"><span>{title}</span>
<span><span class="pageNumber"></span> / <span class="totalPages"></span></span></div>"""
# Paper cannot be opened. What is folded is left out, but for the outcomes of predictions.
FOR_PAPER = """() => {
  for (const fold of document.querySelectorAll("article details")) {
    const isOutcome = fold.closest("fieldset") !== null;
    if (isOutcome) fold.open = true; else fold.remove();
  }
  for (const link of document.querySelectorAll("article a[href]")) {
    const target = link.getAttribute("href");
    const isHere = target.startsWith("#") && document.getElementById(target.slice(1));
    if (link.protocol === "file:" && !isHere) link.replaceWith(...link.childNodes);
  }
}"""


def print_page(browser: "Browser", page_file: Path, to: Path) -> None:
    """Print one page of the site.

    Args:
        browser: Chromium.
        page_file: A lesson's HTML file.
        to: The PDF file.
    """
    page = browser.new_page(color_scheme="light")
    try:
        page.goto(page_file.resolve().as_uri())
        page.evaluate(FOR_PAPER)
        title = html.escape(page.title())
        page.pdf(
            path=to,
            format="A4",
            margin=MARGIN,
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOT.format(title=title),
            tagged=True,
            outline=True,
        )
    finally:
        page.close()


def print_lessons(lessons: list[Path], to: Path) -> None:
    """Print lessons.

    Args:
        lessons: The notebooks.
        to: The folder of the PDF files.

    Raises:
        SiteError: If no Chromium can be started, or the pages cannot be built.
    """
    from playwright.sync_api import Error, sync_playwright

    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except Error as error:
            reason = str(error).strip().splitlines()[0]
            raise SiteError(f"A handout needs Chromium or Chrome to print it: {reason}") from error
        build(Path(place) / "site", lessons=lessons, shown=[])
        for path in lessons:
            handout = to / f"{path.stem}.pdf"
            print_page(browser, Path(place) / f"site/notebooks/{path.stem}.html", handout)
            print(handout)
        browser.close()


def main(arguments: list[str] | None = None) -> int:
    """The command: print the lessons with these numbers, or all."""
    parser = argparse.ArgumentParser(description="Print lessons as PDF files for A4 paper.")
    parser.add_argument("lessons", nargs="*", help="their numbers, such as 02; all when none")
    parser.add_argument("--to", type=Path, default=HANDOUTS, help="the folder for the files")
    options = parser.parse_args(arguments)
    by_number = {path.name[:2]: path for path in lesson_paths()}
    wrong = [number for number in options.lessons if number.zfill(2) not in by_number]
    if wrong:
        numbers = f"{min(by_number)} to {max(by_number)}"
        print(f"a lesson's number must be {numbers}, got {wrong[0]}", file=sys.stderr)
        return 1
    chosen = [by_number[number.zfill(2)] for number in options.lessons]
    try:
        print_lessons(chosen or list(by_number.values()), options.to)
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
