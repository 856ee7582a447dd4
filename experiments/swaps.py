"""What each swap from 2017 to today is worth: eight models, three seeds, the same budget.

    python -m experiments.swaps

Every model keeps the swaps of those before it. Losses are the same on every machine but for the
last digits; tokens per second are those of this machine, on one thread. About 6 CPU-minutes.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

import torch

from transformer_course.from_2017_to_today.language_modeling import (
    BATCH_SIZE,
    LENGTH,
    STEPS,
    SWAPS,
    Swap,
    everyday_text,
    loss_by_position,
    train_language_model,
)
from transformer_edu.training.machine.device import use_one_thread
from transformer_edu.variants.language_model import LanguageModel, LanguageModelConfig

SEEDS = (0, 1, 2)
LENGTHS = (64, 128, 256)  # the ends of the ranges of positions; training ends at LENGTH
PIECES = {LENGTH: 256, LENGTHS[-1]: 64}
CHANGES = {
    "decoder, no cross-attention": {},
    "pre-norm": {"norm_first": True},
    "RMSNorm": {"norm": "rms"},
    "rotary positions": {"positions": "rotary"},
    "SwiGLU": {"feed_forward": "swiglu", "d_ff": 168},
    "grouped queries": {"num_key_value_heads": 2},
    "tied table": {"tie_embeddings": True},
    "no biases": {"feed_forward_bias": False},
}


def configs(vocabulary_size: int) -> dict[str, LanguageModelConfig]:
    """Every model of the row by its last swap."""
    settings: dict[str, object] = {"vocabulary_size": vocabulary_size}
    return {
        name: LanguageModelConfig(**(settings := settings | change))
        for name, change in CHANGES.items()
    }


def measure(name: str, config: LanguageModelConfig, *, steps: int = STEPS) -> Swap:
    """Train one model with every seed."""
    text = everyday_text()
    losses, by_range, speeds = [], [], []
    for seed in SEEDS:
        torch.manual_seed(seed)
        model = LanguageModel(config)
        begin = time.process_time()
        if len(train_language_model(model, text, seed=seed, steps=steps)) < steps:
            raise KeyboardInterrupt  # what is stored comes from whole trainings
        speeds.append(round(steps * BATCH_SIZE * LENGTH / (time.process_time() - begin)))
        near, far = (
            loss_by_position(model, text.validation, length=length, pieces=pieces)
            for length, pieces in PIECES.items()
        )
        losses.append(round(near.mean().item(), 4))
        by_range.append(tuple(round(part.mean().item(), 4) for part in _ranges(far)))
    return Swap(
        name=name,
        parameters=sum(each.numel() for each in model.parameters()),
        cache=2 * config.num_layers * config.groups * config.d_head,
        losses=tuple(losses),
        lengths=LENGTHS,
        by_range=tuple(by_range),
        tokens_per_second=tuple(speeds),
    )


def _ranges(losses: torch.Tensor) -> Iterator[torch.Tensor]:
    begin = 0
    for end in LENGTHS:
        yield losses[begin:end]
        begin = end


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every model, print a table and store it; returns the exit status."""
    parser = argparse.ArgumentParser(description="Measure each swap from 2017 to today.")
    parser.add_argument("--file", type=Path, default=SWAPS, help="where the numbers go")
    parser.add_argument("--steps", type=int, default=STEPS, help="of each training")
    chosen = parser.parse_args(arguments)
    print(f"{'model':30} {'loss':>21} {'parameters':>10} {'cache':>6} {'tokens/s':>9}", flush=True)
    found = []
    with use_one_thread():
        for name, config in configs(len(everyday_text().tokenizer)).items():
            swap = measure(name, config, steps=chosen.steps)
            found.append(asdict(swap))
            losses = " ".join(f"{loss:.4f}" for loss in swap.losses)
            speed = median(swap.tokens_per_second)
            sizes = f"{swap.parameters:10,} {swap.cache:6} {speed:9,.0f}"
            print(f"{name:30} {losses:>21} {sizes}", flush=True)
    rows = ",\n".join(json.dumps(row) for row in found)
    chosen.file.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
