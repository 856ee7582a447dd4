"""The page holds the data, loads nothing, and no text can change what it is made of."""

import base64
import hashlib
import json
import re

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

from tests.course.viewer.test_frame import HOSTILE, elements
from tests.hatching import hatched_corners
from transformer_course.looking.attention_maps import STEPS, AttentionMap, Side, maps_of_weights
from transformer_course.viewer.frame import COLORS
from transformer_course.viewer.page import (
    ABOVE_MAPS,
    AROUND,
    HIGHEST_BAND,
    SIZES,
    SMALL_MAPS,
    Start,
    about,
    cell_side,
    frame_height,
    label_width,
    lines_of_maps,
    picture_height,
    place_in_words,
    plot_still,
    room_left,
    viewer_page,
)

QUERY_TOKENS, KEY_TOKENS = ["das", "Haus"], ["the", "old", "house"]
WEIGHTS = torch.tensor([[[1.0, 0, 0], [0, 0, 1]], [[0.1, 0.2, 0.7], [0.0, 0.4, 0.6]]])
TEXTS = [*HOSTILE, "\u202e\u200f", "\\", "\x00\ud800"]


def maps_with(tokens: list[str], layers: list[str]) -> list[AttentionMap]:
    many = {name: WEIGHTS.roll(index, dims=1) for index, name in enumerate(layers)}
    return maps_of_weights(many, query_tokens=QUERY_TOKENS, key_tokens=tokens, sentence=0)


def page_with(
    tokens=KEY_TOKENS, layers=("a", "b"), title="what attends where", start=(1, 1, "lines")
) -> str:
    return viewer_page(maps_with(tokens, layers), Start(*start), title, alt="words")


def data_in(page: str) -> dict:
    (found,) = re.findall(r"<script type='application/json'[^>]*>(.*?)</script>", page, re.DOTALL)
    return json.loads(found)


def test_the_page_holds_every_weight_and_every_token():
    data = data_in(page_with())
    assert len(data["tokens"]) == 2  # however many layers have them
    for index, each in enumerate(data["maps"]):
        packed = base64.b64decode(each["packed"])
        codes = torch.frombuffer(bytearray(packed), dtype=torch.uint16)
        stored = codes.to(torch.float32).view(WEIGHTS.shape) / STEPS
        right = WEIGHTS.roll(index, dims=1)
        torch.testing.assert_close(stored, right, rtol=0, atol=1 / STEPS)
        assert data["tokens"][each["queries"]]["texts"] == QUERY_TOKENS
        assert data["tokens"][each["keys"]]["texts"] == KEY_TOKENS
    assert (data["start"]["map"], data["start"]["head"], data["start"]["view"]) == (1, 1, "lines")


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_the_place_and_the_legend_are_those_of_the_first_state(view):
    page = page_with(start=(0, 1, view))
    assert "Attention, layer a, head 2 of 2" in page
    assert {"lines": "the thicker the line", "grid": "the brighter the cell"}[view] in page
    hidden = [key for key in ("lines", "grid", "squares") if key != view]
    assert re.findall(r"data-key='(\w+)' hidden", page) == hidden


def test_until_the_script_draws_the_words_stand_in_the_pictures_place():
    maps = maps_with(KEY_TOKENS, ["a"])
    page = viewer_page(maps, Start(0, 0, "lines"), "title", alt="'<a>' & b")
    assert "data-part='figure'><p>&#x27;&lt;a&gt;&#x27; &amp; b</p></div>" in page


@pytest.mark.parametrize(("length", "numbered"), [(7, True), (20, False)])
def test_small_grids_carry_their_numbers_and_large_ones_do_not(length, numbered):
    (layer,) = maps_of_weights(
        torch.zeros(1, 2, length), query_tokens=QUERY_TOKENS, key_tokens=["t"] * length, sentence=0
    )
    page = viewer_page([layer], Start(0, 0, "lines"), "title", alt="words")
    assert data_in(page)["maps"][0]["numbered"] == numbered


def test_the_legend_has_lines_as_the_script_draws_them_and_tells_which_have_none():
    legend = page_with().split("data-key='lines'")[1]
    samples = re.findall(r"stroke-width='([\d.]+)'", legend)
    widths = [SIZES["thin"] + SIZES["thick"] * weight for weight in (0.1, 0.5, 1)]
    assert list(map(float, samples)) == pytest.approx(widths, abs=0.005)
    assert "below 0.01: no line" in legend


def test_the_colours_are_cividis_from_zero_to_one():
    cividis = matplotlib.colormaps["cividis"]
    assert (COLORS[0], COLORS[-1]) == (to_hex(cividis(0.0)), to_hex(cividis(1.0)))


def test_every_room_is_for_the_longest_token_of_its_own_side():
    (layer,) = maps_with(["the", "x" * 20, "日本"], ["a"])
    assert label_width(layer.keys.tokens) > label_width(layer.queries.tokens)
    assert room_left(layer) >= label_width(layer.queries.rows())


def test_a_decoders_rows_have_room_for_what_they_read_and_write():
    side = Side("target", ("<s>", "Fahrrad"), ("Fahrrad", "fahren"))
    assert side.rows() == ["<s> → Fahrrad", "Fahrrad → fahren"]
    layer = AttentionMap("a", "Cross-attention", "1", side, Side("source", ("a",)), WEIGHTS)
    assert room_left(layer) >= label_width(side.rows()) > label_width(side.tokens) > 60


@pytest.mark.parametrize("length", [1, 10, 11, 40, 128])
def test_cells_shrink_as_tokens_become_many_and_can_still_be_pointed_at(length):
    (layer,) = maps_of_weights(
        torch.zeros(1, length, 1), query_tokens=["a"] * length, key_tokens=["b"], sentence=0
    )
    assert 12 <= cell_side(layer) <= 46
    assert cell_side(layer) * length <= 1600


def test_controls_that_need_the_script_are_hidden_until_it_runs():
    assert "data-part='controls' hidden" in page_with()


@pytest.mark.parametrize("token", TEXTS, ids=ascii)
def test_no_token_no_name_and_no_title_changes_what_the_page_is_made_of(token):
    first = (0, 1, "lines")
    plain = elements(page_with(["a", "b", "c"], ["one", "two"], "three", first))
    hostile = elements(page_with([token, "b", "c"], [token, "two"], token, first))
    assert hostile == plain


@pytest.mark.parametrize("token", TEXTS, ids=ascii)
def test_every_token_arrives_as_the_text_that_is_shown(token):
    (attention_map,) = maps_with([token, "b", "c"], ["one"])
    shown = attention_map.keys.tokens[0]
    page = page_with([token, "b", "c"])
    assert data_in(page)["tokens"][1]["texts"][0] == shown


@pytest.mark.parametrize("token", TEXTS, ids=ascii)
def test_the_data_is_plain_ascii_that_cannot_end_its_element(token):
    page = page_with([token, "b", "c"], ["one", token])
    (found,) = re.findall(r"<script type='application/json'[^>]*>(.*?)</script>", page, re.DOTALL)
    assert found.isascii() and not set("<>&") & set(found)


def test_nothing_is_loaded_and_only_the_viewers_own_script_may_run():
    page = page_with()
    loading = {
        (tag, name)
        for tag, *names in elements(page)
        for name in {"src", "href", "srcset", "action"} & {*names}
    }
    assert loading == set()
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/)", page)
    (policy,) = re.findall(r'Content-Security-Policy\' content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'; ")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.endswith(f"script-src 'sha256-{digest}'")


def test_the_same_weights_give_the_same_page():
    assert page_with() == page_with()


def test_the_script_writes_no_markup():
    (script,) = re.findall(r"<script>(.*?)</script>", page_with(), re.DOTALL)
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("):
        assert dangerous not in script


def test_the_frame_is_as_high_as_the_picture_up_to_a_limit():
    def layers(length: int, heads: int = 1) -> list[AttentionMap]:
        tokens = ["x"] * length
        return maps_of_weights(
            torch.zeros(heads, length, 1), query_tokens=tokens, key_tokens=["y"], sentence=0
        )

    height = frame_height
    low, high = layers(2), layers(6)
    large, small = SMALL_MAPS
    assert height(low) == AROUND[False] + ABOVE_MAPS + large + picture_height(low[0])
    assert height(low) + large < height(low + high) == height(high) + large
    assert height(high) < height(layers(100)) == height(layers(128))
    assert height(layers(2, heads=13)) == height(low) - (large - small)
    assert (
        height(low, on_phone=True) == height(low) - (large - small) + AROUND[True] - AROUND[False]
    )
    assert height(40 * low) == height(low) - ABOVE_MAPS - large + HIGHEST_BAND


@pytest.mark.parametrize(
    ("heads", "width", "layers"),
    [
        ((4, 4, 4), 560, [2]),
        ((4, 4, 4), 372, [2]),
        ((8, 8, 8), 372, [2, 2, 2]),
        ((4, 9), 372, [2, 2]),
    ],
)
def test_kinds_stand_side_by_side_while_there_is_room(heads, width, layers):
    sides = Side("source", ("a",)), Side("source", ("b",))
    maps = [
        AttentionMap(f"{kind}{layer}", str(kind), "", *sides, np.zeros((count, 1, 1)))
        for kind, count in enumerate(heads)
        for layer in range(2)
    ]
    assert lines_of_maps(maps, 28, width) == layers


def test_what_is_looked_at_is_said_in_words():
    (attention_map,) = maps_with(KEY_TOKENS, ["3"])
    assert place_in_words(attention_map, 1) == "Attention, layer 3, head 2 of 2"
    assert about(attention_map, "grid").startswith(
        "Each query token attends to key tokens along its row"
    )


@pytest.fixture
def attention_map() -> AttentionMap:
    tokens = {"query_tokens": ["das", "$x$"], "key_tokens": ["the", "old", "<b>"]}
    (made,) = maps_of_weights(WEIGHTS, **tokens, sentence=0)
    return made


def test_lines_are_as_thick_as_their_weights_from_top_to_bottom(attention_map):
    axes = plot_still(attention_map, 1, "lines", "what attends where").axes[0]
    widths = [patch.get_linewidth() for patch in axes.patches]
    weights = [0.1, 0.2, 0.4, 0.6, 0.7]
    pixels = [SIZES["thin"] + SIZES["thick"] * weight for weight in weights]
    assert widths == pytest.approx([0.75 * width for width in pixels])  # in points
    ends = [patch.get_path().vertices[[0, -1], 1].tolist() for patch in axes.patches]
    assert ends == [[0, 0], [0, 1], [1, 1], [1, 2], [0, 2]]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.get_title("left") == "what attends where"


def test_tokens_and_titles_are_drawn_literally(attention_map):
    axes = plot_still(attention_map, 0, "lines", "a $b$\nsecond line").axes[0]
    assert [text.get_text() for text in axes.texts][:5] == ["das", r"\$x\$", "the", "old", "<b>"]
    assert [text.get_text() for text in axes.texts][5:] == ["queries", "keys"]
    for view in ("lines", "grid"):
        axes = plot_still(attention_map, 0, view, "a $b$\nsecond line").axes[0]
        assert axes.get_title("left") == "a \\$b\\$\nsecond line"


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_a_decoders_rows_are_labeled_as_in_the_viewer(attention_map, view):
    queries = Side("target", ("<s>", "das"), ("das", "Haus"))
    axes = plot_still(attention_map._replace(queries=queries), 1, view, "title").axes[0]
    words = [text.get_text() for text in (*axes.texts, *axes.get_yticklabels())]
    assert {"<s> → das", "das → Haus"} <= set(words)
    assert ("reads → writes" in words) == (view == "lines")


def test_the_grid_is_the_weights_with_zeros_hatched(attention_map):
    axes = plot_still(attention_map, 1, "grid", "what attends where").axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), WEIGHTS[1].numpy())
    assert hatched_corners(axes) == [(-0.5, 0.5)]


def test_a_grid_of_too_many_cells_is_not_hatched():
    tokens = ["x"] * 51
    (large,) = maps_of_weights(
        torch.eye(51)[None], query_tokens=tokens, key_tokens=tokens, sentence=0
    )
    assert not hatched_corners(plot_still(large, 0, "grid", "many").axes[0])


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_as_many_tokens_as_the_viewer_takes_make_a_bounded_figure(view):
    tokens = ["x"] * 128
    (large,) = maps_of_weights(
        torch.eye(128)[None], query_tokens=tokens, key_tokens=tokens, sentence=0
    )
    assert max(plot_still(large, 0, view, "many").get_size_inches()) <= 14
