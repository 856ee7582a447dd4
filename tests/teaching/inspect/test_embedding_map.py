"""Neighbors by cosine."""

import pytest
import torch

from transformer_edu.teaching.inspect.embedding_map import Neighbors, nearest

VECTORS, WIDTH = 11, 7


@pytest.fixture
def vectors() -> torch.Tensor:
    """A cloud that is longer in some directions than in others, and far from zero."""
    generator = torch.Generator().manual_seed(0)
    cloud = torch.randn(VECTORS, WIDTH, generator=generator, dtype=torch.float64)
    return cloud * torch.tensor([5.0, 1.0, 3.0, 0.5, 2.0, 1.5, 0.1]) + 40


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
