"""A copy task as it was published, three faults included (notebooks/10_training.ipynb).

It prints a rising accuracy and cannot copy: the end token is never trained, the embeddings drown
the positions, and the accuracy is that of the batch just learned from, with dropout on.
"""

import torch
from torch import Tensor

from transformer_edu.data.toy_tasks import Task
from transformer_edu.model.special_ids import END_ID, PADDING_ID
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.evaluation import Evaluation, evaluate
from transformer_edu.training.loop import endless_batches, paper_adam
from transformer_edu.training.loss import token_accuracy, token_loss
from transformer_edu.training.machine.device import (
    device_of,
    random_state_restored,
    suitable_threads,
)

Printed = tuple[int, float, float]  # step, loss and accuracy of the batch just learned from


def published_labels(label_ids: Tensor) -> Tensor:
    """Labels whose end token is padding, which the loss ignores: nobody learns to stop.

    Args:
        label_ids: Shape (batch, target position).
    """
    return label_ids.masked_fill(label_ids == END_ID, PADDING_ID)


def train_as_published(
    model: Transformer, task: Task, config: TrainingConfig
) -> tuple[list[Evaluation], list[Printed]]:
    """Train with the published loop, and beside it measure what the model can really do.

    Args:
        model: Trained in place, and left in evaluation mode.
        task: What to learn, and what to be watched by.
        config: The choices of the run; the learning rate stays as it is, nothing is smoothed.

    Returns:
        Evaluations on held-out pairs, and for each of them what the loop printed.
    """
    optimizer = paper_adam(model, config.learning_rate)
    evaluations, printed = [], []
    batches = endless_batches(task, config)
    longest = config.largest_gradient or float("inf")
    with random_state_restored(), suitable_threads(model):
        torch.manual_seed(config.seed)
        for step in range(1, config.steps + 1):
            model.train()
            batch = next(batches).to(device_of(model))
            labels = published_labels(batch.label_ids)
            logits = model(batch.source_ids, batch.decoder_input_ids)
            loss = token_loss(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), longest)
            optimizer.step()
            if step % config.evaluate_every == 0 or step == config.steps:
                printed.append((step, loss.item(), token_accuracy(logits, labels).item()))
                watched = task.validation[: config.evaluate_on]
                evaluations.append(evaluate(model, watched, step=step))
    model.eval()
    return evaluations, printed
