"""The options of ``python -m transformer_edu.training``, and the settings that they make."""

import argparse
from dataclasses import fields, replace

from transformer_edu.runs.presets import PRESETS, SCHEDULES, TASKS, RunSettings, choose_settings
from transformer_edu.runs.run_folder import RunFolder

PROGRAM = "python -m transformer_edu.training"
ABOUT = "Train a Transformer and keep the run in a folder."
NUMBERS = {  # options that are a number, their setting, and what is said about them
    "--steps": ("steps", int, "weight updates"),
    "--seed": ("seed", int, "decides first weights, order and dropout"),
    "--vocabulary": ("vocabulary_size", int, "most tokens of the joint vocabulary"),
    "--d-model": ("d_model", int, "width of the model"),
    "--heads": ("num_heads", int, "attention heads"),
    "--layers": ("num_layers", int, "layers of the encoder, and of the decoder"),
    "--d-ff": ("d_ff", int, "width inside the feed-forward networks"),
    "--dropout": ("dropout", float, "probability of dropping a number"),
    "--learning-rate": ("learning_rate", float, "the highest learning rate"),
    "--warmup": ("warmup_steps", int, "steps until the learning rate is highest"),
    "--batch-tokens": ("batch_tokens", int, "target tokens in a batch"),
    "--batch-size": ("batch_size", int, "pairs in a batch, where tokens are not counted"),
    "--bpe-dropout": ("bpe_dropout", float, "probability of splitting words at random"),
    "--copies": ("copies", int, "readings of each caption in an epoch, in other forms"),
    "--longest": ("longest", int, "most tokens of a side of a training pair"),
    "--label-smoothing": ("label_smoothing", float, "share of probability spread over all"),
    "--largest-gradient": ("largest_gradient", float, "longer gradients are shortened"),
    "--accumulate": ("accumulate", int, "parts in which a batch is computed"),
    "--evaluate-every": ("evaluate_every", int, "steps between two evaluations"),
    "--evaluate-on": ("evaluate_on", int, "validation sentences to write each time"),
    "--keep": ("keep", int, "last weights that are averaged at the end"),
    "--patience": ("patience", int, "evaluations without a better score before the end"),
}
OPTIONS = {  # the option of every setting, but for those that are the task itself
    **{setting: option for option, (setting, _, _) in NUMBERS.items()},
    "source": "--source",
    "target": "--target",
    "begin_with": "--begin-with",
    "schedule": "--schedule",
    "precision": "--precision",
}
MAY_CHANGE = {"patience"}  # when a run is resumed


def build_parser() -> argparse.ArgumentParser:
    """Every option; what is left out comes from the preset."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=ABOUT)
    parser.add_argument("--task", choices=TASKS, help="what is learned (multi30k)")
    parser.add_argument("--source", help="file of source sentences, for --task files")
    parser.add_argument("--target", help="file of their translations")
    parser.add_argument("--begin-with", help="folder of a trained translator to go on from")
    parser.add_argument("--preset", choices=PRESETS, help="sizes and numbers to begin with")
    parser.add_argument("--out", required=True, help="folder of the run")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument("--device", help="cpu, cuda or mps; the best one here")
    parser.add_argument("--threads", type=int, help="CPU threads; all")
    parser.add_argument("--precision", help="auto, float32, bfloat16 or float16")
    parser.add_argument("--schedule", choices=SCHEDULES, help="of the learning rate")
    parser.add_argument("--norm-first", action=argparse.BooleanOptionalAction, help="pre-norm")
    for option, (setting, kind, about) in NUMBERS.items():
        parser.add_argument(option, dest=setting, type=kind, help=about)
    return parser


def read_settings(chosen: argparse.Namespace, folder: RunFolder) -> RunSettings:
    """What the options say, and where they say nothing the preset, or the run to go on with.

    Args:
        chosen: What build_parser's parser has read.
        folder: That of the run.

    Raises:
        FileNotFoundError: If there is no run to resume.
        TypeError, ValueError: If there is a run and it is not to be resumed, a resumed run was
            begun with another setting, or a setting cannot be trained with.
    """
    names = {field.name for field in fields(RunSettings)} - {"preset"}
    given = {name: getattr(chosen, name) for name in names if getattr(chosen, name) is not None}
    if not chosen.resume:
        if folder.holds_a_run():
            raise ValueError(
                f"out must be the folder of a new run, got {folder.path}, which holds one: "
                "add --resume to go on with it"
            )
        return choose_settings(chosen.preset, **given)
    begun = folder.read_settings()
    if chosen.preset is not None:
        given["preset"] = chosen.preset
    for name, value in given.items():
        before = getattr(begun, name)
        if value != before and name not in MAY_CHANGE:
            raise ValueError(f"{name} must be {before} as in {folder.path}, got {value}")
    return replace(begun, **{name: given[name] for name in MAY_CHANGE & given.keys()})
