"""The options of ``python -m transformer_edu.training``, and the settings that they make."""

import argparse
import os

from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import CHOICES, TINY, RunSettings, choose_settings

PROGRAM = "python -m transformer_edu.training"
ABOUT = "Train a Transformer and keep the run in a folder."
OPTIONS = {  # the option of each setting, its type, and what it decides
    "task": ("--task", str, "what is learned (multi30k)"),
    "source": ("--source", str, "file of source sentences, for --task files"),
    "target": ("--target", str, "file of their translations"),
    "preset": ("--preset", str, "sizes and numbers to begin with"),
    "steps": ("--steps", int, "weight updates"),
    "seed": ("--seed", int, "decides first weights, order and dropout"),
    "vocabulary_size": ("--vocabulary", int, "most tokens of the joint vocabulary"),
    "d_model": ("--d-model", int, "width of the model"),
    "num_heads": ("--heads", int, "attention heads"),
    "num_layers": ("--layers", int, "layers of the encoder, and of the decoder"),
    "d_ff": ("--d-ff", int, "width inside the feed-forward networks"),
    "dropout": ("--dropout", float, "probability of dropping a number"),
    "optimizer": ("--optimizer", str, "adam as in the paper, or muon, which needs fewer steps"),
    "learning_rate": ("--learning-rate", float, "the highest learning rate"),
    "warmup_steps": ("--warmup", int, "steps until the learning rate is highest"),
    "schedule": ("--schedule", str, "of the learning rate"),
    "batch_tokens": ("--batch-tokens", int, "target tokens in a batch"),
    "batch_size": ("--batch-size", int, "pairs in a batch, where tokens are not counted"),
    "bpe_dropout": ("--bpe-dropout", float, "probability of splitting words at random"),
    "copies": ("--copies", int, "readings of each caption in an epoch, in other forms"),
    "longest": ("--longest", int, "most tokens of a side of a training pair"),
    "label_smoothing": ("--label-smoothing", float, "share of probability spread over all"),
    "largest_gradient": ("--largest-gradient", float, "longer gradients are shortened"),
    "accumulate": ("--accumulate", int, "parts in which a batch is computed"),
    "precision": ("--precision", str, "auto, float32, bfloat16 or float16"),
    "evaluate_every": ("--evaluate-every", int, "steps between two evaluations"),
    "evaluate_on": ("--evaluate-on", int, "validation sentences to write each time"),
    "keep": ("--keep", int, "last weights that are averaged at the end"),
    "patience": ("--patience", int, "evaluations without a better score before the end"),
}
MAY_CHANGE = {"patience", "source", "target"}  # when a run is resumed: its texts may have moved


def build_parser() -> argparse.ArgumentParser:
    """Every option; what is left out comes from the preset."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=ABOUT)
    parser.add_argument("--out", required=True, help="folder of the run")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument("--device", help="cpu, cuda or mps; the best one here")
    parser.add_argument("--threads", type=int, help="CPU threads; all")
    for name, (option, kind, about) in OPTIONS.items():
        parser.add_argument(option, dest=name, type=kind, choices=CHOICES.get(name), help=about)
    parser.add_argument("--norm-first", action=argparse.BooleanOptionalAction, help="pre-norm")
    return parser


def read_settings(chosen: argparse.Namespace, folder: RunFolder) -> RunSettings:
    """What the options say; the rest comes from the preset, or from the run to go on with.

    Args:
        chosen: What build_parser's parser has read.
        folder: The run's.

    Raises:
        FileNotFoundError: If there is no run to resume, or it has lost its checkpoint.
        TypeError, ValueError: If there is a run and it is not to be resumed, a resumed run was
            begun with another setting, or a setting cannot be trained with.
    """
    names = TINY.by_name().keys() & vars(chosen).keys()
    given = {name: getattr(chosen, name) for name in names if getattr(chosen, name) is not None}
    given |= {n: os.path.abspath(given[n]) for n in ("source", "target") if given.get(n)}
    if not chosen.resume:
        if is_run := folder.holds_a_run():
            folder.read_settings()  # whoever else has a settings.json is told about it
        if is_run or folder.results():
            go_on = "one: add --resume to go on with it, or begin another in another folder"
            got = f"{folder.path}, which holds {go_on if is_run else folder.results()[0]}"
            raise ValueError(f"out must be the folder of a new run, got {got}")
        return choose_settings(**given)
    begun = folder.read_settings()
    if (left := folder.results()) and not folder.checkpoint.exists():
        got = f"only {', '.join(left)}: put it back, or begin a new run in another folder"
        raise FileNotFoundError(f"run must have {folder.checkpoint} to go on, got {got}")
    for name, before in begun.by_name().items():
        if name not in MAY_CHANGE and given.get(name, before) != before:
            raise ValueError(f"{name} must be {before} as in {folder.path}, got {given[name]}")
    return begun.changed(**{name: given[name] for name in MAY_CHANGE & given.keys()})
