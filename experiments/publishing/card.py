"""The card of a published run: how it was made and how well it does, from its own records."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from experiments.publishing.choosing import CLOSE, MOST, Trial
from experiments.publishing.everyday_scores import EverydayScore
from transformer_edu.data.everyday import HELD_OUT
from transformer_edu.data.parallel_text import ParallelText
from transformer_edu.runs.options import OPTIONS, PROGRAM
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import EVERYDAY, PRESETS, RunSettings
from transformer_edu.training.bleu import Bleu
from transformer_edu.training.machine.atomic_files import read_json

KINDS = HELD_OUT | {"generated": "sentences of the grammar that nobody trained on"}
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
        "Everyday English: sentences generated from tables and a grammar, phrases written for it, "
        "and the same phrases with other nouns (corpora/everyday in this repository), under the "
        "package's own license."
    ),
    "files": "Parallel texts of the user's own, whose terms apply.",
}


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What a run was found to reach.

    Args:
        trials: What was tried, by validation.
        chosen: The trial that is published.
        scores: What is published reaches, by part, width of the beam and case.
        sureness: Lines about these scores, as describe_sureness gives them.
        everyday: Scores on everyday sentences, by their kind and width of the beam.
        checksums: Of the texts of each corpus, by its name, as checksum_of gives them.
    """

    trials: Sequence[Trial]
    chosen: Trial
    scores: Mapping[tuple[str, int], Mapping[str, Bleu]] = field(default_factory=dict)
    sureness: Sequence[str] = ()
    everyday: Mapping[tuple[str, int], EverydayScore] = field(default_factory=dict)
    checksums: Mapping[str, str] = field(default_factory=dict)


def describe_run(
    run: RunFolder, settings: RunSettings, findings: Findings, machine: str | None = None
) -> str:
    """The card of a run, in Markdown.

    Args:
        run: A finished one; its history tells what it cost.
        settings: Its choices.
        findings: How well it does.
        machine: What it was trained on; None takes it from the run's records.

    Raises:
        OSError: If there is no run in the folder.
        ValueError: If the run has no history.
    """
    records, versions = run.read_history(), read_json(run.settings_file)["versions"]
    if not records:
        raise ValueError(f"run must have a history, got none in {run.history_file}")
    last, trained_on = records[-1], versions.get("machine", "")
    machine = machine or trained_on
    made_with = ", ".join(f"{name} {versions[name]}" for name in versions if name != "machine")
    sizes = settings.model
    lines = [
        f"# A Transformer for {settings.task}",
        f"{sizes.num_layers} + {sizes.num_layers} layers, d_model {sizes.d_model}, "
        f"{sizes.num_heads} heads, d_ff {sizes.d_ff}; trained from scratch. A toy for "
        "lessons: it knows the words of its training data and little else.",
        "## How it was trained",
        f"```\n{command_of(settings, processes_of(trained_on))}\n```",
        f"- seed {settings.training.seed}, {last['step']:,} steps, "
        f"{last['tokens']:,} target tokens; {findings.chosen.weights}, stored in float16",
        f"- {last['cpu_seconds'] / 60:,.0f} CPU-minutes, {last['seconds'] / 60:,.0f} minutes on "
        f"the clock, evaluations included{', on ' + machine if machine else ''}",
        f"- made with {made_with}",
        *(f"- read {corpus}, SHA-256 `{found}`" for corpus, found in findings.checksums.items()),
        "## How well it translates",
        *_describe_trials(findings.trials, findings.chosen, settings.task),
        *_describe_scores(findings.scores, findings.sureness),
        *_describe_everyday(findings.everyday),
        "## Data",
        *(TERMS[corpus] for corpus in settings.task.split("+")),
    ]
    return "\n\n".join(lines) + "\n"


def _describe_trials(trials: Sequence[Trial], chosen: Trial, task: str) -> list[str]:
    """What was tried by validation, and what was chosen."""
    kinds = list(chosen.scores)
    rows = [["weights", "beam", "α", "loops", *kinds, "mean"], ["---"] * (5 + len(kinds))]
    for trial in trials:
        searched = [str(trial.width), f"{trial.alpha:g}", "ended" if trial.end_loops else "left"]
        found = [f"{value:.1f}" for value in (*trial.scores.values(), trial.mean)]
        rows.append([trial.weights, *searched, *found])
    read = f"BLEU of {'captions' if task.startswith('multi30k') else 'texts'}, alone and two joined"
    if EVERYDAY in task.split("+"):
        read += ", and the share of everyday sentences that are exactly right"
    return [
        f"Tried by validation: {read}, of at most {MOST} each; α is the length penalty's exponent.",
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
        f"Published are {chosen.weights}, searched with a beam of {chosen.width} and α "
        f"{chosen.alpha:g}: the highest mean, or at most {CLOSE:g} points below it and nearer to "
        "the paper. Small leads are chance, so validation flatters the choice; no choice was made "
        "by the test part.",
    ]


def _describe_scores(
    scores: Mapping[tuple[str, int], Mapping[str, Bleu]], sureness: Sequence[str]
) -> list[str]:
    """BLEU of whole parts, and how sure it is."""
    rows = [
        f"- {part}, beam {width}, {case}: **{bleu.score:.1f}** BLEU (`{bleu.signature}`)"
        for (part, width), cases in scores.items()
        for case, bleu in cases.items()
    ]
    return ["\n".join([*rows, *sureness])]


def _describe_everyday(everyday: Mapping[tuple[str, int], EverydayScore]) -> list[str]:
    """How many everyday sentences are right, and how many are at least whole."""
    if not everyday:
        return []
    rows = [
        f"- {kind} ({KINDS[kind]}), beam {width}: **{score.exact:.1%}** of {score.count:,} "
        f"{'with the word' if kind == 'copied' else 'exactly right'}, "
        f"{score.unbroken:.1%} without an unknown word or a repetition"
        for (kind, width), score in everyday.items()
    ]
    return ["Everyday English, case and final mark aside:", "\n".join(rows)]


def checksum_of(texts: ParallelText) -> str:
    """The SHA-256 of all sentences of a corpus and their translations, by part and in order."""
    return hashlib.sha256(repr((texts.train, texts.validation, texts.test)).encode()).hexdigest()


def processes_of(machine: str) -> int:
    """How many processes trained together, from the machine in a run's records."""
    count, times, _ = machine.partition(" × ")
    return int(count) if times else 1


def command_of(settings: RunSettings, processes: int = 1) -> str:
    """The command that repeats a run, with every choice that its preset does not make.

    Args:
        settings: The run's.
        processes: How many trained together.
    """
    preset, chosen = PRESETS[settings.preset].by_name(), settings.by_name()
    always = {"task", "preset", "steps", "seed"}
    if chosen["batch_tokens"] is None:
        always.add("batch_size")  # naming it is what leaves batch_tokens out
    words = [PROGRAM]
    if processes > 1:
        words = [PROGRAM.replace("python", f"torchrun --nproc-per-node {processes}")]
    for name, (option, *_) in OPTIONS.items():
        value = chosen[name]
        if value is not None and (value != preset[name] or name in always):
            words += [option, str(value)]
    if chosen["norm_first"] != preset["norm_first"]:
        words.append("--norm-first" if chosen["norm_first"] else "--no-norm-first")
    return " ".join([*words, "--out", "runs/x"])
