"""The attention viewer in a real browser: it says what is true, to pointer and keyboard alike."""

import re
from pathlib import Path

import nbformat
import pytest
import torch
from nbconvert import HTMLExporter

from tests.published import caught_bundles, published_page
from transformer_course.drawing import display as display_module
from transformer_course.looking.attention_maps import STEPS
from transformer_course.viewer.page import COLORS, SIZES
from transformer_course.viewer.show import view_attention, view_weights

SOURCE_TOKENS = ["the", "old", "house", "on", "the", "hill"]
TARGET_TOKENS = ["<s>", "das", "alte", "Haus"]
HOSTILE = [
    "<script>window.ran=1</script>",
    "\"><img src=x onerror='window.ran=1'>",
    "\u202eabc",
    "שלום",
    "</script>\u2028",
]
LAYERS, HEADS = 2, 3
CROSS = "decoder.layers.{}.cross_attention"


@pytest.fixture(autouse=True)
def same_numbers_every_time():
    torch.manual_seed(0)


def weights(query: int, key: int, *, is_causal: bool = False) -> torch.Tensor:
    """Weights that the page stores as they are, so that every digit can be compared."""
    scores = 2 * torch.randn(1, HEADS, query, key, dtype=torch.float64)
    if is_causal:
        scores = scores.masked_fill(~torch.ones(query, key).tril().bool(), float("-inf"))
    return (scores.softmax(dim=-1) * STEPS).round() / STEPS


@pytest.fixture(scope="module")
def attention() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    source, target = len(SOURCE_TOKENS), len(TARGET_TOKENS)
    recorded = {}
    for layer in range(LAYERS):
        recorded[f"encoder.layers.{layer}.self_attention"] = weights(source, source)
        causal = weights(target, target, is_causal=True)
        recorded[f"decoder.layers.{layer}.self_attention"] = causal
        recorded[CROSS.format(layer)] = weights(target, source)
    return recorded


@pytest.fixture(scope="module")
def saved(attention, tmp_path_factory) -> dict[str, Path]:
    """The model's viewer, saved as a file in either view, on its cross-attention."""
    files, folder = {}, tmp_path_factory.mktemp("viewer")
    tokens = {"source_tokens": SOURCE_TOKENS, "target_tokens": TARGET_TOKENS}
    for view in ("lines", "grid"):
        page = published_page(view_attention, attention, **tokens, start=CROSS.format(0), view=view)
        files[view] = folder / f"{view}.html"
        files[view].write_text(page, encoding="utf-8")
    return files


@pytest.fixture
def viewer(saved, open_page):
    """Open the model's viewer."""

    def open_viewer(*, view: str = "lines", **options: object):
        return open_page(saved[view], **options)

    return open_viewer


@pytest.fixture
def bundles(monkeypatch) -> list[dict]:
    """What a notebook would get."""
    return caught_bundles(monkeypatch, display_module)


def part(page, name: str) -> str:
    return page.locator(f"[data-part={name}]").inner_text()


def query(page, index: int):
    return page.locator(f"[aria-label^='query {index + 1}:']")


def key(page, index: int):
    return page.locator(f"[aria-label^='key {index + 1}:']")


def small(page, name: str):
    """The small map of a head."""
    return page.get_by_role("button", name=name, exact=True)


def shown(page) -> list[str]:
    pressed = page.locator(".map[aria-pressed=true]")
    return [each.get_attribute("aria-label") for each in pressed.all()]


def lay_over(page, *names: str) -> None:
    for name in names:
        small(page, name).click(modifiers=["Shift"])


def numbers_in(path: str) -> list[float]:
    """The coordinates that a path's description lists."""
    return [float(each) for each in re.findall(r"-?[\d.]+", path)]


def test_pointing_at_a_token_tells_whom_it_looks_at_and_how_much(viewer, attention):
    page = viewer()
    assert "Point at a token" in part(page, "readout")
    query(page, 3).hover()
    row = attention[CROSS.format(0)][0, 0, 3]
    best = int(row.argmax())
    which = f" (no. {best + 1})" if SOURCE_TOKENS[best] == "the" else ""
    row_in_words = "The row that reads “Haus” and writes “…” attends to"
    said = f"{row_in_words} “{SOURCE_TOKENS[best]}”{which} {row[best]:.3f}, "
    assert part(page, "readout").startswith(said)
    assert key(page, best).locator(".value").text_content() == f"{row[best]:.2f}"
    key(page, 2).hover()
    column = attention[CROSS.format(0)][0, 0, :, 2]
    best = int(column.argmax())
    writes = [*TARGET_TOKENS[1:], "…"][best]
    said = f"“house” is attended to by “{TARGET_TOKENS[best]}” → “{writes}” {column[best]:.3f}, "
    assert part(page, "readout").startswith(said)
    page.mouse.move(1, 1)
    assert "Point at a token" in part(page, "readout")


def test_pointing_at_a_line_tells_its_weight(viewer, attention):
    page = viewer()
    page.locator(".figure .link").last.hover()  # the strongest, which lies on top
    weight = attention[CROSS.format(0)][0, 0].max()
    assert part(page, "readout").endswith(f" with weight {weight:.4f}.")
    value = page.locator(".token-button.chosen .value", has_text=f"{weight:.2f}")
    assert value.evaluate("text => getComputedStyle(text).fill") != "rgb(255, 255, 255)"


def test_pointing_at_a_cell_tells_its_weight(viewer, attention):
    page = viewer(view="grid")
    left, below = key(page, 2).bounding_box(), query(page, 1).bounding_box()
    page.mouse.move(left["x"] + 12, below["y"] + below["height"] / 2)
    weight = attention[CROSS.format(0)][0, 0, 1, 2]
    said = "The row that reads “das” and writes “alte” attends to “house” with weight"
    assert part(page, "readout") == f"{said} {weight:.4f}."
    assert page.locator(".tip").text_content() == f"{weight:.3f}"


def test_the_keyboard_alone_reaches_everything(viewer, attention):
    page = viewer()
    press = page.keyboard.press
    for _ in range(3):
        press("Tab")
        assert part(page, "place") == "Cross-attention, layer 1, head 1 of 3"
    press("ArrowDown")
    press("ArrowRight")
    press("ArrowRight")
    assert part(page, "place") == "Cross-attention, layer 2, head 3 of 3"
    press("ArrowLeft")
    press("Shift+ArrowRight")
    assert part(page, "place") == "Cross-attention, layer 2, head 2 of 3"
    press("Shift+Enter")
    assert shown(page) == [f"Cross-attention, layer 2, head {number}" for number in (2, 3)]
    press("Enter")
    assert shown(page) == ["Cross-attention, layer 2, head 3"]
    press("Tab")
    press("ArrowRight")
    assert "along its row" in part(page, "about")
    press("Tab")
    press("Tab")
    press("ArrowDown")
    assert "reads “das” and writes “alte” attends to “" in part(page, "readout")
    press("ArrowRight")
    weight = attention[CROSS.format(1)][0, 2, 1, 0]
    assert part(page, "readout").endswith(f"“the” (no. 1) with weight {weight:.4f}.")
    press("Tab")
    press("End")
    assert part(page, "readout").startswith("“hill” is attended to by “")
    press("Escape")
    assert "Point at a token" in part(page, "readout")


def test_all_maps_are_there_small_and_a_click_shows_one_large(viewer, attention):
    page = viewer(view="grid")
    assert page.locator(".map").count() == len(attention) * HEADS
    name = "encoder.layers.1.self_attention"
    small(page, "Encoder self-attention, layer 2, head 3").click()
    assert part(page, "place") == "Encoder self-attention, layer 2, head 3 of 3"
    printed = page.locator(".figure .number").all_text_contents()
    assert printed == [f"{weight:.2f}" for weight in attention[name][0, 2].flatten().tolist()]


def test_a_small_map_has_the_colors_of_its_weights(viewer, attention):
    page = viewer()
    button = small(page, "Decoder self-attention, layer 1, head 2")
    pixels = button.locator("canvas").evaluate(
        "c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
    )
    rows = attention["decoder.layers.0.self_attention"][0, 1]
    assert len(pixels) == 4 * rows.numel()
    for place, weight in enumerate(rows.flatten().tolist()):
        red, green, blue, opacity = pixels[4 * place : 4 * place + 4]
        assert opacity == (255 if weight else 0)
        if weight:
            assert f"#{red:02x}{green:02x}{blue:02x}" == COLORS[round(63 * weight)]


def test_a_chosen_token_stays_chosen_from_head_to_head(viewer, attention):
    page = viewer()
    query(page, 2).click()
    page.mouse.move(1, 1)
    small(page, "Cross-attention, layer 1, head 2").click()
    row = attention[CROSS.format(0)][0, 1, 2]
    assert "reads “alte” and writes “Haus” attends to “" in part(page, "readout")
    assert f"{row.max():.3f}" in part(page, "readout")
    small(page, "Encoder self-attention, layer 1, head 1").click()
    assert "Point at a token" in part(page, "readout")


OVER = ["Cross-attention, layer 1, head 3", "Cross-attention, layer 2, head 2"]


@pytest.mark.parametrize("way", ["Shift", "box"])
def test_heads_are_laid_over_one_another_and_each_says_its_weights(viewer, attention, way):
    page = viewer()
    if way == "box":
        page.get_by_label("several heads at once").check()
        for name in OVER:
            small(page, name).click()
    else:
        lay_over(page, *OVER)
    assert shown(page) == ["Cross-attention, layer 1, head 1", *OVER]
    assert all(name.split(", ", 1)[1] in part(page, "place") for name in OVER)
    heads = [attention[CROSS.format(layer)][0, head] for layer, head in ((0, 0), (0, 2), (1, 1))]
    for slot, head in enumerate(heads):
        widths = page.locator(f".figure .link.slot-{slot}").evaluate_all(
            "all => all.map(e => Number(e.getAttribute('stroke-width'))).sort((a, b) => a - b)"
        )
        drawn = head[head >= SIZES["faintest"]].sort().values.tolist()
        expected = [SIZES["thin"] + SIZES["thick"] * weight for weight in drawn]
        assert widths == pytest.approx(expected, abs=0.006)
    query(page, 1).click()
    said = re.findall(r"([\d.]+) \(layer", part(page, "readout"))
    assert said == [f"{head[1].max():.3f}" for head in heads]
    page.keyboard.press("ArrowRight")
    said = re.findall(r"([\d.]+) \(layer", part(page, "readout"))
    assert said == [f"{head[1, 0]:.4f}" for head in heads]


def test_in_the_grid_the_area_of_a_heads_square_is_its_weight(viewer, attention):
    page = viewer(view="grid")
    small(page, "Decoder self-attention, layer 1, head 1").click()
    lay_over(page, "Decoder self-attention, layer 2, head 3")
    assert page.locator("[data-key=squares]").is_visible()
    for slot, (layer, head) in enumerate(((0, 0), (1, 2))):
        path = page.locator(f".square.slot-{slot}").get_attribute("d")
        sides = torch.tensor([numbers_in(each)[2] for each in path.split("M")[1:]])
        weights = attention[f"decoder.layers.{layer}.self_attention"][0, head].flatten()
        shares = (sides / sides.max()) ** 2 * weights.max()
        torch.testing.assert_close(shares, weights, atol=1e-4, rtol=1e-4, check_dtype=False)
    hidden = page.locator(".figure svg > path[fill='url(#hatch)']").get_attribute("d")
    assert len(hidden.split("M")[1:]) == int((weights == 0).sum()) > 0


def test_four_heads_are_the_most_and_each_can_be_taken_away(viewer):
    page = viewer()
    places = [f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3)]
    names = [f"Cross-attention, {place}" for place in places]
    lay_over(page, *names[1:5])
    assert shown(page) == names[:4]
    assert part(page, "readout").startswith("4 heads are the most.")
    lay_over(page, names[1], names[5])
    assert shown(page) == [names[0], *names[2:4], names[5]]
    slots = page.locator(".map[aria-pressed=true]").evaluate_all(
        "all => all.map(e => e.className.match(/slot-(.)/)[1])"
    )
    assert sorted(slots) == list("0123")
    small(page, names[4]).click()
    assert shown(page) == [names[4]]
    lay_over(page, names[4])
    assert shown(page) == [names[4]]
    lay_over(page, "Encoder self-attention, layer 1, head 2")  # other tokens: shown alone
    assert shown(page) == ["Encoder self-attention, layer 1, head 2"]


def test_what_the_mask_hides_is_said_to_be_zero(viewer):
    page = viewer(view="grid")
    small(page, "Decoder self-attention, layer 1, head 1").click()
    query(page, 0).focus()
    page.keyboard.press("ArrowLeft")
    assert part(page, "readout").endswith("to “Haus” with weight 0 exactly, as behind a mask.")


def test_on_a_phone_a_finger_reaches_every_map_and_nothing_is_cut_off(viewer):
    page = viewer(viewport={"width": 390, "height": 844}, has_touch=True)
    boxes = page.locator(".map").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(box => [box.width, box.height])"
    )
    assert min(min(box) for box in boxes) >= 24  # the least size of a target in WCAG 2.2
    page.get_by_label("several heads at once").tap()
    small(page, OVER[0]).tap()
    query(page, 1).tap()
    assert len(re.findall(r"\(layer", part(page, "readout"))) == 2
    wider = "e => e.scrollWidth - e.clientWidth"
    assert page.locator("html").evaluate(wider) <= 0
    assert page.locator("[data-part=figure]").evaluate(wider) <= 0
    readout = page.locator("[data-part=readout]")
    assert readout.evaluate("e => e.scrollHeight - e.clientHeight") <= 0


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_without_scripts_the_words_stand_in_the_pictures_place(viewer, view):
    still = viewer(view=view, java_script_enabled=False)
    assert "need a script" in part(still, "readout")
    assert still.locator("[data-part=controls]").is_hidden()
    assert "Cross-attention, layer 1, head 1 of 3." in part(still, "figure")
    alive = viewer(view=view)
    assert alive.locator("[data-part=controls]").is_visible()
    assert alive.locator(".figure svg").is_visible()
    assert alive.locator(".figure p").count() == 0
    for name in ("place", "about"):
        assert part(alive, name) == part(still, name)


def test_a_line_is_as_thick_as_its_weight_and_the_strongest_lies_on_top(viewer, attention):
    page = viewer()
    head = attention[CROSS.format(0)][0, 0]
    links = page.locator(".figure .link").all()
    drawn = [each for each in head.flatten().sort().values.tolist() if each >= SIZES["faintest"]]
    widths = [float(link.get_attribute("stroke-width")) for link in links]
    expected = [SIZES["thin"] + SIZES["thick"] * weight for weight in drawn]
    assert widths == pytest.approx(expected, abs=0.006)
    best_query, best_key = divmod(int(head.argmax()), len(SOURCE_TOKENS))
    ends = numbers_in(links[-1].get_attribute("d"))
    heights = [
        float(side(page, index).locator(".token").get_attribute("y")) - 5
        for side, index in ((query, best_query), (key, best_key))
    ]
    assert [ends[1], ends[-1]] == heights and ends[0] < ends[-2]


def test_every_cell_has_the_color_of_its_weight_and_zero_is_hatched(viewer, attention):
    page = viewer(view="grid")
    small(page, "Decoder self-attention, layer 1, head 1").click()
    head = attention["decoder.layers.0.self_attention"][0, 0]
    found = {}
    for path in page.locator(".figure .cells").all():
        for square in path.get_attribute("d").split("M")[1:]:
            found[tuple(numbers_in(square)[:2])] = path.get_attribute("fill")
    columns, rows = (sorted(set(each)) for each in zip(*found, strict=True))
    assert len(found) == head.numel() == len(columns) * len(rows)
    for (x, y), fill in found.items():
        weight = float(head[rows.index(y), columns.index(x)])
        assert fill == (COLORS[round(63 * weight)] if weight else "url(#hatch)")
    printed = page.locator(".figure .number").all_text_contents()
    assert printed == [f"{weight:.2f}" for weight in head[head > 0].tolist()]


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_hostile_tokens_are_shown_and_never_run(tmp_path, open_page, view):
    path = tmp_path / "hostile.html"
    path.write_text(
        published_page(
            view_weights,
            weights(2, len(HOSTILE)),
            query_tokens=["<b>", "</b>"],
            key_tokens=HOSTILE,
            title=HOSTILE[0],
            view=view,
        ),
        encoding="utf-8",
    )
    page = open_page(path)
    assert page.locator("h1").inner_text() == HOSTILE[0]
    for index in range(len(HOSTILE)):
        key(page, index).focus()
        assert re.match("“.*” is attended to by “</?b>” 0", part(page, "readout"))
    assert page.locator("img, script[src], b b").count() == 0
    assert page.evaluate("window.ran") is None


def test_markup_that_came_in_all_the_same_could_not_run(saved, chromium):
    page = chromium.new_page()
    page.goto(saved["lines"].as_uri())
    page.evaluate(
        """document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.ran=1'>")"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    page.close()


@pytest.mark.parametrize("view", ["lines", "grid"])
@pytest.mark.parametrize("heads", [HEADS, 20])
def test_the_frame_of_a_notebook_holds_a_small_picture_whole(
    attention, bundles, tmp_path, open_page, view, heads
):
    many = {name: each[:, [0] * heads] for name, each in attention.items()}
    view_attention(many, source_tokens=SOURCE_TOKENS, target_tokens=TARGET_TOKENS, view=view)
    (bundle,) = bundles
    path = tmp_path / "framed.html"
    path.write_text(bundle["data"]["text/html"], encoding="utf-8")
    page = open_page(path, viewport={"width": 830, "height": 1100})
    figure = page.frame_locator("iframe").locator("[data-part=figure]")
    for kind in ("Encoder self-attention", "Cross-attention"):
        small(page.frame_locator("iframe"), f"{kind}, layer 1, head 1").click()
        hidden = figure.evaluate(
            "e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]"
        )
        assert hidden == [0, 0]


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_the_words_above_short_tokens_are_not_cut_off(tmp_path, open_page, view):
    path = tmp_path / "short.html"
    tokens = {"query_tokens": ["a"], "key_tokens": ["b"], "title": "short"}
    path.write_text(
        published_page(view_weights, weights(1, 1), view=view, **tokens), encoding="utf-8"
    )
    page = open_page(path)
    picture = page.locator(".figure svg").bounding_box()
    for heading in page.locator(".heading").all():
        box = heading.bounding_box()
        assert box["x"] >= picture["x"]
        assert box["x"] + box["width"] <= picture["x"] + picture["width"]


def test_two_viewers_in_an_exported_notebook_live_side_by_side(
    attention, bundles, tmp_path, open_page
):
    view_attention(attention, source_tokens=SOURCE_TOKENS, target_tokens=TARGET_TOKENS)
    view_weights(weights(2, 3), query_tokens=["a", "b"], key_tokens=list("cde"), title="mine")
    outputs = [nbformat.v4.new_output("display_data", **bundle) for bundle in bundles]
    cells = [nbformat.v4.new_code_cell("show()", outputs=[each]) for each in outputs]
    exporter = HTMLExporter(require_js_url="", mathjax_url="", mermaid_js_url="data:,")
    exported, _ = exporter.from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    path = tmp_path / "exported.html"
    path.write_text(re.sub(r'<script src=""></script>', "", exported), encoding="utf-8")
    page = open_page(path)
    assert page.locator(".attention-viewer img:visible").count() == 0
    first, second = (page.frame_locator("iframe").nth(index) for index in range(2))
    small(second, "Attention, head 3").click()
    second.locator("[aria-label^='query 2:']").click()
    assert part(second, "place") == "Attention, head 3 of 3"
    assert part(second, "readout").startswith("“b” attends to “")
    assert part(first, "place") == "Encoder self-attention, layer 1, head 1 of 3"
    assert "Point at a token" in part(first, "readout")


@pytest.mark.parametrize("runs", [True, False], ids=["with a script", "without"])
def test_the_still_picture_is_seen_only_where_no_script_may_run(bundles, tmp_path, open_page, runs):
    view_weights(weights(2, 3), query_tokens=["a", "b"], key_tokens=list("cde"), title="mine")
    (bundle,) = bundles
    path = tmp_path / "element.html"
    path.write_text(bundle["data"]["text/html"], encoding="utf-8")
    page = open_page(path, java_script_enabled=runs)
    assert page.locator("iframe").is_visible() == runs
    assert page.locator("iframe + img").is_visible() != runs


def test_where_frames_are_taken_out_the_still_picture_is_seen(bundles, tmp_path, open_page):
    view_weights(weights(2, 3), query_tokens=["a", "b"], key_tokens=list("cde"), title="mine")
    (bundle,) = bundles
    path = tmp_path / "without.html"
    path.write_text(
        re.sub("(?s)<iframe.*</iframe>", "", bundle["data"]["text/html"]), encoding="utf-8"
    )
    picture = open_page(path).get_by_alt_text("mine, a still picture.")
    assert picture.is_visible()
    assert picture.evaluate("picture => picture.naturalWidth") > 100


def test_the_viewer_is_legible_on_a_dark_page(viewer):
    for scheme in ("light", "dark"):
        page = viewer(color_scheme=scheme)
        colours = page.evaluate(
            """() => [getComputedStyle(document.body).backgroundColor,
                      getComputedStyle(document.querySelector(".token")).fill]"""
        )
        paper, ink = (sum(map(int, re.findall(r"\d+", colour)[:3])) / 765 for colour in colours)
        assert abs(paper - ink) > 0.7
        assert (paper > 0.5) == (scheme == "light")
