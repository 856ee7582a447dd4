"""Draw the picture at the top of README: ``python -m tools.picture``.

The shipped translator writes a sentence word by word, and lines show what each word attends to.
There are two files, for light and for dark pages. Each carries a comment: its alternative text, and
the checksum of the weights, by which a test notices that others are shipped.
"""

import argparse
import hashlib
import html
import io
import re
import sys
from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from torch import Tensor

from tools.colab import write_if_changed
from tools.notebooks import ROOT
from transformer_course.drawing.marked_links import QUIET_WORDS, plot_marked_links
from transformer_course.looking.found_heads import aligning_head
from transformer_edu.pretrained.loading import FOLDER, load_pretrained
from transformer_edu.training.machine.atomic_files import replace_file
from transformer_edu.training.saved_translator import MODEL

ENGLISH = "Yesterday I bought a red car."
GERMAN = "Gestern habe ich ein rotes Auto gekauft."
PAIRS = [("Gestern", "Yesterday"), ("rotes", "red"), ("Auto", "car"), ("gekauft", "bought")]
PAPER, DARK_PAPER = "#ffffff", "#0d1117"
PICTURES = {
    PAPER: ROOT / ".github" / "picture-light.gif",
    DARK_PAPER: ROOT / ".github" / "picture-dark.gif",
}
LIGHTER = {"#000000": "#e6edf3", QUIET_WORDS.lower(): "#9fb0c0"}  # on dark paper
DOTS_PER_INCH, NUM_COLORS = 170, 24
MILLISECONDS, AT_THE_END, PLAYS = 1100, 4000, 3
ALT = re.compile(r'(?<=<img src="\.github/picture-light\.gif" alt=")[^"]*(?=")')


def describe(weights: Tensor, german: list[str], english: list[str]) -> str:
    """The picture in words.

    Args:
        weights, german, english: As for draw_steps.
    """
    best = english[int(weights[-1].argmax())]
    return (
        f"An animation: the translator of this course has read “{ENGLISH}” and writes “{GERMAN}” "
        f"word by word. Lines show the English words that each German word attends to. The last "
        f"German word, {german[-1]}, attends most to {best}."
    )


def draw_steps(weights: Tensor, german: list[str], english: list[str]) -> list[Figure]:
    """One figure for every German word: those before it are written, those after it are not.

    Args:
        weights: Attention of one head, shape (German word, English word).
        german: The words that are written.
        english: The words that are read.
    """
    figures = []
    for now in range(len(german)):
        written = weights.clone()
        written[now + 1 :] = 0
        words = [*german[: now + 1], *(" " * len(word) for word in german[now + 1 :])]
        figures.append(plot_marked_links(written, query_words=words, key_words=english, marked=now))
    return figures


def as_frame(figure: Figure, paper: str) -> Image.Image:
    """The figure on paper of this color, closed; words that would be lost on it become lighter."""
    if paper == DARK_PAPER:
        for text in figure.findobj(Text):
            text.set_color(LIGHTER.get(to_hex(text.get_color()), text.get_color()))
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DOTS_PER_INCH, facecolor=paper)
    plt.close(figure)
    with Image.open(buffer) as picture:
        return picture.convert("RGB")


def with_checksum(alt: str) -> str:
    """The comment of a file: the picture in words, and the weights of which it is true."""
    checksum = hashlib.sha256((FOLDER / MODEL).read_bytes()).hexdigest()
    return f"{alt} SHA-256 of the weights: {checksum}"


def animation(frames: list[Image.Image], comment: str) -> bytes:
    """The frames as a GIF that stops at its last one.

    Args:
        frames: All of one size.
        comment: A text that is kept in the file.
    """
    most = Image.Quantize.MAXCOVERAGE  # keeps the paper's color
    palette = frames[-1].quantize(NUM_COLORS, method=most, kmeans=1, dither=Image.Dither.NONE)
    reduced = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    buffer = io.BytesIO()
    reduced[0].save(
        buffer,
        format="GIF",
        save_all=True,
        append_images=reduced[1:],
        duration=[*[MILLISECONDS] * (len(frames) - 1), AT_THE_END],
        loop=PLAYS - 1,
        comment=comment.encode(),
    )
    return buffer.getvalue()


def attention_of_the_translation() -> tuple[Tensor, list[str], list[str]]:
    """What is drawn: weights (German word, English word), the German and the English words.

    Raises:
        ValueError: If the shipped translator does not write GERMAN.
    """
    translator = load_pretrained()
    written = translator.translate(ENGLISH)
    if written != GERMAN:
        raise ValueError(f"the translation of {ENGLISH!r} must be {GERMAN!r}, got {written!r}")
    head = aligning_head(translator, ENGLISH, GERMAN, PAIRS)
    german = head.query_words[: len(GERMAN.split())]  # without the period and the end
    return head.attention_weights()[: len(german)], german, head.key_words


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: draw both files, and write their words into README."""
    about = "Draw the picture at the top of README."
    parser = argparse.ArgumentParser(prog="python -m tools.picture", description=about)
    parser.parse_args(arguments)  # only --help
    shown = attention_of_the_translation()
    alt = describe(*shown)
    for paper, path in PICTURES.items():
        frames = [as_frame(figure, paper) for figure in draw_steps(*shown)]
        replace_file(path, [animation(frames, with_checksum(alt))])
        print(f"written: {path.relative_to(ROOT)}, {path.stat().st_size:,} bytes")
    readme = ROOT / "README.md"
    write_if_changed(readme, ALT.sub(html.escape(alt), readme.read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
