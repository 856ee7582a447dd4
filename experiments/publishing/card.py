"""The card of a published run: how it was made and how well it does, from its own records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.publishing.everyday_scores import EverydayScore
from transformer_edu.runs.options import OPTIONS, PROGRAM
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.scoring import WIDTH
from transformer_edu.runs.settings import EVERYDAY, PRESETS, RunSettings
from transformer_edu.training.bleu import Bleu
from transformer_edu.training.machine.atomic_files import read_json

CHOSEN_BY = "cased"
TOLERANCE = 0.01  # of the everyday sentences
TERMS = {
    "multi30k": (
        "Multi30k (Elliott et al. 2016): 29,000 captions of pictures in English, each with a "
        "German translation by a professional. The captions are Flickr30k's (Young et al. 2014), "
        "whose authors offer it to researchers and teachers for purposes that are not commercial; "
        "the pictures, under Flickr's own terms, were not used. The repository of Multi30k states "
        "no license of its own. The texts are not part of this package, only weights and tokens "
        "learned from them."
    ),
    EVERYDAY: (
        "Everyday English: sentences generated from tables and a grammar, and phrases written for "
        "it (corpora/everyday in this repository), under the package's own license."
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
        exact: Share of everyday validation sentences that are exactly right; None without them.
    """

    weights: str
    alpha: float
    scores: Mapping[str, Bleu]
    exact: float | None = None

    @property
    def score(self) -> float:
        """BLEU, what the choice goes by."""
        return self.scores[CHOSEN_BY].score


def best_of(trials: Sequence[Trial]) -> Trial:
    """The trial with the highest BLEU among those that hardly lose an everyday sentence.

    Everyday sentences only bound the choice: nearly all of the generated ones are right, so that
    their small differences are chance, and added to BLEU they would outvote it.

    Args:
        trials: At least one.

    Returns:
        By validation; the first, if several are the best.
    """
    return max(_within_tolerance(trials), key=lambda trial: trial.score)


def _within_tolerance(trials: Sequence[Trial]) -> list[Trial]:
    """The trials that hardly lose an everyday sentence; all, if there are no such sentences."""
    bound = max(trial.exact or 0.0 for trial in trials) - TOLERANCE
    return [trial for trial in trials if (trial.exact or 0.0) >= bound]


def describe_run(
    run: RunFolder,
    settings: RunSettings,
    trials: Sequence[Trial],
    scores: Mapping[tuple[str, int], Mapping[str, Bleu]],
    machine: str | None = None,
    *,
    everyday: Mapping[tuple[str, int], EverydayScore] | None = None,
    before: Sequence[RunSettings] = (),
) -> str:
    """The card of a run, in Markdown.

    Args:
        run: A finished one; its history tells what it cost.
        settings: Its choices.
        trials: What was tried, by validation; the best is what is published.
        scores: What is published reaches, by part, width of the beam and case.
        machine: What it was trained on; None takes it from the run's records.
        everyday: Scores on everyday sentences, by their kind and width of the beam.
        before: The choices of the runs whose weights this one began with, the earliest first.

    Raises:
        OSError: If there is no run in the folder.
        ValueError: If the run has no history.
    """
    records, versions = run.read_history(), read_json(run.settings_file)["versions"]
    if not records:
        raise ValueError(f"run must have a history, got none in {run.history_file}")
    last, machine = records[-1], machine or versions.get("machine", "")
    made_with = ", ".join(f"{name} {versions[name]}" for name in versions if name != "machine")
    sizes = settings.model
    lines = [
        f"# A Transformer for {settings.task}",
        f"{sizes.num_layers} + {sizes.num_layers} layers, d_model {sizes.d_model}, "
        f"{sizes.num_heads} heads, d_ff {sizes.d_ff}; trained from scratch. A toy for "
        "lessons: it knows the words of its training data and little else.",
        "## How it was trained",
        *_describe_commands([*before, settings]),
        f"- seed {settings.training.seed}, {last['step']:,} steps, "
        f"{last['tokens']:,} target tokens; {best_of(trials).weights}, stored in float16",
        f"- {last['cpu_seconds'] / 60:,.0f} CPU-minutes, {last['seconds'] / 60:,.0f} minutes on "
        f"the clock, evaluations included{', on ' + machine if machine else ''}",
        f"- made with {made_with}",
        "## How well it translates",
        *_describe_scores(trials, scores),
        *_describe_everyday(everyday or {}),
        "## Data",
        *(TERMS[corpus] for corpus in settings.task.split("+")),
    ]
    return "\n\n".join(lines) + "\n"


def _describe_commands(chain: Sequence[RunSettings]) -> list[str]:
    """The commands that make the weights, one after the other: each begins with the run before."""
    commands = [command_of(settings) for settings in chain]
    for place, later in enumerate(chain[1:]):
        commands[place] = commands[place].replace(" --out runs/x", f" --out {later.begin_with}")
    told = "```\n" + "\n".join(commands) + "\n```"
    return [told] if len(chain) == 1 else [told, "What follows is of the last command."]


def _describe_scores(
    trials: Sequence[Trial], scores: Mapping[tuple[str, int], Mapping[str, Bleu]]
) -> list[str]:
    """What was tried, what was chosen, and what the choice is worth."""
    tried: dict[str, list[str]] = {}
    for trial in trials:
        exact = "" if trial.exact is None else f" and {trial.exact:.1%}"
        found = f"α {trial.alpha:g} {trial.score:.1f}{exact}"
        tried.setdefault(trial.weights, []).append(found)
    rows = [
        f"- {part}, beam {width}, {case}: **{bleu.score:.1f}** BLEU (`{bleu.signature}`)"
        for (part, width), cases in scores.items()
        for case, bleu in cases.items()
    ]
    alpha = best_of(trials).alpha
    has_everyday = trials[0].exact is not None
    compared = f"The best BLEU of the {len(trials)}"
    if has_everyday:
        compared = (
            f"Of these {len(trials)}, {len(_within_tolerance(trials))} are at most "
            f"{100 * TOLERANCE:g} percentage point below the best in everyday sentences. "
            "The best BLEU of them"
        )
    return [
        f"Tried by validation (beam {WIDTH}, {CHOSEN_BY}; α is the length penalty's exponent"
        f"{'; then everyday sentences exactly right' if has_everyday else ''}):",
        "\n".join(f"- {weights}: {', '.join(found)}" for weights, found in tried.items()),
        f"{compared} is published, with α {alpha:g}. Small leads are chance, so its validation "
        "scores flatter it; no choice was made by the test part.",
        "\n".join(rows),
    ]


def _describe_everyday(everyday: Mapping[tuple[str, int], EverydayScore]) -> list[str]:
    """How many everyday sentences are right, and how many are at least whole."""
    if not everyday:
        return []
    rows = [
        f"- {name}, beam {width}: **{score.exact:.1%}** of {score.count:,} exactly right, "
        f"{score.unbroken:.1%} without an unknown word or a repetition"
        for (name, width), score in everyday.items()
    ]
    return ["Everyday English, case and final mark aside:", "\n".join(rows)]


def command_of(settings: RunSettings) -> str:
    """The command that repeats a run, with every choice that its preset does not make.

    Args:
        settings: The run's.
    """
    preset, chosen = PRESETS[settings.preset].by_name(), settings.by_name()
    always = {"task", "preset", "steps", "seed"}
    if chosen["batch_tokens"] is None:
        always.add("batch_size")  # naming it is what leaves batch_tokens out
    words = [PROGRAM]
    for name, (option, *_) in OPTIONS.items():
        value = chosen[name]
        if value is not None and (value != preset[name] or name in always):
            words += [option, str(value)]
    if chosen["norm_first"] != preset["norm_first"]:
        words.append("--norm-first" if chosen["norm_first"] else "--no-norm-first")
    return " ".join([*words, "--out", "runs/x"])
