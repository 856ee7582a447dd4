"""Write the repository's address everywhere: ``python -m tools.colab [owner/name]``.

The address stands in one place, ``[project.urls] Repository`` in pyproject.toml. From it come every
lesson's set-up cell and links to Colab and Binder, the links from notebook to notebook, and the
badges and links of README. Lessons that train ask Colab for a GPU. Without an argument the files
are made to agree with the address that is there, or with its absence.
"""

import argparse
import re
import sys
from pathlib import Path
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode

from tools.notebooks import (
    AFTERWARDS,
    BEFORE,
    COLAB,
    GLOSSARY,
    ROOT,
    lesson_paths,
    read,
    repository_address,
    source_hash,
    stored,
)
from transformer_edu.training.machine.atomic_files import replace_file
from transformer_edu.training.machine.failures import one_line_errors

REPOSITORY = re.compile(r"[A-Za-z0-9_-]+/(?!\.+$)[A-Za-z0-9_.-]+(?<!\.git)")
BINDER = "https://mybinder.org/v2/gh"
BADGES = {  # what a page shows for each
    "Colab": "https://colab.research.google.com/assets/colab-badge.svg",
    "Binder": "https://mybinder.org/badge_logo.svg",
}
TRANSLATE = "Type a sentence, and watch the Transformer translate it"
LIVE = "Read the lessons and try their live figures on the website"
BADGES_IN_README = re.compile(r"(?s)(?<=<!-- badges -->).*?(?=<!-- /badges -->)")
LINKS_IN_LESSON = re.compile(r"\n\n\[Open in Colab\][^\n]*")
LINK_IN_LIST = re.compile(rf" · \[Colab\]\({re.escape(COLAB)}[^)]*\)")
LESSON_IN_LIST = re.compile(r"\]\((notebooks/[^)]+\.ipynb)\)")
LIST_OF_LESSONS = re.compile(r"<!-- notebooks -->.*?<!-- /notebooks -->", re.DOTALL)
LESSONS_WITH_TEXT = ("15", "20")  # they need libraries of the extra data
LESSONS_THAT_TRAIN = (
    "10",
    "11",
    "13",
    "15",
    "17",
    "18",
    "19",
    "21",
)  # most of their seconds: a GPU helps
FOLDED_ON_COLAB = {"cellView": "form"}  # in the metadata of a set-up cell
ON_COLAB = {"accelerator": "GPU", "colab": {"gpuType": "T4", "toc_visible": True}}

SETUP_WITH_ADDRESS = """\
# @title Set-up {{ run: "auto" }}
# Where the package is missing, as in Colab, this fetches it. Elsewhere it does nothing.
import importlib.util
import subprocess
import sys

keep_in = "this runtime"  # @param ["this runtime", "Google Drive", "download", "upload"]
if importlib.util.find_spec("transformer_edu") is None:
    address = "{requirement}"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", address], check=True)
    importlib.invalidate_caches()
importlib.import_module("transformer_course.colab_runtime").keep_work_in(keep_in)
"""
SETUP_WITHOUT_ADDRESS = """\
# Set-up: this only makes sure that the package is there.
import importlib.util
import sys

if importlib.util.find_spec("transformer_edu") is None:
    sys.exit(
        "The package transformer_edu is not installed here: run `make lab` in the course's folder, "
        "or, for Colab, `make colab REPO=owner/name` once in the repository."
    )
"""


def with_repository_address(pyproject: str, address: str) -> str:
    """The text of pyproject.toml with this address in its one place."""
    without = re.sub(r"(?m)^Repository = .*\n", "", pyproject)
    if "[project.urls]\n" not in without:
        raise ValueError("pyproject.toml must have a line [project.urls], got none")
    return without.replace("[project.urls]\n", f'[project.urls]\nRepository = "{address}"\n')


def setup_cell_source(address: str | None, lesson: str = "") -> str:
    """The first code cell of a lesson.

    Args:
        address: Where pip finds the repository; None while that is unknown.
        lesson: The file's name; those of LESSONS_WITH_TEXT need the extra ``data``, too.
    """
    if address is None:
        return SETUP_WITHOUT_ADDRESS.strip()
    extras = "course,data" if lesson.startswith(LESSONS_WITH_TEXT) else "course"
    requirement = f"transformer-edu[{extras}] @ git+{address}"
    return SETUP_WITH_ADDRESS.format(requirement=requirement).strip()


def places_to_open(address: str, path: str) -> dict[str, str]:
    """Where Colab opens the file at path (inside the repository), and Binder the reader's copy."""
    repository = address.removeprefix("https://github.com/")
    copy = quote(f"work/{Path(path).name}", safe="")
    return {
        "Colab": f"{COLAB}/{repository}/blob/main/{path}",
        "Binder": f"{BINDER}/{repository}/main?labpath={copy}",
    }


def live_page(address: str) -> str:
    """Where GitHub Pages publishes the repository's website."""
    owner, name = address.removeprefix("https://github.com/").split("/")
    host = f"{owner.lower()}.github.io"
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def with_links(first_cell: str, address: str | None, path: str) -> str:
    """A lesson's first Markdown cell with its links to Colab and Binder below the title."""
    title, *rest = LINKS_IN_LESSON.sub("", first_cell).split("\n", 1)
    places = places_to_open(address, path) if address else {}
    links = " · ".join(f"[Open in {name}]({place})" for name, place in places.items())
    return "\n".join([f"{title}\n\n{links}" if links else title, *rest])


def with_badges(readme: str, address: str | None) -> str:
    """README with a link to the website, and badges that open the first lesson of its list."""
    if address is None:
        return BADGES_IN_README.sub("\n", readme)
    if (lessons := LIST_OF_LESSONS.search(readme)) is None:
        raise ValueError("README.md must hold the list of lessons, got a text without it")
    first = LESSON_IN_LIST.search(lessons[0])[1]
    places = places_to_open(address, first)
    lines = [f"[![Open in {name}]({BADGES[name]})]({place})\n" for name, place in places.items()]
    site = live_page(address)
    lines += [f"\n**[{TRANSLATE}]({site}live/)** · **[{LIVE}]({site})**\n"]
    return BADGES_IN_README.sub(lambda _: "\n" + "".join(lines), readme)


def with_colab_links(readme: str, address: str | None) -> str:
    """README with a link to Colab after every lesson in its list."""

    def add_link(lesson: re.Match[str]) -> str:
        return f"{lesson[0]} · [Colab]({places_to_open(address, lesson[1])['Colab']})"

    def rewrite(part: re.Match[str]) -> str:
        lessons = LINK_IN_LIST.sub("", part[0])
        return LESSON_IN_LIST.sub(add_link, lessons) if address else lessons

    return LIST_OF_LESSONS.sub(rewrite, readme)


def setup_cell(notebook: NotebookNode) -> NotebookNode | None:
    """The cell tagged ``setup``, if there is one."""
    tagged = [cell for cell in notebook.cells if "setup" in cell.metadata.get("tags", [])]
    return tagged[0] if tagged else None


def address_lesson(notebook: NotebookNode, address: str | None, path: str) -> None:
    """Write the links, the set-up cell and what Colab should know into one lesson, in place.

    None of these changes what a cell shows, so outputs that belonged to the sources still do.
    """
    in_step = notebook.metadata.get("source_hash") == source_hash(notebook)
    first = notebook.cells[0]
    first.source = with_links(first.source, address, path)
    cell = setup_cell(notebook)
    if cell is None:
        cell = nbformat.v4.new_code_cell(id="setup", metadata={"tags": ["setup"]})
        kinds = [cell.cell_type for cell in notebook.cells]
        notebook.cells.insert(kinds.index("code") if "code" in kinds else len(kinds), cell)
        in_step = False
    name = Path(path).name
    cell.source = setup_cell_source(address, name)
    for key, value in FOLDED_ON_COLAB.items():
        cell.metadata.pop(key, None)
        if address:
            cell.metadata[key] = value
    for key, value in ON_COLAB.items():
        notebook.metadata.pop(key, None)
        if address and name.startswith(LESSONS_THAT_TRAIN):
            notebook.metadata[key] = nbformat.from_dict(value)
    if in_step:
        notebook.metadata["source_hash"] = source_hash(notebook)


@one_line_errors
def main(arguments: list[str]) -> int:
    """The command: store the address, if one is given, and write it everywhere."""
    about = "Write the repository's address everywhere."
    parser = argparse.ArgumentParser(prog="python -m tools.colab", description=about)
    parser.add_argument("repo", nargs="*", help="owner/name, as on GitHub; as it is when none")
    arguments = parser.parse_args(arguments).repo
    pyproject = ROOT / "pyproject.toml"
    if arguments:
        if len(arguments) > 1 or not REPOSITORY.fullmatch(arguments[0]):
            given = " ".join(arguments)
            print(f"REPO must be owner/name, as on GitHub, got {given!r}", file=sys.stderr)
            return 1
        text = pyproject.read_text(encoding="utf-8")
        address = f"https://github.com/{arguments[0]}"
        write_if_changed(pyproject, with_repository_address(text, address))
    address = repository_address(pyproject.read_text(encoding="utf-8"))
    for path in (BEFORE, *lesson_paths(), *AFTERWARDS):
        notebook = read(path)
        if path != GLOSSARY:
            address_lesson(notebook, address, f"notebooks/{path.name}")
        write_if_changed(path, stored(notebook, address))
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    write_if_changed(readme, with_badges(with_colab_links(text, address), address))
    return 0


def write_if_changed(path: Path, text: str) -> None:
    """Write a file and say so, unless it says this already."""
    if path.read_text(encoding="utf-8") != text:
        replace_file(path, [text.encode()])
        print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
