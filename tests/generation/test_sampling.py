"""Sampling draws what the model's probabilities say, and nothing that was ruled out."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.generation.test_greedy import SOURCES, VOCABULARY, Copyist, padded, transformer
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.sampling import candidate_probabilities, draw, sample
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID

ROWS, POSITIONS = 3, 4


class Lottery(nn.Module):
    """Draws from the same probabilities at every step, whatever the source and the target are."""

    def __init__(self, probabilities: dict[int, float]) -> None:
        super().__init__()
        self.logits = torch.full((VOCABULARY,), -torch.inf)
        for token_id, probability in probabilities.items():
            self.logits[token_id] = math.log(probability)

    def source_mask(self, source_ids: Tensor) -> Tensor:
        return (source_ids != PADDING_ID)[:, None, None]

    def encode(self, source_ids: Tensor, *, source_mask: Tensor) -> Tensor:
        return source_ids

    def decode(self, target_ids: Tensor, memory: Tensor, *, source_mask: Tensor) -> Tensor:
        return self.logits.expand(*target_ids.shape, -1)

    def project(self, decoded: Tensor) -> Tensor:
        return decoded


@pytest.fixture
def logits() -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(ROWS, POSITIONS, VOCABULARY, generator=generator) * 2


def likeliest(row: Tensor, count: int) -> set[int]:
    return set(sorted(range(len(row)), key=lambda token_id: (-row[token_id], token_id))[:count])


def possible(row: Tensor) -> set[int]:
    return set(row.nonzero().flatten().tolist())


# The probabilities


@pytest.mark.parametrize("temperature", [0.1, 0.7, 1, 3.0])
def test_a_temperature_divides_the_logits(logits, temperature):
    found = candidate_probabilities(logits, temperature=temperature)
    torch.testing.assert_close(found, (logits / temperature).softmax(dim=-1))


@pytest.mark.parametrize("top_k", [1, 2, 5, VOCABULARY, VOCABULARY + 3])
def test_top_k_keeps_the_k_likeliest_in_proportion(logits, top_k):
    found = candidate_probabilities(logits, top_k=top_k)
    for row, probabilities in zip(logits.flatten(0, 1), found.flatten(0, 1), strict=True):
        kept = likeliest(row, top_k)
        assert possible(probabilities) == kept
        cut = row.softmax(0).index_fill(0, torch.tensor([*set(range(VOCABULARY)) - kept] or [0]), 0)
        expected = cut / cut.sum() if len(kept) < VOCABULARY else row.softmax(0)
        torch.testing.assert_close(probabilities, expected)


def test_top_k_keeps_exactly_k_of_equally_likely_tokens():
    found = candidate_probabilities(torch.zeros(2, VOCABULARY), top_k=3)
    assert found.tolist() == [pytest.approx([1 / 3] * 3 + [0] * (VOCABULARY - 3))] * 2


@pytest.mark.parametrize("top_p", [1e-320, 1e-46, 1e-9, 0.3, 0.5, 0.9, 0.999, 1])
def test_top_p_keeps_the_smallest_set_that_reaches_p(logits, top_p):
    found = candidate_probabilities(logits, top_p=top_p)
    for row, probabilities in zip(logits.flatten(0, 1), found.flatten(0, 1), strict=True):
        all_of_them, kept = row.softmax(0), possible(probabilities)
        assert kept == likeliest(row, len(kept))
        reached = all_of_them[list(kept)].sum()
        assert reached >= top_p - 1e-6
        assert (reached - all_of_them[list(kept)].min()).item() < top_p
        torch.testing.assert_close(probabilities.sum(), torch.tensor(1.0))
        torch.testing.assert_close(
            probabilities[list(kept)], all_of_them[list(kept)] / reached, rtol=1e-5, atol=0
        )


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.2, 1), (0.4, 1), (0.41, 2), (0.7, 2), (0.9, 3), (0.91, 4), (1.0, 4)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_set_that_reaches_p_exactly_is_large_enough(top_p, kept, dtype):
    logits = torch.tensor([0.1, 0.4, 0.2, 0.3], dtype=dtype).log()
    assert int((candidate_probabilities(logits, top_p=top_p) > 0).sum()) == kept


@pytest.mark.parametrize("min_p", [1e-9, 0.1, 0.5, 1])
def test_min_p_keeps_what_has_that_fraction_of_the_largest_probability(logits, min_p):
    found = candidate_probabilities(logits, min_p=min_p)
    probabilities = logits.softmax(dim=-1)
    kept = probabilities * (probabilities >= min_p * probabilities.amax(dim=-1, keepdim=True))
    torch.testing.assert_close(found, kept / kept.sum(dim=-1, keepdim=True))


def test_a_fraction_that_is_reached_exactly_is_kept():
    logits = torch.tensor([0.1, 0.4, 0.2, 0.3]).log()
    assert possible(candidate_probabilities(logits, min_p=0.5)) == {1, 2, 3}
    assert possible(candidate_probabilities(logits, min_p=0.51)) == {1, 3}


def test_min_p_cuts_what_the_temperature_and_the_other_limits_leave():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    assert possible(candidate_probabilities(logits, min_p=0.5)) == {0, 1, 2}
    assert possible(candidate_probabilities(logits, top_k=2, min_p=0.5)) == {0, 1}
    assert possible(candidate_probabilities(logits, top_p=0.3, min_p=0.1)) == {0}
    assert possible(candidate_probabilities(logits, temperature=0.5, min_p=0.5)) == {0, 1}
    assert len(possible(candidate_probabilities(logits, temperature=9.0, min_p=0.5))) == 4


def test_temperature_comes_first_then_top_k_then_top_p():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    # Of the first two alone, the first has 4/7: 0.5 is reached, which 0.4 of all would not.
    assert possible(candidate_probabilities(logits, top_k=2, top_p=0.5)) == {0}
    assert possible(candidate_probabilities(logits, top_p=0.5)) == {0, 1}
    hot = candidate_probabilities(logits, temperature=100.0, top_k=2, top_p=0.52)
    assert possible(hot) == {0, 1}


@pytest.mark.parametrize(
    "choice",
    [{"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1}, {"temperature": 1e-3}, {"temperature": 1e-320}],
    ids=str,
)
def test_every_limit_leaves_the_argmax_alone(logits, choice):
    found = candidate_probabilities(logits, **choice)
    assert found.equal(F.one_hot(logits.argmax(dim=-1), VOCABULARY).float())


@pytest.mark.parametrize("temperature", [1e-320, 1e-30, 1.0, 1e30, 1e300])
@pytest.mark.parametrize("scale", [1.0, 1e5, 1e30], ids="scale {:g}".format)
def test_no_temperature_and_no_logits_make_probabilities_that_are_no_numbers(temperature, scale):
    logits = torch.tensor([1.0, -torch.inf, 0.5]) * scale
    found = candidate_probabilities(logits, temperature=temperature, top_p=0.999)
    assert found[1] == 0
    torch.testing.assert_close(found.sum(), torch.tensor(1.0))


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
    ids=str,
)
def test_probabilities_are_of_float32_at_least(logits, given, counted):
    for choice in ({}, {"top_k": 3}, {"top_p": 0.5}, {"min_p": 0.5}):
        assert candidate_probabilities(logits.to(given), **choice).dtype == counted


def test_logits_are_not_changed(logits):
    before = logits.clone()
    candidate_probabilities(logits, temperature=0.5, top_k=3, top_p=0.5)
    assert logits.equal(before)


# The draw


def test_luck_that_is_evenly_spread_draws_every_token_as_often_as_is_probable():
    probabilities = torch.tensor([0.0, 0.25, 0.0, 0.125, 0.5, 0.125, 0.0])
    luck = (torch.arange(800) + 0.5) / 800
    drawn = draw(probabilities.expand(800, -1), luck)
    assert drawn.bincount(minlength=7).tolist() == [0, 200, 0, 100, 400, 100, 0]


@pytest.mark.parametrize("luck", [0.0, 1 - 2**-24, 1.0])
def test_no_luck_draws_the_impossible(luck):
    generator = torch.Generator().manual_seed(0)
    probabilities = torch.rand(500, 30, generator=generator)
    probabilities[:, [0, 1, 17, 28, 29]] = 0.0
    probabilities /= probabilities.sum(dim=1, keepdim=True)
    drawn = draw(probabilities, torch.full((500,), luck))
    assert drawn.unique().tolist() == [2 if luck == 0 else 27]


@pytest.mark.parametrize(
    "row", [[0.5, math.nan], [1.5, -0.5], [0.0, 0.0], [math.inf, 0.0], [-1.0, -1.0]]
)
def test_what_are_no_probabilities_draws_nothing(row):
    message = "^probabilities must be at least 0 and not all 0, .*, got others in row 1"
    with pytest.raises(ValueError, match=message):
        draw(torch.tensor([[0.25, 0.75], row]), torch.tensor([0.1, 0.2]))


@pytest.mark.parametrize("luck", [math.nan, -0.1, 1.1])
def test_what_is_no_luck_draws_nothing(luck):
    with pytest.raises(ValueError, match="and uniform from 0 to 1, got others in row 1$"):
        draw(torch.tensor([[0.25, 0.75], [0.5, 0.5]]), torch.tensor([0.1, luck]))


# Whole targets


@pytest.mark.parametrize(
    "choice", [{}, {"temperature": 2.0}, {"top_k": 3}, {"top_p": 0.9}, {"min_p": 0.2}], ids=str
)
def test_targets_are_drawn_as_often_as_they_are_probable(choice):
    model, rows = Lottery({4: 0.6, 5: 0.25, 6: 0.1, 7: 0.05}), 4000
    expected = candidate_probabilities(model.logits, **choice)
    source_ids = torch.full((rows, 1), 4)
    written = torch.tensor(sample(model, source_ids, generator=0, max_length=2, **choice))
    pairs = expected.outer(expected).flatten()  # the first and the second token
    counts = (written[:, 0] * VOCABULARY + written[:, 1]).bincount(minlength=len(pairs))
    seen = pairs > 0
    assert counts[~seen].sum() == 0
    statistic = ((counts - rows * pairs)[seen] ** 2 / (rows * pairs)[seen]).sum()
    freedom = int(seen.sum()) - 1
    # Wilson and Hilferty: about the value that chance passes once in 10,000 times.
    critical = freedom * (1 - 2 / (9 * freedom) + 3.72 * math.sqrt(2 / (9 * freedom))) ** 3
    assert statistic < critical


def test_a_row_ends_as_often_as_the_end_token_is_probable():
    model = Lottery({4: 0.75, END_ID: 0.25})
    written = sample(model, torch.full((4000, 1), 4), generator=0)
    mean_length = sum(map(len, written)) / len(written)
    assert mean_length == pytest.approx(3.0, abs=0.2)  # 0.75 / 0.25; four standard errors


@pytest.mark.parametrize("choice", [{"top_k": 1}, {"top_p": 1e-46}, {"temperature": 1e-6}], ids=str)
def test_the_limits_are_greedy_search(choice):
    for seed in range(4):
        model = transformer(seed)
        for end_id in (END_ID, 7):
            asked = {"max_length": 9, "end_id": end_id}
            written = sample(model, padded(SOURCES), generator=seed, **choice, **asked)
            assert written == greedy_search(model, padded(SOURCES), **asked)


def test_a_seed_decides_what_is_drawn():
    model = transformer(0)

    def drawn(generator: torch.Generator | int | None) -> list[list[int]]:
        return sample(model, padded(SOURCES), generator=generator, max_length=9)

    different = {str(drawn(seed)) for seed in range(8)}
    assert len(different) == 8
    assert drawn(3) == drawn(3) == drawn(torch.Generator().manual_seed(3))
    generator = torch.Generator().manual_seed(3)
    assert drawn(generator) == drawn(3)
    assert drawn(generator) != drawn(3)  # a generator moves on


def test_without_a_generator_the_seed_of_torch_decides():
    model = transformer(0)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        torch.rand(3)
        first = sample(model, padded(SOURCES), max_length=9)
        assert first == sample(model, padded(SOURCES), generator=5, max_length=9)
        torch.manual_seed(6)
        assert sample(model, padded(SOURCES), max_length=9) != first


def test_a_row_does_not_depend_on_the_other_rows():
    for seed in range(4):
        model = transformer(seed).double()
        together = sample(model, padded(SOURCES), generator=seed)
        assert sample(model, padded(SOURCES[:1]), generator=seed) == together[:1]
        others = [[7, 7, 7, 7, 7, 7, 7], SOURCES[1], [3]]
        assert sample(model, padded(others), generator=seed)[1] == together[1]


def test_a_row_does_not_depend_on_when_the_others_are_done():
    model = transformer(2).double()
    written = [sample(model, padded(SOURCES), generator=1, max_length=n) for n in range(1, 12)]
    for row in range(len(SOURCES)):
        for shorter, longer in itertools.pairwise(written):
            assert longer[row][: len(shorter[row])] == shorter[row]


def test_equal_sources_get_targets_of_their_own():
    written = sample(transformer(0), padded([SOURCES[0]] * 6), generator=0, max_length=9)
    assert len({tuple(row) for row in written}) == 6


def test_rows_end_at_their_end_token_and_special_tokens_are_left_out():
    scripted = Copyist({4: [5, PADDING_ID, 6, START_ID, 7], 9: [], 10: [3, 3]})
    assert sample(scripted, padded(SOURCES), top_k=1) == [[5, 6, 7], [], [3, 3]]


BAD_CHOICES = [
    ({"temperature": 0}, ValueError, r"above 0 \(at 0 it would be greedy_search\), got 0"),
    ({"temperature": -1.0}, ValueError, "temperature must be a finite number above 0"),
    ({"temperature": math.nan}, ValueError, "temperature must be a finite number above 0"),
    ({"temperature": math.inf}, ValueError, "temperature must be a finite number above 0"),
    ({"temperature": "1"}, TypeError, "temperature must be a number, got '1'"),
    ({"temperature": True}, TypeError, "temperature must be a number, got True"),
    ({"top_k": 0}, ValueError, "top_k must be at least 1, got 0"),
    ({"top_k": 2.5}, TypeError, "top_k must be a whole number, got 2.5"),
    ({"top_p": 0.0}, ValueError, "top_p must be above 0 and at most 1, got 0.0"),
    ({"top_p": 1.5}, ValueError, "top_p must be above 0 and at most 1, got 1.5"),
    ({"top_p": math.nan}, ValueError, "top_p must be above 0 and at most 1, got nan"),
    ({"top_p": "0.9"}, TypeError, "top_p must be a number, got '0.9'"),
    ({"min_p": 0.0}, ValueError, "min_p must be above 0 and at most 1, got 0.0"),
    ({"min_p": 1.5}, ValueError, "min_p must be above 0 and at most 1, got 1.5"),
    ({"min_p": True}, TypeError, "min_p must be a number, got True"),
]


@pytest.mark.parametrize(("changes", "error", "message"), BAD_CHOICES)
def test_a_choice_that_leaves_nothing_to_draw_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        candidate_probabilities(torch.zeros(2, 5), **changes)
    with pytest.raises(error, match=message):
        sample(transformer(0), padded(SOURCES), **changes)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"generator": -1}, ValueError, "generator must be at least 0, got -1"),
        ({"generator": 2**63}, ValueError, "generator must be at most [0-9,]+, got 9,223,"),
        ({"generator": "dice"}, TypeError, "generator must be a whole number, got 'dice'"),
    ],
)
def test_what_is_no_generator_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        sample(transformer(0), padded(SOURCES), **changes)


@pytest.mark.parametrize(
    ("logits", "error", "message"),
    [
        ([0.0, 1.0], TypeError, "logits must be a floating-point tensor, got list"),
        (
            torch.tensor([1, 2]),
            TypeError,
            "logits must be a floating-point tensor, got torch.int64",
        ),
        (torch.tensor(1.0), ValueError, r"logits must have no empty axis, got the shape \(\)"),
        (torch.zeros(2, 0), ValueError, r"logits must have no empty axis, got the shape \(2, 0\)"),
        (torch.tensor([0.0, torch.nan]), ValueError, "finite maximum in every row, got nan"),
        (torch.tensor([0.0, torch.inf]), ValueError, "finite maximum in every row, got inf"),
        (torch.full((3,), -torch.inf), ValueError, "finite maximum in every row, got -inf"),
    ],
)
def test_what_are_no_logits_is_refused(logits, error, message):
    with pytest.raises(error, match=message):
        candidate_probabilities(logits)
