"""What lesson 03 runs on: the reader's mask of exercise 3.1, and models that learn to reverse."""

from collections.abc import Callable
from contextlib import suppress

import torch
from torch import Tensor

from transformer_course.small_models import small_config
from transformer_edu.data.toy_tasks import Task, reverse_task
from transformer_edu.model.special_ids import PADDING_ID
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.evaluation import Evaluation, evaluate
from transformer_edu.training.loop import fit

TRIAL = torch.tensor([[1, 7, 9, 0], [1, 4, 5, 6]])
STEPS = 200


def mask_of_decoder(token_ids: Tensor) -> Tensor:
    """True where a query of the decoder may attend to a key: a real token, and not a later one.

    Args:
        token_ids: Shape (batch, position).

    Returns:
        Shape (batch, query, key).
    """
    length = token_ids.size(1)
    causal = torch.ones(length, length, dtype=torch.bool, device=token_ids.device).tril()
    return (token_ids != PADDING_ID)[:, None, :] & causal


def finished_mask(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The reader's function, or the course's where the reader's is not finished: this is printed.

    Args:
        function: The reader's answer to exercise 3.1.
    """
    with suppress(Exception):  # an answer that does not run is not finished
        if function(TRIAL.clone()).equal(mask_of_decoder(TRIAL)):
            print("Your decoder_mask.")
            return lambda token_ids: function(token_ids.cpu()).to(token_ids.device)
    print("The course's decoder_mask, because yours is not right yet.")
    return mask_of_decoder


def train_to_reverse(
    kind: type[Transformer], device: torch.device
) -> tuple[Transformer, Evaluation]:
    """Train a small model to write eight symbols in reverse order.

    Args:
        kind: The Transformer, or one with a fault.
        device: Where it computes.

    Returns:
        The model, and its last evaluation.
    """
    torch.manual_seed(0)
    task = reversing()
    model = kind(small_config(task)).to(device)
    run = fit(model, task, TrainingConfig(steps=STEPS, evaluate_every=STEPS, progress=True))
    if run.interrupted:
        print("The training was interrupted: run this cell again, to its end.")
        return model, evaluate(model, task.validation[:100])
    return model, run.evaluations[-1]


def reversing() -> Task:
    """The task of train_to_reverse: 16 symbols, of which eight are to be reversed."""
    return reverse_task(num_symbols=16)
