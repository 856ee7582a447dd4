"""Principal axes as PyTorch finds them, and neighbours by cosine."""

import pytest
import torch

from transformer_edu.teaching.inspect.embedding_map import (
    MapWord,
    Neighbors,
    find_words,
    nearest,
    principal_axes,
)
from transformer_edu.training.data.vocabulary import Vocabulary
from transformer_edu.training.runs.saved_translator import Words

VECTORS, WIDTH = 11, 7
TOKENIZER = Words(Vocabulary(["dog", "Hund", "man"]))


@pytest.fixture
def vectors() -> torch.Tensor:
    """A cloud that is longer in some directions than in others, and far from zero."""
    generator = torch.Generator().manual_seed(0)
    cloud = torch.randn(VECTORS, WIDTH, generator=generator, dtype=torch.float64)
    return cloud * torch.tensor([5.0, 1.0, 3.0, 0.5, 2.0, 1.5, 0.1]) + 40


def test_the_first_axes_hold_the_variance_of_their_coordinates(vectors):
    found = principal_axes(vectors)
    assert found.coordinates.shape == (VECTORS, 2) and found.axes.shape == (2, WIDTH)
    variances = found.coordinates.var(dim=0) / vectors.var(dim=0).sum()
    torch.testing.assert_close(found.explained_variance_ratio, variances)
    assert (found.explained_variance_ratio.diff() <= 0).all()


def test_a_line_needs_one_axis_and_keeps_its_distances():
    direction = torch.tensor([0.6, 0.0, 0.8])
    found = principal_axes(torch.tensor([[-2.0], [0.0], [1.0], [5.0]]) * direction + 3)
    torch.testing.assert_close(found.axes[0].float(), direction)
    torch.testing.assert_close(
        found.explained_variance_ratio, torch.tensor([1.0, 0.0], dtype=torch.float64)
    )
    expected = torch.tensor([-3.0, -1.0, 0.0, 4.0])  # around the mean
    torch.testing.assert_close(found.coordinates[:, 0].float(), expected)


def test_agrees_with_pytorch_up_to_the_sign(vectors):
    found = principal_axes(vectors)
    torch.manual_seed(0)
    _, lengths, directions = torch.pca_lowrank(vectors, q=WIDTH, niter=10)
    cosines = (found.axes * directions.T[:2]).sum(dim=1)
    torch.testing.assert_close(cosines.abs(), torch.ones(2, dtype=torch.float64))
    torch.testing.assert_close(
        found.explained_variance_ratio, lengths[:2] ** 2 / (lengths**2).sum()
    )


def test_order_and_sign_do_not_depend_on_where_or_in_which_order_the_vectors_lie(vectors):
    expected = principal_axes(vectors)
    largest = expected.axes.gather(1, expected.axes.abs().argmax(dim=1, keepdim=True))
    assert (largest > 0).all()
    order = torch.randperm(VECTORS, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(principal_axes(vectors[order]).axes, expected.axes)
    torch.testing.assert_close(principal_axes(vectors - 100).coordinates, expected.coordinates)
    torch.testing.assert_close(principal_axes(-vectors).axes, expected.axes)


def test_the_vectors_stay_as_they_are(vectors):
    table = torch.nn.Parameter(vectors.clone())
    assert not principal_axes(table).coordinates.requires_grad
    assert torch.equal(table, vectors) and table.grad is None


def test_neighbours_are_those_of_the_smallest_angle():
    angles = torch.tensor([0.0, 10.0, 40.0, 180.0, 90.0]).deg2rad()
    lengths = torch.tensor([[1.0], [9.0], [0.2], [1.0], [3.0]])
    table = torch.stack([angles.cos(), angles.sin()], dim=1) * lengths
    (found,) = nearest(table, [0], tokens="abcde", count=4)
    assert found.token == "a"
    assert [name for name, _ in found.nearest] == ["b", "c", "e", "d"]
    cosines = torch.tensor([cosine for _, cosine in found.nearest])
    torch.testing.assert_close(cosines, angles.cos()[[1, 2, 4, 3]])


def test_only_those_among_are_neighbours_and_no_token_is_its_own(vectors):
    names = [str(number) for number in range(VECTORS)]
    found = nearest(vectors, [3, 8], tokens=names, count=2, among=[8, 3, 5])
    assert {name for name, _ in found[0].nearest} == {"8", "5"}
    assert {name for name, _ in found[1].nearest} == {"3", "5"}


def test_neighbours_are_printed_as_a_line():
    assert str(Neighbors("a", (("bc", 0.5), ("d", -0.126)))) == f"{'a':12} bc 0.50  d -0.13"


def test_words_of_several_pieces_are_left_out_and_named():
    groups = {
        "animals": {"English": ["dog", "polar bear"], "German": ["Hund"]},
        "people": {"English": ["man"], "German": ["der Mann"]},
    }
    found, left_out = find_words(groups, TOKENIZER)
    assert found == [
        MapWord("dog", "animals", "English", 4),
        MapWord("Hund", "animals", "German", 5),
        MapWord("man", "people", "English", 6),
    ]
    assert left_out == ["polar bear", "der Mann"]
