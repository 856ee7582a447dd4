"""Every live figure on a phone, zoomed, in forced colors, in the dark, and read aloud."""

import io
import math
from inspect import getfile

import pytest
from PIL import Image

from tests.browser.conftest import violations
from tests.browser.test_live_figures import (
    PHONE,
    element_of,
    every_figure,
    hidden_words,
    mask_with,
    next_picture,
    page_of,
    picture_in_pixels,
    readout,
)
from tests.contrast import contrast
from transformer_course.masks.live_mask import show_mask_live
from transformer_course.viewer.live import live_page

WIDE = {"width": 800, "height": 1100}  # nothing has to be scrolled to
ZOOMED = {"width": 640, "height": 400}  # a window of 1280 × 800, at 200 %
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced, on white": {"color_scheme": "light", "forced_colors": "active"},
    "forced, on black": {"color_scheme": "dark", "forced_colors": "active"},
}
every_look = pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)


@every_figure
@pytest.mark.parametrize("window", [PHONE, ZOOMED], ids=str)
def test_control_and_result_are_in_one_view(opened, live, window):
    page = opened(f"<!DOCTYPE html>{element_of(live.show)}", viewport=window)
    page.locator("iframe").scroll_into_view_if_needed()
    assert page.locator("iframe").bounding_box()["height"] <= window["height"]
    inside, frame = page.frame_locator("iframe"), page.frames[1]
    next_picture(frame)
    before = readout(inside), picture_in_pixels(inside)
    live.key(inside)
    assert (readout(inside) != before[0]) and picture_in_pixels(inside) != before[1]
    height = frame.evaluate("innerHeight")
    for part in ("controls", "readout", "figure"):
        edges = "e => [e.getBoundingClientRect().top, e.getBoundingClientRect().bottom]"
        top, bottom = inside.locator(f"[data-part={part}]").evaluate(edges)
        assert top >= 0 and bottom <= height, part
    assert bottom - top >= height / 3  # of the picture
    assert hidden_words(inside) <= 0
    figure = inside.locator("[data-part=figure]")
    assert figure.evaluate("e => e.scrollHeight - e.clientHeight") <= 0
    letters = figure.locator("text").evaluate_all(
        """all => all.map(e => [parseFloat(getComputedStyle(e).fontSize), e.getScreenCTM()])
                   .map(([size, m]) => size * Math.hypot(m.a, m.b))"""
    )
    assert min(letters) >= (7 if window == ZOOMED else 8.9)  # seen at twice the size


@every_figure
def test_the_chosen_answer_is_seen_where_colors_are_forced(opened, live):
    page = opened(page_of(live.show), forced_colors="active")
    answers = page.locator("input[type=radio] + span").evaluate_all(
        "all => all.map(e => [e.previousSibling.checked, getComputedStyle(e).backgroundColor])"
    )
    if not answers:
        pytest.skip("nothing in this figure is chosen by radio buttons")
    chosen = {color for is_chosen, color in answers if is_chosen}
    assert chosen.isdisjoint(color for is_chosen, color in answers if not is_chosen)


# Every text, where it is, its color, and that of the outline that is drawn around it.
TEXTS = """() => {
  const all = [...document.querySelectorAll("text, h1, p, b, span, legend, label, option, button")];
  const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const off = "[aria-disabled=true], [hidden], option";
  return all.filter((e) => (e.matches("text") ? e.textContent.trim() : own(e)) && !e.closest(off))
    .map((e) => {
      const { left, top, width, height } = e.getBoundingClientRect(), style = getComputedStyle(e);
      const isDrawn = e.matches("text"), isOutlined = isDrawn && style.stroke !== "none";
      return { said: e.textContent.trim(), box: [left, top, left + width, top + height],
        color: isDrawn ? style.fill : style.color, around: isOutlined ? style.stroke : null };
    }).filter(({ color }) => color !== "none");
}"""
NO_LETTERS = (
    "* { color: transparent !important; transition: none !important }"
    "text, tspan { fill: transparent !important; stroke: transparent !important }"
)


def contrasts(page) -> dict[str, float]:
    """The contrast of each text that is seen with the most frequent color behind it."""
    texts = page.evaluate(TEXTS)
    page.add_style_tag(content=NO_LETTERS)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    found = {}
    for text in texts:
        left, top, right, bottom = map(round, text["box"])
        if right <= left or top < 0 or bottom > shot.height:
            continue
        colors = shot.crop((left, top, right, bottom)).getcolors(shot.width * shot.height)
        behind = rgb(text["around"]) if text["around"] else max(colors)[1]
        found[f"{text['said']} at {left}, {top}"] = contrast(rgb(text["color"]), behind)
    return found


def rgb(said: str) -> tuple[float, ...]:
    """A color as the browser says it: rgb(…), or color(srgb …) from 0 to 1."""
    numbers = [float(each) for each in said.partition("(")[2].strip(")").split(",")]
    return tuple(numbers[:3])


@every_look
@every_figure
def test_axe_finds_no_violation(opened, live, look):
    assert violations(opened(page_of(live.show), **look)) == []


@every_look
@every_figure
def test_all_text_stands_out_from_what_is_behind_it(opened, live, look):
    page = opened(page_of(live.show), **look)
    next_picture(page)
    found = contrasts(page)
    assert len(found) > 5
    assert {text: ratio for text, ratio in found.items() if ratio < 4.5} == {}


@every_look
def test_the_number_of_every_weight_stands_out_in_its_cell(opened, look):
    weights = [percent / 100 for percent in range(50, 80, 3)]
    tokens = [f"{number}" for number in range(len(weights) + 1)]
    rows = [[math.log(each), math.log(1 - each)] for each in (0.5, *weights)]
    scores = [row + [-50.0] * (len(tokens) - 2) for row in rows]
    data = mask_with(tokens, scores)
    page = opened(live_page(getfile(show_mask_live), data, title="t", alt="a"), **look)
    found = {text: ratio for text, ratio in contrasts(page).items() if text.startswith("0.")}
    assert len(found) >= 2 * len(weights)
    assert min(found.values()) >= 4.5


@every_figure
def test_what_is_dragged_says_between_which_numbers_it_is(opened, live):
    page = opened(page_of(live.show))
    movers = page.locator("[role=slider]")
    if not movers.count():
        pytest.skip("nothing in this figure is dragged")

    def numbers(name: str) -> list[float]:
        found = movers.evaluate_all(f"all => all.map(e => e.getAttribute('aria-value{name}'))")
        return [float(each) for each in found]

    before = numbers("now")
    movers.first.press("ArrowRight")
    least, now, most = numbers("min"), numbers("now"), numbers("max")
    assert all(a <= b <= c and a < c for a, b, c in zip(least, now, most, strict=True))
    assert now[0] > before[0]


def test_a_cell_of_the_mask_says_its_score_and_its_weight(opened):
    scores = [[1, 2], [0, 3]]
    data = mask_with(["a", "b"], scores)
    page = opened(live_page(getfile(show_mask_live), data, title="t", alt="a"))
    said = [each.get_attribute("aria-label") for each in page.locator(".roving").all()]
    weight = 1 / (1 + math.exp(3))
    assert said == [
        "1: query a, key a, score 1, weight 100%",
        "2: query a, key b, score −∞, weight 0%",
        f"3: query b, key a, score 0, weight {weight:.0%}",
        f"4: query b, key b, score 3, weight {1 - weight:.0%}",
    ]
