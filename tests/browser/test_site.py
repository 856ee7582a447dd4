"""The website and the handouts: they show what a lesson stores, and load nothing else."""

import html
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from pypdf import PdfReader

from tools.editions import EditionError
from tools.facts import predicts
from tools.handout import main as print_handouts
from tools.handout import print_page
from tools.lesson import SEEN
from tools.notebooks import BEFORE, NAMES, REVIEW, ROOT, lesson_paths, read
from tools.site import BANK, PACKAGES, as_list, build, for_the_site, linked_files
from transformer_course.asking.predict import right_answers

LIBRARY, COURSE = PACKAGES.values()
CHOSEN = [path for path in lesson_paths() if path.name[:2] in ("02", "05")]
LAST_SECTION = "You can now say"
MARK = "stored, and not run"
PHONE = {"width": 390, "height": 844}
MOST_SCRIPT = 200_000  # bytes; those that a page of this theme needs have 110,000
PAGES = [
    "index",
    "README",
    "notebooks/glossary",
    *(f"notebooks/{path.stem}" for path in CHOSEN),
    "package/transformer_edu",
    "package/transformer_edu.model",
    "package/transformer_course",
]
pages = pytest.mark.parametrize("page", PAGES)
lessons = pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Two lessons and one room of the package; what the first lesson prints is marked."""
    folder = tmp_path_factory.mktemp("site")
    stored = [folder / path.name for path in CHOSEN]
    for path, copy in zip(CHOSEN, stored, strict=True):
        shutil.copyfile(path, copy)
    notebook = read(stored[0])
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    next(each for each in outputs if each.output_type == "stream").text = MARK
    nbformat.write(notebook, stored[0])
    build(
        folder / "site",
        lessons=stored,
        shown=[*PACKAGES.values(), PACKAGES["The library"] / "model"],
    )
    return folder / "site"


@pytest.fixture
def open_site(address, open_at):
    """Open a page of the site; in the end nothing was loaded from elsewhere and none complained."""

    def open_page(page: str, **options: object):
        others = (address, "about:", f"blob:{address}")
        return open_at(f"{address}/{page}.html", *others, kinds=("error",), **options)

    return open_page


def text_of(site, page: str) -> str:
    """The HTML of a page."""
    return (site / f"{page}.html").read_text(encoding="utf-8")


def alternative_texts(page: str) -> list[str]:
    """What the images of a page say in words, in order."""
    images = re.findall(r"<img\b[^>]*>", page)
    found = [re.search(r'\balt="([^"]*)"', image) for image in images]
    return [html.unescape(each[1]) if each else "" for each in found]


@lessons
def test_a_lesson_has_its_title_and_its_neighbors(site, path):
    page = text_of(site, f"notebooks/{path.stem}")
    (title,) = re.findall(r"<h1>(.*?)<a", page)
    assert f"# {html.unescape(title)}" == read(path).cells[0].source.splitlines()[0]
    chosen = (each.stem for each in CHOSEN)
    order = ["../index", BEFORE.stem, *chosen, NAMES.stem]
    place = order.index(path.stem)
    for side, neighbor in (("left-prev", order[place - 1]), ("right-next", order[place + 1])):
        assert re.search(rf'class="{side}"\s+href="{neighbor}\.html"', page)


@lessons
def test_the_page_of_a_lesson_has_the_words_of_every_figure(site, path):
    shown = alternative_texts(text_of(site, f"notebooks/{path.stem}"))
    outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
    words = [
        each.metadata["image/png"]["alt"] for each in outputs if "image/png" in each.get("data", {})
    ]
    assert words and all(shown)
    assert not set(words) - set(shown)


@lessons
def test_what_is_folded_in_jupyterlab_is_folded_and_the_set_up_is_left_out(site, path):
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    folded = [cell for cell in cells if cell.metadata.get("jupyter", {}).get("source_hidden")]
    setup = [cell for cell in cells if "setup" in cell.metadata.get("tags", [])]
    page = text_of(site, f"notebooks/{path.stem}")
    assert page.count('<details class="admonition hide ') == len(folded) - len(setup) > 1
    assert "Set-up:" not in page


def test_outputs_are_those_that_are_stored(site):
    assert MARK in text_of(site, f"notebooks/{CHOSEN[0].stem}")


def test_hidden_outputs_are_folded_too():
    metadata = {"jupyter": {"outputs_hidden": True}, "tags": ["exercise"]}
    outputs = [new_output("stream", text="42")]
    cell = new_code_cell("6 * 7", metadata=metadata, outputs=outputs)
    (adapted,) = for_the_site(new_notebook(cells=[cell])).cells
    assert adapted.metadata["tags"] == ["exercise", "hide-output"]
    assert adapted.outputs == outputs


@pytest.mark.parametrize("kind", ["live-figure", "live-explorer"])
@pytest.mark.parametrize("moving", ["<svg width='9' height='9'></svg>", "<iframe></iframe>"])
def test_paper_shows_the_still_of_a_figure_that_moves(chromium, moving, kind):
    style = (ROOT / "docs/_static/site.css").read_text(encoding="utf-8")
    pair = f"<div class='bd-article'><p class='{kind}'>{moving}<img alt='it stands' width='9'>"
    page = chromium.new_page()
    hidden = f".{kind} > :first-child + img {{ display: none; }}"
    page.set_content(f"<style>{hidden} {style}</style>{pair}")
    still, other = page.get_by_alt_text("it stands"), page.locator("svg, iframe")
    assert other.is_visible() and not still.is_visible()
    page.emulate_media(media="print")
    assert still.is_visible() and not other.is_visible()
    page.close()


def test_the_downloaded_notebook_is_the_one_that_is_stored(site):
    name = CHOSEN[1].name
    assert (site / "_sources/notebooks" / name).read_bytes() == CHOSEN[1].read_bytes()
    assert f'href="../_sources/notebooks/{name}"' in text_of(site, f"notebooks/{CHOSEN[1].stem}")


@lessons
def test_formulas_need_no_script(site, path):
    markdown = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$]+\$", "\n\n".join(markdown), re.DOTALL)
    page = text_of(site, f"notebooks/{path.stem}")
    assert page.count("<math ") == len(formulas) > 0
    assert not re.search("<script[^>]*mathjax", page, re.IGNORECASE)


@lessons
def test_links_between_notebooks_lead_somewhere(site, path):
    page = text_of(site, f"notebooks/{path.stem}")
    terms = set(re.findall(r'href="glossary\.html#([^"]+)"', page))
    glossary = text_of(site, "notebooks/glossary")
    assert len(terms) > 2 and all(f'id="{term}"' in glossary for term in terms)
    other = next(each for each in CHOSEN if each != path)
    assert f'href="{other.stem}.html"' in page


def test_every_lesson_has_a_row_with_its_minutes_on_the_front_page(site):
    front = text_of(site, "index")
    for path in CHOSEN:
        minutes = re.search(r"\*\*Time:\*\* (\d+)", read(path).cells[0].source)[1]
        row = re.search(rf"<tr[^>]*>(?:(?!</tr>).)*{path.stem}\.html.*?</tr>", front, re.DOTALL)
        assert re.search(rf"<p>{minutes}\b", row[0])


def test_the_files_that_readme_leads_to_are_on_the_site(site):
    found = linked_files()
    assert {ROOT / "CONTRIBUTING.md", ROOT / "LICENSE"} <= set(found)
    for path in found:
        if path.suffix == ".md":
            assert (site / path.relative_to(ROOT).with_suffix(".html")).is_file()


def test_a_room_has_every_public_class_with_its_words(site):
    page = text_of(site, "package/transformer_edu.model")
    for module in (LIBRARY / "model").glob("[!_]*.py"):
        for name in re.findall(r"(?m)^(?:class|def) ([^_]\w+)", module.read_text(encoding="utf-8")):
            assert f'id="transformer_edu.model.{module.stem}.{name}"' in page
    assert 'href="../notebooks/02_attention.html"' in page  # where it is built


def test_a_map_in_a_docstring_becomes_a_list():
    docstring = [
        "What it is.",
        "",
        "beam    keeps *.json",
        "greedy  the best",
        "        one",
        "End.",
    ]
    assert as_list(docstring) == [
        *["What it is.", "", "", "``beam``", r"   keeps \*.json"],
        *["", "``greedy``", "   the best", "   one", "End.", ""],
    ]


SCREENS = {"phone": PHONE, "laptop": {"width": 1280, "height": 800}}


@pytest.mark.parametrize("screen", SCREENS.values(), ids=SCREENS)
def test_the_first_screen_has_a_link_that_starts_the_first_lesson(open_site, screen):
    opened = open_site("index", viewport=screen)
    start = opened.get_by_role("link", name=re.compile(r"^Start with lesson \d+$"))
    place = start.bounding_box()
    assert place["y"] + place["height"] <= screen["height"] and place["height"] >= 40
    assert place["x"] >= 0 and place["x"] + place["width"] <= screen["width"]
    start.click()
    opened.wait_for_url(f"**/notebooks/{CHOSEN[0].stem}.html")


def test_its_first_link_leads_to_the_page_that_translates(open_site):
    opened = open_site("index", viewport=PHONE)
    link = opened.locator("article a.start").first
    place = link.bounding_box()
    assert place["y"] + place["height"] <= PHONE["height"]
    link.click()
    opened.wait_for_url("**/live/index.html")
    opened.locator("#figure .box").first.wait_for()
    opened.get_by_role("link", name="The Transformer, built by you").click()
    opened.wait_for_url("**/index.html")


def test_a_lesson_holds_the_live_page_which_loads_when_it_is_opened(open_site):
    opened, loaded = open_site(f"notebooks/{CHOSEN[0].stem}"), []
    opened.on("request", lambda request: loaded.append(request.url))
    summary = opened.locator(".live-page summary")
    summary.scroll_into_view_if_needed()
    assert opened.evaluate("document.readyState") == "complete"
    assert not any("/live/" in url for url in loaded)
    summary.click()
    frame = opened.frame_locator(".live-page iframe")
    frame.locator("#panel h4").first.wait_for()
    assert frame.locator("#text").input_value() == BANK
    assert not frame.locator("h1").is_visible()
    tops = [frame.locator(part).bounding_box()["y"] for part in ("#text", "#panel", "#figure")]
    assert tops == sorted(tops)


@pages
def test_a_page_loads_few_scripts_and_its_icons_from_a_font(open_site, site, page):
    loaded = []
    opened = open_site("search")  # without what the page before has left in memory
    opened.on("response", lambda answer: loaded.append(answer))
    opened.goto(opened.url.replace("search", page))
    opened.evaluate("document.fonts.ready")
    sizes = {
        path.name: path.stat().st_size
        for path in (site / unquote(urlsplit(each.url).path)[1:] for each in loaded)
        if path.suffix == ".js"
    }
    assert sizes and sum(sizes.values()) < MOST_SCRIPT, sizes
    icons = opened.locator("i[class*='fa-'], span[class*='fa-']")
    shown = icons.evaluate_all("""all => all.filter(e => e.checkVisibility()).map(e => {
        const style = getComputedStyle(e, "::before");
        return [style.fontFamily, e.getBoundingClientRect().width];
    })""")
    assert shown and all("Awesome" in font and width > 5 for font, width in shown)
    assert opened.evaluate("document.fonts.check('900 16px \"Font Awesome 7 Free\"')")
    assert not list(site.rglob("fontawesome.js"))


@pages
def test_a_phone_shows_a_page_without_a_horizontal_scroll_bar(open_site, page):
    opened = open_site(page, viewport=PHONE)
    assert opened.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for image in opened.query_selector_all("article img"):
        assert image.evaluate("image => image.complete && image.naturalWidth > 0")


def test_the_switch_makes_a_page_light_and_dark(open_site):
    opened = open_site("index", color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = opened.evaluate(background)
    opened.locator(".theme-switch-button:visible").click()
    opened.locator(".theme-change-button[data-mode=dark]:visible").click()
    assert opened.locator("html").get_attribute("data-theme") == "dark"
    opened.wait_for_function(f"{background} !== '{light}'")


def test_an_answer_that_was_chosen_is_remembered(open_site):
    opened = open_site(f"notebooks/{CHOSEN[0].stem}")
    first, second = opened.locator("fieldset").all()[:2]
    first.get_by_role("radio").nth(1).check()
    first.locator("summary").click()
    first.get_by_role("radio").nth(2).check()  # the outcome is known: this is no answer
    opened.reload()
    assert [each.is_checked() for each in first.get_by_role("radio").all()] == [False, True, False]
    assert not any(each.is_checked() for each in second.get_by_role("radio").all())


def test_the_review_finds_what_was_answered_on_the_pages_of_the_lessons(open_site, address):
    opened = open_site(f"notebooks/{CHOSEN[0].stem}")
    right = right_answers()
    for question in opened.locator("fieldset").all()[:2]:
        words = right[question.locator("p b").first.inner_text()]
        places = [each.inner_text().strip() != words for each in question.locator("label").all()]
        question.get_by_role("radio").nth(places.index(True)).check()
    opened.goto(f"{address}/notebooks/{REVIEW.stem}.html")
    said = opened.locator(".transformer-review").inner_text()
    assert "Found 2 answers in this browser; 2 Predicts answered wrongly." in said
    assert "Predict again" in said


def test_the_search_finds_a_lesson(open_site):
    opened = open_site("search")
    opened.locator(".bd-article input[type=search], .bd-content input[type=search]").first.fill(
        "softmax"
    )
    opened.keyboard.press("Enter")
    opened.locator(f"#search-results a[href*='{CHOSEN[0].stem}']").first.wait_for()


def test_the_icon_of_the_search_stands_beside_its_words(open_site):
    opened = open_site("search")
    form = opened.locator(".bd-search-container form")
    icon = form.locator(".fa-magnifying-glass").bounding_box()
    field = form.locator("input[type=search]").bounding_box()
    assert icon["x"] + icon["width"] <= field["x"]


def test_a_handout_has_numbered_a4_pages_and_everything_but_solutions(site, chromium, tmp_path):
    lesson = CHOSEN[0]
    print_page(chromium, site / f"notebooks/{lesson.stem}.html", tmp_path / "handout.pdf")
    reader = PdfReader(tmp_path / "handout.pdf")
    texts = [page.extract_text() for page in reader.pages]
    text, count = re.sub(r"\s", "", "".join(texts)), len(texts)
    assert count > 5
    for number, page in enumerate(reader.pages, 1):
        assert [round(float(side) / 72 * 25.4) for side in page.mediabox[2:]] == [210, 297]
        assert f"{number}/{count}" in re.sub(r"\s", "", texts[number - 1])
    cells = read(lesson).cells
    last = cells[-1].source.split(LAST_SECTION)[1]
    sentence = re.search(r"(?m)^- (.+?)\.", last, re.DOTALL)[1]
    assert re.sub(r"\s", "", sentence) in text
    for cell in cells:
        is_folded = cell.metadata.get("jupyter", {}).get("source_hidden")
        if cell.cell_type == "code" and not is_folded:
            longest = max(cell.source.splitlines(), key=len)
            assert re.sub(r"\s", "", longest) in text
    solutions = re.findall(r"<details>.*?</details>", "".join(c.source for c in cells), re.DOTALL)
    (line,) = re.findall(r"        return scores\.softmax\(dim=-1\) @ value\n", "".join(solutions))
    assert re.sub(r"\s", "", line) not in text and "Solution" not in text


def test_a_handout_asks_and_answers_after_the_lesson(site, chromium, tmp_path):
    lesson = CHOSEN[0]
    print_page(chromium, site / f"notebooks/{lesson.stem}.html", tmp_path / "handout.pdf")
    pages = [page.extract_text() for page in PdfReader(tmp_path / "handout.pdf").pages]
    text = re.sub(r"\s", "", unicodedata.normalize("NFKC", "".join(pages)))
    asked = [re.sub(r"\s", "", each.question) for each in predicts(read(lesson))]
    before, heading, after = text.partition("Theoutcomesofthepredictions")
    assert heading and len(asked) > 3
    assert re.sub(r"\s", "", LAST_SECTION) in before
    seen = [found for cell in read(lesson).cells for found in SEEN.findall(cell.source)]
    plain = [max(re.split(r"[]$*`[(){}|]", each), key=len) for each in seen]
    first = [re.sub(r"\W", "", words)[:40] for words in plain]
    for number, (question, words) in enumerate(zip(asked, first, strict=True), 1):
        assert f"Predict{number}" in before and f"outcome{number},after" in before
        assert question in before and f"{number}·{question}" in after
        assert words not in re.sub(r"\W", "", before) and words in re.sub(r"\W", "", after)


def test_a_handouts_figures_are_there_with_their_words(site, chromium, tmp_path):
    lesson = CHOSEN[1]
    print_page(chromium, site / f"notebooks/{lesson.stem}.html", tmp_path / "handout.pdf")
    reader = PdfReader(tmp_path / "handout.pdf")
    shown = sum(len(page.images) for page in reader.pages)
    assert shown == len(alternative_texts(text_of(site, f"notebooks/{lesson.stem}")))
    links = [note.get_object() for page in reader.pages for note in page.get("/Annots", [])]
    addresses = [link["/A"]["/URI"] for link in links if "/URI" in link.get("/A", {})]
    assert addresses and all(each.startswith("http") for each in addresses)


def test_nothing_is_written_beside_a_site(site):
    beside = {path.name for path in site.parent.iterdir()}
    assert beside == {site.name, *(path.name for path in CHOSEN)}


def test_a_folder_that_holds_no_site_is_refused_and_kept(tmp_path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(EditionError, match="must be empty, or hold nothing but a site"):
        build(tmp_path)
    assert (tmp_path / "thesis.txt").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"alt": "', '"other": "', "ValueError the picture of cell "),
        (f"## {LAST_SECTION}", "## You can say", f"ValueError it has no section {LAST_SECTION}"),
        (
            '"cells": [',
            '"cells": [<<<<<<< HEAD',
            "ValueError {broken} is damaged: Notebook does not",
        ),
    ],
)
def test_a_broken_lesson_is_named_with_what_it_lacks(tmp_path, old, new, message):
    broken = tmp_path / CHOSEN[0].name
    text = CHOSEN[0].read_text(encoding="utf-8")
    assert old in text
    broken.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(
        EditionError, match=re.escape(f"got {broken}: {message.format(broken=broken)}")
    ):
        build(tmp_path / "site", lessons=[broken], shown=[])
    assert not (tmp_path / "site").exists()


def test_a_lesson_that_does_not_exist_is_refused(capsys):
    assert print_handouts(["99"]) == 1
    numbers = [path.name[:2] for path in lesson_paths()]
    assert capsys.readouterr().err == (
        f"a lesson must be a number from {numbers[0]} to {numbers[-1]} or a notebook, got 99\n"
    )


def test_without_a_browser_one_sentence_says_what_is_needed(tmp_path):
    command = [sys.executable, "-m", "tools.handout", "02", "--to", tmp_path]
    result = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "CHROMIUM": str(tmp_path / "missing")},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert re.fullmatch(r"A handout needs Chromium or Chrome to print it: .+\n", result.stderr)
