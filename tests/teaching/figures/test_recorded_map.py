"""The map as numbers is the map that is drawn."""

from transformer_edu.teaching.figures.architecture import HEIGHT, WIDTH, plot_architecture
from transformer_edu.teaching.figures.recorded_map import UNIT, recorded_map


def test_the_map_has_every_word_of_the_drawing():
    drawn = {text.get_text() for text in plot_architecture().axes[0].texts} - {""}
    recorded = {"\n".join(each["lines"]) for each in recorded_map() if each["kind"] == "words"}
    assert recorded == drawn


def test_every_box_has_words_inside_it_and_lies_on_the_paper():
    elements = recorded_map()
    rects = [each for each in elements if each["kind"] == "rect" and each["box"]]
    assert all(0 <= each["x"] <= WIDTH * UNIT - each["width"] for each in rects)
    assert all(0 <= each["y"] <= HEIGHT * UNIT - each["height"] for each in rects)
    own = {each["box"]: each for each in rects if not each["sheet"]}
    words = [each for each in elements if each["kind"] == "words" and each["box"]]
    assert len(own) == len(words) == 19
    for each in words:
        box = own[each["box"]]
        assert box["x"] < each["x"] < box["x"] + box["width"]
        assert box["y"] < each["y"] < box["y"] + box["height"]
