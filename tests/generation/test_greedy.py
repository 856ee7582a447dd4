"""Greedy search writes what an argmax by hand writes, and knows when to stop."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.small_model import small_transformer
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.model.transformer import Transformer

VOCABULARY = 11
SOURCES = [[4, 5, 6, 7, 8], [9, 4], [10, 10, 6]]


def padded(rows: list[list[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [PADDING_ID] * (longest - len(row)) for row in rows])


class Copyist(nn.Module):
    """Writes a script for each source, then the end token for ever (without one, token 4)."""

    def __init__(self, scripts: dict[int, list[int]], end: int = END_ID) -> None:
        super().__init__()
        self.scripts, self.end, self.lengths = scripts, end, []

    def source_mask(self, source_ids: Tensor) -> Tensor:
        return (source_ids != PADDING_ID)[:, None, None]

    def encode(self, source_ids: Tensor, *, source_mask: Tensor) -> Tensor:
        return source_ids[:, :1]

    def decode(self, target_ids: Tensor, memory: Tensor, *, source_mask: Tensor) -> Tensor:
        length = target_ids.size(1)
        self.lengths.append(length)
        rows = [self.scripts[first] + [self.end] * length for first in memory[:, 0].tolist()]
        return F.one_hot(torch.tensor([row[:length] for row in rows]), VOCABULARY).float()

    def project(self, decoded: Tensor) -> Tensor:
        return decoded


def transformer(seed: int, **changes: int) -> Transformer:
    sizes = {"num_layers": 2, "max_length": 64, "dropout": 0.3, "tie_embeddings": False}
    return small_transformer(VOCABULARY, seed=seed, **sizes | changes)


def rollout(model: Transformer, source: list[int], max_length: int, end_id: int) -> list[int]:
    """One row alone, through the model's forward, in the plainest way."""
    written = [START_ID]
    model.eval()
    while len(written) <= max_length:
        with torch.no_grad():
            logits = model(torch.tensor([source]), torch.tensor([written]))[0, -1]
        token = max(range(VOCABULARY), key=lambda i: logits[i])
        if token == end_id:
            break
        written.append(token)
    return [token for token in written if token not in (START_ID, PADDING_ID)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("end_id", [END_ID, 7])
def test_every_token_is_the_argmax_of_a_row_computed_alone(seed, end_id):
    model = transformer(seed)
    expected = [rollout(model, source, 9, end_id) for source in SOURCES]
    assert greedy_search(model, padded(SOURCES), max_length=9, end_id=end_id) == expected


def test_a_row_does_not_depend_on_the_others_or_on_their_order():
    for seed in range(4):
        model = transformer(seed)
        together = greedy_search(model, padded(SOURCES))
        assert greedy_search(model, padded(SOURCES[::-1])) == together[::-1]
        assert [greedy_search(model, padded([source]))[0] for source in SOURCES] == together


def test_rows_that_end_early_wait_for_the_others_unchanged():
    model = Copyist({4: [5, 6, 7, 8, 9], 9: [], 10: [3, 3]})
    assert greedy_search(model, padded(SOURCES)) == [[5, 6, 7, 8, 9], [], [3, 3]]


def test_writing_stops_as_soon_as_the_last_row_has_ended():
    model = Copyist({4: [5, 6, 7], 9: [], 10: [3]})
    greedy_search(model, padded(SOURCES))
    assert model.lengths == [1, 2, 3, 4]


def test_a_model_that_never_ends_writes_exactly_the_maximum_length():
    model = Copyist({4: [5] * 30, 9: [6] * 30, 10: [7] * 30})
    for max_length in (1, 2, 7):
        written = greedy_search(model, padded(SOURCES), max_length=max_length)
        assert written == [[token] * max_length for token in (5, 6, 7)]


def test_start_and_padding_are_stripped_but_not_forbidden():
    model = Copyist({4: [5, PADDING_ID, 6, START_ID, 7]})
    assert greedy_search(model, padded([[4, 4]])) == [[5, 6, 7]]


def test_a_spectator_cannot_change_what_is_written():
    model, source_ids = transformer(0), padded(SOURCES)
    expected = greedy_search(model, source_ids)
    assert greedy_search(model, source_ids, after_step=lambda written: written.zero_()) == expected


def test_every_step_is_told():
    seen = []
    model = Copyist({4: [5, 6, 7], 9: [], 10: [3]})
    written = greedy_search(model, padded(SOURCES), after_step=seen.append)
    assert [ids.size(1) for ids in seen] == [2, 3, 4, 5]
    assert seen[-1][:, 1:].tolist() == [[5, 6, 7, 2], [2, 2, 2, 2], [3, 2, 2, 2]]
    assert written == [[5, 6, 7], [], [3]]
