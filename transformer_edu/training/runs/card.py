"""The card of a published run: how it was made and how well it does, from its own records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from transformer_edu.training.bleu import Bleu
from transformer_edu.training.runs.options import OPTIONS, PROGRAM
from transformer_edu.training.runs.presets import PRESETS, RunSettings
from transformer_edu.training.runs.run_folder import RunFolder
from transformer_edu.training.runs.scoring import WIDTH

CHOSEN_BY = "cased"
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


@dataclass(frozen=True)
class Trial:
    """Weights and a length penalty that might be published, and what they reach.

    Args:
        weights: Which, in words.
        alpha: The exponent of the length penalty.
        scores: BLEU of the validation part by beam search, by case.
    """

    weights: str
    alpha: float
    scores: Mapping[str, Bleu]


def best_of(trials: Sequence[Trial]) -> Trial:
    """The trial with the best score by validation; the first, if several are.

    Args:
        trials: At least one.
    """
    return max(trials, key=lambda trial: trial.scores[CHOSEN_BY].score)


def describe_run(
    run: RunFolder,
    settings: RunSettings,
    trials: Sequence[Trial],
    scores: Mapping[tuple[str, int], Mapping[str, Bleu]],
    machine: str | None = None,
) -> str:
    """The card of a run, in Markdown.

    Args:
        run: A finished one; its history tells what it cost.
        settings: Its choices.
        trials: What was tried, by validation; the best is what is published.
        scores: What is published reaches, by part, width of the beam and case.
        machine: What it was trained on; None takes it from the run's records.

    Raises:
        OSError: If there is no run in the folder.
        ValueError: If the run has no history.
    """
    records, versions = run.read_history(), run.read_versions()
    if not records:
        raise ValueError(f"run must have a history, got none in {run.history_file}")
    last, machine = records[-1], machine or versions.get("machine", "")
    made_with = ", ".join(f"{name} {versions[name]}" for name in versions if name != "machine")
    lines = [
        f"# A Transformer for {settings.task}",
        f"{settings.num_layers} + {settings.num_layers} layers, d_model {settings.d_model}, "
        f"{settings.num_heads} heads, d_ff {settings.d_ff}; trained from scratch. A toy for "
        "lessons: it knows the words of its training data and little else.",
        "## How it was trained",
        f"```\n{command_of(settings)}\n```",
        f"- seed {settings.seed}, {last['step']:,} steps, {last['tokens']:,} target tokens; "
        f"{best_of(trials).weights}, stored in float16",
        f"- {last['cpu_seconds'] / 60:,.0f} CPU-minutes, {last['seconds'] / 60:,.0f} minutes on "
        f"the clock, evaluations included{', on ' + machine if machine else ''}",
        f"- made with {made_with}",
        "## How well it translates",
        *_describe_scores(trials, scores),
        "## Data",
        TERMS[settings.task],
    ]
    return "\n\n".join(lines) + "\n"


def _describe_scores(
    trials: Sequence[Trial], scores: Mapping[tuple[str, int], Mapping[str, Bleu]]
) -> list[str]:
    """What was tried, what was chosen, and what the choice is worth."""
    tried: dict[str, list[str]] = {}
    for trial in trials:
        score = trial.scores[CHOSEN_BY].score
        tried.setdefault(trial.weights, []).append(f"α {trial.alpha:g} {score:.1f}")
    rows = [
        f"- {part}, beam {width}, {case}: **{bleu.score:.1f}** BLEU (`{bleu.signature}`)"
        for (part, width), cases in scores.items()
        for case, bleu in cases.items()
    ]
    alpha = best_of(trials).alpha
    return [
        f"Tried by validation (beam {WIDTH}, {CHOSEN_BY}; α is the length penalty's exponent):",
        "\n".join(f"- {weights}: {', '.join(found)}" for weights, found in tried.items()),
        f"The best of the {len(trials)} is published, with α {alpha:g}. Small leads are chance, so "
        "its validation scores flatter it; no choice was made by the test part.",
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
