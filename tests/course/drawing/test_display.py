"""Every figure is published with its words, and every control with a still picture."""

import base64
import io
from collections.abc import Sequence

import ipywidgets as widgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from tests.contrast import contrast
from tests.published import caught_bundles
from transformer_course.drawing import display as module
from transformer_course.drawing.display import (
    WIDGET_VIEW,
    Explorer,
    build_explorer,
    encode_png,
    explore,
    explorers_kept_back,
    image_tag,
    show,
)
from transformer_course.drawing.pen import INK
from transformer_course.drawing.style import BLACK, BLUE, GREEN, PURPLE, VERMILION

ON_PAPER = (BLUE, VERMILION, GREEN, PURPLE, BLACK, INK)
PNG_MAGIC = b"\x89PNG"


@pytest.fixture
def published(monkeypatch) -> list[dict]:
    return caught_bundles(monkeypatch, module)


def draw(height: int) -> Figure:
    if height == 3:
        raise ValueError("no <b>three</b>")
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.bar([0], [height])
    return figure


def describe(height: int) -> str:
    return f'a bar "{height}" high'


def explorer() -> Explorer:
    slider = widgets.IntSlider(value=2, max=5, description="height")
    return build_explorer(draw, describe, height=slider)


def test_a_figure_is_published_once_with_its_words(published):
    show(draw(1), alt="one bar")
    (bundle,) = published
    assert base64.b64decode(bundle["data"]["image/png"]).startswith(PNG_MAGIC)
    assert bundle["data"]["text/plain"] == "one bar"
    assert bundle["metadata"]["image/png"]["alt"] == "one bar"


@pytest.mark.parametrize("dots_per_inch", [module.DOTS_PER_INCH, module.SHOWN_AT])
def test_a_picture_is_shown_as_wide_as_its_figure_however_sharp_it_is(published, dots_per_inch):
    figure = plt.figure(figsize=(3, 1))
    figure.add_axes((0, 0, 1, 1))
    module.publish(encode_png(figure, dots_per_inch), "an empty frame")
    width = published[0]["metadata"]["image/png"]["width"]
    assert width == pytest.approx(100 * (3 + 2 * 0.1), abs=60)
    with Image.open(io.BytesIO(base64.b64decode(published[0]["data"]["image/png"]))) as picture:
        assert picture.width / width == pytest.approx(dots_per_inch / 100, rel=0.02)


def test_a_shown_figure_is_closed(published):
    plt.close("all")
    show(draw(1), alt="one bar")
    assert plt.get_fignums() == []


def test_the_same_figure_gives_the_same_bytes(published):
    show(draw(1), alt="one bar")
    show(draw(1), alt="one bar")
    first, second = published
    assert first["data"]["image/png"] == second["data"]["image/png"]


def test_a_published_figure_is_small_and_looks_the_same(published):
    figure, axes = plt.subplots(figsize=(4, 3))
    figure.colorbar(axes.imshow([[0.0, 1.0]], cmap="cividis"))
    drawn = io.BytesIO()
    figure.set_dpi(module.DOTS_PER_INCH)
    seen = figure.get_tightbbox().padded(0.1)
    figure.savefig(drawn, dpi=module.DOTS_PER_INCH, bbox_inches=seen)
    show(figure, "two cells and every color")
    png = base64.b64decode(published[0]["data"]["image/png"])
    before, after = (
        np.asarray(Image.open(each).convert("RGB"), dtype=int) for each in (drawn, io.BytesIO(png))
    )
    assert before.shape == after.shape
    assert abs(before - after).max() < 16  # of 255: nobody sees it
    assert len(png) < 0.6 * len(drawn.getvalue())


@pytest.mark.parametrize("has_heat_map", [True, False])
def test_only_a_heat_map_keeps_its_colors_in_a_dark_theme(published, has_heat_map):
    figure = draw(1)
    if has_heat_map:
        figure.axes[0].imshow([[0.0, 1.0]])
    show(figure, alt="two cells")
    (bundle,) = published
    metadata, tag = bundle["metadata"], image_tag(bundle["data"]["image/png"], "two cells")
    assert (metadata.get("needs_background") == "light") == has_heat_map
    assert metadata["vscode_altText"] == "two cells" + " " * has_heat_map
    assert ('class="jp-needs-light-background"' in tag) == has_heat_map


def in_the_dark(color: Sequence[float]) -> list[float]:
    """A color as CSS's invert(1) and hue-rotate(180deg) show it."""
    red, green, blue = (255 * (1 - part) for part in color)
    gray = 0.213 * red + 0.715 * green + 0.072 * blue
    return [min(max(2 * gray - part, 0), 255) for part in (red, green, blue)]


@pytest.mark.parametrize("color", ON_PAPER)
def test_a_color_of_the_course_is_read_as_well_in_a_dark_theme(color):
    assert "invert(1) hue-rotate(180deg)" in module.IN_THE_DARK
    paper = in_the_dark(to_rgb("white"))
    assert contrast(in_the_dark(to_rgb(color)), paper) >= 4.5


@pytest.mark.parametrize("alt", ["", "  ", None])
def test_a_figure_without_words_is_refused(alt):
    with pytest.raises(ValueError, match="alt must say in words"):
        show(draw(1), alt=alt)


def test_what_is_no_figure_is_refused(published):
    with pytest.raises(TypeError, match="must be a matplotlib Figure, got str"):
        show("picture.png", alt="a path")
    with pytest.raises(TypeError, match="must be a matplotlib Figure, got str"):
        encode_png("picture.png")


def test_controls_come_with_the_still_picture_of_their_first_state(published, monkeypatch):
    made = []
    monkeypatch.setattr(
        module, "build_explorer", lambda *a, **b: made.append(build_explorer(*a, **b)) or made[-1]
    )
    show(draw(2), alt="still")
    explore(draw, describe, height=widgets.IntSlider(value=2, max=5, description="height"))
    still, live = published
    assert live["data"][WIDGET_VIEW]["model_id"] == made[0].box.model_id
    assert live["data"]["image/png"] == still["data"]["image/png"]
    assert live["data"]["text/plain"] == 'a bar "2" high'
    assert live["metadata"]["image/png"]["alt"] == 'a bar "2" high'


def test_a_live_element_is_shown_instead_of_the_picture_which_stays_where_it_is_taken_out(
    published,
):
    slider = widgets.IntSlider(value=2, max=5, description="height")
    pictures = {"draw": draw, "alt": describe, "live": lambda height: f"<p>{1 / (height - 4)}</p>"}
    with explorers_kept_back() as kept:
        explore(**pictures, height=slider)
    element = kept[0].box.children[-1]
    assert element.value == "<p>-0.5</p>"
    slider.value = 3  # which draw refuses, and nobody has to draw
    assert element.value == "<p>-1.0</p>"
    slider.value = 4
    assert "ZeroDivisionError" in element.value
    slider.value = 2
    explore(**pictures, height=slider)
    (bundle,) = published
    page = bundle["data"]["text/html"]
    assert "<p>-0.5</p><img" in page and bundle["data"]["image/png"] in page
    assert "> :first-child + img { display: none; }" in page and WIDGET_VIEW in bundle["data"]


def test_explorers_kept_back_are_built_and_not_shown_until_the_block_ends(published):
    def explore_height() -> None:
        explore(draw, describe, height=widgets.IntSlider(value=2, max=5, description="height"))

    with explorers_kept_back() as kept:
        explore_height()
        explore_height()
    assert [each.words for each in kept] == ['a bar "2" high'] * 2
    assert not published
    with pytest.raises(ArithmeticError), explorers_kept_back():
        raise ArithmeticError
    explore_height()
    assert len(published) == 1


def test_the_picture_that_moves_is_the_one_that_is_kept():
    made = explorer()
    png = made.box.children[-1].value.partition("base64,")[2].partition('"')[0]
    moving = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    assert moving.tobytes() == made.still.tobytes()
    assert made.words == 'a bar "2" high'


def test_moving_a_control_changes_the_picture_and_its_words():
    slider, picture = explorer().box.children
    first = picture.value
    slider.value = 4
    assert picture.value != first
    assert 'alt="a bar &quot;4&quot; high"' in picture.value
    slider.value = 2
    assert picture.value == first


def test_what_is_refused_while_redrawing_is_a_sentence_and_never_markup():
    slider, picture = explorer().box.children
    slider.value = 3
    assert picture.value == "<p>No &lt;b&gt;three&lt;/b&gt;.</p>"


def test_a_control_without_a_description_is_refused():
    with pytest.raises(ValueError, match="control IntSlider must have a description"):
        explore(draw, describe, height=widgets.IntSlider())


def test_a_linked_control_is_shown_and_does_not_redraw_by_itself():
    typed = widgets.BoundedIntText(value=2, max=5, description="or type")
    slider = widgets.IntSlider(value=2, max=5, description="height")
    drawn: list[int] = []

    def draw_and_count(height: int) -> Figure:
        drawn.append(height)
        return draw(height)

    widgets.link((slider, "value"), (typed, "value"))
    box = build_explorer(draw_and_count, describe, also=[typed], height=slider).box
    assert box.children[:2] == (typed, slider)
    typed.value = 4
    assert drawn == [2, 4]


def test_a_linked_control_without_a_description_and_a_picture_without_words_are_refused():
    slider = widgets.IntSlider(value=2, max=5, description="height")
    with pytest.raises(ValueError, match="control BoundedIntText must have a description"):
        explore(draw, describe, also=[widgets.BoundedIntText()], height=slider)
    with pytest.raises(ValueError, match="alt must say in words what the figure shows, got ' '"):
        explore(draw, lambda height: " ", height=slider)


def test_exploring_without_controls_is_refused():
    with pytest.raises(ValueError, match="at least one control"):
        explore(draw, describe)
