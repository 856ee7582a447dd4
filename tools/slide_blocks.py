"""A lesson's cells as blocks of slides, each with the ``slide_type`` that a rule gives it.

=========  =====================================================================================
slide      the title, each ``##`` section and each exercise begin one
subslide   any other ``###`` heading; also the first block that has no room on its page (slides.py)
fragment   the outcome of a prediction, and *What you see* with the rest of its cell
notes      what else is folded inside the text ("For engineers"): the speaker's window shows it
skip       the set-up cell, claims, solutions, the source of a folded cell, outputs that are folded
-          everything else: it follows on the same page
=========  =====================================================================================
"""

import ast
import base64
import html
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import ziamath
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from PIL import Image
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tools.lesson import SEEN, blocks_of_predict, has_tag, is_folded

# Pixels of a screen of 1024 × 768: slides.css sets the same sizes.
WIDTH, PAGE, GAP = 984, 682, 14  # inside the margins and below the running title; between blocks
LINE, PROSE_COLUMNS, HEADING_COLUMNS = 34, 70, 48  # of prose; a wide font has so many characters
TABLE_LINE, TABLE_COLUMNS = 27, 84  # of a table; a higher one than TABLE is divided
TABLE = PAGE - 62  # below a heading
PRINTED_LINE, PRINTED_COLUMNS, PRINTED_LINES = 25, 88, 22  # of text output; more lines scroll
ASKED_LINE, ASKED_COLUMNS = 27, 84  # of a question that a page repeats
CHARACTER = 0.602  # the width of a character of code, in parts of its size
SMALLEST, LARGEST, CODE_LINE = 18.0, 20.0, 1.3  # sizes of code; a line's height in parts of it
CODE_COLUMNS, CODE_ROWS, HANGING = 88, 25, 8  # of the smallest code; what a longer line hangs by
LEAST_PICTURE, LEAST_FRAME = 0.7, 0.85  # how much of its own size a picture, a frame must have

# Slides are light, whatever the reader's system prefers.
LIGHT = {
    "@media (prefers-color-scheme: dark)": "@media not all",
    "color-scheme: light dark": "color-scheme: light",
}
SEEN_LABEL = "**What you see.**"
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
PARAGRAPH = re.compile(r"^```.*?^```\s*?$|^\S.*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(
    r"(?P<code>```.*?```|`[^`\n]+`)|\$\$(.+?)\$\$|\$([^$\s][^$]*)\$(?P<end>[.,;:)?!]*)", re.DOTALL
)
OUTCOME = re.compile(r"<details.*?<summary.*?</summary>(.*)</details></fieldset>", re.DOTALL)
VERDICT = re.compile(r'<style>.*?</style><p class="predict-\w+">.*?</p>', re.DOTALL)
SHOWN = re.compile(r"<pre>.*?</pre>|<img\b[^>]*>", re.DOTALL)
LINK = re.compile(r'<a href="(?![a-z]+:)([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of a page.

    Attributes:
        html: What is shown.
        height: The pixels that it needs at least.
        slide_type: One of nbconvert's words; the rule is above.
        glue: How firmly it stays on the page of the block before it: 0, 1 or 2.
        asked: The question that it answers: a page that it begins repeats it. Empty for none.
    """

    html: str
    height: float
    slide_type: str = "-"
    glue: int = 0
    asked: str = ""


class Size(NamedTuple):
    """The pixels of a picture or frame on a page, before it grows or shrinks with its room."""

    width: float
    height: float


def blocks_of(notebook: NotebookNode) -> Iterator[Block]:
    """Everything that the slides of a lesson show, in order.

    Args:
        notebook: A lesson with its outputs.
    """
    asked = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield from _words(cell.source, asked)
        elif not has_tag(cell, "setup") and not has_tag(cell, "claim"):
            for block in _code(cell):
                asked = block.asked or asked
                yield block


def _words(source: str, asked: str) -> Iterator[Block]:
    """A Markdown cell: a block for each paragraph, list, table, formula, and for what is seen."""
    source = COMMENT.sub("", source)
    if answer := SEEN.match(source):
        yield _seen(answer[1], asked)
        source = source[answer.end() :]
    notes = [found for found in DETAILS.finditer(source) if found[1] != "Solution"]
    seen, before = bool(answer), ""
    for paragraph in _paragraphs(DETAILS.sub("", source)):
        slide_type = _slide_type(paragraph, before)
        is_label = paragraph.startswith(SEEN_LABEL)
        seen = slide_type == "-" and (seen or is_label)
        follows = before.startswith("#") or before.endswith(":")
        yield Block(
            html=f'<div class="{"seen" if seen and not answer else "words"}">'
            f"{rendered(paragraph)}</div>",
            height=_height(paragraph),
            slide_type="fragment" if seen else slide_type,
            glue=2 if follows or (seen and not answer) else 0,
        )
        before = paragraph.rstrip("* \n")
    for note in notes:
        pointer = f"*Folded in the notebook:* {note[1].strip()}"
        words = rendered(f"**{note[1]}**\n{note[2]}")
        yield Block(
            html=f'<div class="words">{rendered(pointer)}</div>'
            f'<aside class="notes">{words}</aside>',
            height=_height(pointer),
            slide_type="fragment" if seen else "-",
            glue=1,
        )


def _seen(markdown: str, asked: str) -> Block:
    """What is seen in an outcome: one step, beside the question or below it."""
    words = f"{SEEN_LABEL} {markdown.strip()}"
    return Block(
        html=f'<div class="seen">{rendered(words)}</div>',
        height=sum(map(_height, PARAGRAPH.findall(words))),
        slide_type="fragment",
        glue=2,
        asked=asked,
    )


def _paragraphs(source: str) -> Iterator[str]:
    """Headings, paragraphs, lists, formulas and tables; a long table comes in pieces."""
    for paragraph in PARAGRAPH.findall(source):
        pieces = 1
        while paragraph.startswith("|"):
            found = list(_divided(paragraph, pieces))
            if max(map(_height, found)) <= TABLE:
                yield from found
                break
            pieces += 1
        else:
            yield paragraph


def _divided(table: str, pieces: int) -> Iterator[str]:
    """Tables with the rows of one, each with its head."""
    head, line, *rows = table.split("\n")
    most = -(-len(rows) // pieces)
    for start in range(0, len(rows), most):
        yield "\n".join([head, line, *rows[start : start + most]])


def _slide_type(paragraph: str, before: str) -> str:
    """What a paragraph begins; a heading right below another begins nothing."""
    if before.startswith("#"):
        return "-"
    if re.match(r"##? |### Exercise", paragraph):
        return "slide"
    return "subslide" if paragraph.startswith("###") else "-"


def rendered(markdown: str) -> str:
    """Markdown as HTML that needs no script: formulas are drawings, links lead to other slides.

    Args:
        markdown: As it stands in a lesson.
    """
    drawings: list[str] = []

    def keep(found: re.Match) -> str:
        if found["code"]:
            return found[0]
        drawing = formula(found[2] or found[3], is_displayed=bool(found[2]))
        end = found["end"]  # never alone at the beginning of a line
        drawings.append(f'<span class="kept">{drawing}{end}</span>' if end else drawing)
        return f"MATH{len(drawings) - 1}HERE"

    words = FORMULA.sub(keep, markdown)
    renderer = IPythonRenderer(escape=False, exclude_anchor_links=True)
    page = MarkdownWithMath(renderer=renderer).render(words)
    page = re.sub(r"MATH(\d+)HERE", lambda found: drawings[int(found[1])], page)
    return LINK.sub(_link, page)


def formula(tex: str, *, is_displayed: bool) -> str:
    """A formula as a drawing, which says its TeX aloud.

    Args:
        tex: Without dollar signs.
        is_displayed: Whether it has a line of its own.
    """
    drawing = ziamath.Latex(" ".join(tex.split()), size=27, inline=not is_displayed)
    style = "display: block" if is_displayed else f"vertical-align: {drawing.getyofst():.1f}px"
    label = html.escape(tex.strip())
    start = f'<svg role="img" aria-label="{label}" style="{style}" '
    return drawing.svg().strip().replace("<svg ", start, 1)


def _link(found: re.Match) -> str:
    """Lessons have slides, the glossary and other files have none."""
    lesson = re.fullmatch(r"(\d\d_\w+)\.ipynb", found[1])
    return f'<a href="{lesson[1]}.html">{found[2]}</a>' if lesson else found[2]


def _height(paragraph: str) -> float:
    """The pixels that a paragraph needs in a wide font, the gap below it included."""
    words = re.sub(r"\]\([^)]*\)|\\[a-z]+|[\[{}$*`]", "", paragraph)
    if paragraph.startswith("```"):
        columns = (WIDTH - 22) / (CHARACTER * LARGEST)
        rows = sum(1 + (len(line) > columns) for line in paragraph.splitlines()[1:-1])
        return GAP + 24 + CODE_LINE * LARGEST * rows
    if paragraph.startswith("$$"):
        (height,) = re.findall(r'<svg [^>]*?\bheight="([\d.]+)"', rendered(paragraph))[:1]
        return GAP + 16 + float(height)
    if paragraph.startswith("#"):
        line = 62 if paragraph.startswith("# ") else 48
        return GAP + line * -(-len(words) // HEADING_COLUMNS)
    if paragraph.startswith("|"):
        return GAP + _table_height(words)
    items = re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", words)
    return GAP + sum(LINE * -(-len(" ".join(item.split())) // PROSE_COLUMNS) for item in items)


def _table_height(table: str) -> float:
    """A column gets room by its longest cell, and words do not fill their lines."""
    rows = [row.strip("| ").split("|") for row in table.splitlines() if re.search(r"\w", row)]
    longest = [max(map(len, column)) for column in zip(*rows, strict=False)]
    room = [(TABLE_COLUMNS - 3 * len(longest)) * most / sum(longest) for most in longest]
    lines = (
        max(_lines(len(cell), most) for cell, most in zip(row, room, strict=False)) for row in rows
    )
    return sum(11 + TABLE_LINE * each for each in lines)


def _lines(length: int, most: float) -> float:
    """The lines of a cell with so many characters in a column with room for the most."""
    return 1 if length <= most else -(-1.35 * length // most)


def _code(cell: NotebookNode) -> Iterator[Block]:
    """A code cell: its source unless it is folded, then what it shows unless it is an exercise."""
    if not is_folded(cell):
        yield from map(source_block, _pieces(without_question(cell.source)))
    if has_tag(cell, "exercise"):
        return
    for output in cell.outputs:
        page = output.get("data", {}).get("text/html", "")
        if output.output_type == "stream":
            yield _printed(html.escape(output.text.rstrip()))
        elif page.startswith("<fieldset"):
            yield from _prediction(page)
        elif "image/png" in output.get("data", {}):
            yield _shown(page) if page else _picture(output)
        elif not page.startswith("<details"):
            yield _printed(html.escape(output.data.get("text/plain", "")))


def without_question(source: str) -> str:
    """The code without the lines of its question, which the slide shows below, and single spaced.

    Args:
        source: A code cell's.
    """
    lines, questions = source.splitlines(), blocks_of_predict(ast.parse(source))
    for block in sorted(questions, key=lambda block: -block.lineno):
        first, last = block.body[0].lineno - 1, block.end_lineno
        body = [line.removeprefix("    ") for line in lines[first:last]]
        lines[block.lineno - 1 : last] = body
    code = re.sub(r"from \S+ import predict\n", "", "\n".join(lines)).strip()
    return re.sub(r"\n{3,}", "\n\n", code)


def _pieces(source: str) -> Iterator[str]:
    """A source that is too long for a page, cut at empty lines."""
    lines = source.splitlines()
    while len(lines) > CODE_ROWS:
        empty = [row for row, line in enumerate(lines[:CODE_ROWS]) if not line]
        cut = empty[-1] if empty else CODE_ROWS
        yield "\n".join(lines[:cut])
        lines = lines[cut:][bool(empty) :]
    yield "\n".join(lines)


def source_block(source: str) -> Block:
    """Python, as large as its longest line and its number of lines allow; a longer line wraps.

    Args:
        source: The code.
    """
    lines = source.splitlines()
    fits_width = (WIDTH - 26) / (CHARACTER * max(map(len, lines)))
    fits_height = (PAGE - 90) / (CODE_LINE * len(lines))
    size = max(SMALLEST, min(LARGEST, fits_width, fits_height))
    rows = sum(1 + (len(line) > CODE_COLUMNS) for line in lines)
    code = highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    shown = "".join(map(_line, lines, code.splitlines()))
    return Block(
        html=f'<pre class="source highlight" style="font-size: {size:.1f}px">{shown}</pre>',
        height=GAP + 20 + CODE_LINE * size * rows,
    )


def _line(line: str, code: str) -> str:
    """A line of code; if it wraps, the rest hangs below it."""
    hanging = len(line) - len(line.lstrip()) + HANGING if len(line) > CODE_COLUMNS else 0
    style = f' style="padding-left: {hanging}ch; text-indent: -{hanging}ch"' if hanging else ""
    return f'<span class="line"{style}>{code}\n</span>'


def _prediction(page: str) -> Iterator[Block]:
    """A question with its answers, and the outcome, which is shown a step later."""
    question, _, _ = page.partition("<details")
    question = re.sub(r'^<fieldset onchange="[^"]*"', "<fieldset", question)  # keeps no answer
    question = re.sub('<div role="radiogroup".*</div>', "", question)  # asks one reader
    words = re.sub(r"<label.*", "", question, flags=re.DOTALL)
    lines = -(-len(re.sub("<.*?>", "", words)) // (PROSE_COLUMNS - 4))
    height = GAP + 62 + LINE * lines + 44 * question.count("<label")
    yield Block(html=f"{question}</fieldset>", height=height, glue=2)
    outcome = OUTCOME.search(page)[1]
    shown = [_verdict(found) for found in VERDICT.findall(outcome)]
    for found in SHOWN.findall(outcome):
        text = re.fullmatch("<pre>(.*)</pre>", found, re.DOTALL)
        shown.append(_printed(text[1].rstrip()) if text else _shown(found))
    inside = "".join(each.html for each in shown)
    asked = re.search(r"<p><b>(.*?)</b></p>", question, re.DOTALL)[1]
    yield Block(
        html=f'<div class="outcome">{inside}</div>',
        height=min(room_below(asked), sum(each.height for each in shown)),
        slide_type="fragment",
        asked=asked,
    )


def _verdict(page: str) -> Block:
    """What was chosen, on this slide or the one before, and what is right."""
    return Block(html=page.replace("fieldset:has(", ":root:has("), height=GAP + 2 * LINE)


def room_below(asked: str) -> float:
    """The pixels of a page below a question that it repeats.

    Args:
        asked: The question; empty if the page repeats none.
    """
    lines = -(-(len(asked) + len("Predict: ")) // ASKED_COLUMNS)
    return PAGE - (GAP + ASKED_LINE * lines if asked else 0)


def _printed(text: str) -> Block:
    """Text output; a long one scrolls."""
    lines = sum(-(-max(1, len(line)) // PRINTED_COLUMNS) for line in text.splitlines())
    height = GAP + 16 + PRINTED_LINE * min(lines, PRINTED_LINES)
    return Block(html=f'<pre class="printed" tabindex="0">{text}</pre>', height=height, glue=1)


def _picture(output: NotebookNode) -> Block:
    """A picture with its alternative text."""
    alt = output.metadata["image/png"]["alt"]
    source = f"data:image/png;base64,{output.data['image/png'].strip()}"
    width = output.metadata["image/png"]["width"]
    return _shown(f'<img width="{width}" alt="{html.escape(alt)}" src="{source}">')


def _shown(page: str) -> Block:
    """A picture or a live figure: it takes the room that the page has left."""
    size, least = _size(page), LEAST_FRAME if "<iframe" in page else LEAST_PICTURE
    kind = "picture" if page.startswith("<img") else "live"
    for dark, light in LIGHT.items():
        page = page.replace(dark, light)
    most = size.height * min(1.35, WIDTH / size.width)
    return Block(
        html=f'<div class="{kind}" style="max-height: {most:.0f}px">{page}</div>',
        height=GAP + min(least * most, PAGE - GAP),
    )


def _size(page: str) -> Size:
    """What a picture or a frame asks for."""
    if frame := re.search(r"<iframe[^>]*?height: (\d+)px", page):
        return Size(WIDTH, float(frame[1]))
    width = float(re.search(r'<img[^>]*?width="(\d+)"', page)[1])
    (png,) = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    with Image.open(io.BytesIO(base64.b64decode(png))) as picture:
        return Size(width, width * picture.height / picture.width)
