"""Words as rows: the nearest are drawn first, and columns of one id are framed and compared."""

import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle

from transformer_edu.teaching.figures.words import NUMBERS_DRAWN, plot_neighbors, plot_rows
from transformer_edu.teaching.inspect.embedding_map import Neighbors

FOUND = [
    Neighbors("dog", (("cat", 0.75), ("puppy", 0.5))),
    Neighbors("soup", (("broth", 0.625), ("stew", 0.25))),
]
VECTORS = torch.randn(4, NUMBERS_DRAWN + 3, generator=torch.Generator().manual_seed(0))
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
    (image,) = plot_rows(VECTORS, words=WORDS, token_ids=TOKEN_IDS).axes[0].images
    drawn = np.asarray(image.get_array())
    np.testing.assert_allclose(drawn, VECTORS[:, :NUMBERS_DRAWN].T)


def test_a_few_large_numbers_do_not_make_the_others_pale():
    vectors = VECTORS.clone()
    vectors[0, 0] = 1000.0
    (image,) = plot_rows(vectors, words=WORDS, token_ids=TOKEN_IDS).axes[0].images
    low, high = image.get_clim()
    assert low == -high
    within = vectors[:, :NUMBERS_DRAWN].abs() <= high
    assert 0.85 < within.float().mean() < 0.95


@pytest.mark.parametrize(("same", "said"), [(True, "Equal"), (False, "Different")])
def test_tokens_that_occur_again_are_framed_and_compared(same, said):
    vectors = VECTORS[[0, 1, 0, 3]] if same else VECTORS
    figure = plot_rows(vectors, words=WORDS, token_ids=TOKEN_IDS)
    frames = [each for each in figure.axes[0].patches if isinstance(each, Rectangle)]
    assert [frame.get_x() for frame in frames] == [-0.5, 1.5]
    assert figure.axes[0].get_title("left") == f"{said} numbers in the columns of “the”"
    assert figure.get_label().endswith("in the columns of “the”")


def test_without_a_token_that_occurs_again_nothing_is_framed():
    figure = plot_rows(VECTORS[1:], words=WORDS[1:], token_ids=TOKEN_IDS[1:])
    assert not figure.axes[0].patches
    assert "Every token" in figure.axes[0].get_title("left")
