"""How a small language model learns to copy: three seeds, and models that cannot as controls.

    python -m experiments.circuits

Three models: of two layers; of one; and of two that learns from texts of one period. Their
accuracies and scores are the same on every machine but for the last digits. About 2 CPU-minutes.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("experiments.circuits")

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

import torch
from torch import Tensor

from experiments.stored_numbers import read_options, read_own
from transformer_course.circuits.jumps import JUMPS, KINDS, Jump, stored_jumps
from transformer_course.circuits.paths import (
    PATHS,
    accuracy_through,
    best_heads,
    head_scores,
)
from transformer_course.circuits.repeats import (
    ONE_PERIOD,
    PERIODS,
    STEPS,
    WORDS,
    Repeats,
    copy_accuracy,
    copying_model,
    held_out_texts,
    train_on_repeats,
    word_losses,
)
from transformer_course.looking.ablation import heads_switched_off
from transformer_course.looking.recording import record_attention
from transformer_edu.training.machine.atomic_files import replace_file
from transformer_edu.training.machine.device import use_one_thread
from transformer_edu.training.machine.failures import one_line_errors
from transformer_edu.variants.language_model import LanguageModel

SEEDS = (0, 1, 2)
EVERY = 25  # steps from one measurement to the next
SHOWN = 2 * ["star", "key", "moon", "bell", "cat", "boat"]


class Watch:
    """Measures a model while it learns."""

    def __init__(self, model: LanguageModel, texts: Repeats) -> None:
        self.model, self.texts = model, texts
        self.rows: list[dict[str, float]] = []
        self.maps: list[Tensor] = []  # (layer · head, query, key) of the text that is shown

    def __call__(self, step: int) -> None:
        """Measure at some of the steps."""
        if step % EVERY:
            return
        scores = head_scores(self.model, self.texts)
        first, again = word_losses(self.model, self.texts)
        self.rows.append(
            {
                "steps": step,
                "accuracy": copy_accuracy(self.model, self.texts),
                "first": first,
                "again": again,
                "before": scores["before"][0].max().item(),
                "after": scores["after"][-1].max().item(),
            }
        )
        shown = torch.tensor([[WORDS.index(word) for word in SHOWN]])
        with torch.no_grad(), record_attention(self.model) as attention:
            self.model(shown)
        self.maps.append(torch.cat([each[0] for each in attention.values()]))

    def columns(self) -> dict[str, tuple[float, ...]]:
        """Every measure over the steps."""
        return {name: tuple(round(row[name], 4) for row in self.rows) for name in self.rows[0]}


def measure(name: str, seed: int, *, steps: int = STEPS) -> tuple[Jump, dict[str, object]]:
    """Train one model; what it learned, and the maps of its best heads at every measurement."""
    periods = (ONE_PERIOD, ONE_PERIOD) if name == "one period" else PERIODS
    torch.manual_seed(seed)
    model = copying_model(num_layers=1 if name == "one layer" else 2)
    watch = Watch(model, held_out_texts(periods=periods))
    losses = train_on_repeats(model, steps=steps, seed=seed, periods=periods, after_step=watch)
    if len(losses) < steps:
        raise KeyboardInterrupt  # what is stored comes from whole trainings
    texts = held_out_texts()
    ends = {"whole": copy_accuracy(model, texts)}
    if name == "two layers":
        ends |= _dependences(model, texts)
    rounded = {what: round(each, 4) for what, each in ends.items()}
    return Jump(name=name, seed=seed, ends=rounded, **watch.columns()), _maps(model, texts, watch)


def _dependences(model: LanguageModel, texts: Repeats) -> dict[str, float]:
    """The accuracy by what is cut, and on shuffled texts; what the induction head scores alone."""
    previous, induction = best_heads(model, texts)
    ends = {"shuffled": copy_accuracy(model, held_out_texts(shuffled=True))}
    for name, head in (("previous", previous), ("induction", induction)):
        with heads_switched_off(model, [head]):
            ends[f"without {name}"] = copy_accuracy(model, texts)
            scores = head_scores(model, texts)
        if name == "previous":
            ends["after, without previous"] = scores["after"][-1, induction[1] - 1].item()
    paths = {f"{path} path": accuracy_through(model, texts, [previous], path) for path in PATHS}
    return ends | paths


def _maps(model: LanguageModel, texts: Repeats, watch: Watch) -> dict[str, object]:
    """The maps of the best head of each role, in whole percent."""
    heads = model.config.num_heads
    scores = head_scores(model, texts)
    best = {
        "before": int(scores["before"][0].argmax()),
        "after": (model.config.num_layers - 1) * heads + int(scores["after"][-1].argmax()),
    }
    return {"words": SHOWN} | {
        role: [(100 * maps[head]).round().int().tolist() for maps in watch.maps]
        for role, head in best.items()
    }


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Train every model with every seed, print a table and store it; returns the exit status."""
    parser = argparse.ArgumentParser(description="Measure how a small model learns to copy.")
    chosen = read_options(parser, arguments, file=JUMPS, steps=STEPS)
    read_own(chosen.file, lambda file: stored_jumps(KINDS[0], file))
    jumps, shown = [], {}
    with use_one_thread():
        for name in KINDS:
            for seed in SEEDS:
                jump, maps = measure(name, seed, steps=chosen.steps)
                shown = shown or maps
                jumps.append(json.dumps(asdict(jump)))
                ends = ", ".join(f"{what} {each:.2f}" for what, each in jump.ends.items())
                print(f"{name:11} seed {seed}: {jump.accuracy[-1]:.2f}; {ends}", flush=True)
    rows = ",\n".join(jumps)
    text = f'{{"jumps": [\n{rows}\n],\n"maps": {json.dumps(shown)}}}\n'
    replace_file(chosen.file, [text.encode()])
    print(f"written to {chosen.file}")
    return 0
