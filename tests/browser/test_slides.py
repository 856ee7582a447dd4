"""The slides in a real browser, on a screen of 1024 × 768: the keys, the room, the contrast."""

import pytest

from tests.test_slides import Sections, body, listed
from tools.notebooks import lesson_paths
from tools.slides import write

SCREEN = {"viewport": {"width": 1024, "height": 768}}
SHOWN = ("02_attention", "09_transformer", "12_generation")
LIVE = "16_looking_inside"
PRESENT = ":is(.slides > .present, .slides > .present > .present) > .page"
HERE = "const page = Reveal.getCurrentSlide().querySelector(':scope > .page');"
# What does not fit: the page, code, what is right of the screen, pictures that are too small.
MISFITS = f"""() => {{ {HERE}
  const cut = (each) => each.scrollHeight > each.clientHeight + 1
    || each.scrollWidth > each.clientWidth + 1;
  const small = (each) => each.clientHeight < 100 || each.clientWidth < 300;
  return [
    ...[page, ...page.querySelectorAll('pre.source')].filter(cut),
    ...[...page.querySelectorAll('*')].filter((each) => !each.closest('svg, pre')
      && each.getBoundingClientRect().right > innerWidth),
    ...[...page.querySelectorAll('.picture img')].filter(small),
  ].map((each) => each.outerHTML.slice(0, 200));
}}"""
SHOW_A_FRAME = """() => {
  const { h, v } = Reveal.getIndices(document.querySelector('.page iframe').closest('section'));
  Reveal.slide(h, v);
}"""
SMALLEST_CODE = f"""() => {{ {HERE}
  const code = [...page.querySelectorAll('pre, code')].filter((each) => !each.closest('aside'));
  return Math.min(99, ...code.map((each) => parseFloat(getComputedStyle(each).fontSize)));
}}"""
# The least contrast of a text to what is behind it, as WCAG defines it.
CONTRAST = f"""() => {{ {HERE}
  const light = (color) => color.slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const behind = (each) => {{
    for (; each; each = each.parentElement) {{
      const color = parts(getComputedStyle(each).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }}
    return [255, 255, 255];
  }};
  const texts = [...page.querySelectorAll('*')].filter((each) => !each.closest('svg, aside, .live')
    && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return Math.min(21, ...texts.map((each) => {{
    const pair = [light(parts(getComputedStyle(each).color)), light(behind(each))].sort();
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  }}));
}}"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """The files of a few decks, by the lesson's name."""
    paths = [path for path in lesson_paths() if path.stem in (*SHOWN, LIVE)]
    return {path.stem: path for path in write(paths, tmp_path_factory.mktemp("slides"))}


def place(page):
    """Which page is shown, and how many of its steps."""
    return page.evaluate("JSON.stringify(Reveal.getIndices())")


def pages(page):
    """Walk through a deck with the right arrow; at every page all its steps are shown."""
    while True:
        while page.evaluate("Reveal.availableFragments().next"):
            page.keyboard.press("ArrowRight")
        yield
        before = place(page)
        page.keyboard.press("ArrowRight")
        if place(page) == before:
            return


def press_until(page, key, there):
    """Press a key until something is on the page that is shown."""
    for _ in range(200):
        if page.locator(f"{PRESENT} {there}").count():
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not lead to {there}")


@pytest.mark.parametrize("name", SHOWN)
def test_every_page_fits_the_screen_and_can_be_read(decks, open_page, name):
    page = open_page(decks[name], **SCREEN, reduced_motion="reduce")
    page.add_style_tag(content="* { transition: none !important; }")
    walked = 0
    for _ in pages(page):
        walked += 1
        assert page.evaluate(MISFITS) == [], f"page {walked}"
        assert page.evaluate(SMALLEST_CODE) >= 18, f"page {walked}"
        assert page.evaluate(CONTRAST) >= 4.5, f"page {walked}"
    assert walked == Sections(body(decks[name].read_text(encoding="utf-8"))).pages
    assert listed(decks[name].parent)[decks[name].name].endswith(f" · {walked} slides")
    assert page.locator(".slide-number").inner_text().split() == [str(walked), "/", str(walked)]


def test_what_does_not_fit_or_cannot_be_read_is_noticed(decks, open_page):
    page = open_page(decks[SHOWN[0]], **SCREEN)
    add = f"(text) => {{ {HERE} page.insertAdjacentHTML('beforeend', text); }}"
    page.evaluate(add, "<pre class='source' style='height: 50px'>1\n2\n3\n4</pre>")
    assert len(page.evaluate(MISFITS)) == 1
    page.evaluate(add, "<p style='height: 500px; color: #aaa; width: 1100px'>quiet</p>")
    assert len(page.evaluate(MISFITS)) == 3
    assert page.evaluate(CONTRAST) < 2.5


def test_an_outcome_is_hidden_until_it_is_asked_for_and_the_keys_lead_back(decks, open_page):
    page = open_page(decks[SHOWN[0]], **SCREEN)
    start, answer = place(page), page.locator(f"{PRESENT} fieldset input").nth(1)
    press_until(page, "ArrowRight", "fieldset")
    assert page.locator(f"{PRESENT} .seen:visible").count() == 0
    answer.click()
    assert answer.is_checked()
    at_question = place(page)
    page.keyboard.press("ArrowRight")  # the answer that was clicked does not take the key
    assert place(page) != at_question
    press_until(page, "Space", ".seen.visible")
    for _ in range(200):
        page.keyboard.press("ArrowLeft")
    assert place(page) == start


def test_a_live_figure_works_on_a_slide(decks, open_page):
    page = open_page(decks[LIVE], **SCREEN)
    page.evaluate(SHOW_A_FRAME)
    frame = page.frame_locator(f"{PRESENT} iframe")
    before = frame.locator("[data-part=place]").inner_text()
    frame.get_by_role("button", name="Encoder self-attention, layer 1, head 1", exact=True).click()
    assert frame.locator("[data-part=place]").inner_text() != before
    box = page.locator(f"{PRESENT} iframe").bounding_box()
    assert box["height"] > 500 and box["x"] + box["width"] <= 1024
