"""Whole sentences of the table of patterns with their slots filled."""

from functools import cache
from random import Random

from transformer_edu.training.data.everyday.clauses import Pair, finish
from transformer_edu.training.data.everyday.tables import read_table


@cache
def patterns(group: str) -> tuple[Pair, ...]:
    """The sentences of a group, English and German."""
    rows = read_table("patterns")
    return tuple((row["english"], row["german"]) for row in rows if row["group"] == group)


def from_pattern(rng: Random, group: str, **slots: object) -> Pair:
    """A sentence of a group; the slots go by name in both languages."""
    english, german = rng.choice(patterns(group))
    return finish((english.format(**slots), german.format(**slots)), "")
