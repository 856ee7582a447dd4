"""Write the live page: ``python -m transformer_course.live_translator.page.live_page FOLDER``.

A website gets the page and the translator as one file, which it loads. A page on a disk may not
load files, so a folder for a USB stick has the same translator as a script.
"""

import base64
import html
import json
import re
import sys
from pathlib import Path

from transformer_course.live_translator.engine import engine_script
from transformer_edu.pretrained import loading

# In this order; each may use what the ones before define.
SCRIPTS = ("elements", "place", "sentence", "boxes", "attention", "experiments", "tour", "page")
PACKED = "transformer-live.zip"  # the page as a folder for a USB stick
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"
)
DATA = re.compile(r"(?ms)^## Data\n(.+?)(?=^## |\Z)")  # of a card: whose texts, and their terms
HOME = "<span>The Transformer, built by you</span>"
HOME_ON_SITE = '<a href="../index.html">The Transformer, built by you</a>'
OFFER = f'<a href="{PACKED}">Take this page along</a> as a folder that needs no network. '


def translator_file(folder: Path = loading.FOLDER) -> bytes:
    """A translator as one file: its tokenizer, the terms of its data, and its weights.

    Args:
        folder: Holds model.safetensors, tokenizer.json and the card.

    Returns:
        The length of a head as 8 bytes, little-endian; the head, JSON with ``tokenizer`` and
        ``terms``; and the weights as they are.
    """
    card = (folder / loading.CARD).read_text(encoding="utf-8")
    terms = DATA.search(card)
    if terms is None:
        raise ValueError(f"the card of a translator must have a section Data, in {folder}")
    tokenizer = (folder / "tokenizer.json").read_text(encoding="utf-8")
    head = json.dumps({"tokenizer": tokenizer, "terms": terms[1].strip()}).encode()
    return len(head).to_bytes(8, "little") + head + (folder / "model.safetensors").read_bytes()


def page_files(*, lessons: str = "", packed: bool = False) -> dict[str, str]:
    """The page without the translator: its files by name.

    Args:
        lessons: Where the pages of the lessons are, seen from this page; empty for a page on a
            disk, which has its translator as a script.
        packed: Whether the ZIP file of such a page is beside this one.
    """
    scripts = ["page.js"] if lessons else ["translator.js", "page.js"]
    views = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    markup = {
        "policy": POLICY,
        "scripts": "\n".join(f'<script defer src="{name}"></script>' for name in scripts),
        "lessons": html.escape(lessons),
        "home": HOME_ON_SITE if lessons else HOME,
        "offer": OFFER if packed else "",
    }
    return {
        "index.html": re.sub(r"\{(\w+)\}", lambda name: markup[name[1]], _read("page.html")),
        "page.css": _read("page.css"),
        "page.js": f'{engine_script()}\n(() => {{\n"use strict";\n\n{views}}})();\n',
    }


def folder_files(translator: Path = loading.FOLDER) -> dict[str, str]:
    """The page for a disk, with its translator: its files by name.

    Args:
        translator: The folder of the translator.
    """
    text = base64.b64encode(translator_file(translator)).decode()
    return {**page_files(), "translator.js": f'const TRANSLATOR = "{text}";\n'}


def write_files(to: Path, files: dict[str, str]) -> None:
    """Write text files into a folder, which is made.

    Args:
        to: The folder.
        files: Texts by name.
    """
    to.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (to / name).write_text(text, encoding="utf-8", newline="\n")


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def main(arguments: list[str]) -> int:
    """The command: write the folder that opens from a disk.

    Args:
        arguments: The folder to write, and where given that of another translator.
    """
    if len(arguments) not in (1, 2):
        print("Two folders may follow: the one to write, and a translator's.", file=sys.stderr)
        return 1
    to, *translator = map(Path, arguments)
    write_files(to, folder_files(*translator))
    print(f"The page is in {to}: open its index.html.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
