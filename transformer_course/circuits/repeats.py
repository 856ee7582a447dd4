"""Texts of random words that begin again: a language model can only learn to copy on them.

Used in notebooks/21_circuits.ipynb and experiments/circuits.py.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.refusals import require_whole
from transformer_edu.training.machine.failures import noted_interrupts
from transformer_edu.variants.language_model import LanguageModel, LanguageModelConfig

_WORDS = (
    "apple bell boat bread cat chair cloud coat dog door egg fish glass hat horse house "
    "key lamp leaf milk moon nut pen plum ring road rose salt shoe star tree wind"
)
WORDS = tuple(_WORDS.split())
LENGTH = 24  # words of a text that a model reads
PERIODS = (4, 12)  # the fewest and the most words until a text begins again
ONE_PERIOD = 8  # of texts that all begin again after as many words
HELD_OUT, HELD_OUT_SEED = 128, 1_000_000
BATCH_SIZE, STEPS, LEARNING_RATE, WARM_UP = 32, 500, 4e-3, 40


class Repeats(NamedTuple):
    """Texts that begin again, as ids of WORDS."""

    token_ids: Tensor  # (text, position), one position more than a model reads
    period: Tensor  # (text,), words until the text begins again

    @property
    def read(self) -> Tensor:
        """What a model reads: all words but the last, shape (text, position)."""
        return self.token_ids[:, :-1]

    @property
    def wanted(self) -> Tensor:
        """The next word at each position, shape (text, position)."""
        return self.token_ids[:, 1:]

    @property
    def again(self) -> Tensor:
        """True where the word read has stood before, so that what followed it comes again.

        The shape is (text, position). The first word of a repetition does not count: the word that
        is read before it stands there for the first time.
        """
        places = torch.arange(self.read.size(1), device=self.period.device)
        return places >= self.period.unsqueeze(1)

    def to(self, device: torch.device) -> "Repeats":
        """The same texts on a device."""
        return Repeats(self.token_ids.to(device), self.period.to(device))


def repeating_texts(
    count: int,
    *,
    luck: torch.Generator,
    periods: tuple[int, int] = PERIODS,
    length: int = LENGTH,
    shuffled: bool = False,
) -> Repeats:
    """Random words, each once, which then begin again and again.

    Args:
        count: Number of texts.
        luck: Decides words and periods.
        periods: The fewest and the most words until a text begins again.
        length: Words that a model reads; there is one more to predict.
        shuffled: Whether each repetition has an order of its own: a control, in which the same
            words come again, and no rule says which one is next.
    """
    if not isinstance(periods, tuple | list) or len(periods) != 2:
        raise TypeError(f"periods must be two numbers, the fewest and the most, got {periods!r}")
    fewest, most = periods
    require_whole("the fewest words of periods", fewest)
    require_whole("the most words of periods", most, minimum=fewest, maximum=len(WORDS))
    period = torch.randint(fewest, most + 1, (count, 1), generator=luck)
    words = torch.rand(count, len(WORDS), generator=luck).argsort(dim=1)
    place = torch.arange(length + 1 + most).expand(count, -1)
    turn, order = place // period, place % period
    if shuffled:  # sorted by turn, and within a turn by luck, but for the first one
        luck_of_place = torch.rand(place.shape, generator=luck).where(turn > 0, order / period)
        order = (turn + luck_of_place).argsort(dim=1).argsort(dim=1) % period
    return Repeats(words.gather(1, order[:, : length + 1]), period.squeeze(1))


def held_out_texts(*, periods: tuple[int, int] = PERIODS, shuffled: bool = False) -> Repeats:
    """The texts on which models are measured; no training sees them."""
    luck = torch.Generator().manual_seed(HELD_OUT_SEED)
    return repeating_texts(HELD_OUT, luck=luck, periods=periods, shuffled=shuffled)


def copying_model(*, num_layers: int = 2) -> LanguageModel:
    """A small model with one head in each layer; torch's own state decides its random weights."""
    return LanguageModel(
        LanguageModelConfig(
            vocabulary_size=len(WORDS),
            d_model=64,
            num_heads=1,
            num_layers=num_layers,
            d_ff=128,
            norm_first=True,
        )
    )


def train_on_repeats(
    model: nn.Module,
    *,
    steps: int = STEPS,
    seed: int = 0,
    periods: tuple[int, int] = PERIODS,
    after_step: Callable[[int], None] | None = None,
    progress: bool = False,
) -> list[float]:
    """Train a language model to predict every next word of texts that begin again.

    Args:
        model: Takes token ids (batch, position) and returns logits.
        steps: Number of batches, each of new texts.
        seed: Decides the texts.
        periods: As in repeating_texts.
        after_step: Called with the number of steps made, at first with 0.
        progress: Whether to show a progress bar.

    Returns:
        The loss of every step, in nats per word. An interrupt ends the training after a step.
    """
    device = next(model.parameters()).device
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.95))
    luck = torch.Generator().manual_seed(seed)
    losses: list[float] = []
    numbers = tqdm(range(steps), desc="training") if progress else range(steps)
    if after_step:
        after_step(0)
    with noted_interrupts() as interrupts:
        for step in numbers:
            texts = repeating_texts(BATCH_SIZE, luck=luck, periods=periods).to(device)
            adam.param_groups[0]["lr"] = LEARNING_RATE * min((step + 1) / WARM_UP, 1)
            loss = F.cross_entropy(model(texts.read).transpose(1, 2), texts.wanted)
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
            losses.append(loss.item())
            if after_step:
                after_step(len(losses))
            if interrupts:
                break
    return losses


def copy_accuracy(model: nn.Module, texts: Repeats) -> float:
    """The fraction of words that come again which the model predicts, given the words before."""
    with evaluation_mode(model):
        found = model(texts.read).argmax(dim=-1)
    return (found == texts.wanted)[texts.again].float().mean().item()


def word_losses(model: nn.Module, texts: Repeats) -> tuple[float, float]:
    """The mean loss of words that come for the first time, and of those that come again."""
    with evaluation_mode(model):
        losses = F.cross_entropy(model(texts.read).transpose(1, 2), texts.wanted, reduction="none")
    return losses[~texts.again].mean().item(), losses[texts.again].mean().item()


def keys_before(token_ids: Tensor) -> Tensor:
    """True at the key just before each query: the role of a previous-token head.

    Args:
        token_ids: Shape (text, position).

    Returns:
        Shape (text, query, key).
    """
    length = token_ids.size(1)
    one = torch.ones(length, length, dtype=torch.bool, device=token_ids.device)
    return (one.tril(-1) & one.triu(-1)).expand(len(token_ids), -1, -1)


def keys_after(token_ids: Tensor) -> Tensor:
    """True at keys whose word before is the query's word: the role of an induction head.

    Args, Returns: As for keys_before.
    """
    earlier = F.pad(token_ids, (1, 0), value=-1)[:, :-1]  # the word before each key
    same = token_ids.unsqueeze(2) == earlier.unsqueeze(1)  # (text, query, key)
    return same.tril()
