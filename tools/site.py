"""Build the website: ``python -m tools.site``.

Its pages come from the stored notebooks, which are not run, and from the package's docstrings.
docs/ holds the front page, the look and Sphinx's settings. Sphinx reads the sources written here.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.notebooks import ROOT, lesson_paths, read
from transformer_edu.teaching.display import image_tag
from transformer_edu.teaching.predict import OUTCOME

DOCS = ROOT / "docs"
PACKAGE = ROOT / "transformer_edu"
GLOSSARY = ROOT / "notebooks" / "glossary.ipynb"
SITE = ROOT / "build" / "site"
PARTS = {0: "Build it", 10: "Make it work", 18: "Go on"}  # by the number of their first lesson
FOLDS = {"source_hidden": "hide-input", "outputs_hidden": "hide-output"}
IN_LIST = re.compile(r"\[([^]]+)\]\(notebooks/(\w+\.ipynb)\)")  # a lesson in README's list
QUESTION = re.compile(r"# \d+ · (.+)")
MINUTES = re.compile(r"\*\*Time:\*\* (\d+) minutes(?:, and (\d+))?")
PARTIAL = ["myst.xref_missing", "toc"]  # a site of some lessons has links to the others


class SiteError(Exception):
    """A site that could not be built; Sphinx has said why."""


def for_the_site(notebook: NotebookNode) -> NotebookNode:
    """Say in Sphinx's words what is folded, and give every picture its alternative text.

    Args:
        notebook: As it is stored; changed in place and returned.
    """
    for cell in notebook.cells:
        folded = [tag for key, tag in FOLDS.items() if cell.metadata.get("jupyter", {}).get(key)]
        tags = cell.metadata.get("tags", [])
        cell.metadata["tags"] = tags if "hide-cell" in tags else tags + folded
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(OUTCOME, None)
            if "image/png" in output.get("data", {}) and "text/html" not in output.data:
                png = output.data["image/png"].replace("\n", "")
                output.data["text/html"] = image_tag(png, output.metadata["image/png"]["alt"])
    return notebook


def names_of_lessons() -> dict[str, str]:
    """Every lesson's short name by its file's, from README's list."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return {file: name for name, file in IN_LIST.findall(readme)}


def first_picture(notebook: NotebookNode) -> str:
    """The first output of a lesson that is HTML, such as a figure that moves."""
    data = [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    return next(each["text/html"] for each in data if "text/html" in each)


def front_page(lessons: Sequence[Path]) -> str:
    """The text of the front page, with the first lesson's picture and the list of lessons."""
    names, rows, contents = names_of_lessons(), [], []
    for path in lessons:
        number, first_cell = int(path.name[:2]), read(path).cells[0].source
        name = f"{number} · {names[path.name]}"
        minutes = " + ".join(filter(None, MINUTES.search(first_cell).groups()))
        question = QUESTION.match(first_cell)[1]
        rows.append(f"| [{name}](notebooks/{path.name}) | {question} | {minutes} |")
        if number in PARTS or not contents:
            part = next(part for begin, part in reversed(PARTS.items()) if begin <= number)
            contents.append(f"```{{toctree}}\n:hidden:\n:caption: {part}\n")
        contents[-1] += f"\n{name} <notebooks/{path.stem}>"
    contents.append(
        "```{toctree}\n:hidden:\n:caption: Look it up\n\n"
        "Glossary <notebooks/glossary>\nThe package <package/transformer_edu>"
    )
    table = ["| lesson | the question | minutes |", "|---|---|---|", *rows]
    picture = first_picture(for_the_site(read(lesson_paths()[0])))
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    text = text.replace("<!-- picture -->", f"````{{raw}} html\n{picture}\n````")
    text = text.replace("<!-- lessons -->", "\n".join(table))
    return "\n\n".join([text.rstrip(), *(f"{each}\n```" for each in contents)]) + "\n"


def dotted(path: Path) -> str:
    """The name under which a module or a package is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def rooms() -> list[Path]:
    """The package's folders, outer ones first."""
    return sorted(each.parent for each in PACKAGE.rglob("__init__.py"))


def room_page(room: Path, inside: Sequence[Path] = ()) -> str:
    """The page of one room: its map, and its modules from their docstrings.

    Args:
        room: The folder.
        inside: The rooms that the page lists.
    """
    parts = [title(dotted(room).removeprefix("transformer_edu.")), f".. automodule:: {dotted(room)}"]
    if inside:
        parts.append(".. toctree::\n   :maxdepth: 1\n")
        parts[-1] += "".join(f"\n   {dotted(each)}" for each in inside)
    for path in sorted(room.glob("[!_]*.py")):
        parts += [title(path.stem, "-"), f".. automodule:: {dotted(path)}"]
    return "\n\n".join(parts) + "\n"


def anchor(words: str) -> str:
    """Where a link to a heading leads, as in JupyterLab; Sphinx calls this by its name."""
    return words.replace(" ", "-")


def title(words: str, line: str = "=") -> str:
    """A heading."""
    return f"{words}\n{line * len(words)}"


def write_sources(folder: Path, lessons: Sequence[Path], shown: Sequence[Path]) -> None:
    """Write all that Sphinx reads.

    Args:
        folder: Empty, or not there.
        lessons: The notebooks that get a page.
        shown: The rooms of the package that get a page.
    """
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    (folder / "index.md").write_text(front_page(lessons), encoding="utf-8")
    (folder / "notebooks").mkdir()
    for path in (*lessons, GLOSSARY):
        nbformat.write(for_the_site(read(path)), folder / "notebooks" / path.name)
    (folder / "package").mkdir()
    for room in shown:
        inside = [each for each in shown if each != PACKAGE] if room == PACKAGE else []
        page = folder / "package" / f"{dotted(room)}.rst"
        page.write_text(room_page(room, inside), encoding="utf-8")


def build(
    to: Path, *, lessons: Sequence[Path] | None = None, shown: Sequence[Path] | None = None
) -> None:
    """Build the site.

    Args:
        to: The folder for the pages; what is there is removed.
        lessons: The notebooks that get a page; None for all.
        shown: The rooms of the package that get a page; None for all.

    Raises:
        SiteError: If Sphinx fails, or warns of anything but a link to a page that was left out.
    """
    whole = lessons is None and shown is None
    left_out = [] if whole else ["-D", f"suppress_warnings={','.join(PARTIAL)}"]
    shutil.rmtree(to, ignore_errors=True)
    with tempfile.TemporaryDirectory() as place:
        sources, kept = Path(place) / "sources", Path(place) / "kept"
        write_sources(sources, lessons or lesson_paths(), rooms() if shown is None else shown)
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-j", "2", "-W", "--keep-going"]
        places = ["-c", DOCS, "-d", kept, *left_out, sources, to]
        if subprocess.run([*command, *places], cwd=ROOT).returncode:
            raise SiteError("The site could not be built: Sphinx has said above why.")


def main(arguments: list[str] | None = None) -> int:
    """The command: build the whole site."""
    parser = argparse.ArgumentParser(description="Build the website from the stored notebooks.")
    parser.add_argument("--to", type=Path, default=SITE, help="the folder for the pages")
    options = parser.parse_args(arguments)
    try:
        build(options.to)
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The site is in {options.to}; its front page is index.html.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
