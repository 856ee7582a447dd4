"""What each swap from 2017 to today is worth, every model at a learning rate of its own.

    python -m experiments.swaps

Every model is trained with one seed at each of RATES, and with two more at the best of these rates.
At the first rate, where all are compared, only controls have one seed. Each training is stored as
soon as it has ended, and a second run does what is missing. The losses are the same on every
machine but for the last digits. About 10 CPU-minutes.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("experiments.swaps")

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise

import torch

from experiments.stored_numbers import read_options, read_own
from transformer_course.from_2017_to_today.language_modeling import (
    LEARNING_RATE,
    LENGTH,
    LENGTHS,
    STEPS,
    SWAPS,
    Swap,
    Training,
    everyday_text,
    loss_by_position,
    stored_swaps,
    stored_trainings,
    train_language_model,
)
from transformer_edu.model.embeddings import TokenEmbedding
from transformer_edu.training.machine.atomic_files import replace_file
from transformer_edu.training.machine.device import use_one_thread
from transformer_edu.training.machine.failures import one_line_errors
from transformer_edu.variants.language_model import LanguageModel, LanguageModelConfig

RATES = (LEARNING_RATE, 0.008, 0.016, 0.032)
SEEDS = (0, 1, 2)
PIECES = {LENGTH: 256, LENGTHS[-1]: 64}
NORMS = {"norm_first": True, "norm": "rms"}
ROTARY = NORMS | {"positions": "rotary"}
TODAY = ROTARY | {"feed_forward": "swiglu", "d_ff": 168, "num_key_value_heads": 2}
TODAY |= {"tie_embeddings": True, "feed_forward_bias": False}
MODELS = {  # after which model, and all its switches
    "2017: decoder, no cross-attention": (None, {}),
    "pre-norm and RMSNorm": ("2017: decoder, no cross-attention", NORMS),
    "rotary positions": ("pre-norm and RMSNorm", ROTARY),
    "no factor √d_model": ("rotary positions", ROTARY),
    "the four swaps of section 4": ("no factor √d_model", TODAY),
    "no positions": ("pre-norm and RMSNorm", NORMS),
}
CONTROLS = ("rotary positions", "no positions")  # built here: no switch of the library's has them


def build(name: str, vocabulary_size: int) -> LanguageModel:
    """A new model of MODELS, with what no switch of the library's can say."""
    config = LanguageModelConfig(vocabulary_size=vocabulary_size, **MODELS[name][1])
    model = LanguageModel(config)
    if name == "no positions":
        model.positions.table.zero_()
    if name == "rotary positions":  # with the paper's factor, which the library's have not
        sizes = {"vocabulary_size": vocabulary_size, "d_model": config.d_model}
        model.embedding = TokenEmbedding(**sizes)
    return model


def measure(name: str, rate: float, seed: int, *, steps: int = STEPS) -> Training:
    """Train one model once."""
    text = everyday_text()
    torch.manual_seed(seed)
    model = build(name, len(text.tokenizer))
    settings = {"seed": seed, "steps": steps, "learning_rate": rate}
    if len(train_language_model(model, text, **settings)) < steps:
        raise KeyboardInterrupt  # what is stored comes from whole trainings
    near, far = (
        loss_by_position(model, text.validation, length=length, pieces=pieces)
        for length, pieces in PIECES.items()
    )
    ranges = (far[begin:end].mean().item() for begin, end in pairwise((0, *LENGTHS)))
    return Training(
        name=name,
        after=MODELS[name][0],
        parameters=sum(each.numel() for each in model.parameters()),
        cache=2 * model.config.num_layers * model.config.groups * model.config.d_head,
        rate=rate,
        seed=seed,
        loss=round(near.mean().item(), 4),
        by_range=tuple(round(each, 4) for each in ranges),
        steps=steps,
    )


def missing(done: Sequence[Training]) -> Iterator[tuple[str, float, int]]:
    """Which trainings are not stored yet: the name, the rate and the seed of each."""
    for name in MODELS:
        mine = tuple(each for each in done if each.name == name)
        known = {(each.rate, each.seed) for each in mine}
        wanted = {(rate, SEEDS[0]) for rate in RATES}
        if wanted <= known:
            wanted |= {(Swap(mine).best, seed) for seed in SEEDS}
            wanted |= {(RATES[0], seed) for seed in SEEDS if name not in CONTROLS}
        yield from ((name, *each) for each in sorted(wanted - known))


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Do the trainings that are missing and store each; print a table; returns the exit status."""
    parser = argparse.ArgumentParser(description="Measure each swap from 2017 to today.")
    chosen = read_options(parser, arguments, file=SWAPS, steps=STEPS)
    done = read_own(chosen.file, stored_trainings)
    if others := {each.steps for each in done} - {chosen.steps}:
        raise ValueError(f"steps must be {min(others)}, as in {chosen.file}, got {chosen.steps}")
    with use_one_thread():
        while (todo := next(missing(done), None)) is not None:
            done.append(measure(*todo, steps=chosen.steps))
            done.sort(key=lambda each: (list(MODELS).index(each.name), each.rate, each.seed))
            rows = ",\n".join(json.dumps(asdict(each), ensure_ascii=False) for each in done)
            replace_file(chosen.file, [f"[\n{rows}\n]\n".encode()])
    for swap in stored_swaps(chosen.file):
        print(swap.model.name)
        for rate in RATES:
            losses = " ".join(f"{loss:.4f}" for loss in swap.losses(rate))
            print(f"  {'best' if rate == swap.best else '    '} {rate:.3f}  {losses}")
    print(f"written to {chosen.file}")
    return 0
