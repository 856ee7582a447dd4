"""A single process computes everything, and changes nothing that is given to it."""

import torch

from transformer_edu.training.data.batches import make_batch
from transformer_edu.training.machine.processes import joined_processes

BATCH = make_batch([([4] * n, [5] * (2 * n % 5)) for n in range(1, 8)])


def test_a_single_process_computes_everything():
    with joined_processes() as alone, alone.first_before_others():
        assert (alone.count, alone.number, alone.is_first) == (1, 0, True)
        for (part, weight), (own, share) in zip(alone.parts(BATCH, 2), BATCH.parts(2), strict=True):
            assert part.label_ids.equal(own.label_ids) and weight == share
        assert alone.sum([1.5, 2]) == [1.5, 2]
        assert alone.mean(0.1) == 0.1
        assert list(alone.rows(3)) == [0, 1, 2]
        assert alone.gather([[4, 5], []], 2) == [[4, 5], []]
        alone.wait()
        model = torch.nn.Linear(2, 3)
        assert alone.replica(model) is model
