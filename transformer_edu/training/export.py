"""Publish a run: ``python -m transformer_edu.training.export runs/x --to folder``.

The folder gets the weights in half precision, the tokenizer, the history of the run, and a card
that says how they were made and how well they do, all of it from the run's own records.
"""

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import torch

from transformer_edu.generation.translator import Translator
from transformer_edu.training.bleu import Bleu
from transformer_edu.training.checkpoint import load_model, save_model
from transformer_edu.training.checkpoint_file import replace_file
from transformer_edu.training.judging import BleuJudge
from transformer_edu.training.memory import keep_freed_memory
from transformer_edu.training.options import OPTIONS, PROGRAM
from transformer_edu.training.presets import PRESETS, RunSettings, settings_record
from transformer_edu.training.run_folder import CARD, HISTORY, RunFolder, write_json
from transformer_edu.training.run_task import load_texts
from transformer_edu.training.saved_translator import load_translator
from transformer_edu.training.score import WIDTH, score_translator

ABOUT = "Write a run's weights in half precision, its tokenizer, its history and a card."
ALPHAS = (0.6, 1.0, 1.4, 1.8)  # the paper's length penalty, and stronger ones
CHOSEN_BY = "cased"
LARGEST = 8_000_000  # bytes of weights and tokenizer that the package may carry
TERMS = {
    "multi30k": (
        "Multi30k (Elliott et al. 2016): 29,000 captions of pictures in English, each with a "
        "German translation by a professional. The captions are Flickr30k's (Young et al. 2014), "
        "whose authors offer it to researchers and teachers for purposes that are not commercial; "
        "the pictures, under Flickr's own terms, were not used. The repository of Multi30k states "
        "no licence of its own. The texts are not part of this package, only weights and tokens "
        "learned from them."
    ),
    "files": "Parallel texts of the user's own, whose terms apply.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, judge the run by its test part, write the folder.

    Returns:
        The exit status: 0, or 1 after an error, which is told in one line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m transformer_edu.training.export", description=ABOUT
    )
    parser.add_argument("run", help="folder of a finished run")
    parser.add_argument("--to", required=True, help="folder to write")
    parser.add_argument("--machine", help="what it was trained on, for the card")
    chosen = parser.parse_args(arguments)
    keep_freed_memory()
    try:
        size = export(RunFolder(chosen.run), RunFolder(chosen.to), machine=chosen.machine)
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
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
    shutil.copyfile(run.tokenizer_file, to.tokenizer_file)
    texts, found = load_texts(settings), {}
    for name, file in candidates.items():
        translator = _write_weights(file, to)
        for alpha in ALPHAS:
            found[name, alpha] = score_translator(translator, texts.validation, alpha=alpha)
    name, alpha = max(found, key=lambda each: found[each][CHOSEN_BY].score)
    translator = _write_weights(candidates[name], to)
    scores = {
        ("validation", 1): score_translator(translator, texts.validation, width=1),
        ("validation", WIDTH): found[name, alpha],
        ("test", 1): score_translator(translator, texts.test, width=1),
        ("test", WIDTH): score_translator(translator, texts.test, alpha=alpha),
    }
    beams = {each: cases[CHOSEN_BY].score for each, cases in found.items()}
    write_json(to.path / HISTORY, history_of(run, settings))
    card = describe_run(run, settings, scores, beams, machine)
    replace_file(to.path / CARD, [card.encode()])
    files = to.model, to.tokenizer_file, to.path / HISTORY, to.path / CARD
    return sum(file.stat().st_size for file in files)


def weights_of(run: RunFolder, settings: RunSettings) -> dict[str, Path]:
    """The weights of a run that may be published, by what the card says of them.

    Args:
        run: A finished run.
        settings: Its choices.

    Raises:
        ValueError: If the run has no evaluation with a score.
    """
    scored = history_of(run, settings)["evaluations"]
    if not scored:
        raise ValueError(f"run must have a history, got none in {run.history_file}")
    best = max(scored, key=lambda record: record[BleuJudge.name])  # the first, if several are
    kept = min(settings.keep, len(run.kept_weights()))
    average = f"the average of the weights at the last {kept} evaluations"
    return {average: run.model, f"the weights at step {best['step']:,}": run.best}


def _write_weights(file: Path, to: RunFolder) -> Translator:
    """What is judged is what was written: half precision, read back."""
    save_model(to.model, load_model(file), dtype=torch.float16)
    size = to.model.stat().st_size + to.tokenizer_file.stat().st_size
    if size > LARGEST:
        to.model.unlink()
        raise ValueError(f"model and tokenizer must take at most {LARGEST:,} bytes, got {size:,}")
    return load_translator(to.path)


def history_of(run: RunFolder, settings: RunSettings) -> dict[str, object]:
    """What a run chose and how it learned: a record for every evaluation.

    Args:
        run: Its history tells what happened.
        settings: Its choices.

    Returns:
        What the file HISTORY holds: "settings" by name, and "evaluations", the records that
        have a score, the earliest first.
    """
    scored = [record for record in run.read_history() if record[BleuJudge.name] is not None]
    return {"settings": settings_record(settings), "evaluations": scored}


def describe_run(
    run: RunFolder,
    settings: RunSettings,
    scores: Mapping[tuple[str, int], Mapping[str, Bleu]],
    beams: Mapping[tuple[str, float], float],
    machine: str | None = None,
) -> str:
    """The card of a run, in Markdown.

    Args:
        run: A finished one; its history tells what it cost.
        settings: Its choices.
        scores: By part and width of the beam.
        beams: BLEU of the validation part by weights and the length penalty's exponent; the
            best was taken.
        machine: What it was trained on; None takes it from the run's records.

    Raises:
        OSError: If there is no run in the folder.
    """
    last, versions = run.read_history()[-1], run.read_versions()
    machine = machine or versions.get("machine", "")
    made_with = ", ".join(f"{name} {versions[name]}" for name in versions if name != "machine")
    weights, _ = max(beams, key=beams.get)
    lines = [
        f"# A Transformer for {settings.task}",
        f"{settings.num_layers} + {settings.num_layers} layers, d_model {settings.d_model}, "
        f"{settings.num_heads} heads, d_ff {settings.d_ff}; trained from scratch. A toy for "
        "lessons: it knows the words of its training data and little else.",
        "## How it was trained",
        f"```\n{command_of(settings)}\n```",
        f"- seed {settings.seed}, {last['step']:,} steps, {last['tokens']:,} target tokens; "
        f"{weights}, stored in float16",
        f"- {last['cpu_seconds'] / 60:,.0f} CPU-minutes, {last['seconds'] / 60:,.0f} minutes on "
        f"the clock, evaluations included{', on ' + machine if machine else ''}",
        f"- made with {made_with}",
        "## How well it translates",
        *_told_scores(scores, beams),
        "## Data",
        TERMS[settings.task],
    ]
    return "\n\n".join(lines) + "\n"


def _told_scores(
    scores: Mapping[tuple[str, int], Mapping[str, Bleu]], beams: Mapping[tuple[str, float], float]
) -> list[str]:
    """What was tried, what was chosen, and what the choice is worth."""
    _, alpha = max(beams, key=beams.get)
    tried: dict[str, list[str]] = {}
    for (weights, each), score in beams.items():
        tried.setdefault(weights, []).append(f"α {each:g} {score:.1f}")
    rows = [
        f"- {part}, beam {width}, {case}: **{bleu.score:.1f}** BLEU (`{bleu.signature}`)"
        for (part, width), cases in scores.items()
        for case, bleu in cases.items()
    ]
    return [
        f"Weights and length penalty α {alpha:g} are the best by validation (beam {WIDTH}, "
        f"{CHOSEN_BY}); no choice was made by test:",
        "\n".join(f"- {weights}: {', '.join(found)}" for weights, found in tried.items()),
        f"The result, with α {alpha:g}:",
        "\n".join(rows),
    ]


def command_of(settings: RunSettings) -> str:
    """The command that repeats a run, with every choice that its preset does not make.

    Args:
        settings: The run's.
    """
    preset = PRESETS[settings.preset]
    words = [PROGRAM, "--task", settings.task, "--preset", settings.preset]
    always = {"steps", "seed"}
    if settings.batch_tokens is None:
        always.add("batch_size")  # naming it is what leaves batch_tokens out
    for field in fields(settings):
        value = getattr(settings, field.name)
        is_chosen = value != getattr(preset, field.name) or field.name in always
        if field.name in OPTIONS and is_chosen and value is not None:
            words += [OPTIONS[field.name], str(value)]
    if settings.norm_first != preset.norm_first:
        words.append("--norm-first" if settings.norm_first else "--no-norm-first")
    return " ".join([*words, "--out", "runs/x"])


if __name__ == "__main__":
    sys.exit(main())
