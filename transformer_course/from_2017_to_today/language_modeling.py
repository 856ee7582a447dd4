"""A running text of everyday sentences; train a language model on it, judge it and let it write.

Used in notebooks/19_from_2017_to_today.ipynb. The trainings of its models are in swaps.json, which
experiments/swaps.py writes.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from transformer_edu.data.everyday import generated
from transformer_edu.data.tokenizer import Tokenizer, train_tokenizer
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.sampling import candidate_probabilities
from transformer_edu.model.special_ids import END_ID, UNKNOWN_ID
from transformer_edu.training.machine.failures import noted_interrupts

HELD_OUT = 0.1  # of the sentences
SWAPS = Path(__file__).with_name("swaps.json")
LENGTH, BATCH_SIZE, STEPS = 64, 16, 400  # tokens of a piece, pieces of a batch, batches
HIDDEN = 0.3  # of the tokens; 0.15 in BERT, which learns from far more text
LEARNING_RATE, WARM_UP, LARGEST_GRADIENT = 4e-3, 40, 1.0
LENGTHS = (LENGTH, 128, 256)  # where ranges of positions end; training ends at the first


class RunningText(NamedTuple):
    """Token ids of many sentences, each with the end token after it, and their tokenizer."""

    tokenizer: Tokenizer
    train: Tensor  # (token,)
    validation: Tensor  # (token,), no sentence of which is in train


@cache
def everyday_text(*, sentences: int = 24_000, vocabulary_size: int = 600) -> RunningText:
    """English sentences of the everyday grammar, in random order; the same every time.

    Args:
        sentences: How many different ones, at most 52,000; a tenth is held out.
        vocabulary_size: Of the tokenizer, which learns from the training sentences only.
    """
    texts = list(generated())[:sentences]
    held_out = round(HELD_OUT * sentences)
    tokenizer = train_tokenizer(texts[held_out:], vocabulary_size=vocabulary_size)
    validation, train = (
        torch.tensor([i for ids in tokenizer.encode_all(part) for i in (*ids, END_ID)])
        for part in (texts[:held_out], texts[held_out:])
    )
    return RunningText(tokenizer, train, validation)


def windows(
    token_ids: Tensor, *, length: int, batch_size: int, steps: int, seed: int
) -> Iterator[Tensor]:
    """Batches of pieces of a running text, each piece begun at a random place.

    Args:
        token_ids: The text, shape (token,).
        length: Tokens of a piece.
        batch_size: Pieces of a batch.
        steps: Number of batches.
        seed: Decides the places.

    Yields:
        Shape (batch, length), on the CPU.
    """
    generator = torch.Generator().manual_seed(seed)
    reach = torch.arange(length)
    for _ in range(steps):
        starts = torch.randint(len(token_ids) - length + 1, (batch_size, 1), generator=generator)
        yield token_ids[starts + reach]


def next_token_loss(model: nn.Module, token_ids: Tensor) -> Tensor:
    """The mean loss of every next token, in nats; token_ids has the shape (batch, position)."""
    logits = model(token_ids[:, :-1])
    return F.cross_entropy(logits.transpose(1, 2), token_ids[:, 1:])


def masked_token_loss(model: nn.Module, token_ids: Tensor) -> Tensor:
    """The mean loss of hidden tokens, given the tokens on both sides: what BERT learns.

    The unknown token, which no text here contains, stands in the place of a hidden one. Where none
    is hidden, the loss is 0.
    """
    hidden = (torch.rand(token_ids.shape) < HIDDEN).to(token_ids.device)
    logits = model(token_ids.masked_fill(hidden, UNKNOWN_ID))
    total = F.cross_entropy(logits[hidden], token_ids[hidden], reduction="sum")
    return total / hidden.sum().clamp(min=1)


def train_language_model(
    model: nn.Module,
    text: RunningText,
    *,
    loss_of: Callable[[nn.Module, Tensor], Tensor] = next_token_loss,
    steps: int = STEPS,
    seed: int = 0,
    learning_rate: float = LEARNING_RATE,
    progress: bool = False,
) -> list[float]:
    """Train on random pieces of the text; the rate rises for WARM_UP steps, then falls to nearly 0.

    Args:
        model: Takes token ids (batch, position) and returns logits.
        text: What to learn from.
        loss_of: From the model and a batch of pieces, (BATCH_SIZE, LENGTH + 1), to what is made
            smaller.
        steps: Number of batches.
        seed: Decides the pieces; torch's own state decides what a loss draws.
        learning_rate: The highest rate.
        progress: Whether to show a progress bar.

    Returns:
        The loss of every step. An interrupt ends the training after a whole step.
    """
    device = next(model.parameters()).device
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.95))
    sizes = {"length": LENGTH + 1, "batch_size": BATCH_SIZE, "steps": steps}
    pieces = windows(text.train, **sizes, seed=seed)
    losses: list[float] = []
    model.train()
    if progress:  # unless tqdm's own TQDM_DISABLE says otherwise
        pieces = tqdm(pieces, total=steps, desc="training")
    with noted_interrupts() as interrupts:
        for batch in pieces:
            step = len(losses)
            rate = learning_rate * min((step + 1) / WARM_UP, 1 - step / steps)
            adam.param_groups[0]["lr"] = rate
            loss = loss_of(model, batch.to(device))
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
            adam.step()
            losses.append(loss.item())
            if interrupts:
                break
    model.eval()
    return losses


@torch.no_grad()
def loss_by_position(model: nn.Module, token_ids: Tensor, *, length: int, pieces: int) -> Tensor:
    """The mean loss at every position, over pieces of a text that are the same every time.

    Args:
        model: As for train_language_model.
        token_ids: The text, shape (token,).
        length: Tokens to predict in each piece.
        pieces: How many.

    Returns:
        Nats per token, shape (length,), on the CPU.
    """
    batch = next(windows(token_ids, length=length + 1, batch_size=pieces, steps=1, seed=0))
    batch = batch.to(next(model.parameters()).device)
    with evaluation_mode(model):
        logits = model(batch[:, :-1]).transpose(1, 2)
    return F.cross_entropy(logits, batch[:, 1:], reduction="none").mean(dim=0).cpu()


def write_sentence(
    model: nn.Module, tokenizer: Tokenizer, start: str, *, luck: torch.Generator, top_p: float = 0.9
) -> str:
    """Continue a sentence, token by token, until the end token or LENGTH tokens.

    Args:
        model: As for train_language_model.
        tokenizer: The text's.
        start: How the sentence begins; may be empty.
        luck: Decides what is drawn.
        top_p: As in candidate_probabilities.
    """
    device = next(model.parameters()).device
    token_ids = [END_ID, *tokenizer.encode(start)]  # every sentence of the text follows another
    while len(token_ids) <= LENGTH:
        with evaluation_mode(model):
            logits = model(torch.tensor([token_ids], device=device))[0, -1].cpu()
        chances = candidate_probabilities(logits, top_p=top_p)
        token_ids.append(int(chances.multinomial(1, generator=luck)))
        if token_ids[-1] == END_ID:
            break
    return tokenizer.decode(token_ids)


def fill_gap(
    model: nn.Module, tokenizer: Tokenizer, before: str, after: str, *, count: int = 4
) -> list[str]:
    """The likeliest tokens between two pieces of a sentence, for a model of masked_token_loss.

    The same letters at the beginning of a word and inside it are two tokens that are spelled
    alike. Only the likelier one is named, so that all names differ.

    Args:
        model: Reads the tokens on both sides.
        tokenizer: The text's.
        before: What stands before the gap.
        after: What stands after it.
        count: How many tokens that are spelled differently.
    """
    device = next(model.parameters()).device
    left, right = [END_ID, *tokenizer.encode(before)], [*tokenizer.encode(after), END_ID]
    with evaluation_mode(model):
        logits = model(torch.tensor([[*left, UNKNOWN_ID, *right]], device=device))[0, len(left)]
    words = (tokenizer.decode([token_id]) for token_id in logits.argsort(descending=True).tolist())
    return list(dict.fromkeys(words))[:count]


@dataclass(frozen=True, kw_only=True)
class Training:
    """One training of a model of the series from 2017 to today, as it is stored.

    Args:
        name: The model's.
        after: The model from which it differs in one swap, or None for the first.
        parameters: How many numbers are learned.
        cache: Numbers that the key/value cache keeps for each token.
        rate: The highest learning rate.
        seed: Decides the first weights and the pieces of text.
        loss: Validation loss at LENGTH tokens.
        by_range: Validation loss in each range of positions; the ranges end at LENGTHS.
        steps: Of the training.
    """

    name: str
    after: str | None
    parameters: int
    cache: int
    rate: float
    seed: int
    loss: float
    by_range: tuple[float, ...]
    steps: int = STEPS


@dataclass(frozen=True)
class Swap:
    """A model of the series with all its trainings: one seed at every rate, or more.

    Args:
        trainings: At least one, all of the same model.
    """

    trainings: tuple[Training, ...]

    @property
    def model(self) -> Training:
        """What all trainings have in common, in one of them."""
        return self.trainings[0]

    @property
    def best(self) -> float:
        """The rate with the lowest loss, chosen with the first seed."""
        seed = min(each.seed for each in self.trainings)
        return min((each.loss, each.rate) for each in self.trainings if each.seed == seed)[1]

    def losses(self, rate: float) -> tuple[float, ...]:
        """The validation loss of every seed at a rate."""
        return tuple(each.loss for each in self.trainings if each.rate == rate)

    def losses_by_range(self) -> list[float]:
        """At the best rate, the median loss in each range of positions."""
        rows = [each.by_range for each in self.trainings if each.rate == self.best]
        return [median(column) for column in zip(*rows, strict=True)]


def stored_trainings(path: Path = SWAPS) -> list[Training]:
    """Every training that experiments/swaps.py has stored, model by model."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Training(**row | {"by_range": tuple(row["by_range"])}) for row in rows]


def stored_swaps(path: Path = SWAPS) -> list[Swap]:
    """The models in their order, each with its trainings."""
    models: dict[str, list[Training]] = {}
    for training in stored_trainings(path):
        models.setdefault(training.name, []).append(training)
    return [Swap(tuple(trainings)) for trainings in models.values()]
