"""Every live figure in a real browser: mouse, touch and keyboard move it, and it says so.

A new figure gets a row in FIGURES, and tests of its numbers below or in a file of its own.
"""

import math
import re
from collections.abc import Callable
from functools import cache
from inspect import getfile
from itertools import product
from typing import NamedTuple

import pytest
import torch

from tests.published import page_in, published_element, published_page
from tests.small_translator import PAIRS, small_translator
from transformer_course.attention.live_lookup import (
    PLANE_KEY,
    PLANE_QUERY,
    PLANE_VALUE,
    PLANE_WIDTHS,
    PLANE_WORDS,
    show_plane_live,
)
from transformer_course.before_you_start.live_slope import show_slope_live
from transformer_course.circuits.live_jump import show_jump_live
from transformer_course.decoder.live_decoder import show_decoder_live
from transformer_course.decoder.next_words import decoding_steps
from transformer_course.diagnosis.live_patients import (
    DIAGNOSES,
    HEALTHY,
    observed,
    show_patients_live,
)
from transformer_course.diagnosis.observations import CHANGES
from transformer_course.encoder.live_reach import show_reach_live
from transformer_course.features.live_plane import show_plane_live as show_five_live
from transformer_course.feed_forward_add_and_norm.live_stream import show_stream_live
from transformer_course.feed_forward_add_and_norm.stream import untrained_twins
from transformer_course.generation.live_sampling import NAMED, SETTINGS, show_sampling_live
from transformer_course.looking.recording import record_attention, token_words, vectors_by_layer
from transformer_course.looking_inside.chosen_head import explore_attention
from transformer_course.masks.live_mask import show_mask_live
from transformer_course.our_transformer import Transformer
from transformer_course.positional_encoding.live_clocks import MOST_NUMBERS, show_clocks_live
from transformer_course.start_here.first_translation import explore_links
from transformer_course.texts.sentences import FIRST_SENTENCES
from transformer_course.training import load_deep_runs, show_training_live
from transformer_course.transformer.live_map import (
    box_names,
    lesson_of,
    model_parts,
    show_map_live,
)
from transformer_course.viewer.live import MOST_BYTES, live_page
from transformer_course.what_can_be_removed.removals import (
    MOST_HEADS,
    MOST_LAYERS,
    explore_removals,
    kinds_in_a_row,
    removals,
)
from transformer_edu.generation.sampling import candidate_probabilities
from transformer_edu.model.embeddings import sinusoidal_positions
from transformer_edu.model.special_ids import START_ID
from transformer_edu.pretrained.loading import load_pretrained

HOSTILE = [
    "<script>window.ran=1</script>",
    "\"><img src=x onerror='window.ran=1'>",
    "</script>\u2028",
    "\u202eabc",
    "שלום",
    "'`${window.ran=1}",
    "&lt;b&gt;",
    "]]>--></style>",
    "{0}%s\\",
    "W" * 24,
]
WIDE, PHONE = {"width": 800, "height": 620}, {"width": 390, "height": 844}


def drag(page, target, dx: int, dy: int) -> None:
    """Drag an element by so many pixels, with the mouse."""
    x, y = middle(target)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()


def swipe(page, target, dx: int, dy: int) -> None:
    """Drag an element by so many pixels, with a finger."""
    target.scroll_into_view_if_needed()
    x, y = middle(target)
    finger = page.context.new_cdp_session(page)
    for kind, part in (("Start", 0), ("Move", 0.5), ("Move", 1)):
        points = [{"x": x + part * dx, "y": y + part * dy}]
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def middle(target) -> tuple[float, float]:
    """Where a finger would be put: a point's grip, else the element itself."""
    grip = target.locator(".grip")
    box = (grip if grip.count() else target).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


class Live(NamedTuple):
    """A live figure, and acts that change it: each takes the page and a named element in it."""

    show: Callable[[], None]
    mouse: Callable
    touch: Callable
    key: Callable
    hostile: Callable[[list[str]], dict] | None = None  # data with these texts, where they are free
    script: Callable[..., None] | None = None  # in its Python side, where hostile is given
    keys: tuple[tuple[str, str, str], ...] = ()  # from the last control: focused then, and said


def named(page, label: str):
    return page.get_by_label(label, exact=True)


def plane_with(texts: list[str]) -> dict:
    numbers = [[index / 4, (-1) ** index] for index in range(len(texts))]
    return {
        "query": [1, 1],
        "key": numbers,
        "value": numbers,
        "words": texts,
        "features": texts[:2],
        "widths": [2, 8],
        "extent": 3,
    }


def tile(page, name: str):
    return page.locator(f"[aria-label^='{name}: ']")


def cell(page, index: int):
    return page.locator(f"[aria-label^='{index + 1}: query']")


TARGET = ["<s>", "Zwei", "Hunde", "rennen", ".", "<pad>", "<pad>"]


def show_masks() -> None:
    show_mask_live(TARGET)


def mask_with(texts: list[str], scores: list[list[float]]) -> dict:
    ways = {"minus infinity": {"label": "−∞", "empty": "NaN"}}
    causal = torch.ones(len(texts), len(texts), dtype=torch.bool).tril()
    masks = {"causal": causal.flatten().tolist()}
    return {"words": texts, "scores": scores, "masks": masks, "ways": ways}


ENGLISH, BEGINNINGS = "A man is playing the guitar on the street.", ("", "Auf", "Eine")


@cache
def translator():
    return load_pretrained(device="cpu")


def show_decoder() -> None:
    show_decoder_live(translator(), ENGLISH, beginnings=BEGINNINGS)


def decoder_with(texts: list[str]) -> dict:
    def step(index: int) -> dict:
        candidates = [(text, 0.1) for text in texts]
        weights = [1 / len(texts)] * len(texts)
        return {"attention": weights, "candidates": candidates, "chosen": index, "given": True}

    steps = [step(index) for index in range(3)]
    return {"source": texts, "beginnings": texts, "sentences": [steps] * len(texts), "step": 1}


IDS = torch.ones(2, 6).long(), torch.ones(2, 8).long()


@cache
def models() -> dict[str, torch.nn.Module]:
    with torch.device("meta"):
        base = Transformer(37_000, 512, 8, 6, 2048)
    return {"small": Transformer(64, 48, 4, 2, 192), "base": base}


def show_links() -> None:
    explore_links(translator(), FIRST_SENTENCES[::5], layer=3, head=1)


def links_with(texts: list[str]) -> dict:
    weights = [[1 / len(texts)] * len(texts)] * len(texts)
    words = {"english": texts, "german": texts, "weights": weights, "marked": 0}
    return {"sentences": [{"kind": texts[0], "text": texts[1], **words}], "first": 0}


def show_stream() -> None:
    words, vectors = vectors_by_layer(translator(), "A man in a red shirt.")
    encoder = translator().model.encoder
    stacks = {"the translator: pre-norm, trained": encoder, **untrained_twins(encoder)}
    show_stream_live(stacks, words, vectors[0], word=1)


def show_reach() -> None:
    words = ENGLISH.replace(".", " .").split()
    position = torch.arange(len(words))

    def paths(word: int, mask: torch.Tensor) -> torch.Tensor:
        counts = [torch.linalg.matrix_power(mask.float(), n)[word] for n in range(1, 5)]
        return torch.stack(counts).softmax(dim=1) * (torch.stack(counts) > 0)

    show_reach_live(paths, words, (position.unsqueeze(1) - position).abs(), word=1)


def reach_with(texts: list[str]) -> dict:
    size = len(texts)
    shares = [[[[1 / size] * size] * 2] * size] * size
    return {"words": texts, "shares": shares, "word": 0}


VOCABULARY = [f"token {number}" for number in range(3 * NAMED)]
LOGITS = 2 * torch.randn(len(VOCABULARY), generator=torch.Generator().manual_seed(0))


def show_steps(size: int = len(VOCABULARY)) -> None:
    logits = LOGITS[:size]
    show_sampling_live({"sharp": 3 * logits, "flat": logits}, tokens=VOCABULARY[:size])


def show_directions() -> None:
    show_five_live({"as in the lesson": torch.eye(2, 5)})


def step_with(texts: list[str]) -> dict:
    first = [-math.log(len(texts))] * len(texts)
    step = {"words": "\n".join(texts), "first": first, "rest": {"top": 0, "counts": []}}
    return {"steps": {"equal": step}, "settings": SETTINGS}


def press(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def show_attention() -> None:
    pair = "Two dogs are running.", "Zwei Hunde laufen."
    explore_attention(translator(), *pair, start="decoder.layers.1.cross_attention", head=2)


def second_row(page):
    return page.locator("[aria-label^='query 2: ▁Zwei → ▁Hunde']")


FIGURES = {
    "viewer": Live(
        show_attention,
        mouse=lambda page: second_row(page).hover(),
        touch=lambda page: second_row(page).tap(),
        key=lambda page: second_row(page).press("ArrowRight"),
    ),
    "decoder": Live(
        show_decoder,
        mouse=lambda page: page.get_by_role("button", name="Next").click(),
        touch=lambda page: named(page, "Eine").tap(),
        key=lambda page: page.get_by_role("button", name="Back").press("ArrowLeft"),
        hostile=decoder_with,
        script=show_decoder_live,
        keys=(
            ("Shift+Tab", "← Back", "(row "),
            ("Shift+Tab", "tokens read", "(row "),
            ("Home", "tokens read", "Read: <s> (row 1 of the mask allows 1 position)"),
            ("Tab", "← Back", "(row 1 of"),
            ("ArrowLeft", "← Back", "(row 1 of"),
            ("ArrowRight", "← Back", "(row 2 of the mask allows 2 positions)"),
            ("Tab", "Next →", "(row 2 of"),
            ("ArrowRight", "Next →", "(row 3 of"),
            ("ArrowLeft", "Next →", "(row 2 of"),
            ("Enter", "Next →", "(row 3 of"),
            ("Shift+Tab", "← Back", "(row 3 of"),
            ("Space", "← Back", "(row 2 of"),
            ("Shift+Tab", "tokens read", "(row 2 of"),
            ("End", "tokens read", "It is the last one of the sentence."),
        ),
    ),
    "map": Live(
        lambda: show_map_live(models(), *IDS),
        mouse=lambda page: page.get_by_text("Softmax").click(),
        touch=lambda page: named(page, "Output projection, target").tap(),
        key=lambda page: named(page, "Cross-attention, target").press("Home"),
    ),
    "links": Live(
        show_links,
        mouse=lambda page: page.locator("[aria-pressed=false]").last.hover(),
        touch=lambda page: page.locator("[aria-pressed=false]").last.tap(),
        key=lambda page: page.locator("[aria-pressed=true]").press("ArrowRight"),
        hostile=links_with,
        script=explore_links,
    ),
    "plane": Live(
        show_plane_live,
        mouse=lambda page: drag(page, named(page, "query"), -60, 20),
        touch=lambda page: swipe(page, named(page, "key of street"), 40, 40),
        key=lambda page: named(page, "value of animal").press("Shift+ArrowUp"),
        hostile=plane_with,
        script=show_plane_live,
    ),
    "mask": Live(
        show_masks,
        mouse=lambda page: cell(page, 6).click(),
        touch=lambda page: cell(page, 14).tap(),
        key=lambda page: cell(page, 14).press("ArrowDown"),
        hostile=lambda texts: mask_with(texts, [[0] * len(texts)] * len(texts)),
        script=show_mask_live,
        keys=(
            ("Tab", "15: query Hunde, key <s>", "The row “Hunde” attends to"),
            ("ArrowRight", "16: query Hunde, key Zwei", "The row “Hunde” attends to"),
            ("ArrowDown", "23: query rennen, key Zwei", "The row “rennen” attends to"),
            ("ArrowLeft", "22: query rennen, key <s>", "The row “rennen” attends to"),
            ("ArrowUp", "15: query Hunde, key <s>", "The row “Hunde” attends to"),
            ("Home", "1: query <s>, key <s>", "The row “<s>” attends to “<s>”"),
            ("ArrowUp", "1: query <s>, key <s>", "25 of 49 cells are allowed."),
            ("Enter", "1: query <s>, key <s>", "The row “<s>” may attend to nothing."),
            ("Space", "1: query <s>, key <s>", "25 of 49 cells are allowed."),
            ("End", "49: query <pad>, key <pad>", "The row “<pad>” (no. 7) attends to"),
            ("ArrowDown", "49: query <pad>, key <pad>", "25 of 49 cells are allowed."),
        ),
    ),
    "patient": Live(
        show_patients_live,
        mouse=lambda page: page.get_by_text("Next patient").click(),
        touch=lambda page: page.get_by_text("Next patient").tap(),
        key=lambda page: page.get_by_text("Next patient").press("Enter"),
    ),
    "removals": Live(
        lambda: explore_removals(small_translator(), PAIRS),
        mouse=lambda page: tile(page, "cross-attention, layer 1, all heads").click(),
        touch=lambda page: tile(page, "encoder self-attention, layer 2, head 1").tap(),
        key=lambda page: tile(page, "decoder self-attention, layer 2, head 2").press("Enter"),
    ),
    "slope": Live(
        show_slope_live,
        mouse=lambda page: page.get_by_text("Take a step").click(),
        touch=lambda page: swipe(page, named(page, "weight w"), 60, 0),
        key=lambda page: named(page, "weight w").press("ArrowRight"),
    ),
    "jump": Live(
        show_jump_live,
        mouse=lambda page: page.get_by_role("slider", name="training step").click(),
        touch=lambda page: page.get_by_role("slider", name="training step").tap(),
        key=lambda page: page.get_by_role("slider", name="training step").press("Home"),
    ),
    "directions": Live(
        show_directions,
        mouse=lambda page: press(page, "Train from another start"),
        touch=lambda page: page.get_by_role("slider", name="each feature is present in").tap(),
        key=lambda page: page.get_by_role("slider", name="each feature is present in").press("End"),
        script=show_five_live,
    ),
    "training": Live(
        lambda: show_training_live(load_deep_runs("no warm-up", "warm-up 100")),
        mouse=lambda page: press(page, "Start"),
        touch=lambda page: page.get_by_role("button", name="New seed").tap(),
        key=lambda page: page.get_by_role("slider", name="warm-up steps").press("Home"),
    ),
    "clocks": Live(
        show_clocks_live,
        mouse=lambda page: drag(page, named(page, "position p"), 90, 0),
        touch=lambda page: swipe(page, named(page, "position p + k"), 60, 0),
        key=lambda page: named(page, "position p").press("ArrowRight"),
    ),
    "stream": Live(
        show_stream,
        mouse=lambda page: drag(page, named(page, "place in the encoder"), 120, 0),
        touch=lambda page: swipe(page, named(page, "place in the encoder"), 90, 0),
        key=lambda page: named(page, "place in the encoder").press("ArrowRight"),
    ),
    "reach": Live(
        show_reach,
        mouse=lambda page: named(page, "5: the, after layer 3").click(),
        touch=lambda page: named(page, "9: street, after layer 1").tap(),
        key=lambda page: named(page, "2: man, after layer 4").press("ArrowDown"),
        hostile=reach_with,
        script=show_reach_live,
    ),
    "sampling": Live(
        show_steps,
        mouse=lambda page: press(page, "Draw 100"),
        touch=lambda page: page.get_by_role("radio", name="sharp").tap(),
        key=lambda page: page.get_by_role("slider", name="top-k").press("End"),
        hostile=step_with,
        script=show_sampling_live,
    ),
}
every_figure = pytest.mark.parametrize("live", FIGURES.values(), ids=FIGURES)


@cache
def element_of(show: Callable[[], None]) -> str:
    """What a figure publishes, made once for all tests."""
    return published_element(show)


def page_of(show: Callable[[], None]) -> str:
    """The page of a figure."""
    return page_in(element_of(show))


def readout(page) -> str:
    return page.locator("[data-part=readout]").inner_text()


def hidden_words(page) -> int:
    """How many pixels of what is said must be scrolled to."""
    return page.locator("[data-part=readout]").evaluate("e => e.scrollHeight - e.clientHeight")


def picture(page) -> str:
    return page.locator("[data-part=figure]").inner_html()


@every_figure
@pytest.mark.parametrize("act", ["mouse", "key", "touch"])
def test_every_act_changes_the_picture_and_what_is_said(opened, live, act):
    options = {"has_touch": True, "viewport": PHONE} if act == "touch" else {}
    page = opened(page_of(live.show), **options)
    before = picture(page), readout(page)
    assert page.locator("[data-part=readout][aria-live=polite]").count() == 1
    getattr(live, act)(page)
    assert picture(page) != before[0]
    assert readout(page) != before[1]


@pytest.mark.parametrize("name", [name for name, live in FIGURES.items() if live.keys])
def test_every_key_goes_where_it_should_and_it_is_said(opened, name):
    page = opened(page_of(FIGURES[name].show))
    page.locator("[data-part=controls] :is(input, button)").last.focus()
    for key, label, said in FIGURES[name].keys:
        page.keyboard.press(key)
        assert focused(page).startswith(label)
        assert said in readout(page)


@every_figure
def test_a_page_is_small(live):
    assert len(page_of(live.show).encode()) <= MOST_BYTES


@every_figure
@pytest.mark.parametrize("window", [WIDE, PHONE, {"width": 1024, "height": 768}], ids=str)
def test_nothing_is_cut_off_and_letters_can_be_read(opened, live, window):
    page = opened(page_of(live.show), viewport=window)
    wider = "e => e.scrollWidth - e.clientWidth"
    assert page.locator("html").evaluate(wider) <= 0
    assert page.locator("[data-part=figure]").evaluate(wider) <= 0
    assert hidden_words(page) <= 0
    letters = page.locator("[data-part=figure] text").evaluate_all(
        """all => all.map(e => [parseFloat(getComputedStyle(e).fontSize), e.getScreenCTM()])
                    .map(([size, m]) => size * Math.hypot(m.a, m.b))"""
    )
    assert min(letters) >= 8.9  # of headings; all else is larger
    edges = "all => all.map(e => e.getBoundingClientRect()).map(box => [box.left, box.right])"
    left, right = page.locator("[data-part=figure] svg").evaluate_all(edges)[0]
    for word in page.locator("[data-part=figure] text").evaluate_all(edges):
        assert left - 1 <= word[0] and word[1] <= right + 1


@pytest.mark.parametrize("name", [name for name, live in FIGURES.items() if live.hostile])
def test_hostile_labels_are_shown_and_never_run(opened, name):
    live = FIGURES[name]
    page = opened(
        live_page(getfile(live.script), live.hostile(HOSTILE), title=HOSTILE[0], alt=HOSTILE[1])
    )
    assert page.locator("h1").inner_text() == HOSTILE[0]
    shown = page.locator("[data-part=figure] text").all_text_contents()
    assert set(HOSTILE) <= set(shown)
    assert page.locator("img, script[src], b b, main script script").count() == 0
    assert page.evaluate("window.ran") is None


@every_figure
def test_without_scripts_the_words_stand_in_the_pictures_place(opened, live):
    page = opened(page_of(live.show), java_script_enabled=False)
    assert "need a script" in readout(page)
    assert len(page.locator("[data-part=figure]").inner_text()) > 20
    assert page.locator("[data-part=controls]").is_hidden()


def spoken(page, words: list[str]) -> tuple[dict[str, str], list[float]]:
    """The percentage that the plane says of each word, and the output."""
    said = readout(page)
    shares = {word: re.search(rf"“{word}” ([<>]? ?\d+%)", said)[1] for word in words}
    numbers = re.search(r"The output is \((.*?), (.*?)\)", said).groups()
    return shares, [float(each.replace("−", "-")) for each in numbers]


def as_percent(weight: float) -> str:
    if weight >= 0.995:
        return "> 99%"
    return f"{round(100 * weight)}%" if weight >= 0.005 else "< 1%"


@pytest.mark.parametrize("is_divided", [False, True], ids=["not divided", "divided"])
@pytest.mark.parametrize("steps", [0, 2, 4])
def test_the_plane_says_the_weights_and_the_output_that_torch_computes(opened, steps, is_divided):
    page = opened(page_of(show_plane_live))
    named(page, "query").press("ArrowUp")
    named(page, "query").press("Shift+ArrowLeft")
    named(page, "key of cross").press("ArrowRight")
    named(page, "value of street").press("Shift+ArrowDown")
    for _ in range(steps):
        named(page, "numbers in a vector, d_k").press("ArrowRight")
    named(page, "divide the scores by √d_k").set_checked(is_divided)
    query, key, value = (torch.tensor(each) for each in (PLANE_QUERY, PLANE_KEY, PLANE_VALUE))
    query += torch.tensor([-1.0, 0.1])
    key[PLANE_WORDS.index("cross"), 0] += 0.1
    value[PLANE_WORDS.index("street"), 1] = -2.4
    d_k = PLANE_WIDTHS[steps]
    scores = key @ query * (d_k / 2) ** 0.5 / (d_k**0.5 if is_divided else 1)
    weights = scores.softmax(dim=0)
    shares, output = spoken(page, PLANE_WORDS)
    right = zip(PLANE_WORDS, map(as_percent, weights.tolist()), strict=True)
    assert shares == dict(right)
    assert output == pytest.approx((weights @ value).tolist(), abs=0.006)
    widths = page.locator(".bar").evaluate_all("all => all.map(e => e.width.baseVal.value)")
    torch.testing.assert_close(torch.tensor(widths) / sum(widths), weights, atol=1e-4, rtol=0)


def test_tab_comes_to_every_point_of_the_plane_and_each_arrow_key_moves_it_as_it_points(opened):
    page = opened(page_of(show_plane_live))
    query, key, value = (torch.tensor(each) for each in (PLANE_QUERY, PLANE_KEY, PLANE_VALUE))
    points = {"query": query} | {f"key of {w}": k for w, k in zip(PLANE_WORDS, key, strict=True)}
    points |= {f"value of {w}": v for w, v in zip(PLANE_WORDS, value, strict=True)}
    arrows = {"Left": (-1, 0), "Right": (1, 0), "Up": (0, 1), "Down": (0, -1)}
    page.get_by_role("button", name="Start again").focus()
    for label, point in points.items():
        page.keyboard.press("Tab")
        assert focused(page) == label
        for (name, way), (shift, step) in product(arrows.items(), {"Shift+": 1, "": 0.1}.items()):
            page.keyboard.press(f"{shift}Arrow{name}")
            point += step * torch.tensor(way)
            point.clamp_(-3, 3)
            place = page.locator(":focus").get_attribute("aria-valuetext")
            numbers = re.findall(r"-?[\d.]+", place.replace("−", "-"))
            assert [*map(float, numbers)] == pytest.approx(point.tolist(), abs=0.006)
        weights = (key @ query).softmax(dim=0)
        shares, output = spoken(page, PLANE_WORDS)
        assert [*shares.values()] == [as_percent(each) for each in weights.tolist()]
        assert output == pytest.approx((weights @ value).tolist(), abs=0.006)


def test_divided_scores_give_the_same_weights_at_every_width_and_the_reset_takes_all_back(opened):
    page = opened(page_of(show_plane_live))
    first = spoken(page, PLANE_WORDS)
    named(page, "divide the scores by √d_k").check()
    divided = spoken(page, PLANE_WORDS)
    slider = named(page, "numbers in a vector, d_k")
    for _ in PLANE_WIDTHS[1:]:
        slider.press("ArrowRight")
        assert spoken(page, PLANE_WORDS) == divided
    drag(page, named(page, "query"), 40, 40)
    page.get_by_role("button", name="Start again").click()
    assert spoken(page, PLANE_WORDS) == first != divided
    assert slider.input_value() == "0"
    assert not named(page, "divide the scores by √d_k").is_checked()


@pytest.mark.parametrize("window", [WIDE, PHONE], ids=str)
def test_the_longest_words_of_the_plane_have_room(opened, window):
    page = opened(page_of(show_plane_live), viewport=window)
    named(page, "numbers in a vector, d_k").press("End")
    named(page, "divide the scores by √d_k").check()
    named(page, "query").press("Shift+ArrowRight")
    assert "√512" in readout(page) and "< 1%" in readout(page)
    assert hidden_words(page) <= 0


def test_a_point_of_the_plane_stays_under_the_pointer_and_inside_the_plane(opened):
    page = opened(page_of(show_plane_live))
    query = named(page, "query")
    before = middle(query)
    drag(page, query, -70, 30)
    assert middle(query) == pytest.approx((before[0] - 70, before[1] + 30), abs=1)
    drag(page, query, 2000, -2000)
    assert query.get_attribute("aria-valuetext") == "(3.00, 3.00)"
    named(page, "numbers in a vector, d_k").press("End")  # now the output is on a value
    value = named(page, "value of tired")
    before = middle(value)
    drag(page, value, -40, 20)
    assert middle(value) == pytest.approx((before[0] - 40, before[1] + 20), abs=1)


@pytest.mark.parametrize("beginning", BEGINNINGS, ids=str)
def test_the_decoder_says_what_torch_computes_at_every_step(opened, beginning):
    page = opened(page_of(show_decoder), viewport=PHONE)
    named(page, beginning or "the model's choice").check()
    named(page, "tokens read").press("Home")
    model, tokenizer = translator().model, translator().tokenizer
    source_ids = torch.tensor([tokenizer.encode(ENGLISH)])
    given, ids = tokenizer.encode(beginning), [START_ID]
    for index in range(len(decoding_steps(translator(), ENGLISH, beginning))):
        with record_attention(model) as recorded, torch.no_grad():
            logits = model(source_ids, torch.tensor([ids]))[0, -1]
        cross = [each[0, :, -1] for name, each in recorded.items() if "cross" in name]
        attention = torch.stack(cross).mean(dim=(0, 1))
        ids.append(given[index] if index < len(given) else int(logits.argmax()))
        *read, chosen = token_words(translator(), ids)
        said = readout(page)
        assert f"Read: {' '.join(read)} (row" in said
        position = "1 position)" if index == 0 else f"{index + 1} positions)"
        assert f"(row {index + 1} of the mask allows {position}" in said
        most = token_words(translator(), source_ids[0].tolist())[int(attention.argmax())]
        percent = re.search(rf"cross-attention: “{re.escape(most)}”(?: \(no. \d+\))?, (\d+)%", said)
        assert abs(int(percent[1]) - 100 * attention.max()) < 0.6  # rounded twice
        probability = logits.softmax(dim=-1)[ids[-1]].item()
        how = " which has" if index < len(given) else ""
        assert f"“{chosen}”,{how} {as_percent(probability)}." in said
        assert page.locator(".allowed").count() == index + 1
        drawn = page.locator(".link").evaluate_all(
            "a => a.map(e => parseFloat(e.style.strokeWidth))"
        )
        torch.testing.assert_close(torch.tensor(drawn), 0.5 + 9 * attention, atol=0.01, rtol=0)
        bars = page.locator(".bar").evaluate_all("a => a.map(e => e.width.baseVal.value)")
        best = logits.softmax(dim=-1).topk(5).values
        torch.testing.assert_close(torch.tensor(bars[:5]) / 396, best, atol=1e-4, rtol=0)
        assert hidden_words(page) <= 0
        page.get_by_role("button", name="Next").press("Enter")
    assert "the last one of the sentence" in readout(page)


def test_the_decoder_is_moved_by_buttons_slider_and_arrow_keys_alike_and_stays_in_the_sentence(
    opened,
):
    page = opened(page_of(show_decoder))
    slider = named(page, "tokens read")
    for act, change in (
        (lambda: page.get_by_role("button", name="Next").click(), 1),
        (lambda: page.get_by_role("button", name="Back").press("ArrowLeft"), -1),
        (lambda: page.get_by_role("button", name="Back").click(), -1),
        (lambda: slider.press("ArrowRight"), 1),
    ):
        before = int(slider.input_value())
        act()
        assert int(slider.input_value()) == before + change
        assert f"(row {before + change} of" in readout(page)
    for name, end in (("Back", "1"), ("Next", slider.get_attribute("max"))):
        button = page.get_by_role("button", name=name)
        for _ in range(20):
            button.press("Enter")
        assert slider.input_value() == end
        assert button.get_attribute("aria-disabled") == "true"


@pytest.mark.parametrize("is_cut", [True, False], ids=["cut", "whole"])
def test_the_last_step_says_whether_the_sentence_ends(opened, is_cut):
    data = decoder_with(["a", "b", "c" if is_cut else "</s>"])
    page = opened(live_page(getfile(show_decoder_live), data, title="t", alt="a"))
    named(page, "tokens read").press("End")
    goes_on = "The figure ends here, but the sentence goes on."
    assert readout(page).endswith(goes_on if is_cut else "It is the last one of the sentence.")


@pytest.mark.parametrize("name", ["small", "base"])
def test_the_map_says_of_every_box_what_torch_counts(opened, name):
    page = opened(page_of(FIGURES["map"].show))
    named(page, name).check()
    model = models()[name]
    ids = [each.to(next(model.parameters()).device) for each in IDS]
    total = sum(each.numel() for each in model.parameters())
    boxes = page.locator("[data-part=figure] [role=button]")
    parts = model_parts(model, *ids)
    assert boxes.count() == len(parts)
    boxes.first.focus()
    page.keyboard.press("Home")
    seen = set()
    for _ in range(len(parts)):
        chosen = page.locator("[aria-pressed=true]")
        (box,) = [each for each in parts if said_of(each) == chosen.get_attribute("aria-label")]
        part, said, seen = parts[box], readout(page), seen | {box}
        assert f"{part.output} out." in said
        assert all(str(each) in said for each in part.inputs)
        assert f"{part.parameters or 'no'} parameters" in said.replace(",", "")
        if part.layers > 1:
            share = as_percent(part.parameters * part.layers / total)
            assert f"parameters in each of {part.layers} layers. In all layers together" in said
            assert f"together, these are {share} of the model's {total:,}." in said
        where = " ".join(page.locator("[data-part=figure] .heading").all_text_contents())
        assert f"{lesson_of(box)}.ipynb" in where
        assert part.file in where
        page.keyboard.press("ArrowRight")
    assert seen == set(parts)


def said_of(box: str) -> str:
    """A box of the map as it is read aloud."""
    side, label = box.split(": ")
    if label.endswith(", Add & Norm"):
        label = f"Add & Norm around {label.removesuffix(', Add & Norm')}"
    return f"{label}, {side}"


def focused(page) -> str:
    """The name of what has the focus: its label, or what is written on it."""
    return page.evaluate(
        "(e => e.getAttribute('aria-label') ?? e.textContent)(document.activeElement)"
    )


def stops(page) -> list[str]:
    """The elements of the picture that Tab comes to."""
    found = page.locator("[data-part=figure] .roving[tabindex='0']").all()
    return [each.get_attribute("aria-label") for each in found]


@pytest.mark.parametrize("window", [WIDE, PHONE], ids=str)
def test_keys_go_through_the_map_as_data_does_and_never_lose_the_focus(opened, window):
    page = opened(page_of(FIGURES["map"].show), viewport=window)
    page.locator("[data-part=figure] [aria-pressed=true]").press("Home")
    for box in map(said_of, box_names()):
        assert focused(page) == box
        assert stops(page) == [box]
        assert page.locator("[aria-pressed=true]").get_attribute("aria-label") == box
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    assert focused(page) == "Source tokens, source"


def test_up_and_down_go_to_the_next_box_in_the_column(opened):
    page = opened(page_of(FIGURES["map"].show))
    for start, key, end in (
        ("Memory, source", "ArrowUp", "Memory, source"),
        ("Self-attention, source", "ArrowUp", "Add & Norm around Self-attention, source"),
        ("Source tokens, source", "ArrowDown", "Token embedding × √d_model, source"),
        ("Softmax, target", "ArrowUp", "Output projection, target"),
    ):
        named(page, start).press(key)
        assert focused(page) == end


def test_on_a_phone_the_map_shows_the_half_of_the_chosen_box(opened):
    page = opened(page_of(FIGURES["map"].show), viewport=PHONE)
    assert page.get_by_text("Memory").count() == 0
    named(page, "encoder").check()
    assert page.get_by_text("Memory").is_visible()
    assert "Self-attention" in readout(page)
    assert page.get_by_text("Softmax").count() == 0


def next_picture(page) -> None:
    """Wait until the page was drawn again."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def picture_in_pixels(page) -> bytes:
    return page.locator("[data-part=figure]").screenshot(animations="disabled")


@every_figure
def test_the_focus_of_the_keyboard_is_seen_in_the_picture(opened, live):
    page = opened(page_of(live.show))
    elements = page.locator("[data-part=figure] svg [tabindex='0']")
    if not elements.count():
        pytest.skip("nothing in this picture takes the focus")
    page.locator("main").press("Tab")  # from now on the focus is shown
    elements.first.focus()
    next_picture(page)
    shown = picture_in_pixels(page)
    page.evaluate("document.activeElement.blur()")
    assert picture_in_pixels(page) != shown


@every_figure
def test_an_element_that_is_clicked_becomes_the_stop_of_tab_of_its_group(opened, live):
    page = opened(page_of(live.show))
    elements = page.locator("[data-part=figure] .roving")
    if not elements.count():
        pytest.skip("nothing in this picture is chosen by keys")
    before = stops(page)  # one of each group
    assert elements.last.get_attribute("tabindex") == "-1"
    elements.last.click()
    assert elements.last.get_attribute("tabindex") == "0" and len(stops(page)) == len(before)


KEYS = {
    "plane": (show_plane_live, lambda page: named(page, "query"), "ArrowUp"),
    "map": (FIGURES["map"].show, lambda page: named(page, "Softmax, target"), "ArrowLeft"),
    "decoder": (show_decoder, lambda page: page.get_by_role("button", name="Next"), "ArrowRight"),
    "mask": (show_masks, lambda page: cell(page, 14), "ArrowDown"),
}


@pytest.mark.parametrize("more", ["Control", "Alt", "Meta"])
@pytest.mark.parametrize(("show", "element", "key"), KEYS.values(), ids=KEYS)
def test_keys_with_ctrl_alt_or_meta_are_the_browsers(opened, show, element, key, more):
    page = opened(page_of(show))
    element(page).focus()
    before, place = readout(page), focused(page)
    page.evaluate("addEventListener('keydown', (event) => (window.taken = event.defaultPrevented))")
    page.keyboard.down(more)
    # The browser's own act, such as the page before, is not for this test.
    page.evaluate(
        """([key, more]) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {
               key, bubbles: true, cancelable: true, ctrlKey: more === 'Control',
               altKey: more === 'Alt', metaKey: more === 'Meta' }))""",
        [key, more],
    )
    page.keyboard.up(more)
    assert (readout(page), focused(page)) == (before, place)
    assert page.evaluate("window.taken") is False
    element(page).press(key)
    assert (readout(page), focused(page)) != (before, place)


def test_the_right_button_of_a_mouse_drags_nothing(opened):
    page = opened(page_of(show_plane_live))
    query, said = named(page, "query"), readout(page)
    x, y = middle(query)
    for button in ("right", "middle", "left"):
        page.mouse.move(x, y)
        page.mouse.down(button=button)
        page.mouse.move(x - 60, y + 20)
        page.mouse.move(x, y + 40)
        page.mouse.up(button=button)
        assert (readout(page) != said) == (button == "left")


@pytest.mark.parametrize("name", ["readout", "figure"])
@every_figure
def test_keys_scroll_what_does_not_fit_and_tab_stops_only_there(opened, live, name):
    page = opened(page_of(live.show))
    region = page.locator(f"[data-part={name}][role=region][aria-label]")
    overflows = "e => e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth"
    assert region.get_attribute("tabindex") == ("0" if region.evaluate(overflows) else None)
    page.set_viewport_size({"width": 250, "height": 300})
    next_picture(page)  # what does not fit is known when it is drawn
    if not region.evaluate(overflows):
        assert region.get_attribute("tabindex") is None
        return
    is_high = region.evaluate("e => e.scrollHeight > e.clientHeight")
    region.focus()
    page.keyboard.press("ArrowDown" if is_high else "ArrowRight")
    page.wait_for_function("e => e.scrollTop + e.scrollLeft > 0", arg=region.element_handle())


@every_figure
def test_a_figure_lives_in_the_frame_of_a_page(opened, live):
    page = opened(element_of(live.show))
    inside = page.frame_locator("iframe")
    before = readout(inside)
    live.key(inside)
    assert readout(inside) != before
    assert page.locator("iframe + img").is_hidden()


THEMES = {
    "Lab, light": ('<body data-jp-theme-light="true">', False),
    "Lab, dark": ('<body data-jp-theme-light="false">', True),
    "VS Code, light": ('<body class="vscode-light">', False),
    "VS Code, dark": ('<body class="vscode-dark">', True),
    "VS Code, high contrast": ('<body class="vscode-high-contrast">', True),
    "VS Code, light high contrast": (
        '<body class="vscode-high-contrast-light vscode-high-contrast">',
        False,
    ),
    "site, light": ('<html data-theme="light">', False),
    "site, dark": ('<html data-theme="dark">', True),
}


@pytest.mark.parametrize(("start", "is_dark"), THEMES.values(), ids=THEMES)
def test_the_page_in_the_frame_follows_the_theme_around_it(opened, start, is_dark):
    text = f"<!DOCTYPE html>{start}{element_of(show_plane_live)}"
    # No preference is played to the page: a played one would reach the frame instead.
    page = opened(text, color_scheme="null")
    inside = page.frames[1]
    assert inside.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is is_dark
    paper = inside.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper))) < 200) is is_dark


@pytest.mark.parametrize(("start", "is_dark"), THEMES.values(), ids=THEMES)
def test_pictures_beside_a_live_figure_are_dark_in_a_dark_theme_and_heat_maps_stay(
    opened, start, is_dark
):
    pixel = "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='"
    kinds = "", " class='jp-needs-light-background'", " alt='weights '"
    images = "".join(f"{pixel}{kind}>" for kind in kinds)
    output = f"<div class='jp-OutputArea-output output cell_output'>{images}</div>"
    page = opened(f"<!DOCTYPE html>{start}{element_of(show_plane_live)}{output}")
    filters = "all => all.map(e => getComputedStyle(e).filter)"
    turned, *kept = page.locator(".output > img").evaluate_all(filters)
    assert turned == ("invert(1) hue-rotate(180deg)" if is_dark else "none")
    assert set(kept) == {"none"}


@pytest.mark.parametrize("runs", [True, False], ids=["with a script", "without"])
def test_the_still_picture_is_seen_where_no_script_may_run(opened, runs):
    page = opened(element_of(show_plane_live), java_script_enabled=runs)
    assert page.locator("iframe").is_visible() == runs
    assert page.locator("iframe + img").is_visible() != runs


def test_the_mask_shows_the_softmax_of_the_scores_that_it_leaves(opened):
    torch.manual_seed(0)
    words = ["a", "b", "c", "d"]
    scores = torch.randint(-3, 4, (4, 4))
    page = opened(
        live_page(getfile(show_mask_live), mask_with(words, scores.tolist()), title="t", alt="a")
    )
    allowed = torch.ones(4, 4, dtype=torch.bool).tril()
    for query, key in [(3, 3), (1, 3), (2, 0)]:  # hidden, allowed, hidden
        cell(page, 4 * query + key).click()
        allowed[query, key] = ~allowed[query, key]
        weights = scores.float().masked_fill(~allowed, -math.inf).softmax(dim=-1)
        said = readout(page)
        assert said.startswith(f"The row “{words[query]}” attends to ")
        for word, weight in zip(words, weights[query], strict=True):
            assert (f"“{word}” {weight:.0%}" in said) == bool(weight)
        assert f"{allowed.sum()} of 16 cells" in said


def test_a_mask_that_was_clicked_is_no_longer_one_of_the_ready_ones(opened):
    page = opened(page_of(show_masks))
    chosen = page.locator("input[name=mask]:checked")
    assert chosen.count() == 1
    cell(page, 8).click()
    assert chosen.count() == 0
    page.get_by_role("radio", name="causal", exact=True).check(force=True)
    assert chosen.count() == 1


def test_a_row_of_the_mask_without_any_key_is_told_for_every_way_to_hide(opened):
    page = opened(page_of(show_masks))
    named(page, "invert the mask").check()
    last = len(TARGET) ** 2 - 1
    said = {}
    for way in ("−∞", "the most negative number", "that number, then weight 0"):
        page.get_by_role("radio", name=way, exact=True).check(force=True)
        named(page, "invert the mask").set_checked(True)
        page.get_by_role("radio", name="none", exact=True).check(force=True)
        cell(page, last).focus()
        said[way] = readout(page)
        drawn = page.locator("[data-part=figure] text").all_text_contents()
        assert ("NaN" in drawn) == (way == "−∞")
    assert all("may attend to nothing" in each for each in said.values())
    assert len(set(said.values())) == 3


def test_a_patient_is_told_as_it_was_seen_and_a_wrong_name_gets_a_hint_before_the_answer(opened):
    page = opened(page_of(show_patients_live), viewport=PHONE)
    found, names = observed(), set()
    for number in range(1, len(DIAGNOSES) + 1):
        told = readout(page)
        assert told.startswith(f"Patient {number} of {len(DIAGNOSES)}. Of 6 answers moved: ")
        assert hidden_words(page) <= 0
        page.get_by_text("Show the answer").click()
        assert readout(page) == "Choose a diagnosis first: a hint comes before the answer."
        page.get_by_role("radio", name=HEALTHY, exact=True).check(force=True)
        assert hidden_words(page) <= 0
        if readout(page).startswith("healthy does not fit. "):
            assert not any(words in readout(page) for words in DIAGNOSES.values())
            page.get_by_text("Show the answer").click()
            assert readout(page).startswith("It is ")
        (name,) = page.locator("[data-part=readout] b").all_text_contents()
        assert DIAGNOSES[name] in readout(page)
        assert hidden_words(page) <= 0
        counts = [sum(seen) for seen in found[name].values()]
        wanted = ", ".join(
            f"{change} {count}" for change, count in zip(CHANGES, counts, strict=True)
        )
        assert f"moved: {wanted}. " in told
        crosses = page.locator("[data-part=figure] text").all_text_contents().count("×")
        assert crosses == sum(counts)
        names.add(name)
        page.get_by_text("Next patient").click()
    assert names == set(DIAGNOSES)
    assert readout(page).startswith("Patient 1 of ")


def test_a_hint_compares_what_the_chosen_fault_would_do_with_what_was_seen(opened):
    page = opened(page_of(show_patients_live))
    found, hints = observed(), {}
    for name in DIAGNOSES:
        page.get_by_role("radio", name=name, exact=True).check(force=True)
        if readout(page).startswith("Yes: "):
            break
        hints[name] = readout(page)
    assert readout(page).startswith(f"Yes: {name}. {DIAGNOSES[name]}")
    assert f"You have found {int(not hints)} of 1 at the first attempt." in readout(page)
    for guess, hint in hints.items():
        (change,) = (each for each, words in CHANGES.items() if words in hint)
        seen = [str(sum(found[each][change]) or "none") for each in (guess, name)]
        assert found[guess][change] != found[name][change]
        assert re.findall(r"(\w+) of 6 answers", hint) == seen


def test_a_click_on_a_head_shows_and_says_the_result_of_its_removal(opened):
    page = opened(page_of(FIGURES["removals"].show))
    data = removals(small_translator(), PAIRS)
    tiles = page.locator("[role=button]")
    page.get_by_role("radio", name=PAIRS[1][0]).check(force=True)
    (_, before), *results = data["sentences"][1]["results"]
    texts = data["sentences"][1]["texts"]
    assert tiles.count() == len(results)
    corners = page.locator("[role=button] path[d^=M]").count()
    assert corners == sum(number > 0 for number, _ in results)
    for tile, (number, probability) in enumerate(results):
        tiles.nth(tile).click()
        assert tiles.nth(tile).get_attribute("aria-pressed") == "true"
        points = tiles.nth(tile).locator("text").text_content()
        other = ", another translation" if number else ""
        assert tiles.nth(tile).get_attribute("aria-label").endswith(f": {points} points{other}")
        assert page.locator("[aria-pressed=true]").count() == 1
        said, from_to = (
            readout(page),
            [f"{math.floor(100 * each + 0.5)}%" for each in (before, probability)],
        )
        words = " ".join(texts[number]["words"])
        assert (f"“{words}”" in said) if number else ("stays the same" in said)
        shown = "stays at {1}" if from_to[0] == from_to[1] else "from {} to {}"
        assert said.endswith(shown.format(*from_to) + ".")
        assert page.locator("tspan[style]").all_text_contents() == [
            texts[number]["words"][place] for place in texts[number]["new"]
        ]


def test_a_second_click_escape_and_the_button_switch_all_heads_on(opened):
    page = opened(page_of(FIGURES["removals"].show))
    first = picture(page), readout(page)
    row = tile(page, "cross-attention, layer 2, all heads")
    for back in (
        row.click,
        lambda: row.press("Escape"),
        page.get_by_role("button", name="All heads on").click,
    ):
        row.click()
        assert page.locator("[fill='url(#hatch)'][visibility=visible]").count() == 3  # the row
        back()
        assert readout(page) == first[1]
        assert page.locator("[aria-pressed=true]").count() == 0


def test_arrow_keys_go_from_tile_to_tile_and_switch_nothing(opened):
    page = opened(page_of(FIGURES["removals"].show))
    said = readout(page)
    tile(page, "encoder self-attention, layer 1, all heads").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert focused(page).startswith("decoder self-attention, layer 2, head 2: ")
    assert readout(page) == said


@pytest.mark.parametrize("window", [WIDE, PHONE], ids=str)
@pytest.mark.parametrize(("heads", "layers"), [(1, 1), (4, 4), (5, 6), (MOST_HEADS, MOST_LAYERS)])
def test_tiles_have_room_for_other_numbers_of_heads_and_layers(opened, window, heads, layers):
    results = [[0, 0.5]] * (1 + 3 * layers * (heads + 1))
    text = {"words": ["Ein", "Mann"], "new": []}
    sentence = {"english": "A man", "reference": "Ein Mann", "texts": [text], "results": results}
    data = {"kinds": ["encoder self-attention", "decoder self-attention", "cross-attention"]}
    data |= {"layers": layers, "heads": heads, "sentences": [sentence]}
    data["in_a_row"] = kinds_in_a_row(heads)
    page = opened(live_page(getfile(explore_removals), data, title="t", alt="a"), viewport=window)
    drawn = page.locator("[data-part=figure] svg").first.bounding_box()
    edges = """all => all.map(e => e.getBoundingClientRect())
                       .map(b => [b.left, b.right, b.top, b.bottom])"""
    faces = page.locator(".roving > .face").evaluate_all(edges)
    words = page.locator(".picture > g:first-of-type > text").evaluate_all(edges)
    assert len(faces) == 3 * layers * (heads + 1)
    for place, one in enumerate(faces):
        assert drawn["x"] <= one[0] and one[1] <= drawn["x"] + drawn["width"]
        assert drawn["y"] <= one[2] and one[3] <= drawn["y"] + drawn["height"]
        for other in faces[:place] + words:
            assert (
                one[1] <= other[0]
                or other[1] <= one[0]
                or one[3] <= other[2]
                or (other[3] <= one[2])
            )


def test_texts_of_a_translation_never_become_markup(opened):
    hostile = {"words": HOSTILE, "new": [0]}
    sentence = {"english": HOSTILE[0], "reference": HOSTILE[1], "texts": [hostile, hostile]}
    results = [[0, 0.5], *[[1, 0.25]] * 2]
    data = {"kinds": ["k"], "layers": 1, "heads": 1, "sentences": [sentence | {"results": results}]}
    data["in_a_row"] = kinds_in_a_row(1)
    page = opened(live_page(getfile(explore_removals), data, title="t", alt="a"))
    tile(page, "k, layer 1, head 1").click()
    assert HOSTILE[0] in readout(page)
    assert HOSTILE[0] in page.locator("[data-part=figure] text").all_text_contents()[1]
    assert page.locator("img, script[src], b b, main script script").count() == 0
    assert page.evaluate("window.ran") is None


def set_to(page, name: str, value: float) -> None:
    """Move the slider of a setting of sampling from its first place to a value."""
    slider = page.get_by_role("slider", name=name)
    slider.press("Home")
    for _ in range(SETTINGS[name]["values"].index(value)):
        slider.press("ArrowRight")


def said_of_sampling(page) -> tuple[int, str, str]:
    """How many tokens are kept, how probable they were, and how probable the first one is now."""
    said = readout(page)
    count = re.match(r"All ([\d,]+)|([\d,]+) of|(Only)", said)
    had, now = (re.search(rf"{word} ((?:[<>] )?\d+%)", said) for word in ("had", "drawn with"))
    return (
        1 if count[3] else int((count[1] or count[2]).replace(",", "")),
        had[1] if had else "all",
        now[1] if now else "all",
    )


@pytest.mark.parametrize(
    "choice",
    [
        {"top_p": 0.9},
        {"top_p": 0},
        {"top_p": 0, "top_k": 50},
        {"top_p": 0, "min_p": 0.1},
        {"temperature": 2, "top_p": 0.95},
        {"temperature": 0.5, "top_k": 10, "top_p": 0.7, "min_p": 0.3},
        {"temperature": 5, "top_k": 1000, "top_p": 0.99, "min_p": 0.02},
        {"top_k": 1},
        {"min_p": 1},
    ],
    ids=str,
)
def test_sampling_keeps_the_tokens_that_torch_keeps(opened, choice):
    page = opened(page_of(show_steps))
    for name, value in choice.items():
        set_to(page, name.replace("_", "-"), value)
    wanted = {"top_p": 0.9} | choice
    drawn = candidate_probabilities(LOGITS, **{name: each or None for name, each in wanted.items()})
    own = candidate_probabilities(LOGITS, temperature=choice.get("temperature", 1))
    kept = drawn > 0
    count, had, now = said_of_sampling(page)
    assert count == pytest.approx(int(kept.sum()), abs=0 if kept.sum() < NAMED else 1)
    assert had == ("all" if kept.all() else as_percent(float(own[kept].sum())))
    assert now == ("all" if kept.sum() == 1 else as_percent(float(drawn.max())))


def test_the_axis_of_sampling_ends_where_the_bars_need_it_to(opened):
    page = opened(page_of(show_steps))
    for name in ("flat", "sharp"):
        page.get_by_role("radio", name=name, exact=True).check(force=True)
        wide = page.locator("[data-part=figure] rect[style*='fill:var(--blue)']").evaluate_all(
            "all => all.map(e => e.width.baseVal.value)"
        )
        longest = max(wide[:-1])  # the last is of the legend
        ticks = page.locator("path[style*='--rule']").evaluate_all(
            "all => all.map(e => e.getBBox().x)"
        )
        assert (ticks[-1] - ticks[0]) / 3 < longest <= ticks[-1] - ticks[0] + 0.1
        words = page.locator("[data-part=figure] text").all_text_contents()
        end = [float(each[:-1]) for each in words if re.fullmatch(r"[\d.]+%", each)][4]
        chance = longest / (ticks[-1] - ticks[0]) * end
        assert any(each == f"{chance:.0f}%" for each in words)


@pytest.mark.parametrize("size", [1, 11, 101, NAMED, NAMED + 1])
def test_a_vocabulary_may_have_any_size(opened, size):
    page = opened(published_page(show_steps, size))
    set_to(page, "top-p", 0)
    assert readout(page).startswith("Only" if size == 1 else f"All {size:,} tokens may be drawn.")
    shown = page.locator("[data-part=figure] text").all_text_contents()
    assert "undefined" not in shown
    if size > NAMED:
        assert f"{size:,}" in shown  # its rank stands for its word


def times_drawn(page) -> list[int]:
    said = page.locator("[data-part=figure] .times").all_text_contents()
    return [int(each.replace(",", "")) for each in said]


def test_only_tokens_that_are_kept_are_drawn_and_all_draws_are_counted(opened):
    page = opened(page_of(show_steps))
    set_to(page, "top-k", 3)
    for name in ("Draw 100", "Draw 100", "Draw a token"):
        press(page, name)
    assert "201 drawn" in readout(page)
    ranked = LOGITS.argsort(descending=True)
    kept = [VOCABULARY[each] for each in ranked[:3]]
    assert re.search(r"the last was “(.*)”", readout(page))[1] in kept
    counts = times_drawn(page)
    assert 1 <= len(counts) <= 3 and sum(counts) == 201
    set_to(page, "temperature", 5)
    assert "drawn, the last" not in readout(page)


def test_tokens_are_drawn_as_often_as_their_probability_says(opened):
    page = opened(page_of(show_steps))
    set_to(page, "top-k", 2)
    set_to(page, "top-p", 0)
    for _ in range(40):
        press(page, "Draw 100")
    counts = times_drawn(page)
    p = candidate_probabilities(LOGITS, top_k=2).max().item()
    spread = math.sqrt(p * (1 - p) / sum(counts))
    assert abs(counts[0] / sum(counts) - p) < 6 * spread


def curve(page) -> str:
    """The curve of dot products, as it is drawn."""
    lines = page.locator("[data-part=figure] path[style*='--blue']")
    return lines.get_attribute("d")


def test_the_dot_product_is_torchs_and_moves_with_p_for_sines_alone(opened):
    page = opened(page_of(show_clocks_live))
    table = sinusoidal_positions(81, 8).double()
    first, later = named(page, "position p"), named(page, "position p + k")
    later.press("ArrowRight")
    for kind, columns in (("sines and cosines", slice(None)), ("sines alone", slice(0, None, 2))):
        page.get_by_role("radio", name=kind, exact=True).check(force=True)
        curves = set()
        for key in ("Shift+ArrowLeft", "Shift+ArrowRight", "ArrowLeft", "Shift+ArrowRight"):
            first.press(key)
            p, q = map(int, re.match(r"Positions (\d+) and (\d+)", readout(page)).groups())
            assert q - p == 5
            said = page.locator("[data-part=readout] b").first.inner_text().replace("−", "-")
            right = float(table[p, columns] @ table[q, columns])
            assert float(said) == pytest.approx(right, abs=0.006)
            curves.add(rounded(curve(page)))
        assert (len(curves) == 1) == (kind == "sines and cosines")


@pytest.mark.parametrize("d_model", [4, 10, MOST_NUMBERS])
@pytest.mark.parametrize("window", [WIDE, PHONE], ids=str)
def test_more_or_fewer_clock_faces_leave_room_for_the_curve(opened, window, d_model):
    page = opened(published_page(show_clocks_live, d_model=d_model), viewport=window)
    faces = page.locator("circle[style*='--rule']").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().bottom)"
    )
    assert len(faces) == d_model // 2
    title = page.get_by_text("dot product of the vectors").bounding_box()
    drawn = page.locator("[data-part=figure] svg").first.bounding_box()
    axis = page.get_by_text("distance k", exact=True).bounding_box()
    assert max(faces) < title["y"] < axis["y"] + axis["height"] <= drawn["y"] + drawn["height"]
    said = float(page.locator("[data-part=readout] b").first.inner_text())
    table = sinusoidal_positions(10, d_model).double()
    assert said == pytest.approx(float(table[5] @ table[9]), abs=0.006)


def test_the_slope_steps_as_sgd_does_and_says_when_the_rate_is_too_large(opened):
    page = opened(page_of(show_slope_live))
    weight = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        ((weight - 3) ** 2).backward()
        optimizer.step()
        page.get_by_text("Take a step").click()
    told = f"After 3 steps: the loss is {(weight.item() - 3) ** 2:.2f}, the slope −"
    assert readout(page).startswith(told)
    page.get_by_role("radio", name="1.1").check()
    for _ in range(8):
        page.get_by_text("Take a step").click()
    assert "the learning rate is too large" in readout(page)


def rounded(path: str) -> str:
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.2f}", path)


def test_the_plane_keeps_all_features_if_they_are_rare_and_the_first_two_if_they_always_come(
    opened,
):
    page = opened(page_of(show_directions))
    for _ in range(3):
        press(page, "Train from another start")
        for key, kept in {
            "Home": "5 of 5 are kept (1, 2, 3, 4, 5)",
            "End": "2 of 5 are kept (1, 2)",
        }.items():
            page.get_by_role("slider").press(key)
            assert kept in readout(page)


@pytest.mark.parametrize("window", [WIDE, PHONE], ids=str)
def test_the_clocks_have_room_and_bounds_at_the_ends_of_the_ruler(opened, window):
    page = opened(page_of(show_clocks_live), viewport=window)
    first, later = named(page, "position p"), named(page, "position p + k")
    for _ in range(9):
        first.press("Shift+ArrowRight")
        later.press("Shift+ArrowRight")
    assert readout(page).startswith("Positions 50 and 80:")
    drawn = page.locator("[data-part=figure] svg").first.bounding_box()
    word = later.locator("text").bounding_box()
    assert word["x"] + word["width"] <= drawn["x"] + drawn["width"]
    drag(page, first, -2000, 0)
    assert readout(page).startswith("Positions 0 and 30:")
