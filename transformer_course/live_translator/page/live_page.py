"""Write the live page: ``python -m transformer_course.live_translator.page.live_page FOLDER``.

A website gets the page and the translator as one file, which it loads. A page on a disk may not
load files, so in a folder for a USB stick the page itself holds the same translator, as text.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("transformer_course.live_translator.page.live_page")

import argparse
import base64
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

from transformer_course.live_translator.engine import engine_script
from transformer_edu.pretrained import loading
from transformer_edu.training.machine.atomic_files import replace_file, require_path
from transformer_edu.training.machine.failures import one_line_errors
from transformer_edu.training.saved_translator import load_translator

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
    card = folder / loading.CARD
    terms = DATA.search(card.read_text(encoding="utf-8")) if card.exists() else None
    if terms is None:
        raise ValueError(
            "the translator must be an exported one, with a card that has a section Data, got "
            f"{folder}"
        )
    tokenizer = (folder / "tokenizer.json").read_text(encoding="utf-8")
    head = json.dumps({"tokenizer": tokenizer, "terms": terms[1].strip()}).encode()
    return len(head).to_bytes(8, "little") + head + (folder / "model.safetensors").read_bytes()


def page_files(*, lessons: str = "", packed: bool = False) -> dict[str, str]:
    """The page without the translator: its files by name.

    Args:
        lessons: Where the pages of the lessons are, seen from this page; empty for a page on a
            disk.
        packed: Whether the ZIP file of such a page is beside this one.
    """
    views = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    markup = {
        "policy": POLICY,
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
    text, files = base64.b64encode(translator_file(translator)).decode(), page_files()
    held = f'<template id="translator">{text}</template>\n</body>'
    return {**files, "index.html": files["index.html"].replace("</body>", held)}


def write_files(to: Path, files: dict[str, str]) -> None:
    """Write text files into a folder, which is made.

    Args:
        to: The folder.
        files: Texts by name.
    """
    to.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        replace_file(to / name, [text.encode()])


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """The command: write the folder that opens from a disk.

    Args:
        arguments: The folder to write, and where given that of another translator.

    Returns:
        The exit status: 0, or 1 after an error, which is told in one line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m transformer_course.live_translator.page.live_page",
        description="Write the live page as a folder that opens from a disk.",
    )
    parser.add_argument("folder", help="the folder to write, new or empty")
    parser.add_argument("translator", nargs="?", default=loading.FOLDER, help="another one's")
    chosen = parser.parse_args(arguments)
    for name in ("folder", "translator"):
        require_path(name, getattr(chosen, name))
    to, translator = Path(chosen.folder), Path(chosen.translator)
    if to.is_dir() and any(to.iterdir()):
        raise FileExistsError(f"the folder must be new or empty, got {to}")
    load_translator(translator)  # one that cannot be read is told here, not in the page
    write_files(to, folder_files(translator))
    print(f"The page is in {to}: open its index.html.")
    return 0
