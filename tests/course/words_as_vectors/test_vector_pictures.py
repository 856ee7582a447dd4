"""Grids of numbers show what they are given."""

import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle

from transformer_course.positional_encoding.position_charts import plot_values
from transformer_course.words_as_vectors.vector_pictures import (
    NUMBERS_DRAWN,
    Neighbors,
    nearest,
    plot_neighbors,
    plot_rows,
    plot_similarities,
)

LABELS = {"row_label": "position", "column_label": "number", "title": "t"}
VECTORS = torch.tensor([[1.0, 1.0], [3.0, 3.0], [-2.0, -2.0], [1.0, -1.0]])


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("numbers", [[[0.5, -1.0]], [[8.0, -2.0]]])
def test_values_have_their_own_symmetric_scale(numbers):
    table = torch.tensor(numbers)
    image = plot_values(table, **LABELS).axes[0].images[0]
    np.testing.assert_array_equal(image.get_array(), table)
    assert image.get_clim() == (-table.abs().max(), table.abs().max())


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plot_values(VECTORS, **LABELS, row_names="ab"), "row_names .* 4 rows, got 2"),
        (
            lambda: plot_similarities(VECTORS, item="word", names="abc", title="t"),
            "names must be one for each of 4 vectors, got 3",
        ),
        (
            lambda: plot_rows(VECTORS, words="abcd", token_ids=[1, 2]),
            "token_ids must be one for each of 4 vectors, got 2",
        ),
    ],
)
def test_names_that_are_not_one_for_each_row_are_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_similarity_is_the_cosine_whatever_the_lengths():
    vectors = VECTORS.clone().requires_grad_()
    axes = plot_similarities(vectors, item="word", names="abcd", title="t").axes[0]
    expected = [[1, 1, -1, 0], [1, 1, -1, 0], [-1, -1, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(axes.images[0].get_array(), expected, atol=1e-6)
    assert axes.images[0].get_clim() == (-1, 1)
    assert texts(axes)[:4] == ["1.0", "1.0", "−1.0", "0.0"]
    assert vectors.grad is None
    large = plot_similarities(torch.randn(9, 4), item="word", names="abcdefghi", title="t")
    assert not large.axes[0].texts  # the numbers would collide


COUNT, WIDTH = 11, 7


@pytest.fixture
def vectors() -> torch.Tensor:
    """A cloud that is longer in some directions than in others, and far from zero."""
    generator = torch.Generator().manual_seed(0)
    cloud = torch.randn(COUNT, WIDTH, generator=generator, dtype=torch.float64)
    return cloud * torch.tensor([5.0, 1.0, 3.0, 0.5, 2.0, 1.5, 0.1]) + 40


def test_neighbours_are_those_of_the_smallest_angle():
    angles = torch.tensor([0.0, 10.0, 40.0, 180.0, 90.0]).deg2rad()
    lengths = torch.tensor([[1.0], [9.0], [0.2], [1.0], [3.0]])
    table = torch.stack([angles.cos(), angles.sin()], dim=1) * lengths
    (found,) = nearest(table, [0], tokens="abcde", count=4)
    assert found.token == "a"  # noqa: S105
    assert [name for name, _ in found.nearest] == ["b", "c", "e", "d"]
    cosines = torch.tensor([cosine for _, cosine in found.nearest])
    torch.testing.assert_close(cosines, angles.cos()[[1, 2, 4, 3]])


def test_only_those_among_are_neighbours_and_no_token_is_its_own(vectors):
    names = [str(number) for number in range(COUNT)]
    found = nearest(vectors, [3, 8], tokens=names, count=2, among=[8, 3, 5])
    assert {name for name, _ in found[0].nearest} == {"8", "5"}
    assert {name for name, _ in found[1].nearest} == {"3", "5"}


def test_neighbours_are_printed_as_a_line():
    assert str(Neighbors("a", (("bc", 0.5), ("d", -0.126)))) == f"{'a':12} bc 0.50  d -0.13"


FOUND = [
    Neighbors("dog", (("cat", 0.75), ("puppy", 0.5))),
    Neighbors("soup", (("broth", 0.625), ("stew", 0.25))),
]
ROWS = torch.randn(4, NUMBERS_DRAWN + 3, generator=torch.Generator().manual_seed(0))
WORDS, TOKEN_IDS = ["the", "dog", "the", "soup"], [4, 9, 4, 11]


def test_every_neighbor_has_a_bar_as_long_as_its_cosine_the_nearest_on_top():
    for axes, each in zip(plot_neighbors(FOUND).axes, FOUND, strict=True):
        assert [bar.get_width() for bar in axes.patches] == [cosine for _, cosine in each.nearest]
        assert [label.get_text() for label in axes.get_yticklabels()] == [
            n for n, _ in each.nearest
        ]
        assert axes.yaxis_inverted()


def test_title_and_words_name_the_nearest():
    figure = plot_neighbors(FOUND)
    assert figure.get_suptitle() == "Nearest in direction: cat to dog, broth to soup"
    assert "soup: broth, stew" in figure.get_label()


def test_a_column_holds_the_first_numbers_of_its_token():
    (image,) = plot_rows(ROWS, words=WORDS, token_ids=TOKEN_IDS).axes[0].images
    drawn = np.asarray(image.get_array())
    np.testing.assert_allclose(drawn, ROWS[:, :NUMBERS_DRAWN].T)


def test_a_few_large_numbers_do_not_make_the_others_pale():
    vectors = ROWS.clone()
    vectors[0, 0] = 1000.0
    (image,) = plot_rows(vectors, words=WORDS, token_ids=TOKEN_IDS).axes[0].images
    low, high = image.get_clim()
    assert low == -high
    within = vectors[:, :NUMBERS_DRAWN].abs() <= high
    assert 0.85 < within.float().mean() < 0.95


@pytest.mark.parametrize(("same", "said"), [(True, "Equal"), (False, "Different")])
def test_tokens_that_occur_again_are_framed_and_compared(same, said):
    vectors = ROWS[[0, 1, 0, 3]] if same else ROWS
    figure = plot_rows(vectors, words=WORDS, token_ids=TOKEN_IDS)
    frames = [each for each in figure.axes[0].patches if isinstance(each, Rectangle)]
    assert [frame.get_x() for frame in frames] == [-0.5, 1.5]
    assert figure.axes[0].get_title("left") == f"{said} numbers in the columns of “the”"
    assert figure.get_label().endswith("in the columns of “the”")


def test_without_a_token_that_occurs_again_nothing_is_framed():
    figure = plot_rows(ROWS[1:], words=WORDS[1:], token_ids=TOKEN_IDS[1:])
    assert not figure.axes[0].patches
    assert "Every token" in figure.axes[0].get_title("left")


def test_ids_may_be_a_tensor_and_no_vectors_are_refused():
    figure = plot_rows(ROWS, words=WORDS, token_ids=torch.tensor(TOKEN_IDS))
    assert figure.get_label().endswith("in the columns of “the”")
    with pytest.raises(ValueError, match="vectors must hold at least one vector, got none"):
        plot_rows(ROWS[:0], words=[], token_ids=[])


def test_equal_rows_of_different_tokens_are_not_called_their_own():
    figure = plot_rows(torch.ones(2, 3), words=["a", "b"], token_ids=[4, 5])
    assert figure.axes[0].get_title("left") == "Every token occurs once"
