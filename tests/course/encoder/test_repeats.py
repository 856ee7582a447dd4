"""The task of lesson 7 has the answers that it says, and its training changes only the encoder."""

import torch
from torch import nn

from transformer_course.encoder.repeats import occurs_again, train_on_repeats


def test_a_row_counts_only_if_its_first_symbol_occurs_again():
    rows = torch.tensor([[1, 2, 3, 1, 4], [1, 2, 2, 3, 3], [0, 0, 0, 0, 0]])
    assert occurs_again(rows).tolist() == [True, False, True]


def test_without_context_the_task_is_not_learned():
    losses = train_on_repeats(nn.Identity())
    assert len(losses) == 100 and min(losses[-10:]) > 0.6


def test_it_changes_the_encoder_and_not_the_random_numbers_of_the_reader():
    encoder = nn.Linear(32, 32)
    weight, state = encoder.weight.clone(), torch.random.get_rng_state()
    train_on_repeats(encoder)
    assert not encoder.weight.equal(weight)
    assert torch.random.get_rng_state().equal(state)
