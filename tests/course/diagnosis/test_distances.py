"""Accuracy after a wrong token is counted by its distance."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.diagnosis.distances import accuracy_by_distance
from transformer_edu.model.transformer import Transformer, TransformerConfig

SIZE = 12
PAIRS = [([4, 5, 6], [7, 8, 9, 10]), ([5], [11]), ([9, 8], [4, 4, 6])]


class _Oracle(nn.Module):
    """Always answers a fixed target, unless a token that it reads is not the true one."""

    def __init__(self, offsets: tuple[int, ...]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.offsets = offsets  # which inputs a prediction reads, relative to its place
        self.seen: list[Tensor] = []

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        self.seen.append(target_ids.clone())
        labels = torch.zeros_like(target_ids)
        for row, (_, target) in enumerate(PAIRS):
            labels[row, : len(target) + 1] = torch.tensor([*target, 2])
        true = F.pad(labels[:, :-1], (1, 0), value=1).masked_fill(target_ids == 0, 0)
        wrong = F.pad(target_ids != true, (3, 3))
        length = target_ids.size(1)
        read_wrong = torch.stack([wrong[:, 3 + o : 3 + o + length] for o in self.offsets]).any(0)
        return F.one_hot(labels.masked_fill(read_wrong, 3), SIZE).float()


def scores(*offsets: int) -> dict[int, float]:
    return accuracy_by_distance(_Oracle(offsets), PAIRS, vocabulary_size=SIZE)


def test_a_model_that_reads_one_token_is_wrong_at_distance_0_only():
    found = scores(0)
    assert found[0] == 0
    assert all(share == 1 for distance, share in found.items() if distance != 0)


def test_a_model_that_sees_the_future_is_wrong_before_the_token():
    found = scores(1)
    assert (found[-1], found[0]) == (0, 1)


def test_a_model_that_reads_two_positions_back_is_wrong_two_later():
    found = scores(-2)
    assert (found[0], found[1], found[2]) == (1, 1, 0)


def test_distances_reach_to_four_and_as_far_as_there_are_predictions():
    assert list(scores(0)) == [-4, -3, -2, -1, 0, 1, 2, 3]


def test_exactly_one_real_token_is_another_word_each_time():
    oracle = _Oracle((0,))
    accuracy_by_distance(oracle, PAIRS, vocabulary_size=SIZE)
    true = torch.tensor([[1, 7, 8, 9, 10], [1, 11, 0, 0, 0], [1, 4, 4, 6, 0]])
    assert len(oracle.seen) == 4
    for place, given in enumerate(oracle.seen, start=1):
        changed = given != true
        assert changed.equal((torch.arange(5) == place) & (true != 0))
        assert given[changed].min() >= 4
        assert given[changed].max() < SIZE


def test_a_causal_model_is_untouched_before_the_token_and_keeps_its_mode():
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 16, "dropout": 0.0}
    model = Transformer(TransformerConfig(vocabulary_size=SIZE, **sizes)).train()
    first = accuracy_by_distance(model, PAIRS, vocabulary_size=SIZE)
    second = accuracy_by_distance(model, PAIRS, vocabulary_size=SIZE - 1)
    assert all(first[distance] == second[distance] for distance in (-4, -3, -2, -1))
    assert model.training
