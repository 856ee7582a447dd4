"""The task of lesson 04: which symbols are before and after a position? One head is too few.

Also: switches for the heads of a model that solves it.
"""

from collections.abc import Callable, Collection, Mapping

import ipywidgets as widgets
import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from transformer_course.drawing.charts import plot_bars
from transformer_course.drawing.display import explore
from transformer_course.drawing.style import GRAY
from transformer_course.looking.ablation import heads_switched_off
from transformer_edu.training.machine.device import device_of

NUM_SYMBOLS, LENGTH = 30, 8
NUM_TESTED = 1000  # sequences
GUESSING = 1 / NUM_SYMBOLS  # the accuracy of guessing


def neighbor_sequences(
    count: int, *, seed: int | None = None, device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """Random sequences, and the two neighbors of every inner position.

    Args:
        count: The number of sequences.
        seed: For the same sequences every time; torch's own random state when None.
        device: Where the tensors go; they are the same on every device.

    Returns:
        Symbols (count, LENGTH) and answers (count, LENGTH - 2, 2): before, after.
    """
    generator = None if seed is None else torch.Generator("cpu").manual_seed(seed)
    symbols = torch.randint(NUM_SYMBOLS, (count, LENGTH), generator=generator, device="cpu")
    symbols = symbols.to(device)
    return symbols, torch.stack([symbols[:, :-2], symbols[:, 2:]], dim=-1)


def neighbor_accuracy(model: nn.Module, *, without: Collection[int] = ()) -> dict[str, float]:
    """The fraction of positions at which a model's best symbols are right, in new sequences.

    Args:
        model: From symbols (batch, LENGTH) to logits (batch, LENGTH - 2, 2, NUM_SYMBOLS).
        without: The heads of model.attention that are switched off, counted from 1.

    Returns:
        For the symbol before, for the symbol after, and for both at the same position.
    """
    symbols, answers = neighbor_sequences(NUM_TESTED, seed=0, device=device_of(model))
    heads = [("attention", head) for head in without]
    with heads_switched_off(model, heads), torch.no_grad():
        right = model(symbols).argmax(dim=-1) == answers
    before, after = right.float().mean(dim=(0, 1)).tolist()
    both = right.all(dim=-1).float().mean().item()
    return {"before": before, "after": after, "both": both}


def explore_switches(model: nn.Module) -> None:
    """Let the reader switch the heads of a model off and on, and see its accuracy.

    Args:
        model: As for neighbor_accuracy; its heads are in model.attention.
    """
    explore_head_switches(
        lambda heads: neighbor_accuracy(model, without=heads), num_heads=model.attention.num_heads
    )


def explore_head_switches(
    accuracy: Callable[[Collection[int]], Mapping[str, float]], *, num_heads: int
) -> None:
    """Let the reader switch the heads of a model off and on, and see what it still can do.

    At first, head 1 is off: the outlines show what the model can do with all of them.

    Args:
        accuracy: From the heads that are off, counted from 1, to fractions by what is asked.
        num_heads: How many there are.
    """

    def off(switches: Mapping[str, bool]) -> list[int]:
        return [number for number, is_on in enumerate(switches.values(), start=1) if not is_on]

    def name(switches: Mapping[str, bool]) -> str:
        heads = " and ".join(f"head {number}" for number in off(switches))
        return f"{heads} switched off" if heads else "All heads are on"

    def draw(**switches: bool) -> Figure:
        bars = accuracy(off(switches))
        title = f"{name(switches).capitalize()} (outlines: all heads on)"
        figure = plot_bars(bars, y_label="fraction right", title=title, top=1)
        outline = {"fill": False, "edgecolor": GRAY, "linestyle": "--", "linewidth": 1.5}
        figure.axes[0].bar(range(len(bars)), list(accuracy([]).values()), **outline)
        return figure

    def describe(**switches: bool) -> str:
        kept = [what for what, share in accuracy(off(switches)).items() if share > 0.9]
        return f"{name(switches)}: right more than nine times in ten: {', '.join(kept) or 'none'}"

    explore(
        draw,
        describe,
        **{
            f"head_{number}": widgets.Checkbox(number > 1, description=f"head {number} is on")
            for number in range(1, num_heads + 1)
        },
    )
