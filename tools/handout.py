"""Print lessons for A4 paper: ``python -m tools.handout [02 …]``.

A handout is a lesson's page of the site without solutions and folded code, as a PDF file. It shows
the stored outputs, and every figure as its still picture. The outcomes of the Predicts come last.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("tools.handout")

import html
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tools.chromium import launch
from tools.editions import EditionError, edition_command, put, require_no_loss
from tools.notebooks import ROOT, lesson_paths
from tools.site import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HANDOUTS = ROOT / "build" / "handout"
MARGIN = {"top": "16mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}
FOOT = """<div style="width: 100%; margin: 0 16mm; font: 8pt sans-serif; display: flex;
justify-content: space-between"><span>{title}</span>
<span><span class="pageNumber"></span> / <span class="totalPages"></span></span></div>"""
# Paper cannot be opened. What is folded is left out, except for the outcomes of predictions and
# what is seen there: these stand after the lesson, because they answer the questions in it.
FOR_PAPER = """() => {
  const article = document.querySelector("article");
  const end = document.createElement("section");
  end.className = "outcomes";
  end.innerHTML = "<h2>The outcomes of the predictions</h2>";
  const folds = [...article.querySelectorAll("details")].filter(
    (fold) => fold.closest("fieldset") || fold.firstElementChild.textContent === "What you see");
  let number = 0;
  for (const fold of folds) {
    const box = fold.closest("fieldset");
    if (box) {
      box.querySelector("legend").textContent = `Predict ${++number}`;
      const heading = end.appendChild(document.createElement("h3"));
      heading.textContent = `${number} · ${box.querySelector("p").textContent}`;
      const pointer = document.createElement("p");
      pointer.textContent = `What happens: outcome ${number}, after the lesson.`;
      box.append(pointer);
    }
    fold.firstElementChild.remove();
    end.append(...fold.childNodes);
  }
  for (const fold of article.querySelectorAll("details")) fold.remove();
  if (number) article.append(end);
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


def print_lessons(lessons: list[Path], to: Path) -> str:
    """Print lessons.

    Args:
        lessons: The notebooks; all lessons when none.
        to: The folder of the PDF files.

    Returns:
        The files, one to a line.

    Raises:
        EditionError: If no Chromium can be started, the pages cannot be built, or a file would be
            lost that is no handout.
    """
    from playwright.sync_api import Error, sync_playwright

    lessons = lessons or lesson_paths()
    require_no_loss(to, [f"{path.stem}.pdf" for path in lessons])
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except Error as error:
            reason = str(error).strip().splitlines()[0]
            words = f"A handout needs Chromium or Chrome to print it: {reason}"
            raise EditionError(words) from error
        build(Path(place) / "site", lessons=lessons, shown=[])
        handouts = [to / f"{path.stem}.pdf" for path in lessons]
        for path, handout in zip(lessons, handouts, strict=True):
            printed = Path(place) / handout.name
            print_page(browser, Path(place) / f"site/notebooks/{path.stem}.html", printed)
            put(handout, printed.read_bytes())
        browser.close()
    return "\n".join(map(str, handouts))


def main(arguments: list[str] | None = None) -> int:
    """The command: print the named lessons, or all."""
    about = "Print lessons as PDF files for A4 paper."
    return edition_command(print_lessons, arguments, about=about, to=HANDOUTS)
