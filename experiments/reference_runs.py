"""Rebuild the stored training runs, or measure what this project promises about training.

    python -m experiments.reference_runs
    python -m experiments.reference_runs --only "no causal mask"
    python -m experiments.reference_runs --check

Lessons draw the stored runs, so that a curve of minutes is on the page in a moment. Everything
is seeded: another machine gives the same curves but for the last digits.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("experiments.reference_runs")

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

from experiments.bars import check_bars
from experiments.published_copy import train_as_published
from experiments.reference_settings import REFERENCES, SEEDS, ReferenceSettings
from transformer_course.curves.stored_runs import FOLDER, Glance, SeedRun, StoredRuns, save_runs
from transformer_edu.data.batches import make_batch
from transformer_edu.data.toy_tasks import Task
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.loop import fit
from transformer_edu.training.machine.device import use_one_thread
from transformer_edu.training.machine.failures import one_line_errors

ABOUT = "Rebuild the stored training runs, or check what is promised about training."


def train_once(
    settings: ReferenceSettings, task: Task, seed: int, *, stop_after: int | None = None
) -> tuple[SeedRun, Transformer]:
    """Train one seed of a variant.

    Args:
        settings: The variant.
        task: What settings.build_task() returns.
        seed: Decides the first weights, the order of the pairs and what dropout drops.
        stop_after: End after so many steps; all steps when None.

    Returns:
        What is stored of the run, and the trained model.
    """
    model = settings.build_model(task, seed)
    config = settings.training(seed, stop_after=stop_after)
    if settings.as_published:
        evaluations, printed = train_as_published(model, task, config)
    else:
        evaluations, printed = fit(model, task, config).evaluations, []
    return SeedRun(seed=seed, evaluations=tuple(evaluations), printed=tuple(printed)), model


def rebuild(settings: ReferenceSettings, *, seeds: Sequence[int] = SEEDS) -> Iterator[StoredRuns]:
    """Train a variant with every seed; after each one yield what there is so far.

    Args:
        settings: The variant.
        seeds: At least one.
    """
    task = settings.build_task()
    runs: list[SeedRun] = []
    glance = None
    for seed in seeds:
        seed_run, model = train_once(settings, task, seed)
        runs.append(seed_run)
        glance = glance or look(model, task)
        yield StoredRuns(
            variant=settings.variant, settings=settings.record(), runs=tuple(runs), glance=glance
        )


@torch.no_grad()
def look(model: Transformer, task: Task) -> Glance:
    """Where a trained model looks, and what it writes, for the first validation pair.

    Args:
        model: In evaluation mode.
        task: Whose validation pairs to use.
    """
    # Enough company that a fault along the batch shows, as it does when the model is judged.
    batch = make_batch(task.validation[:64])
    layer = model.decoder.layers[-1].cross_attention
    seen: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, given: seen.extend(given))
    try:
        model(batch.source_ids, batch.decoder_input_ids)
    finally:
        hook.remove()
    query, memory, _ = seen
    weights = layer.attention_weights(query, memory)[0].clamp(0, 1)  # (heads, query, key)
    head = int(weights.amax(dim=-1).mean(dim=-1).argmax())
    source, target = task.validation[0]
    written = greedy_search(model, batch.source_ids, max_length=len(target) + 2)[0]
    source, target, written = (task.vocabulary.decode(ids) for ids in (source, target, written))
    return Glance(
        source=tuple(source),
        target=tuple(target),
        written=tuple(written),
        head=head,
        weights=tuple(map(tuple, weights[head].tolist())),
    )


def rebuild_all(variants: Sequence[str], folder: Path) -> None:
    """Rebuild and save variants, with a line for each run.

    Args:
        variants: Names in REFERENCES.
        folder: Where the files go.
    """
    chosen = [REFERENCES[variant] for variant in variants]
    minutes = sum(each.seconds for each in chosen) * len(SEEDS) / 60
    print(f"{len(chosen)} variants × {len(SEEDS)} seeds, about {minutes:.1f} minutes on one thread")
    print(f"{'variant':38} {'seed':>4} {'loss':>7} {'tokens':>7} {'alone':>7} {'seconds':>8}")
    begin = time.process_time()
    for settings in chosen:
        before = time.process_time()
        for stored in rebuild(settings):
            now = time.process_time()
            run = stored.runs[-1]
            last = run.evaluations[-1]
            scores = f"{last.loss:7.3f} {last.token_accuracy:7.3f} {last.exact_match:7.3f}"
            print(f"{stored.variant:38} {run.seed:4} {scores} {now - before:8.1f}", flush=True)
            before = now
        save_runs(stored, folder=folder)
    print(f"rebuilt in {(time.process_time() - begin) / 60:.1f} CPU-minutes")


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and do what it says.

    Args:
        arguments: The command line's words; those given to the program when None.

    Returns:
        The exit status: 1 if a promise is not kept, else 0.
    """
    parser = argparse.ArgumentParser(description=ABOUT)
    parser.add_argument(
        "--only",
        action="append",
        choices=REFERENCES,
        metavar="VARIANT",
        help=f"rebuild only this variant; may be repeated. There are: {', '.join(REFERENCES)}",
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the files go")
    parser.add_argument(
        "--check", action="store_true", help="train for the promised scores instead, three seeds"
    )
    chosen = parser.parse_args(arguments)
    if not chosen.folder.is_dir():
        parser.error(f"folder must exist, got {chosen.folder}")
    with use_one_thread():
        if chosen.check:
            return 0 if check_bars() else 1
        rebuild_all(chosen.only or list(REFERENCES), chosen.folder)
    return 0
