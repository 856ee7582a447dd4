"""The slides of the lessons: what is on them, what is not, and where a page ends."""

import html
import re
from html.parser import HTMLParser

import nbformat
import pytest

from tests.solution_lines import leaks, own_lines
from tests.test_static_twins import different_figures
from tools.exercises import HEADING, exercise_indices
from tools.lesson import FENCE, has_tag, headings
from tools.notebooks import lesson_paths, read
from tools.slide_blocks import (
    CHARACTER,
    DETAILS,
    PAGE,
    WIDTH,
    Block,
    blocks_of,
    rendered,
    source_block,
    without_question,
)
from tools.slides import deck, pages_of, write

LESSONS = {path.stem: read(path) for path in lesson_paths()}
SOLUTIONS = own_lines(LESSONS)
every_lesson = pytest.mark.parametrize("name", LESSONS)


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """Every deck, as it is written."""
    written = write(lesson_paths(), tmp_path_factory.mktemp("slides"))
    return {path.stem: path.read_text(encoding="utf-8") for path in written}


class Sections(HTMLParser):
    """Counts a deck's slides, and the pages in them."""

    def __init__(self, page):
        super().__init__()
        self.depth = self.slides = self.pages = 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "section":
            self.slides += self.depth == 0
            self.depth += 1
        self.pages += ("class", "page") in attributes

    def handle_endtag(self, tag):
        self.depth -= tag == "section"


def body(page):
    """What stands between the style and the scripts."""
    return page.split('<div class="slides">')[1].split("</div></div>\n<script>")[0]


def text(page):
    """A deck's words, a line of code to a line."""
    without_frames = re.sub("<iframe.*?</iframe>", "", body(page), flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", without_frames))


def markdown(notebook):
    """The words of a lesson without what is folded."""
    cells = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return DETAILS.sub("", "\n\n".join(cells))


@every_lesson
def test_every_heading_begins_a_slide_or_a_page(decks, name):
    words = markdown(LESSONS[name])
    found = headings(nbformat.v4.new_markdown_cell(words))
    below_another = len(re.findall(r"(?m)^#.*\n+(?=#)", FENCE.sub("", words)))
    exercises = len(HEADING.findall(words)) - len(re.findall(r"(?m)^## .*\n+(?=### Ex)", words))
    sections = Sections(body(decks[name]))
    assert sections.depth == 0
    assert sections.slides == sum(level <= 2 for level, _ in found) + exercises
    assert sections.pages >= len(found) - below_another


@every_lesson
def test_a_deck_keeps_every_figure_with_its_words(decks, name):
    assert different_figures(LESSONS[name], body(decks[name]), with_words=True) == 0


@every_lesson
def test_a_deck_asks_nobody_for_anything(decks, name):
    page = re.sub(r"<script>.*?</script>", "", decks[name], flags=re.DOTALL)
    assert not re.findall(r"<(?:script|link|iframe)\b[^>]*\b(?:src|href)=", page)
    assert not re.findall(r'<img\b[^>]* src="(?!data:)', page)
    assert not re.findall(r"@import|url\((?![\"']?data:)", page.split("</style>")[0])


@every_lesson
def test_nothing_of_a_solution_set_up_or_claim_is_on_a_slide(decks, name):
    shown = text(decks[name])
    assert not leaks(shown, SOLUTIONS)
    for cell in LESSONS[name].cells:
        if has_tag(cell, "setup") or has_tag(cell, "claim"):
            assert max(cell.source.splitlines(), key=len) not in shown
    stubs = [LESSONS[name].cells[index].source for index in exercise_indices(LESSONS[name])]
    assert all(stub.splitlines()[-1] in shown for stub in stubs)


def test_a_solution_on_a_slide_would_be_noticed():
    (name, index), lines = next(iter(SOLUTIONS.items()))
    cell = nbformat.v4.new_code_cell("\n".join(lines), outputs=[])
    title = nbformat.v4.new_markdown_cell("# 0 · What?")
    page = deck(nbformat.v4.new_notebook(cells=[title, cell]))
    assert len(leaks(text(page), SOLUTIONS)) == len(lines)


@every_lesson
def test_every_formula_is_drawn_and_says_its_tex(decks, name):
    words = re.sub(r"```.*?```|`[^`\n]+`", "", markdown(LESSONS[name]), flags=re.DOTALL)
    found = re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", words, re.DOTALL)
    page = re.sub(r'<aside class="notes">.*?</aside>', "", body(decks[name]), flags=re.DOTALL)
    labels = re.findall(r'<svg role="img" aria-label="([^"]*)"', page)
    assert [html.unescape(each) for each in labels] == [(a or b).strip() for a, b in found]


@every_lesson
def test_outcomes_and_what_you_see_are_a_step_of_their_own(decks, name):
    for block in blocks_of(LESSONS[name]):
        if "What you see." in block.html:
            assert block.slide_type == "fragment"
        assert "I have chosen" not in block.html
    assert body(decks[name]).count('outcome">') == body(decks[name]).count("<fieldset") > 0
    for page in re.findall(r'<div class="page">(.*?)</section>', decks[name], re.DOTALL):
        if "<fieldset" in page:
            _, _, below = page.partition("</fieldset>")
            assert all("fragment" in kind for kind in re.findall('class="([^"]*outcome)"', below))


def block(height, slide_type="-", glue=0):
    return Block(html=f"<p>{height}</p>", height=height, slide_type=slide_type, glue=glue)


def heights(*blocks):
    """The pages as lists of heights."""
    return [[[each.height for each in page] for page in pages] for pages in pages_of(blocks)]


def test_a_page_ends_where_the_glue_is_weakest():
    title, half, rest = block(100, "slide"), PAGE / 2, PAGE - 99
    assert heights(title, block(half)) == [[[100, half]]]
    assert heights(title, block(rest)) == [[[100], [rest]]]
    assert heights(title, block(9), block(rest, glue=2)) == [[[100], [9, rest]]]
    assert heights(title, block(9, glue=1), block(rest, glue=2)) == [[[100], [9, rest]]]
    assert heights(title, block(9, glue=2), block(rest, glue=1)) == [[[100, 9], [rest]]]
    assert heights(title, block(PAGE + 1), block(9)) == [[[100], [PAGE + 1], [9]]]
    assert heights(title, block(9, "subslide"), block(8, "slide")) == [[[100], [9]], [[8]]]


def test_fifteen_lines_of_88_columns_are_large_and_longer_ones_are_not_cut():
    def size(lines, columns):
        code = source_block("\n".join(["x" * columns] * lines))
        assert code.height <= PAGE
        return float(re.search(r"font-size: ([\d.]+)px", code.html)[1])

    assert size(15, 88) > 17
    assert size(15, 100) > 15
    assert size(35, 80) >= 14
    assert all(CHARACTER * columns * size(15, columns) < WIDTH for columns in range(20, 101))


def test_the_lines_of_a_question_leave_its_code():
    question = 'with predict(\n    "Why?",\n    "a",\n    "b",\n):'
    source = f"import x\n\n{question}\n    for y in x:\n        y()"
    assert without_question(source) == "import x\n\nfor y in x:\n    y()"
    assert without_question("from a.b import predict\nx = 1\n\n\n\ny = 2") == "x = 1\n\ny = 2"
    assert without_question("with open(x):\n    y()") == "with open(x):\n    y()"


def test_a_live_figure_is_light_like_the_slides_around_it(decks):
    dark = r"@media \(prefers-color-scheme: dark\)|color-scheme: light dark"
    assert len(set(re.findall(dark, str(LESSONS["16_looking_inside"])))) == 2
    assert not re.search(dark, decks["16_looking_inside"])


def test_the_page_of_a_folder_lists_all_decks_in_it_and_old_names_go(tmp_path):
    first, second = lesson_paths()[:2]
    own = tmp_path / "own.ipynb"
    title = nbformat.v4.new_markdown_cell("# What?")
    nbformat.write(nbformat.v4.new_notebook(cells=[title]), own)
    folder = tmp_path / "slides"
    write([second], folder)
    (folder / "02_an_old_name.html").write_text("<title>old</title>")
    write([first, own], folder)
    links = re.findall('<li><a href="(.*?)">', (folder / "index.html").read_text())
    assert links == [f"{first.stem}.html", f"{second.stem}.html", "own.html"]
    assert {path.name for path in folder.iterdir()} == {*links, "index.html"}


def test_links_lead_to_slides_and_dollars_in_code_are_no_formulas():
    page = rendered("[a](02_attention.ipynb) [b](glossary.ipynb#key) [c](https://x.org) `$d$` $e$.")
    assert '<a href="02_attention.html">a</a> b <a href="https://x.org"' in page
    assert "<code>$d$</code>" in page
    assert 'aria-label="e"' in page and page.rstrip().endswith("</svg>.</span></p>")


def test_a_long_table_is_divided_and_every_part_has_its_head():
    rows = "\n".join(f"| {number} | b |" for number in range(30))
    cell = nbformat.v4.new_markdown_cell(f"# 0 · What?\n\n| x | y |\n|---|---|\n{rows}")
    tables = [each.html for each in blocks_of(nbformat.v4.new_notebook(cells=[cell]))][1:]
    assert [each.count("<tr>") for each in tables] == [13, 13, 7]
    assert all("<th>x</th>" in each for each in tables)


def test_folded_words_become_notes_and_solutions_vanish():
    solution = "<details><summary>Solution</summary>\n\n```python\nx = 1\n```\n</details>"
    folded = "<details><summary>For engineers</summary>\n\nMore.\n</details>"
    cell = nbformat.v4.new_markdown_cell(f"# 0 · What?\n\nWords.\n\n{solution}\n\n{folded}")
    page = deck(nbformat.v4.new_notebook(cells=[cell]))
    assert "x = 1" not in text(page)
    (notes,) = re.findall(r'<aside class="notes">(.*?)</aside>', body(page), re.DOTALL)
    assert "For engineers" in notes and "More." in notes
