"""The best come first, and of equal ones the first."""

import pytest
import torch

from transformer_edu.generation.ranking import best_first, largest, require_finite_maximum

ROWS, SIZE = 4, 30


@pytest.mark.parametrize("count", [1, 2, 7, SIZE - 1, SIZE])
@pytest.mark.parametrize("levels", [1, 3, 1000], ids="levels {}".format)
def test_the_largest_come_first_and_of_equal_ones_the_first(count, levels):
    generator = torch.Generator().manual_seed(0)
    values = torch.randint(levels, (ROWS, 2, SIZE), generator=generator).float()
    best, places = best_first(values, count)
    assert best.equal(values.gather(-1, places))
    for row, chosen in zip(
        values.flatten(0, 1).tolist(), places.flatten(0, 1).tolist(), strict=True
    ):
        assert chosen == sorted(range(SIZE), key=lambda place: (-row[place], place))[:count]


def test_the_first_of_all_is_the_argmax():
    values = torch.randint(3, (200, SIZE), generator=torch.Generator().manual_seed(0)).float()
    assert best_first(values, 1)[1].squeeze(1).equal(values.argmax(dim=1))


def test_there_are_never_more_than_there_are():
    values = torch.tensor([2.0, 3.0, 1.0])
    assert best_first(values, 5)[1].tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("count", "error", "message"),
    [
        (True, TypeError, "count must be a whole number, got True"),
        (0, ValueError, "count must be at least 1, got 0"),
        (-2, ValueError, "count must be at least 1, got -2"),
    ],
)
def test_what_is_no_count_is_refused(count, error, message):
    with pytest.raises(error, match=message):
        best_first(torch.tensor([2.0, 3.0, 1.0]), count)


def test_equals_that_are_impossible_do_not_disturb_the_others():
    values = torch.full((SIZE,), -torch.inf)
    values[[4, 9, 20]] = torch.tensor([1.0, 5.0, 1.0])
    best, places = best_first(values, 6)
    assert places[:3].tolist() == [9, 4, 20]
    assert best[3:].isneginf().all()


def test_finite_maxima_are_possible():
    require_finite_maximum(torch.tensor([[-1e30, 0.0], [3.0, 1e30]]))


@pytest.mark.parametrize("value", [torch.inf, -torch.inf, torch.nan])
def test_other_maxima_are_refused(value):
    with pytest.raises(ValueError, match=f"finite maximum in every row, got {value}"):
        require_finite_maximum(torch.tensor([1.0, value, 2.0]))


@pytest.mark.parametrize("size", [900, 1000, 1037])
@pytest.mark.parametrize("count", [1, 2, 6])
@pytest.mark.parametrize("kind", ["different", "few possible"])
def test_the_largest_of_long_rows_are_those_of_all(size, count, kind):
    values = torch.randn(3, 2, size, generator=torch.Generator().manual_seed(size))
    if kind == "few possible":
        values[..., 7:-7] = -torch.inf  # the last block's rest counts too
    best, places = largest(values, count)
    expected, at = values.topk(count)
    assert best.equal(expected) and places.equal(at)
