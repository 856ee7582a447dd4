"""The check of lesson 9's training loop, and the course's own loop."""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from transformer_course.asking.answer import AnswerError, ask, close, exercise
from transformer_course.our_transformer import Transformer
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.model.special_ids import PADDING_ID

SIZES = {"vocabulary_size": 23, "d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20}
RATE = 1e-3


@dataclass(frozen=True)
class Loop:
    """A training loop; the defaults are right, and every other setting is a usual mistake.

    Args:
        ignore_index: The label that does not count.
        reads: What the decoder gets.
        labels: What it is compared with.
        zero: Whether gradients are cleared.
        step: Whether the weights change.
        renew: Whether every batch gets an optimizer of its own.
        softmax: Whether a softmax is between the model and the loss.
        running: Whether losses are added up.
        optimizer: The class that changes the weights.
    """

    ignore_index: int = PADDING_ID
    reads: str = "decoder_input_ids"
    labels: str = "label_ids"
    zero: bool = True
    step: bool = True
    renew: bool = False
    softmax: bool = False
    running: bool = False
    optimizer: type[torch.optim.Optimizer] = torch.optim.Adam

    def learn(self, model: nn.Module, batches: Iterable[Batch]) -> list[float]:
        """Train a model; returns the loss of every batch, in nats per token."""
        losses, optimizer = [], self.optimizer(model.parameters(), lr=RATE)
        for batch in batches:
            if self.renew:
                optimizer = self.optimizer(model.parameters(), lr=RATE)
            logits = model(batch.source_ids, getattr(batch, self.reads)).transpose(1, 2)
            loss = F.cross_entropy(
                logits.softmax(dim=1) if self.softmax else logits,
                getattr(batch, self.labels),
                ignore_index=self.ignore_index,
            )
            if self.zero:
                optimizer.zero_grad()
            if self.step:
                loss.backward()
                optimizer.step()
            losses.append(loss.item() + (losses[-1] if self.running and losses else 0))
        return losses


MISTAKES = {
    "The model does not learn: its weights are as before. Call loss.backward(), then "
    "optimizer.step(), and optimizer.zero_grad() before backward, not after it.": Loop(step=False),
    "The loss counts padding: give cross_entropy ignore_index=0.": Loop(ignore_index=-100),
    "The decoder reads its own answer: give the model decoder_input_ids, not label_ids.": Loop(
        reads="label_ids"
    ),
    "The labels are the decoder's input: compare with label_ids, which are one token ahead.": Loop(
        labels="decoder_input_ids"
    ),
    "Gradients of all batches add up: call optimizer.zero_grad() for every batch.": Loop(
        zero=False
    ),
    "You make a new optimizer for every batch: Adam forgets its averages. Make it before the "
    "loop.": Loop(renew=True),
    "cross_entropy takes logits and applies a log-softmax itself: leave the softmax out.": Loop(
        softmax=True
    ),
    f"That is SGD: use torch.optim.Adam with lr={RATE:g}.": Loop(optimizer=torch.optim.SGD),
    "One sum over all batches: return the loss of each batch.": Loop(running=True),
}


def our_learn(model: nn.Module, batches: Iterable[Batch]) -> list[float]:
    """The loop of exercise 9.2, for readers who have not written theirs.

    Args:
        model: Answers (source_ids, target_ids) with logits; it is trained.
        batches: On the model's device, each used once.

    Returns:
        The loss of every batch, in nats per token.
    """
    return Loop().learn(model, batches)


@exercise("9.2")
def check_learn(answer: Callable[..., object]) -> None:
    """Exercise 9.2: a function that trains a model on batches and returns their losses."""
    batches, fresh = _batches(), _fresh()
    model, evaluating = copy.deepcopy(fresh), []
    model.register_forward_pre_hook(lambda module, _: evaluating.append(not module.training))
    losses = ask(answer, model, tqdm(batches, disable=True))  # as the lesson does
    if not isinstance(losses, list) or len(losses) != len(batches):
        found = f"one of {len(losses)}" if isinstance(losses, list) else type(losses).__name__
        raise AnswerError(
            f"Return a list of losses, one for each of {len(batches)} batches; yours is {found}."
        )
    if tensors := [loss for loss in losses if isinstance(loss, Tensor)]:
        why = ": a tensor keeps its whole graph alive." * tensors[0].requires_grad
        raise AnswerError(f"Keep loss.item(), a plain number{why or '; yours are tensors.'}")
    if not all(isinstance(loss, Real) for loss in losses):
        raise AnswerError(f"The losses are numbers; yours are {type(losses[0]).__name__}.")
    received = torch.tensor(losses)
    if received.isnan().any():
        raise AnswerError("Some losses are NaN.")
    if any(evaluating):
        raise AnswerError("Your loop trains in evaluation mode: model.eval() switches dropout off.")
    for hint, mistake in MISTAKES.items():
        if close(received, torch.tensor(mistake.learn(copy.deepcopy(fresh), batches))):
            raise AnswerError(hint)
    expected = torch.tensor(our_learn(copy.deepcopy(fresh), batches))
    if not close(received[:1], expected[:1]):
        batch = batches[0]
        with torch.no_grad():
            logits = copy.deepcopy(fresh).train()(batch.source_ids, batch.decoder_input_ids)
        costs = F.cross_entropy(
            logits.mT, batch.label_ids, ignore_index=PADDING_ID, reduction="none"
        )
        for hint, mistake in (
            ("is a sum", costs.sum()),
            ("counts padding in its mean", costs.mean()),
        ):
            if close(received[0], mistake):
                raise AnswerError(f"Your loss {hint}: take the mean over the labels but padding.")
        raise AnswerError(
            "Already the first loss differs. Is it computed before the step? Look at what the "
            "model gets, at what its logits are compared with and how, and at the number that you "
            "keep."
        )
    if not torch.allclose(received, expected, rtol=1e-3, atol=1e-3):
        raise AnswerError(
            f"The first loss is right, later ones are not: the steps are others than those of Adam "
            f"with lr={RATE:g}, one for each batch."
        )


def _batches() -> list[Batch]:
    """Six batches with padding, the same every time."""
    generator = torch.Generator().manual_seed(4)
    lengths = torch.randint(2, 7, (6, 4), generator=generator).tolist()
    drawn = [
        [torch.randint(4, 23, (length,), generator=generator).tolist() for length in row]
        for row in lengths
    ]
    return [make_batch([(row, row[::-1][:-1]) for row in rows]) for rows in drawn]


def _fresh() -> nn.Module:
    """A small model of the course's, drawn without touching the learner's random numbers."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        return Transformer(**SIZES, dropout=0.0)
