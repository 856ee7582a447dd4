"""The slides of the lessons: what is on them, what is not, and where a page ends."""

import html
import re
from html.parser import HTMLParser

import nbformat
import pytest

from tests.solution_lines import leaks, own_lines
from tests.test_static_twins import different_figures
from tools.exercises import HEADING, exercise_indices
from tools.lesson import FENCE, SEEN, has_tag, headings
from tools.notebooks import lesson_paths, read
from tools.slide_blocks import CODE_COLUMNS, CODE_ROWS, DETAILS, PAGE, blocks_of, rendered
from tools.slides import deck, main, pages_of, write

LESSONS = {path.stem: read(path) for path in lesson_paths()}
SOLUTIONS = own_lines(LESSONS)


def every_lesson(test):
    """A slow test of every deck."""
    return pytest.mark.slow(pytest.mark.parametrize("name", LESSONS)(test))


@pytest.fixture(scope="module")
def folder_of_decks(tmp_path_factory):
    """The folder that the command writes."""
    folder = tmp_path_factory.mktemp("slides")
    write(lesson_paths(), folder)
    return folder


@pytest.fixture(scope="module")
def decks(folder_of_decks):
    """Every deck, as it is written."""
    return {
        name: (folder_of_decks / f"{name}.html").read_text(encoding="utf-8") for name in LESSONS
    }


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
    """The words of a lesson without what is folded, but with what is seen in an outcome."""
    cells = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return DETAILS.sub("", SEEN.sub(r"\1", "\n\n".join(cells)))


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


@every_lesson
def test_an_outcome_stands_below_its_question_and_no_page_is_a_title_alone(decks, name):
    for page in re.findall(r'<div class="page">(.*?)</section>', decks[name], re.DOTALL):
        before, outcome, _ = page.partition('outcome">')
        assert not outcome or '<p class="asked">' in before or "<fieldset" in before
        assert re.sub(r'<p class="running">.*?</p>|<h\d.*?</h\d>|<[^i].*?>|\s', "", page)


@pytest.mark.slow
def test_a_live_figure_is_light_like_the_slides_around_it(decks):
    dark = r"@media \(prefers-color-scheme: dark\)|color-scheme: light dark"
    assert len(set(re.findall(dark, str(LESSONS["16_looking_inside"])))) == 2
    assert not re.search(dark, decks["16_looking_inside"])


def test_the_page_of_a_folder_lists_all_decks_in_it(tmp_path):
    first, second = lesson_paths()[:2]
    own = tmp_path / "own.ipynb"
    title = nbformat.v4.new_markdown_cell("# What?")
    nbformat.write(nbformat.v4.new_notebook(cells=[title]), own)
    folder = tmp_path / "slides"
    write([second], folder)
    write([first, own], folder)
    links = re.findall('<li><a href="(.*?)">', (folder / "index.html").read_text())
    assert links == [f"{first.stem}.html", f"{second.stem}.html", "own.html"]
    assert {path.name for path in folder.iterdir()} == {*links, "index.html"}


def listed(folder):
    """What the page of a folder says of each deck, by the deck's file."""
    lines = re.findall('<li><a href="(.*?)">(.*?)</li>', (folder / "index.html").read_text())
    return {name: re.sub("<.*?>", "", words) for name, words in lines}


def test_the_page_of_a_folder_tells_how_many_slides_a_deck_has_also_one_written_earlier(tmp_path):
    cells = [
        nbformat.v4.new_markdown_cell(f"{'#' * level} Title\n\nWords.") for level in (1, 2, 3, 2)
    ]
    own, short = tmp_path / "own.ipynb", tmp_path / "short.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), own)
    nbformat.write(nbformat.v4.new_notebook(cells=cells[:1]), short)
    folder = tmp_path / "slides"
    write([own], folder)
    nbformat.write(nbformat.v4.new_notebook(cells=cells[:2]), own)  # the deck still has all four
    (folder / "03_masks.html").write_text("mine")
    write([short], folder)
    assert listed(folder) == {
        "03_masks.html": "03_masks",
        "own.html": "Title · 4 slides",
        "short.html": "Title · 1 slide",
    }


@every_lesson
def test_the_list_says_of_every_lesson_how_many_pages_its_deck_has(decks, folder_of_decks, name):
    pages = Sections(body(decks[name])).pages
    assert listed(folder_of_decks)[f"{name}.html"].endswith(f" · {pages} slides")


@pytest.mark.parametrize("name", ["index.html", "02_attention.html"])
def test_a_page_of_somebody_elses_is_not_lost(tmp_path, capsys, name):
    for each in (name, "12_invoice.html"):
        (tmp_path / each).write_text("mine")
    assert main(["02", "--to", str(tmp_path)]) == 1
    wanted = f"{tmp_path} must hold no file of others that would be lost"
    said = capsys.readouterr().err
    assert said.startswith(f"{wanted}, got {name}: move it elsewhere, or delete it if it is but an")
    assert said.endswith("older edition, or write elsewhere with --to\n")
    (tmp_path / name).unlink()
    assert main(["02", "--to", str(tmp_path)]) == 0
    assert (tmp_path / "12_invoice.html").read_text() == "mine"
    assert "invoice" not in (tmp_path / "index.html").read_text()


def test_links_lead_to_slides_and_dollars_in_code_are_no_formulas():
    page = rendered("[a](02_attention.ipynb) [b](glossary.ipynb#key) [c](https://x.org) `$d$` $e$.")
    assert '<a href="02_attention.html">a</a> b <a href="https://x.org"' in page
    assert "<code>$d$</code>" in page
    assert 'aria-label="e"' in page and page.rstrip().endswith("</svg>.</span></p>")


def test_folded_words_become_notes_and_solutions_vanish():
    solution = "<details><summary>Solution</summary>\n\n```python\nx = 1\n```\n</details>"
    folded = "<details><summary>For engineers</summary>\n\nMore.\n</details>"
    cell = nbformat.v4.new_markdown_cell(f"# 0 · What?\n\nWords.\n\n{solution}\n\n{folded}")
    page = deck(nbformat.v4.new_notebook(cells=[cell]))
    assert "x = 1" not in text(page)
    (notes,) = re.findall(r'<aside class="notes">(.*?)</aside>', body(page), re.DOTALL)
    assert "For engineers" in notes and "More." in notes
    assert "Folded in the notebook: For engineers" in text(page)


def asking(outcome, seen):
    """A deck with one Predict, its outcome, and what is seen in it."""
    page = (
        "<fieldset><legend><b>Predict</b></legend><p><b>How many?</b></p>"
        "<label><input type='radio'> one</label>"
        '<div role="radiogroup">How sure?<label><input type="radio"> certain</label></div>'
        "<details><summary>open</summary>"
        '<style>fieldset:has([name=predict-0]:checked) .predict-0::before { content: "1" }</style>'
        f'<p class="predict-0">It is: <b>two</b></p><pre>{outcome}</pre></details></fieldset>'
    )
    code = nbformat.v4.new_code_cell('with predict("How many?", "one", "two"):\n    print(2)')
    code.outputs = [nbformat.v4.new_output("display_data", data={"text/html": page})]
    title = nbformat.v4.new_markdown_cell("# 0 · What?\n\nWords.")
    fold = f"<details><summary>What you see</summary>\n\n{seen}\n\n</details>\n\nThe rest."
    return deck(nbformat.v4.new_notebook(cells=[title, code, nbformat.v4.new_markdown_cell(fold)]))


def test_what_is_seen_is_one_step_after_the_outcome_which_says_what_was_chosen():
    page = body(asking("2", "It is *two*.\n\nTwo is $1 + 1$."))
    (seen,) = re.findall(r'<div class="fragment seen">(.*?)</div>', page, re.DOTALL)
    assert "<strong>What you see.</strong> It is <em>two</em>." in seen and "<svg" in seen
    assert page.index("It is: <b>two</b>") < page.index("seen") < page.index("The rest.")
    assert ":root:has([name=predict-0]:checked)" in page and "asked" not in page
    assert "aside" not in page and "certain" not in page  # a class has no row for one reader


def test_an_outcome_without_room_below_its_question_repeats_it_on_a_page_of_its_own():
    page = body(asking("2\n" * 18, "word " * 110))
    _, first, second = page.split('class="page"')[1:]
    for each, shown in ((first, "outcome"), (second, "seen")):
        question, _, below = each.partition("</p>\n")
        assert '<p class="asked"><b>Predict:</b> How many?' in question
        assert f'class="{shown}"' in below


def test_a_table_is_divided_where_it_has_no_room_and_its_comments_vanish():
    rows = "\n".join(f"| {number} | {'word ' * 6} |" for number in range(30))
    table = f"### All\n\n<!-- rows -->\n| n | words |\n|---|---|\n{rows}\n<!-- /rows -->"
    cell = nbformat.v4.new_markdown_cell(f"# 0 · What?\n\nWords.\n\n{table}")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    (slide,) = pages_of(blocks_of(notebook))
    assert all(sum(each.height for each in page) <= PAGE for page in slide)
    assert [each.html.count("<table") for each in slide[1]] == [0, 1]  # the title has its table
    assert "rows --" not in deck(notebook)


def test_code_that_is_too_long_for_a_page_is_cut_and_a_line_that_is_too_long_hangs():
    long = "    value = " + "x" * CODE_COLUMNS
    source = "\n".join([*(f"row_{row} = 1" for row in range(CODE_ROWS - 2)), "", "if row_1:", long])
    cells = [nbformat.v4.new_markdown_cell("# What?"), nbformat.v4.new_code_cell(source)]
    _, first, second = blocks_of(nbformat.v4.new_notebook(cells=cells))
    assert first.html.count('class="line"') == CODE_ROWS - 2
    assert second.html.count('class="line"') == 2 and "text-indent: -12ch" in second.html
    sizes = re.findall(r"font-size: ([\d.]+)px", first.html + second.html)
    assert [18 <= float(size) <= 20 for size in sizes] == [True, True]
