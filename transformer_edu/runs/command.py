"""The command ``python -m transformer_edu.training``: from a task to a model in a folder."""

import os
import platform
import signal
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from shlex import quote

import torch

from transformer_edu import __version__
from transformer_edu.data.toy_tasks import Task
from transformer_edu.model.refusals import require_memory, require_whole
from transformer_edu.model.transformer import Transformer
from transformer_edu.runs.options import PROGRAM, build_parser, read_settings
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.run_task import load_run_task
from transformer_edu.runs.settings import RunSettings
from transformer_edu.runs.watching import Watcher
from transformer_edu.training.checkpoint import (
    average_models,
    load_checkpoint,
    load_model,
    save_model,
)
from transformer_edu.training.evaluation import evaluate
from transformer_edu.training.loop import evaluate_if_due, fit, paper_adam
from transformer_edu.training.machine.atomic_files import write_json
from transformer_edu.training.machine.device import (
    DEVICE_VARIABLE,
    describe_device,
    keep_freed_memory,
    pick_device,
    pick_precision,
)
from transformer_edu.training.machine.failures import FAILED, INTERRUPTED, one_line_errors, report
from transformer_edu.training.machine.processes import (
    OneProcess,
    is_lost_process,
    joined_processes,
    process_count,
)
from transformer_edu.training.muon import Muon
from transformer_edu.training.state import TrainingState

LARGEST_THREADS = 256  # with many thousands the system ends the process


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, train, print the scores.

    Returns:
        The exit status: 0, 1 after an error, which is printed in one line, 130 after Ctrl-C.
    """
    chosen = build_parser().parse_args(arguments)
    keep_freed_memory()
    folder = RunFolder(chosen.out)
    if chosen.threads is not None:
        require_whole("threads", chosen.threads, maximum=LARGEST_THREADS)
        torch.set_num_threads(chosen.threads)
    if chosen.device is not None:
        os.environ[DEVICE_VARIABLE] = chosen.device
    try:
        with joined_processes() as processes:
            read_settings(chosen, folder)  # a refusal leaves no folder
            with folder.locked() if processes.is_first else nullcontext():
                # Another command may have begun a run here meanwhile.
                settings = read_settings(chosen, folder)
                return train_in_folder(settings, folder, resume=chosen.resume, processes=processes)
    except RuntimeError as error:
        if not is_lost_process(error):
            raise
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # torchrun's may come before the sentence
        report(
            f"error: another of the {process_count()} processes of this run has ended; "
            f"to go on from the last evaluation: {way_on(folder)}"
        )
        return FAILED


def train_in_folder(
    settings: RunSettings, folder: RunFolder, *, resume: bool, processes: OneProcess
) -> int:
    """Begin a run, or continue from the folder's checkpoint; return the exit status."""
    device = pick_device()
    with processes.first_before_others():
        task, scorer = load_run_task(settings, folder, processes=processes)
    torch.manual_seed(settings.training.seed)
    checkpoint = folder.checkpoint if resume and folder.checkpoint.exists() else None
    config = replace(settings.model, vocabulary_size=len(task.vocabulary))
    if device.type == "cpu":  # it holds weights, gradients, and the two means of Adam
        require_memory(config.size, copies=4)
    model = Transformer(config).to(device)
    if settings.training.precision == "auto":  # a resumed run keeps it, also on another machine
        settings = settings.changed(precision=pick_precision(model))
    state = TrainingState(model, task, settings.training, make_optimizer(model, settings))
    if checkpoint is not None:
        load_checkpoint(checkpoint, state)  # what is refused here has changed no file
    watcher = Watcher(model, folder, settings, scorer, processes=processes)
    is_over = checkpoint is not None and (
        watcher.is_patience_over() or len(state.run.steps) == settings.training.steps
    )
    if processes.is_first:
        if not is_over:  # no step will be taken here
            folder.write_settings(settings, versions(processes.count))
        report(f"Computing on {describe_device(device)}")
        weights = sum(weight.numel() for weight in model.parameters())
        report(
            f"{task.name}: {len(task.train):,} pairs to learn from, "
            f"{len(task.validation[: settings.training.evaluate_on]):,} to evaluate on; "
            f"{len(task.vocabulary):,} tokens, {weights:,} weights"
        )
    if not train_to_the_end(watcher, state, checkpoint):
        report(f"Interrupted; to go on: {way_on(folder)}")
        return INTERRUPTED
    processes.wait()
    for name, scores in finish(watcher, task).items():
        if processes.is_first:
            print(name, *(f"{measure} {value:.4g}" for measure, value in scores.items()))
    return 0


def way_on(folder: RunFolder) -> str:
    """The command that goes on with a run, by as many processes: others give other bits."""
    several = f"torchrun --nproc-per-node {process_count()}" if process_count() > 1 else "python"
    return f"{PROGRAM.replace('python', several)} --out {quote(str(folder.path))} --resume"


def train_to_the_end(watcher: Watcher, state: TrainingState, checkpoint: Path | None) -> bool:
    """Train until the end, an early stop or an interrupt; return whether the run is complete."""
    run = state.run
    watcher.begin(run)
    try:
        if checkpoint is not None:
            score_checkpoint(watcher, state)
        if not watcher.is_patience_over():
            kept = watcher.folder.checkpoint if watcher.processes.is_first else None
            how = {"optimizer": state.optimizer, "processes": watcher.processes}
            how |= {"after_step": watcher, "checkpoint": kept, "resume": checkpoint}
            run = fit(watcher.model, state.task, state.config, **how)
    finally:
        watcher.end(run)
    return watcher.stopped_early or not run.interrupted


def make_optimizer(model: Transformer, settings: RunSettings) -> torch.optim.Optimizer:
    """The optimizer that the settings name."""
    rate = settings.training.learning_rate
    if settings.optimizer == "muon":
        return Muon(model, rate, settings.training.precision)
    return paper_adam(model, rate)


def score_checkpoint(watcher: Watcher, state: TrainingState) -> None:
    """Score the checkpoint's model if an interrupt came just before its evaluation."""
    step = len(state.run.steps)
    if state.config.is_due(step) and step not in watcher.scores():
        evaluate_if_due(state.model, state.task, state.config, state.run, watcher.processes)
        watcher.observe(state.run)


def finish(watcher: Watcher, task: Task) -> dict[str, dict[str, float]]:
    """Average the last weights, save the average, and score it and the best weights."""
    folder, settings, scorer = watcher.folder, watcher.settings, watcher.scorer
    watched = task.validation[: settings.training.evaluate_on]
    paths = [path for step, path in folder.kept_weights().items() if step in watcher.scores()]
    models = {"best": load_model(folder.best), "average": average_models(paths[-settings.keep :])}
    scores = {}
    for name, model in models.items():
        model.to(pick_device())
        evaluation = evaluate(model, watched, processes=watcher.processes)
        scores[name] = {"validation_loss": evaluation.loss, scorer.name: scorer(model, evaluation)}
    if watcher.processes.is_first:
        if folder.read_history() != watcher.records:
            folder.write_history(watcher.records)
        save_model(folder.model, models["average"])
        write_json(folder.result_file, scores)
    return scores


def versions(processes: int) -> dict[str, str]:
    """The versions and the machine that a run of this many processes is made with."""
    device = pick_device()
    cpu = f"{torch.get_num_threads()} CPU thread(s), {platform.machine()}"
    machine = torch.cuda.get_device_name(device) if device.type == "cuda" else cpu
    return {
        "transformer_edu": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "parts": "by a hash of the source",  # of the task files; runs from before have none
        "machine": machine if processes == 1 else f"{processes} × {machine}",
    }
