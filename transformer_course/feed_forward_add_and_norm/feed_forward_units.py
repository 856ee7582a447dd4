"""What goes into a feed-forward network of the translator, and what its units respond to.

Used in notebooks/06_feed_forward_add_and_norm.ipynb. The unit is found by what it does, so the
lesson holds for any weights of the shipped translator.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_course.looking.recording import record_inputs, source_row, words_of
from transformer_edu.generation.translator import Translator
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.refusals import require_choice, require_whole

COLORS = frozenset({"red", "blue", "green", "yellow", "white", "brown", "black", "orange"})
SEARCHED = (  # the unit is chosen by these sentences, in which four colors occur …
    "A man is playing the guitar on the street.",
    "Two women in blue shirts are sitting on a bench in the park.",
    "A small dog runs through the snow.",
    "The boy throws a yellow ball to a girl on the beach.",
    "A red bus is on the road.",
    "A child in a blue shirt is eating a red apple in the kitchen.",
    "Three people are watching a young horse in a green field.",
    "A big bird sits on a green car.",
    "An old man in a yellow jacket is reading a book.",
    "A group of young women are dancing in red dresses.",
)
SHOWN = (  # … and looked at in others, with four other colors
    "A woman in a white dress is dancing on the street.",
    "The children are playing with a brown dog.",
    "Two men are riding black horses on the beach.",
    "A girl reads a book to a small boy in the kitchen.",
    "People in orange shirts are walking in the snow.",
)


class Unit(NamedTuple):
    """One of the d_ff numbers between the two layers of a feed-forward network.

    Args:
        network: The name of the network in the model.
        number: Which of its units, from 0.
    """

    network: str
    number: int


class Reading(NamedTuple):
    """One feed-forward network of the encoder, and what it reads for one sentence.

    Args:
        words: The sentence's tokens as a reader writes them.
        x: What goes into the network, shape (position, d_model).
        w_1, b_1: Its first layer, (d_model, d_ff) and (d_ff,).
        w_2, b_2: Its second layer, (d_ff, d_model) and (d_model,).
        function: What it applies between the two, such as torch.relu.
    """

    words: list[str]
    x: Tensor
    w_1: Tensor
    b_1: Tensor
    w_2: Tensor
    b_2: Tensor
    function: Callable[[Tensor], Tensor]

    def activations(self) -> Tensor:
        """The numbers between the two layers, shape (position, d_ff)."""
        return self.function(self.x @ self.w_1 + self.b_1)


Activity = list[tuple[list[str], Tensor]]  # words, and a unit's activation at each, (position,)


def find_color_unit(translator: Translator) -> tuple[Unit, Activity]:
    """The unit that distinguishes four colors best from all other words, and where it is active.

    Args:
        translator: Its tokenizer is the package's.

    Returns:
        The unit, and its activity in other sentences, with four other colors.
    """
    unit = unit_for(translator, SEARCHED, COLORS)
    return unit, activity(translator, unit, SHOWN)


def unit_for(translator: Translator, sentences: Sequence[str], marked: Collection[str]) -> Unit:
    """The unit of the encoder that distinguishes some words best from all others.

    Best means: the mean activation at the marked words is farthest above that at all other words,
    compared with the standard deviations of both groups. So it is large at all marked words.

    Args:
        translator: Its tokenizer is the package's.
        sentences: Where the units are compared.
        marked: The words in lower case; each of them is one token.
    """
    read = [_read(translator, sentence) for sentence in sentences]
    is_marked = torch.tensor([word.lower() in marked for one in read for word in _words(one)])
    found, largest = Unit("", 0), -torch.inf
    for network in read[0]:
        activations = torch.cat([one[network].activations() for one in read]).cpu()
        inside, outside = activations[is_marked], activations[~is_marked]
        gap = inside.mean(dim=0) - outside.mean(dim=0)
        spread = inside.std(dim=0) + outside.std(dim=0) + 1e-6
        score, number = (gap / spread).max(dim=0)
        if score > largest:
            found, largest = Unit(network, int(number)), float(score)
    return found


def activity(translator: Translator, unit: Unit, sentences: Sequence[str]) -> Activity:
    """The words of each sentence, and the unit's activation at each word, shape (position,).

    Args:
        translator: Its tokenizer is the package's.
        unit: A unit of its encoder.
        sentences: What the encoder reads.
    """
    read = [read_sentence(translator, sentence, unit.network) for sentence in sentences]
    return [(each.words, each.activations()[:, unit.number].cpu()) for each in read]


def selectivity(
    active: Sequence[tuple[Sequence[str], Tensor]], marked: Collection[str] = COLORS
) -> float:
    """How many times larger the mean activation is at the marked words than at the others.

    Args:
        active: What activity returns.
        marked: Words in lower case; colors by default.
    """
    is_marked = torch.tensor([word.lower() in marked for words, _ in active for word in words])
    numbers = torch.cat([numbers for _, numbers in active])
    return float(numbers[is_marked].mean() / numbers[~is_marked].mean())


def _words(read: dict[str, Reading]) -> list[str]:
    """The words that all networks read."""
    return next(iter(read.values())).words


def read_sentence(translator: Translator, sentence: str, network: str) -> Reading:
    """What one feed-forward network of the encoder reads for a sentence.

    Args:
        translator: Its tokenizer is the package's.
        sentence: What the encoder reads.
        network: The name of the network in the model, such as a Unit has it.
    """
    read = _read(translator, sentence)
    require_choice("network", network, read)
    return read[network]


def _read(translator: Translator, sentence: str) -> dict[str, Reading]:
    """Every feed-forward network of the encoder, by its name."""
    model, source_ids = translator.model, source_row(translator, sentence)
    networks = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, FeedForward) and name.startswith("encoder.")
    }
    with record_inputs(networks) as inputs:
        model.encode(source_ids)
    words = words_of(translator, source_ids[0].tolist())
    return {
        name: Reading(
            words,
            inputs[name][0][0],
            network.widen.weight.detach().T,
            network.widen.bias.detach(),
            network.narrow.weight.detach().T,
            network.narrow.bias.detach(),
            network.activation,
        )
        for name, network in networks.items()
    }


def fit_units(
    x: Tensor, wanted: Tensor, d_ff: int, function: Callable[[Tensor], Tensor] = torch.relu
) -> tuple[Tensor, Tensor]:
    """The feed-forward network of width 1, its corners evenly spaced, that is closest to a curve.

    Every unit is function(x - corner), the first corner is at the smallest input; least squares
    finds W₂ and b₂.

    Args:
        x: The inputs, shape (point,), evenly from the smallest to the largest.
        wanted: The curve, shape (point,).
        d_ff: The number of units.
        function: What is applied between the two layers.

    Returns:
        What each unit adds to the output, (point, unit), and the output, (point,).

    Raises:
        ValueError: If the curve, or what the function returns, is not finite.
    """
    require_whole("d_ff", d_ff)
    if not x.is_floating_point() or wanted.dtype != x.dtype:
        x, wanted = x.double(), wanted.double()
    corners = torch.linspace(float(x[0]), float(x[-1]), d_ff + 1, dtype=x.dtype)[:-1]
    hidden = function(x.unsqueeze(1) - corners)
    for name, numbers in {"wanted": wanted, "what function returns": hidden}.items():
        if not (finite := numbers.isfinite()).all():
            raise ValueError(f"{name} must be finite, got {numbers[~finite][0].item()}")
    hidden = torch.cat([hidden, torch.ones_like(x).unsqueeze(1)], dim=1)  # the last is for b_2
    weights = torch.linalg.lstsq(hidden, wanted.unsqueeze(1)).solution.squeeze(1)
    return (hidden * weights)[:, :-1], hidden @ weights
