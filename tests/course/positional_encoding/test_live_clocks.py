"""The hands stand at the angles of the sine and cosine."""

import math

import pytest
from matplotlib.text import Text

from transformer_course.positional_encoding.live_clocks import (
    MOST_NUMBERS,
    plot_clocks,
    plot_turning_hands,
    show_clocks_live,
)
from transformer_edu.model.embeddings import sinusoidal_positions


def tips(axes) -> list[tuple[float, float]]:
    """Where the hands of a face end."""
    return [tuple(line.get_xydata()[0]) for line in axes.lines if len(line.get_xydata()) == 1]


def test_a_hand_ends_at_the_sine_and_cosine_of_its_pair():
    words, d_model = ["a", "b", "c"], 4
    faces = list(plot_clocks(words, d_model=d_model).axes)
    table = sinusoidal_positions(3, d_model)
    assert len(faces) == 6
    for number, axes in enumerate(faces):
        pair, position = divmod(number, 3)
        expected = table[position, 2 * pair : 2 * pair + 2].tolist()
        assert tips(axes) == [pytest.approx(expected)]


def test_two_hands_of_a_face_are_as_far_apart_as_the_shift_says():
    figure = plot_turning_hands(7, 3, d_model=4)
    for axes, frequency in zip(figure.axes, (1, 0.01), strict=True):
        (x, y), (later_x, later_y) = tips(axes)
        assert x * later_x + y * later_y == pytest.approx(math.cos(3 * frequency))
        assert (x, y) == pytest.approx((math.sin(7 * frequency), math.cos(7 * frequency)))
    names = {each.get_text() for each in figure.findobj(Text)}
    assert {"position 7", "position 10", "3 radians", "0.03 radians"} <= names


@pytest.mark.parametrize(
    ("d_model", "words"),
    [
        (2, "at least 4, got 2"),
        (7, "even, got 7"),
        (MOST_NUMBERS + 2, f"at most {MOST_NUMBERS}, got {MOST_NUMBERS + 2}"),
    ],
)
def test_clock_faces_without_a_place_are_refused(d_model, words):
    with pytest.raises(ValueError, match=f"d_model must be {words}"):
        show_clocks_live(d_model=d_model)


def test_a_width_without_a_pair_is_refused():
    with pytest.raises(ValueError, match="d_model must be at least 2, got 1"):
        plot_clocks(["a", "dog"], d_model=1)


def test_one_clock_is_no_set_and_an_odd_width_is_refused():
    assert plot_clocks(["a"], d_model=2).get_suptitle() == "Every position is a clock"
    with pytest.raises(ValueError, match="d_model must be even, got 7"):
        plot_clocks(["a"], d_model=7)
