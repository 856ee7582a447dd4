"""Publish a run: ``python -m experiments.publishing.export runs/x --to folder``.

The folder gets the weights in half precision, the tokenizer, the history of the run, and a card
that says how they were made and how well they do, all of it from the run's own records.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("experiments.publishing.export")

import argparse
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from experiments.publishing.bootstrap import describe_sureness
from experiments.publishing.card import Findings, checksum_of, describe_run
from experiments.publishing.choosing import ALPHAS, WIDTHS, Chooser, Trial, best_of
from experiments.publishing.everyday_scores import score_unseen
from transformer_course.kept_files import back_up
from transformer_edu.data.augmentation import FINAL_MARKS
from transformer_edu.data.parallel_text import ParallelText, TextPair
from transformer_edu.data.tokenizer import load_tokenizer
from transformer_edu.generation.translator import Translator
from transformer_edu.model.transformer import Transformer
from transformer_edu.pretrained.loading import CARD, HISTORY
from transformer_edu.runs.command import make_optimizer
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.run_task import load_corpora, load_run_task
from transformer_edu.runs.scoring import score_translator
from transformer_edu.runs.settings import EVERYDAY, RunSettings
from transformer_edu.runs.watching import BleuScorer
from transformer_edu.training.checkpoint import (
    average_models,
    load_checkpoint,
    load_model,
    save_model,
)
from transformer_edu.training.checkpoint_file import read_checkpoint_file
from transformer_edu.training.machine.atomic_files import read_json, write_json
from transformer_edu.training.machine.device import keep_freed_memory
from transformer_edu.training.machine.failures import one_line_errors
from transformer_edu.training.saved_translator import load_translator
from transformer_edu.training.state import TrainingState

ABOUT = "Write a run's weights in half precision, its tokenizer, its history and a card."
TYPED = {  # other forms in which people type a source
    "in capitals": str.upper,
    "in small letters": str.lower,
    "without final marks": lambda text: text.rstrip(FINAL_MARKS),
}
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
        to: Another folder; gets four files. A card that differs stays as a .bak.
        machine: What it was trained on; None takes it from the run's records.

    Returns:
        The bytes written, in all four files.

    Raises:
        OSError: If a file is missing or cannot be written.
        ValueError: If the run is of a toy task, has no history or is damaged, its texts have
            changed, to is the run's own folder or has such files of others, or what it holds is
            too large for the package.
    """
    settings = run.read_settings()
    if not settings.is_text:
        raise ValueError(f"run must be one of a text task, got {settings.task!r}")
    if to.path.resolve() == run.path.resolve():
        raise ValueError(f"to must be another folder than the run's, got {to.path}")
    if to.path.exists() and not to.path.is_dir():
        raise ValueError(f"to must be a folder, got the file {to.path}")
    candidates = weights_of(run, settings)
    _require_whole(run, settings, candidates)
    names = (HISTORY, to.model.name, to.tokenizer_file.name, CARD)
    there = [name for name in names if os.path.lexists(to.path / name)]
    if there and not _is_history(to.path / HISTORY):
        wanted = "a new folder, or one that this command has written"
        raise ValueError(f"to must be {wanted}, got {to.path} with {there[0]}")
    to.path.mkdir(parents=True, exist_ok=True)
    # Nothing of what is published changes before all of the new is there.
    with TemporaryDirectory(dir=to.path, prefix=".export") as folder:
        draft = RunFolder(folder)
        _write_draft(run, draft, settings, candidates, machine)
        files = [draft.path / name for name in names]
        size = sum(file.stat().st_size for file in files)
        card = to.path / CARD
        if card.exists() and card.read_bytes() != (draft.path / CARD).read_bytes():
            print(f"{card} was edited, or of another run: it is kept as {back_up(card)}")
        for file in files:
            os.replace(file, to.path / file.name)
    return size


def weights_of(run: RunFolder, settings: RunSettings) -> dict[str, Path]:
    """The weights of a run that may be published: the average and the best.

    Args:
        run: A finished run.
        settings: Its choices.

    Returns:
        The file of each candidate by its name on the card.

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
        f"the average of the weights at the last {last}": run.model,
        f"the weights at step {best['step']:,}": run.best,
    }
    for file in candidates.values():
        if not file.exists():
            raise FileNotFoundError(f"run must be a finished one, with {file}")
    return candidates


def history_of(run: RunFolder, settings: RunSettings) -> dict[str, object]:
    """What a run chose and how it learned: a record for every evaluation.

    Args:
        run: Its history tells what happened.
        settings: Its choices.

    Returns:
        What the file HISTORY holds: "settings" by name, and "evaluations", the records that have a
        score, the earliest first.
    """
    name = BleuScorer.name
    scored = [record for record in run.read_history(name) if record[name] is not None]
    return {"settings": settings.by_name(), "evaluations": scored}


def _require_whole(run: RunFolder, settings: RunSettings, candidates: dict[str, Path]) -> None:
    """Refuse a run that was damaged by hand, before the hours that its scores take."""
    tokens = len(load_tokenizer(run.tokenizer_file))
    for file in candidates.values():
        if (size := load_model(file).config.vocabulary_size) != tokens:
            wanted = f"have as many tokens as {run.tokenizer_file}"
            raise ValueError(f"{file} must {wanted}, got {size:,} and {tokens:,}")
    if settings.task == "files" and run.checkpoint.exists():  # its texts may have changed since
        model, (task, _) = load_model(run.best), load_run_task(settings, run)
        optimizer = make_optimizer(model, settings)
        load_checkpoint(run.checkpoint, TrainingState(model, task, settings.training, optimizer))
    try:
        describe_run(run, settings, Findings(trials=(), chosen=Trial("none yet")))
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        files = f"{run.settings_file.name} and {run.history_file.name}"
        raise ValueError(f"run must have whole {files}, got others in {run.path}") from error
    records = history_of(run, settings)["evaluations"]
    scored = [record["step"] for record in records]
    record = max(records, key=lambda record: record[BleuScorer.name])
    best = run.weights_at(record["step"])
    if best.exists() and not _are_same(load_model(best), load_model(run.best)):
        raise ValueError(f"{run.best} must hold the weights of {best}, got others")
    won = [record["step"], record["validation_loss"]]
    if read_checkpoint_file(run.best)[1].get("won", won) != won:  # not in older files
        raise ValueError(f"{run.best} must be the run's own model, got another one")
    kept = [file for step, file in run.kept_weights().items() if step in scored[-settings.keep :]]
    all_there = len(kept) == min(settings.keep, len(scored))  # nobody has deleted one of them
    if all_there and not _are_same(average_models(kept), load_model(run.model)):
        raise ValueError(f"{run.model} must be the average of the last weights, got others")


def _are_same(one: Transformer, other: Transformer) -> bool:
    """Whether two models have the same weights."""
    ours, theirs = one.state_dict(), other.state_dict()
    return ours.keys() == theirs.keys() and all(ours[n].equal(theirs[n]) for n in ours)


def _is_history(file: Path) -> bool:
    """Whether history_of has said what a file holds."""
    try:
        return {*read_json(file)} == {"settings", "evaluations"}
    except (OSError, ValueError, TypeError):
        return False


def _write_draft(
    run: RunFolder,
    draft: RunFolder,
    settings: RunSettings,
    candidates: dict[str, Path],
    machine: str | None,
) -> None:
    """Choose by validation, look at test once, and write all four files."""
    shutil.copyfile(run.tokenizer_file, draft.tokenizer_file)
    corpora = load_corpora(settings)
    chooser, trials = Chooser(corpora), []
    for name, file in candidates.items():
        translator = _write_weights(file, draft)
        for alpha in ALPHAS:
            trial = Trial(name, alpha)
            trials.append(replace(trial, scores=chooser.scores(translator, trial)))
    first = best_of(trials)
    translator = _write_weights(candidates[first.weights], draft)
    others = [replace(first, width=width) for width in WIDTHS if width != first.width]
    for trial in (*others, replace(first, end_loops=False)):
        trials.append(replace(trial, scores=chooser.scores(translator, trial)))
    chosen = best_of([trial for trial in trials if trial.weights == first.weights])
    texts, *_ = corpora.values()  # scored by BLEU
    widths = (1, chosen.width)
    searched = [
        *((part, width) for part in ("validation", "test") for width in widths),
        *((f"test {form}", chosen.width) for form in TYPED),
    ]
    scores = {
        (part, width): score_translator(
            translator, pairs_of(texts, part), width=width, alpha=chosen.alpha
        )
        for part, width in searched
    }
    sureness = describe_sureness(translator, texts.test, widths=widths, alpha=chosen.alpha)
    unseen = {}
    if EVERYDAY in corpora:
        unseen = score_unseen(translator, corpora, widths, chosen.alpha)
    checksums = {name: checksum_of(texts) for name, texts in corpora.items()}
    findings = Findings(
        trials=trials,
        chosen=chosen,
        scores=scores,
        sureness=sureness,
        everyday=unseen,
        checksums=checksums,
    )
    card = describe_run(run, settings, findings, machine)
    write_json(draft.path / HISTORY, history_of(run, settings))
    (draft.path / CARD).write_text(card, "utf-8", "backslashreplace")


def pairs_of(texts: ParallelText, part: str) -> list[TextPair]:
    """The pairs of a part, such as "test"; of "test in capitals", the sources as people type."""
    name, _, form = part.partition(" ")
    typed = TYPED.get(form, str)
    return [(typed(source), target) for source, target in getattr(texts, name)]


def _write_weights(file: Path, draft: RunFolder) -> Translator:
    """What is scored is what was written: half precision, read back."""
    save_model(draft.model, load_model(file), dtype=torch.float16)
    size = draft.model.stat().st_size + draft.tokenizer_file.stat().st_size
    if size > LARGEST:
        raise ValueError(f"model and tokenizer must take at most {LARGEST:,} bytes, got {size:,}")
    return load_translator(draft.path)
