"""Publish a run: ``python -m experiments.publishing.export runs/x --to folder``.

The folder gets the weights in half precision, the tokenizer, the history of the run, and a card
that says how they were made and how well they do, all of it from the run's own records.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from experiments.publishing.card import Trial, best_of, describe_run
from experiments.publishing.everyday_scores import EverydayScorer
from transformer_edu.generation.translator import Translator
from transformer_edu.pretrained.loading import CARD, HISTORY
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.run_task import load_corpora
from transformer_edu.runs.scoring import WIDTH, score_translator
from transformer_edu.runs.settings import EVERYDAY, TINY, RunSettings
from transformer_edu.runs.watching import BleuScorer
from transformer_edu.training.checkpoint import average_models, load_model, save_model
from transformer_edu.training.machine.atomic_files import read_json, write_json
from transformer_edu.training.machine.device import keep_freed_memory
from transformer_edu.training.machine.failures import one_line_errors
from transformer_edu.training.saved_translator import load_translator

ABOUT = "Write a run's weights in half precision, its tokenizer, its history and a card."
ALPHAS = (0.6, 1.0, 1.4, 1.8)  # the paper's length penalty, and stronger ones
LARGEST = 8_000_000  # bytes of weights and tokenizer that the package may carry


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, scorer the run by its test part, write the folder.

    Returns:
        The exit status: 0, or 1 after an error, which is told in one line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m experiments.publishing.export", description=ABOUT
    )
    parser.add_argument("run", help="folder of a finished run")
    parser.add_argument("--to", required=True, help="folder to write")
    parser.add_argument("--machine", help="what it was trained on, for the card")
    chosen = parser.parse_args(arguments)
    keep_freed_memory()
    size = export(RunFolder(chosen.run), RunFolder(chosen.to), machine=chosen.machine)
    print(f"{chosen.to}: {size:,} bytes")
    return 0


def export(run: RunFolder, to: RunFolder, *, machine: str | None = None) -> int:
    """Write a run's result where it can be loaded from.

    Args:
        run: A finished run of a text task.
        to: Another folder; gets four files.
        machine: What it was trained on; None takes it from the run's records.

    Returns:
        The bytes written, in all four files.

    Raises:
        OSError: If a file is missing or cannot be written.
        ValueError: If the run is of a toy task or has no history, to is the run's own folder, or
            weights and tokenizer are too large for the package.
    """
    settings = run.read_settings()
    if not settings.is_text:
        raise ValueError(f"run must be one of a text task, got {settings.task!r}")
    if to.path.resolve() == run.path.resolve():
        raise ValueError(f"to must be another folder than the run's, got {to.path}")
    candidates = weights_of(run, settings)
    to.path.mkdir(parents=True, exist_ok=True)
    # Nothing of what is published changes before all of the new is there.
    with TemporaryDirectory(dir=to.path, prefix=".export") as folder:
        draft = RunFolder(folder)
        _write_draft(run, draft, settings, candidates, machine)
        files = [draft.model, draft.tokenizer_file, draft.path / HISTORY, draft.path / CARD]
        size = sum(file.stat().st_size for file in files)
        for file in files:
            os.replace(file, to.path / file.name)
    return size


def weights_of(run: RunFolder, settings: RunSettings) -> dict[str, tuple[Path, ...]]:
    """The weights of a run that may be published.

    A run that began with a trained model learns the new texts and forgets some of the old ones.
    The mean of the two models is often better than either (Wortsman et al. 2022,
    https://arxiv.org/abs/2109.01903).

    Args:
        run: A finished run.
        settings: Its choices.

    Returns:
        The files of each candidate by its name on the card; several are to be averaged. They are
        the average and the best, and if the run began with a model of the same sizes and tokens,
        that model with the average.

    Raises:
        OSError: If one of the files is missing.
        ValueError: If the run has no evaluation with a score.
    """
    scored = history_of(run, settings)["evaluations"]
    if not scored:
        raise ValueError(f"run must have a history, got none in {run.history_file}")
    best = max(scored, key=lambda record: record[BleuScorer.name])  # the first, if several are
    averaged = min(settings.keep, len(scored))
    last = "evaluation" if averaged == 1 else f"{averaged} evaluations"
    candidates = {
        f"the average of the weights at the last {last}": (run.model,),
        f"the weights at step {best['step']:,}": (run.best,),
    }
    for (file,) in candidates.values():
        if not file.exists():
            raise FileNotFoundError(f"run must be a finished one, with {file}")
    if settings.begin_with is not None and _can_be_averaged(RunFolder(settings.begin_with), run):
        begun = RunFolder(settings.begin_with).model
        name = f"the mean of the weights of {settings.begin_with} and of the last {last}"
        candidates[name] = (begun, run.model)
    return candidates


def _can_be_averaged(begun: RunFolder, run: RunFolder) -> bool:
    """Whether each weight of one run's average means the same in the other's."""
    if not begun.model.exists() or load_model(begun.model).config != load_model(run.model).config:
        return False
    return begun.tokenizer_file.read_bytes() == run.tokenizer_file.read_bytes()


def history_of(run: RunFolder, settings: RunSettings) -> dict[str, object]:
    """What a run chose and how it learned: a record for every evaluation.

    Args:
        run: Its history tells what happened.
        settings: Its choices.

    Returns:
        What the file HISTORY holds: "settings" by name, "evaluations", the records that have a
        score, the earliest first, and "began_with", the same of the run before it, or None.

    Raises:
        OSError: If the run began with another, whose records are not there any more.
    """
    name = BleuScorer.name
    scored = [record for record in run.read_history(name) if record[name] is not None]
    before = None
    if settings.begin_with is not None:
        begun = RunFolder(settings.begin_with)
        is_run = begun.holds_a_run()
        file = begun.path / HISTORY  # of an exported run
        before = history_of(begun, begun.read_settings()) if is_run else read_json(file)
    return {"settings": settings.by_name(), "evaluations": scored, "began_with": before}


def _write_draft(
    run: RunFolder,
    draft: RunFolder,
    settings: RunSettings,
    candidates: dict[str, tuple[Path, ...]],
    machine: str | None,
) -> None:
    """Choose by validation, look at test once, and write all four files."""
    shutil.copyfile(run.tokenizer_file, draft.tokenizer_file)
    corpora = load_corpora(settings)
    texts, *_ = corpora.values()  # scored by BLEU
    everyday = EverydayScorer(corpora) if EVERYDAY in corpora else None
    trials = []
    for weights, files in candidates.items():
        translator = _write_weights(files, draft)
        for alpha in ALPHAS:
            exact = everyday.validate(translator, WIDTH, alpha) if everyday else None
            scores = score_translator(translator, texts.validation, alpha=alpha)
            trials.append(Trial(weights, alpha, scores, exact))
    chosen = best_of(trials)
    translator = _write_weights(candidates[chosen.weights], draft)
    scores = {
        ("validation", 1): score_translator(translator, texts.validation, width=1),
        ("validation", WIDTH): chosen.scores,
        ("test", 1): score_translator(translator, texts.test, width=1),
        ("test", WIDTH): score_translator(translator, texts.test, alpha=chosen.alpha),
    }
    unseen = everyday.test(translator, (1, WIDTH), chosen.alpha) if everyday else {}
    history = history_of(run, settings)
    before, began = [], history["began_with"]
    while began:
        before.insert(0, TINY.changed(**began["settings"]))
        began = began.get("began_with")  # an older file does not say it of the first
    card = describe_run(run, settings, trials, scores, machine, everyday=unseen, before=before)
    write_json(draft.path / HISTORY, history)
    (draft.path / CARD).write_text(card, "utf-8", "backslashreplace")


def _write_weights(files: tuple[Path, ...], draft: RunFolder) -> Translator:
    """What is scored is what was written: half precision, read back."""
    save_model(draft.model, average_models(files), dtype=torch.float16)
    size = draft.model.stat().st_size + draft.tokenizer_file.stat().st_size
    if size > LARGEST:
        raise ValueError(f"model and tokenizer must take at most {LARGEST:,} bytes, got {size:,}")
    return load_translator(draft.path)


if __name__ == "__main__":
    sys.exit(main())
