"""The still picture shows every weight where it belongs, and every token as it is written."""

from xml.etree import ElementTree

import matplotlib
import pytest
import torch
from matplotlib.colors import to_hex

from transformer_edu.teaching.inspect.attention_maps import AttentionMap, maps_of_weights
from transformer_edu.teaching.viewer.picture import (
    COLOURS,
    LEAST_ROW,
    SIZES,
    cell_side,
    label_width,
    picture,
    picture_height,
    room_above,
    room_left,
    row_height,
)

QUERY_TOKENS, KEY_TOKENS = ["das", "Haus"], ["the", "old", "house"]
FAINT = 0.02  # above the faintest that has a line
WEIGHTS = torch.tensor([[[1.0, 0, 0], [0, 0, 1]], [[0.1, FAINT, 0.88], [0.0, 0.004, 0.996]]])
HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", "&lt;]]>"]


def made(weights=WEIGHTS, query_tokens=QUERY_TOKENS, key_tokens=KEY_TOKENS) -> AttentionMap:
    (attention_map,) = maps_of_weights(
        weights, query_tokens=query_tokens, key_tokens=key_tokens, sentence=0
    )
    return attention_map


def drawn(attention_map: AttentionMap, view: str, head: int = 1) -> ElementTree.Element:
    return ElementTree.fromstring(picture(attention_map, head, view, label="words"))


def having(svg: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [each for each in svg.iter() if each.get("class", "").split(" ")[0] == kind]


def texts(svg: ElementTree.Element, kind: str) -> list[str]:
    return [each.text for each in having(svg, kind)]


def squares(path: ElementTree.Element) -> list[tuple[int, int]]:
    """The (query, key) of every square of a path."""
    attention_map = made()
    side = cell_side(attention_map)
    corners = [part.split("h")[0].split() for part in path.get("d").split("M")[1:]]
    return [
        (
            (int(y) - room_above(attention_map)) // side,
            (int(x) - room_left(attention_map)) // side,
        )
        for x, y in corners
    ]


def test_a_line_is_as_thick_as_its_weight_and_the_strongest_lies_on_top():
    links = having(drawn(made(), "lines"), "link")
    widths = [float(link.get("stroke-width")) for link in links]
    strong = [FAINT, 0.1, 0.88, 0.996]  # what is below the faintest has no line
    expected = [SIZES["thin"] + SIZES["thick"] * weight for weight in strong]
    assert widths == pytest.approx(expected, abs=0.01)
    opacities = [float(link.get("opacity")) for link in links]
    assert opacities == sorted(set(opacities)) and 0.1 < opacities[0] < opacities[-1] <= 0.9


def test_a_line_runs_from_who_looks_to_who_is_looked_at():
    svg = drawn(made(), "lines")
    heights = {text.text: float(text.get("y")) - 5 for text in having(svg, "token")}
    strongest = having(svg, "link")[-1].get("d").replace("M", " ").replace("C", " ").split()
    assert (float(strongest[1]), float(strongest[-1])) == (heights["Haus"], heights["house"])
    assert float(strongest[0]) < float(strongest[-2])


def test_every_cell_has_the_colour_of_its_weight_and_zero_is_hatched():
    cells = having(drawn(made(), "grid"), "cells")
    found = {place: path.get("fill") for path in cells for place in squares(path)}
    assert len(found) == WEIGHTS[1].numel()
    assert found.pop((1, 0)) == "url(#hatch)"  # and nothing else, however little it is
    for (query, key), colour in found.items():
        assert colour == COLOURS[round(63 * float(WEIGHTS[1, query, key]))]


def test_the_colours_are_cividis_from_zero_to_one():
    cividis = matplotlib.colormaps["cividis"]
    assert (COLOURS[0], COLOURS[-1]) == (to_hex(cividis(0.0)), to_hex(cividis(1.0)))


def test_small_grids_carry_their_numbers_and_large_ones_do_not():
    numbers = having(drawn(made(), "grid"), "number")
    assert [number.text for number in numbers] == ["0.10", "0.02", "0.88", "0.00", "1.00"]
    left, above, side = room_left(made()), room_above(made()), cell_side(made())
    inside = [
        ((float(number.get("y")) - above) // side, (float(number.get("x")) - left) // side)
        for number in numbers
    ]
    assert inside == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2)]
    light = [number.text for number in numbers if "on-light" in number.get("class")]
    assert light == ["0.88", "1.00"]
    large = made(torch.full((2, 2, 11), 1 / 11), key_tokens=list("abcdefghijk"))
    assert not texts(drawn(large, "grid"), "number")


def test_another_head_is_another_picture():
    assert len(having(drawn(made(), "lines", head=0), "link")) == 2
    assert len(having(drawn(made(), "lines", head=1), "link")) == 4


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_both_sides_are_named_and_any_token_is_shown_literally(view):
    svg = drawn(made(key_tokens=HOSTILE), view)
    assert texts(svg, "heading") == ["who looks", "who is looked at"]
    shown = texts(svg, "token")
    assert shown[:2] == QUERY_TOKENS
    assert shown[-1] == HOSTILE[-1]
    assert shown[2].startswith("<script>alert(1)") and shown[3].startswith('"><img')
    assert not {"script", "img"} & {each.tag.rpartition("}")[2] for each in svg.iter()}


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_everything_lies_inside_the_picture(view):
    attention_map = made(key_tokens=["the", "x" * 24, "日本語" * 8])
    svg = drawn(attention_map, view)
    width, height = float(svg.get("width")), float(svg.get("height"))
    assert height <= picture_height(attention_map)
    for text in having(svg, "token"):
        assert 0 < float(text.get("x")) < width and 0 < float(text.get("y")) < height
    assert room_left(attention_map) >= label_width(attention_map.queries)


def test_every_room_is_for_the_longest_token_of_its_own_side():
    long, short = ["a", "x" * 24], ["b", "c"]
    for queries, keys in ((long, short), (short, long)):
        attention_map = made(torch.ones(1, 2, 2), queries, keys)
        assert (label_width(attention_map.queries) > 200) == (queries == long)
        assert (room_left(attention_map) > 200) == (queries == long)
        assert (room_above(attention_map) > 150) == (keys == long)


def test_more_rows_make_a_grid_higher_and_more_columns_do_not():
    wide, high = (
        made(torch.ones(1, 1, 9), ["a"], ["b"] * 9),
        made(torch.ones(1, 9, 1), ["a"] * 9, ["b"]),
    )
    for attention_map in (wide, high):
        heights = [float(drawn(attention_map, view, 0).get("height")) for view in ("lines", "grid")]
        assert max(heights) <= picture_height(attention_map) <= max(heights) + 4


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_the_words_above_have_room_where_tokens_are_short_and_few(view):
    svg = drawn(made(torch.ones(2, 1, 1), ["a"], ["b"]), view)
    looks, looked_at = (float(heading.get("x")) for heading in having(svg, "heading"))
    assert looks > 60  # it ends there
    assert float(svg.get("width")) - looked_at > 110


def test_a_few_tokens_have_higher_rows_than_many():
    few, many = (made(torch.ones(1, 2, n) / n, key_tokens=["x"] * n) for n in (3, 30))
    assert row_height(few) > row_height(many) == LEAST_ROW


def test_the_picture_is_called_by_its_words_aloud():
    svg = ElementTree.fromstring(picture(made(), 0, "lines", label='"<a>" & b'))
    assert (svg.get("role"), svg.get("aria-label")) == ("img", '"<a>" & b')


@pytest.mark.parametrize("length", [1, 10, 11, 40, 128])
def test_cells_shrink_as_tokens_become_many_and_can_still_be_pointed_at(length):
    attention_map = made(torch.zeros(1, length, 1), ["a"] * length, ["b"])
    assert 12 <= cell_side(attention_map) <= 46
    assert cell_side(attention_map) * length <= 1600
