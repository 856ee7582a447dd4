"""Words lie where their vectors do, and every label can be read."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from transformer_edu.teaching.figures.embeddings import describe_embedding_map, plot_embedding_map
from transformer_edu.teaching.inspect.embedding_map import MapWord, principal_axes

WIDTH = 6
WORDS = [
    MapWord(f"word{number}", group, language, number)
    for number, (group, language) in enumerate(
        itertools.product(["animals", "people", "colors"], ["English", "German"] * 3)
    )
]


@pytest.fixture
def vectors() -> torch.Tensor:
    return torch.randn(len(WORDS), WIDTH, generator=torch.Generator().manual_seed(0))


def points_of(axes: plt.Axes) -> list:
    """The markers of the words, without the lines that lead to labels."""
    return [line for line in axes.lines if line.get_linestyle() == "None"]


def test_every_word_lies_at_its_coordinates(vectors):
    axes = plot_embedding_map(vectors, WORDS, title="A map").axes[0]
    drawn = np.array([line.get_xydata()[0] for line in points_of(axes)])
    np.testing.assert_allclose(drawn, principal_axes(vectors).coordinates)
    assert [text.get_text() for text in axes.texts] == [word.text for word in WORDS]


def test_the_axes_say_how_much_they_hold(vectors):
    axes = plot_embedding_map(vectors, WORDS, title="A map").axes[0]
    shares = principal_axes(vectors).explained_variance_ratio
    assert axes.get_xlabel() == f"axis 1: {float(shares[0]):.0%} of the variance"
    assert axes.get_ylabel() == f"axis 2: {float(shares[1]):.0%} of the variance"
    words = describe_embedding_map(vectors, WORDS)
    assert f"hold {float(shares.sum()):.0%}" in words
    assert words.startswith("18 words in English and German: animals, people, colors;")


def test_groups_differ_in_color_and_languages_in_marker_and_filling(vectors):
    axes = plot_embedding_map(vectors, WORDS, title="A map").axes[0]
    looks = {
        (word.group, word.language): (
            line.get_color(),
            line.get_marker(),
            line.get_markerfacecolor() == "white",
        )
        for word, line in zip(WORDS, points_of(axes), strict=True)
    }
    assert len({color for color, _, _ in looks.values()}) == 3
    for (_, language), (_, *shape) in looks.items():
        assert shape == {"English": ["o", False], "German": ["s", True]}[language]
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["animals", "people", "colors", "English", "German"]
    handles = axes.get_legend().legend_handles
    colors = {
        word.group: line.get_color() for word, line in zip(WORDS, points_of(axes), strict=True)
    }
    assert [handle.get_color() for handle in handles[:3]] == list(colors.values())
    assert [handle.get_marker() for handle in handles[3:]] == ["o", "s"]


def test_labels_cover_neither_each_other_nor_points(vectors):
    figure = plot_embedding_map(vectors, WORDS, title="A map")
    axes = figure.axes[0]
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    for line in points_of(axes):
        place = axes.transData.transform(line.get_xydata()[0])
        assert not any(box.contains(*place) for box in boxes)


def test_a_label_with_room_stands_close_to_its_point_and_needs_no_line():
    words = WORDS[:3]
    figure = plot_embedding_map(torch.eye(3, WIDTH), words, title="Room")
    figure.canvas.draw()
    axes = figure.axes[0]
    assert len(axes.lines) == len(words)
    for line, text in zip(axes.lines, axes.texts, strict=True):
        x, y = axes.transData.transform(line.get_xydata()[0])
        box = text.get_window_extent()
        assert 0 < max(box.x0 - x, x - box.x1, box.y0 - y, y - box.y1) < 12  # pixels


def test_a_label_avoids_the_point_beside_its_own():
    """Pairs of points, the second a little to the right of the first, where its label would be."""
    places = [(x + beside, y) for x in (-9.0, 0.0, 9.0) for y in (-2.0, 2.0) for beside in (0, 0.6)]
    words = [MapWord("a word", "all", "one", number) for number in range(len(places))]
    figure = plot_embedding_map(torch.tensor(places), words, title="Pairs")
    figure.canvas.draw()
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    for line in points_of(axes):
        place = axes.transData.transform(line.get_xydata()[0])
        assert not any(box.contains(*place) for box in boxes)


def test_a_crowded_label_moves_away_and_a_line_leads_to_it():
    crowd = torch.randn(20, WIDTH, generator=torch.Generator().manual_seed(1)) / 100
    far = torch.eye(WIDTH)[:2] * 20
    words = [MapWord("crowded", "all", "one", number) for number in range(22)]
    figure = plot_embedding_map(torch.cat([crowd, far]), words, title="A crowd")
    figure.canvas.draw()
    axes = figure.axes[0]
    assert len(axes.lines) > len(words)
    frame = axes.get_window_extent()
    for text in axes.texts[-2:]:
        box = text.get_window_extent()
        assert frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1)
