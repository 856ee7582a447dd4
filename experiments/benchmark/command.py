"""The command line of the benchmark.

    python -m experiments.benchmark train
    python -m experiments.benchmark precision
    python -m experiments.benchmark decode
    python -m experiments.benchmark redraw
    python -m experiments.benchmark page

Everything runs on one thread. Speed is measured here and never in a test.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import torch

from experiments.benchmark.decoding import DECODING_WORKLOADS, report_decoding
from experiments.benchmark.memory import added_memory, report_memory
from experiments.benchmark.page import report_page
from experiments.benchmark.redraw import report_redraw
from experiments.benchmark.training_step import (
    BASE,
    MARIAN,
    OURS,
    PYTORCH,
    SMALL,
    TINY,
    report_precision,
    report_train,
)
from transformer_edu.training.machine.failures import one_line_errors

ABOUT = "Measure this package beside others on this machine."


def report(command: str, rounds: int | None = None) -> Iterator[str]:
    """Measure, and tell line by line.

    Args:
        command: "train", "precision", "decode", "redraw" or "page".
        rounds: How often each side is counted; each workload's own number when None.
    """
    if command == "redraw":
        return report_redraw(rounds)
    if command == "page":
        return report_page(rounds)
    workloads = DECODING_WORKLOADS if command == "decode" else (SMALL, TINY, BASE)
    if rounds is not None:
        workloads = [replace(workload, rounds=rounds) for workload in workloads]
    if command == "decode":
        return report_decoding(workloads)
    if command == "precision":
        return report_precision(workloads)
    return chain(report_train(workloads), [""], report_memory())


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, measure, print.

    Args:
        arguments: The command line's words; those given to the program when None.

    Returns:
        The exit status: 0, or 1 after an error, which is told in one line.
    """
    parser = argparse.ArgumentParser(prog="python -m experiments.benchmark", description=ABOUT)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (
        ("train", "time and memory of a training step"),
        ("precision", "a training step in bfloat16 and float32"),
        ("decode", "writing: greedy and beam search, beside Hugging Face and torch.nn"),
        ("redraw", "the lessons' explorers: from a moved control to its new picture"),
        ("page", "the translator in a browser: its start, a sentence, a key, and its memory"),
    ):
        timed = commands.add_parser(name, help=about)
        timed.add_argument("--rounds", type=int, help="how often each side is counted")
    memory = commands.add_parser("memory", help="memory of one model's step, in this process")
    memory.add_argument("name", choices=[OURS, PYTORCH, MARIAN])
    chosen = parser.parse_args(arguments)
    if getattr(chosen, "rounds", None) is not None and chosen.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {chosen.rounds}")
    torch.set_num_threads(1)
    if chosen.command == "memory":
        print(added_memory(chosen.name))
        return 0
    for line in report(chosen.command, chosen.rounds):
        print(line, flush=True)
    return 0
