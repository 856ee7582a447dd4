"""What the trainings of experiments/features.py found, as lesson 22 shows it."""

import json
from dataclasses import dataclass
from pathlib import Path

FOUND = Path(__file__).with_name("found.json")


@dataclass(frozen=True)
class Measured:
    """One autoencoder with its controls.

    Args:
        seed: Of its training and of its controls.
        explained: The part of the variance of other sentences that it explains.
        dead: How many features are never active.
        single_words: The part of the features with more than half of their activity at one word.
        plural, raw, random, probe: AUC for plural nouns on words that were not for choosing: of the
            best feature, coordinate, random direction, and of the difference of the two means.
        counts: How many features are moved.
        flips, controls: Of the articles that change, by count: with the features that differ most,
            and with random ones.
        numbers, number_controls: The same for verbs whose number changes.
        sentences, subjects: How many captions are steered, and how many subjects.
    """

    seed: int
    explained: float
    dead: int
    single_words: float
    plural: float
    raw: float
    random: float
    probe: float
    counts: tuple[int, ...]
    flips: tuple[int, ...]
    controls: tuple[int, ...]
    numbers: tuple[int, ...]
    number_controls: tuple[int, ...]
    sentences: int
    subjects: int


def stored_runs(path: Path = FOUND) -> list[Measured]:
    """The runs of a file, one for each seed.

    Args:
        path: What ``python -m experiments.features`` has written.
    """
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [
        Measured(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()})
        for row in rows
    ]
