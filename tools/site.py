"""Build the website: ``python -m tools.site``.

Its pages come from the stored notebooks, which are not run, from README and what it links to, and
from the docstrings of both packages. docs/ holds the front page, the look and Sphinx's settings.
The live page, in which the translator computes, is copied beside them.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("tools.site")

import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from urllib.parse import urlencode

import nbformat
from nbformat import NotebookNode

from tools import facts
from tools.colab import with_badges
from tools.editions import EditionError, edition_command
from tools.notebooks import AFTERWARDS, BEFORE, NAMES, PROBLEMS, REVIEW, ROOT, lesson_paths, read
from tools.tables import part_of
from transformer_course.asking.predict import OUTCOME
from transformer_course.drawing.display import image_tag
from transformer_course.kept_files import exchange
from transformer_course.live_translator.page.live_page import (
    PACKED,
    folder_files,
    page_files,
    translator_file,
    write_files,
)
from transformer_edu.training.machine.atomic_files import read_json, write_json

DOCS = ROOT / "docs"
PACKAGES = {"The library": ROOT / "transformer_edu", "The course": ROOT / "transformer_course"}
README = ROOT / "README.md"
SITE = ROOT / "build" / "site"
WRITTEN = ".written.json"  # the digests of all files of a site, by their names
NEW = "new"  # so ends the name of a folder that becomes the site, or was it
LIVE = "live"  # the folder of the live page on the site
ORDER = ["model", "variants", "generation", "data", "training", "runs", "pretrained"]
FOLDS = {"source_hidden": "hide-input", "outputs_hidden": "hide-output"}
CLAIM = "Show how this is checked"
LINK = re.compile(r"\]\(([^):#]+)")  # to a file beside the text
# Of README; folders with a dot are left out where pages are published.
PICTURES = ".github/picture-"
# The live page in the page of a lesson: the section before which it stands, what it offers, and
# where it opens. In the other lessons it stands at the end, so that it answers no question.
LAST_SECTION = "You can now say"
BANK, BOOK = "The bank by the river is old.", "The teacher gives the child a book."
LIVE_VIEWS = {
    "00": ("Where we are", "Translate your own sentence", {}),
    "01": (
        LAST_SECTION,
        "Find the neighbors of your own words",
        {"text": BOOK, "box": "source.embedding", "word": 1},
    ),
    "02": (
        LAST_SECTION,
        "Compute one weight of your own sentence, step by step",
        {"text": BANK, "box": "encoder.self_attention", "layer": 1, "word": 3},
    ),
    "03": (
        LAST_SECTION,
        "See what the mask hides in your own sentence",
        {"box": "decoder.self_attention"},
    ),
    "04": (
        LAST_SECTION,
        "Compare the heads on your own sentence",
        {"text": BANK, "box": "encoder.self_attention", "layer": 1},
    ),
    "05": (
        LAST_SECTION,
        "Switch the positions off in your own sentence",
        {"text": BOOK, "box": "source.embedding"},
    ),
    "06": (LAST_SECTION, "Follow a vector through Add & Norm", {"box": "encoder.feed_forward"}),
    "08": (LAST_SECTION, "See what the decoder reads of your own sentence", {}),
    "09": (
        LAST_SECTION,
        "Open every box of the map for your own sentence",
        {"box": "source.tokens"},
    ),
    "12": (
        LAST_SECTION,
        "Choose the next word of your own sentence",
        {"text": BOOK, "box": "logits", "at": 0},
    ),
    "14": (LAST_SECTION, "Cut your own text into tokens", {"box": "source.tokens"}),
    "16": (LAST_SECTION, "Look at every head on your own sentence", {}),
    "17": (LAST_SECTION, "Remove parts, and translate your own sentence", {"text": BOOK}),
}
LIVE_VIEW = """\
<details class="live-page"><summary>{offer}</summary>
<iframe src="{address}" title="{offer}" loading="lazy"></iframe>
<a href="{address}">The same in a page of its own</a></details>"""
PLACE_ON_A_MAP = re.compile(r"(\S.*?) {2,}(\S.*)")  # a line of a room's docstring
# Scripts of the theme that a page can do without: icons, which its font has, too; and the words of
# the whole site, which only the page of the search needs.
ICONS, WORDS = ("fontawesome",), ("searchtools", "language_data", "searchindex")
PARTIAL = ["myst.xref_missing", "ref.doc", "toc"]  # links to the pages that were left out


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the lesson whose page cannot be written."""
    try:
        yield
    except (LookupError, ValueError, TypeError, AttributeError, StopIteration) as error:
        got = f"{type(error).__name__} {error}".strip()
        raise EditionError(f"A lesson must have what its page needs, got {path}: {got}") from error


def for_the_site(notebook: NotebookNode) -> NotebookNode:
    """Say in Sphinx's words what is folded, and give every picture its alternative text.

    Args:
        notebook: As it is stored; changed in place and returned.
    """
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type != "code":
            continue
        tags, folds = cell.metadata.get("tags", []), cell.metadata.get("jupyter", {})
        if "setup" in tags:
            tags = [*tags, "remove-cell"]  # nothing is run here
        elif "hide-cell" not in tags:
            tags = [*tags, *(tag for key, tag in FOLDS.items() if folds.get(key))]
        cell.metadata["tags"] = tags
        if "claim" in tags:
            cell.metadata["mystnb"] = {"code_prompt_show": CLAIM}
        for output in cell.outputs:
            output.get("data", {}).pop(OUTCOME, None)
            if "image/png" in output.get("data", {}) and "text/html" not in output.data:
                if not (alt := output.metadata.get("image/png", {}).get("alt")):
                    raise ValueError(f"the picture of cell {number} has no words")
                png = output.data["image/png"].replace("\n", "")
                output.data["text/html"] = image_tag(png, alt)
    return notebook


def with_live_view(notebook: NotebookNode, lesson: str) -> NotebookNode:
    """Put the live page, folded, into the page of a lesson.

    Args:
        notebook: Changed in place and returned.
        lesson: Its number, in two digits.
    """
    if lesson in LIVE_VIEWS:
        section, offer, place = LIVE_VIEWS[lesson]
        address = html.escape(f"../{LIVE}/index.html#{urlencode(place)}")
        view = LIVE_VIEW.format(offer=html.escape(offer), address=address)
        heading = re.compile(rf"(?m)^## {section}$")
        if not (found := [each for each in notebook.cells if heading.search(each.source)]):
            raise ValueError(f"it has no section {section}")
        cell = found[0]
        cell.source = heading.sub(lambda found: f"{view}\n\n{found[0]}", cell.source)
    return notebook


def first_html(notebook: NotebookNode) -> str:
    """The first output that is HTML, such as a picture."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return next(each.data["text/html"] for each in outputs if "text/html" in each.get("data", {}))


def linked_files() -> list[Path]:
    """README and every file of the course that it leads to, notebooks aside."""
    found = [README]
    for page in found:
        links = LINK.findall(page.read_text(encoding="utf-8")) if page.suffix == ".md" else []
        paths = [(page.parent / link).resolve() for link in dict.fromkeys(links)]
        found += [
            each
            for each in paths
            if each.is_file() and each.suffix != ".ipynb" and each not in found
        ]
    return found


def front_page(lessons: Sequence[Path], linked: Sequence[Path]) -> str:
    """The text of the front page, with the first lesson's picture and the table of contents.

    Args:
        lessons: Those that have a page.
        linked: README and the files that it leads to.
    """
    names = facts.names_in_readme(README.read_text(encoding="utf-8"))
    rows = ["| lesson | the question | minutes |", "|---|---|---|"]
    contents: dict[str, list[str]] = {}
    for path in lessons:
        with _named(path):
            number, notebook = int(path.name[:2]), read(path)
            name, question = f"{number} · {names[path.name]}", facts.question(notebook)
            minutes = " + ".join(map(str, facts.times(notebook)))
        rows.append(f"| [{name}](notebooks/{path.name}) | {question} | {minutes} |")
        contents.setdefault(part_of(number), []).append(f"{name} <notebooks/{path.stem}>")
    first = next(iter(contents.values()))
    first.insert(0, f"Before you start <notebooks/{BEFORE.stem}>")
    contents["Look it up"] = [
        f"The names on model cards <notebooks/{NAMES.stem}>",
        "Glossary <notebooks/glossary>",
        f"Review <notebooks/{REVIEW.stem}>",
        f"Open problems <notebooks/{PROBLEMS.stem}>",
        *(f"{name} <package/{folder.name}>" for name, folder in PACKAGES.items()),
        "The whole README <README>",
        *(path.relative_to(ROOT).as_posix() for path in linked[1:] if path.suffix == ".md"),
    ]
    picture = first_html(for_the_site(read(lesson_paths()[0])))
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    first = int(lessons[0].name[:2])
    start = f"[Start with lesson {first}](notebooks/{lessons[0].name}){{.start}}"
    text = text.replace("<!-- start -->", start)
    text = text.replace("<!-- picture -->", f"````{{raw}} html\n{picture}\n````")
    text = text.replace("<!-- lessons -->", "\n".join(rows))
    for part, pages in contents.items():
        lines = "\n".join(pages)
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {part}\n\n{lines}\n```\n"
    return text


def dotted(path: Path) -> str:
    """The name under which a module or a folder of a package is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def rooms() -> list[Path]:
    """The packages and their folders: the library's from the model on, the course's by name."""
    library, course = PACKAGES.values()
    order = [library, *(library / name for name in ORDER), course]

    def place(room: Path) -> tuple[int, Path]:
        return max(order.index(each) for each in (room, *room.parents) if each in order), room

    found = [each.parent for package in (library, course) for each in package.rglob("__init__.py")]
    return sorted(found, key=place)


def room_page(room: Path, inside: Sequence[Path]) -> str:
    """The page of one room: its map, and its modules from their docstrings.

    Args:
        room: The folder.
        inside: The rooms to which the page leads.
    """
    name = dotted(room)
    # What an __init__.py lists is explained where it is defined.
    parts = [heading(name.partition(".")[2] or name), f".. automodule:: {name}\n   :no-members:"]
    if inside:
        names = [dotted(each) for each in inside]
        parts.append("\n   ".join([".. toctree::", ":maxdepth: 1", "", *names]))
    for path in sorted(room.glob("[!_]*.py")):
        parts += [heading(path.stem, "-"), f".. automodule:: {dotted(path)}"]
    return "\n\n".join(parts) + "\n"


def heading(words: str, line: str = "=") -> str:
    """A heading with a line below it."""
    return f"{words}\n{line * len(words)}"


def as_list(docstring: Sequence[str]) -> list[str]:
    """A room's docstring with its map, lines of names and words, as a list of definitions."""
    lines: list[str] = []
    for line in docstring:
        if place := PLACE_ON_A_MAP.fullmatch(line):
            lines += ["", f"``{place[1]}``", f"   {place[2]}".replace("*", r"\*")]
        else:
            lines.append(f"   {line.strip()}" if line.startswith(" ") else line)
    return [*lines, ""]


def anchor(words: str) -> str:
    """Where a link to a heading leads, as in JupyterLab; Sphinx calls this by its name."""
    return words.replace(" ", "-")


def write_sources(folder: Path, lessons: Sequence[Path], shown: Sequence[Path]) -> None:
    """Write all that Sphinx reads.

    Args:
        folder: It must not exist.
        lessons: The notebooks that get a page.
        shown: The rooms of the packages that get a page.
    """
    linked = linked_files()
    shutil.copytree(DOCS / "_static", folder / "_static")
    (folder / "index.md").write_text(front_page(lessons, linked), encoding="utf-8")
    for path in linked:
        copy = folder / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    # Badges lead here, or load pictures from elsewhere.
    text = with_badges(README.read_text(encoding="utf-8"), None)
    text = text.replace(PICTURES, f"_static/{Path(PICTURES).name}")
    (folder / README.name).write_text(text, encoding="utf-8")
    (folder / "notebooks").mkdir()
    for path in (BEFORE, *lessons, *AFTERWARDS):
        with _named(path):
            notebook = with_live_view(for_the_site(read(path)), path.name[:2])
        nbformat.write(notebook, folder / "notebooks" / path.name)
    (folder / "package").mkdir()
    for room in shown:
        inside = [each for each in shown if room in each.parents and room.parent == ROOT]
        page = folder / "package" / f"{dotted(room)}.rst"
        page.write_text(room_page(room, inside), encoding="utf-8")


def without_scripts(page: str, names: Sequence[str]) -> str:
    """A page that does not load these scripts.

    Args:
        page: Its HTML.
        names: The names of their files, without ``.js``.
    """
    return re.sub(rf"\s*<script[^>]*\b(?:{'|'.join(names)})\.js\b[^>]*></script>", "", page)


def write_live_page(to: Path) -> None:
    """Write the live page, its translator, and both as a folder for a USB stick, in a ZIP file.

    Args:
        to: The folder, which is made; the lessons are in ``notebooks`` beside it.
    """
    write_files(to, page_files(lessons="../notebooks/", packed=True))
    (to / "translator.bin").write_bytes(translator_file())
    with zipfile.ZipFile(to / PACKED, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in folder_files().items():
            packed.writestr(f"{Path(PACKED).stem}/{name}", text)


def build(
    to: Path, *, lessons: Sequence[Path] | None = None, shown: Sequence[Path] | None = None
) -> None:
    """Build the site.

    Args:
        to: The folder for the pages; a site that is there is replaced when the new one is whole.
        lessons: The notebooks that get a page; None for all.
        shown: The rooms of the packages that get a page; None for all.

    Raises:
        EditionError: If the folder holds what no site has, or a page that somebody has changed, if
            a notebook is no lesson, if Sphinx fails, or if it warns of anything but a link to a
            page that was left out.
    """
    partial = lessons is not None or shown is not None
    lessons, shown = lessons or lesson_paths(), rooms() if shown is None else shown
    names = {path.name for path in lesson_paths()}
    if strangers := [str(path) for path in lessons if path.name not in names]:
        raise EditionError(f"The site must be of lessons, got {', '.join(strangers)}")
    to = Path(os.path.realpath(to))
    _refuse_files_of_others(to)
    new = to.with_name(f".{to.name}.{os.urandom(4).hex()}.{NEW}")
    new.mkdir(parents=True)
    try:
        _write_pages(new, lessons, shown, partial=partial)
        write_live_page(new / LIVE)
        write_json(new / WRITTEN, _digests(new))
        to.mkdir(exist_ok=True)
    except BaseException:  # also Ctrl-C
        shutil.rmtree(new, ignore_errors=True)
        raise
    _change_names(new, to)
    try:
        _discard(new)
    except EditionError:  # somebody has put a file there meanwhile
        _change_names(new, to)
        _discard(new)
        raise


def _change_names(one: Path, other: Path) -> None:
    """Let two folders change names; where that takes two steps, the other one is never missing."""
    if not exchange(one, other):
        place = one.with_name(f"{one.name}.old")
        try:
            other.rename(place)
            one.rename(other)
        except BaseException:  # also Ctrl-C
            if not other.exists():
                place.rename(other)
            raise
        place.rename(one)


def _discard(folder: Path) -> None:
    """Remove a site in which nobody has put or changed a file."""
    _refuse_files_of_others(folder)
    shutil.rmtree(folder)


def _digests(folder: Path) -> dict[str, str]:
    """Of all files in a folder, by their names; of nothing for what is no file."""
    found = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
        if path.is_symlink() or not path.is_dir():
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            name = path.relative_to(folder).as_posix()
            found[name] = hashlib.sha256(content).hexdigest()
    return found


def _refuse_files_of_others(folder: Path) -> None:
    """Refuse a folder that holds what no site has written, because it would be lost."""
    try:
        written = dict(read_json(folder / WRITTEN))
    except (OSError, ValueError, TypeError):
        written = {}
    found = _digests(folder) if os.path.lexists(folder) else {}
    others = [name for name in found if name != WRITTEN and found[name] != written.get(name)]
    if others:
        wanted = "the folder must be empty, or hold nothing but a site that nobody has changed"
        raise EditionError(f"{wanted}, got {others[0]}: write elsewhere with --to")


def _write_pages(
    to: Path, lessons: Sequence[Path], shown: Sequence[Path], *, partial: bool
) -> None:
    """Write all pages but the live page into an empty folder."""
    with tempfile.TemporaryDirectory() as place:
        sources, kept, pages = (Path(place) / name for name in ("sources", "kept", "pages"))
        try:
            write_sources(sources, lessons, shown)
        except (LookupError, ValueError, TypeError, StopIteration) as error:
            got = f"others ({type(error).__name__} {error})"
            raise EditionError(f"Lessons must have what their pages need, got {got}") from error
        options = ["-b", "html", "-q", "-W", "--keep-going", "-c", DOCS, "-d", kept]
        if partial:
            options += ["-D", f"suppress_warnings={','.join(PARTIAL)}"]
        command = [sys.executable, "-m", "sphinx", *options, sources, pages]
        if subprocess.run(command, cwd=ROOT).returncode:
            raise EditionError("The site could not be built: Sphinx has said why.")
        shutil.copytree(pages, to, dirs_exist_ok=True)  # beside them are files of Sphinx's own
    for page in to.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        names = ICONS if page.name == "search.html" else (*ICONS, *WORDS)
        page.write_text(without_scripts(text, names), encoding="utf-8")
    for name in ICONS:
        for path in (to / "_static").rglob(f"{name}.js*"):
            path.unlink()
    for path in README.parent.glob(f"{PICTURES}*"):
        shutil.copyfile(path, to / "_static" / path.name)
    for path in (BEFORE, *lessons, *AFTERWARDS):  # what a reader downloads is as it is stored
        shutil.copyfile(path, to / "_sources" / "notebooks" / path.name)


def _build(lessons: Sequence[Path], to: Path) -> str:
    build(to, lessons=lessons or None)
    place = Path(os.path.realpath(to))
    left = sorted(place.parent.glob(f".{escape(place.name)}.*.{NEW}*"))
    lines = [f"{path} is there, too: of a build that was stopped, or runs now." for path in left]
    return "\n".join([f"The site is in {to}: open its index.html.", *lines])


def main(arguments: list[str] | None = None) -> int:
    """The command: build the site with the named lessons, or all."""
    about = "Build the website from the stored notebooks."
    return edition_command(_build, arguments, about=about, to=SITE)
