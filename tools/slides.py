"""Every lesson as slides for a class: ``python -m tools.slides [files…]`` writes ``slides/``.

A deck is one HTML file that loads nothing: it contains reveal.js (from the package
sphinx-revealjs), the pictures and the drawn formulas. No cell is run.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("tools.slides")

import html
import os
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import quote

from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter

from tools.editions import (
    INDEX,
    EditionError,
    edition_command,
    is_untouched,
    put,
    require_no_loss,
)
from tools.notebooks import ROOT, lesson_paths, read
from tools.slide_blocks import Block, blocks_of, room_below

REVEAL = "sphinx_revealjs/_static/revealjs"
HERE = Path(__file__).resolve().parent

_DECK = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<div class="reveal"><div class="slides">
{slides}
</div></div>
{scripts}
</body>
</html>
"""
_INDEX = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>Slides</title>
<style>body {{ font: 20px/1.6 system-ui, sans-serif; margin: 2em auto; max-width: 40em; }}</style>
<h1>Slides</h1>
<p>Arrow keys and space go on, <kbd>Esc</kbd> shows all slides, <kbd>S</kbd> opens the speaker's
window, <kbd>F</kbd> fills the screen.</p>
<ul>
{items}
</ul>
</html>
"""

_TITLE = re.compile(r"<title>(.*?)</title>")
_PAGE = re.compile(r"<section\b[^>]*>(?!\s*<section\b)")  # not a section of sections
Page = list[Block]


def pages_of(blocks: Iterable[Block]) -> list[list[Page]]:
    """The slides, each a list of pages one below the other.

    A page without room for all its blocks is cut where the glue is weakest, as late as possible.

    Args:
        blocks: Of one lesson, in order.
    """
    slides: list[list[Page]] = []
    for block in blocks:
        if block.slide_type == "slide":
            slides.append([[block]])
            continue
        if block.slide_type == "subslide":
            slides[-1].append([block])
            continue
        page = slides[-1][-1]
        page.append(block)
        while sum(each.height for each in page) > room_below(page[0].asked) and len(page) > 1:
            cut = min(range(1, len(page)), key=lambda i: (page[i].glue, -i))
            slides[-1].append(page[cut:])
            del page[cut:]
            page = slides[-1][-1]
    return slides


def deck(notebook: NotebookNode) -> str:
    """A lesson's slides as one HTML page.

    Args:
        notebook: A lesson with its outputs.
    """
    slides = pages_of(blocks_of(notebook))
    title = _heading(slides[0][0][0])
    return _DECK.format(
        title=title,
        style="\n".join([_vendored("dist/reset.css"), _vendored("dist/reveal.css"), _style()]),
        slides="\n".join(_slide(pages, title) for pages in slides),
        scripts="\n".join(
            _script(source)
            for source in (
                _vendored("dist/reveal.js"),
                _vendored("plugin/notes/notes.js"),
                (HERE / "slides.js").read_text(encoding="utf-8"),
            )
        ),
    )


def _slide(pages: list[Page], title: str) -> str:
    """One section; where it has several pages, they are sections inside it."""
    section = _heading(pages[0][0])
    shown = []
    for number, page in enumerate(pages):
        running = title if section == title else f"{title} — {section}"
        line = f'<p class="running">{running}</p>' if number else ""
        if asked := page[0].asked:
            line += f'<p class="asked"><b>Predict:</b> {asked}</p>'
        blocks = "\n".join(_block(each, is_first=not i) for i, each in enumerate(page))
        shown.append(f'<section><div class="page">{line}\n{blocks}\n</div></section>')
    return shown[0] if len(pages) == 1 else "<section>{}</section>".format("\n".join(shown))


def _heading(block: Block) -> str:
    """The words of a heading, as plain text for HTML."""
    return html.escape(html.unescape(re.sub(r"<svg.*?</svg>|<[^>]+>", "", block.html)).strip())


def _block(block: Block, *, is_first: bool) -> str:
    """A block, as a fragment unless its page would then begin empty."""
    if block.slide_type != "fragment" or is_first:
        return block.html
    return block.html.replace('class="', 'class="fragment ', 1)


def _vendored(name: str) -> str:
    """A file of reveal.js, as it is installed."""
    path = distribution("sphinx-revealjs").locate_file(f"{REVEAL}/{name}")
    return re.sub(r"\n?//# sourceMappingURL=.*", "", Path(str(path)).read_text(encoding="utf-8"))


def _script(source: str) -> str:
    """A script inside the page; texts in it must not end it."""
    inside = source.replace("</script", r"<\/script")
    return f"<script>{inside}</script>"


def _style() -> str:
    """The course's own style, and the colors of its code."""
    colors = HtmlFormatter().get_style_defs(".highlight")
    return f"{colors}\n{(HERE / 'slides.css').read_text(encoding='utf-8')}"


def write(paths: Sequence[Path], folder: Path) -> list[Path]:
    """Write a deck for each lesson, and a page that lists all decks in the folder.

    Args:
        paths: The lessons.
        folder: Where to; made if it does not exist.

    Returns:
        The files of the decks.

    Raises:
        EditionError: If a file would be lost that is no deck, or a lesson cannot be drawn.
    """
    written = {}
    for path in paths:
        if f"{path.stem}.html" == INDEX:
            raise EditionError(f"a lesson must have another name than the page of all, got {path}")
        try:  # half a character becomes a question mark
            written[folder / f"{path.stem}.html"] = deck(read(path)).encode(errors="replace")
        except Exception as error:
            wanted = (
                "a lesson must have a title, outputs without errors, cells of text or Python, and "
                "formulas that can be drawn, for slides"
            )
            raise EditionError(f"{wanted}, got {path} ({type(error).__name__})") from error
    require_no_loss(folder, [INDEX, *(page.name for page in written)])
    for page, content in written.items():
        put(page, content)
    lessons = {path.stem for path in lesson_paths()}
    decks = [
        each
        for each in sorted(folder.glob("*.html"))
        if each.name != INDEX and (each.stem in lessons or is_untouched(each))
    ]
    items = "\n".join(map(_item, decks))
    put(folder / INDEX, _INDEX.format(items=items).encode(errors="replace"))
    return list(written)


def _item(file: Path) -> str:
    """A deck's line in the list: its title, or its name if it has none, and its slides.

    As many as the deck itself counts in its corner: each page of ``pages_of`` is one.
    """
    page = file.read_text(encoding="utf-8", errors="replace")
    title = found[1] if (found := _TITLE.search(page)) else html.escape(file.stem)
    number = len(_PAGE.findall(page))
    slides = f" · {number} slide{'s' * (number > 1)}" if number else ""
    return f'<li><a href="{quote(os.fsencode(file.name))}">{title}</a>{slides}</li>'


def _write(lessons: Sequence[Path], folder: Path) -> str:
    return "\n".join(map(str, write(lessons or lesson_paths(), folder)))


def main(arguments: list[str] | None = None) -> int:
    """The command: write the slides of the named lessons, or of all."""
    about = "Write the lessons as slides."
    return edition_command(_write, arguments, about=about, to=ROOT / "slides")
