"""A question of an examination: its text, the numbers of this variant, and the key.

Every kind of question has a text in questions.toml and a function that draws the numbers. A test
solves 50 variants of each kind from ``given``, in another way than the function does.
"""

import math
import re
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from torch import Tensor

Key = float | str | Sequence["Key"]
COMMA = re.compile(r"[+-]?\d+,\d+")  # a number or two, by who writes it
TOLERANCE = 0.015  # of a number that is asked for with two decimals
TEXTS = Path(__file__).with_name("questions.toml")


@dataclass(frozen=True)
class Drawn:
    """The numbers of one variant.

    Attributes:
        given: What the text shows: all that somebody needs to solve it.
        keys: The right answers: numbers, texts, or lists of them.
        map: Attention weights to draw, with the words of their rows and columns.
    """

    given: dict[str, object]
    keys: Sequence[Key]
    map: tuple[Tensor, Sequence[str], Sequence[str]] | None = None


@dataclass(frozen=True)
class Question:
    """A question with its parts (a), (b), …: for each its points and its task."""

    title: str
    minutes: int
    text: str
    parts: Sequence[tuple[int, str]]
    drawn: Drawn = field(compare=False)

    @property
    def points(self) -> int:
        """Of all parts."""
        return sum(points for points, _ in self.parts)


def question(draw: Callable[[Random], Drawn], rng: Random) -> Question:
    """A variant: the numbers that a function draws, in the text of the same name."""
    texts, drawn = read_texts()[draw.__name__], draw(rng)
    shown = {name: written(value) for name, value in drawn.given.items()}
    parts = [(points, task.format_map(shown)) for points, task in texts["parts"]]
    text = texts["text"].strip().format_map(shown)
    return Question(texts["title"], texts["minutes"], text, parts, drawn)


@cache
def read_texts() -> dict[str, dict]:
    """The texts of all kinds of questions."""
    return tomllib.loads(TEXTS.read_text(encoding="utf-8"))


def table(heads: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(written, line)) + " |" for line in lines)


def written(value: object) -> str:
    """A number, a vector or a text as a sheet shows it."""
    if isinstance(value, int | float):
        return f"{value:.6g}".replace("-", "−")
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(written, value)) + ")"
    return str(value)


def is_right(answer: object, key: Key) -> bool:
    """Whether an answer, which can be anything, agrees with the key: texts without case."""
    if isinstance(key, str):
        return isinstance(answer, str | int | float) and _plain(str(answer)) == _plain(key)
    if isinstance(key, int | float):
        allowed = (TOLERANCE, 1e-3) if isinstance(key, float) else (0, 0)
        with suppress(OverflowError):  # a whole number that no float can hold
            return any(
                math.isclose(each, key, abs_tol=allowed[0], rel_tol=allowed[1])
                for each in _numbers(answer)
            )
        return False
    answer = _items(answer)
    if answer is None or len(answer) != len(key):
        return False
    return all(is_right(one, right) for one, right in zip(answer, key, strict=True))


def is_read(answer: object, key: Key) -> bool:
    """Whether an answer is of the key's kind, right or wrong: a number, as many of them, a text.

    Of 1.536 nobody knows whether it is meant as 1536, if this is right.
    """
    if isinstance(key, str):
        return isinstance(answer, str | int | float)
    if isinstance(key, int | float):
        return bool(_numbers(answer)) and not any(1000 * x == key for x in _numbers(answer) if key)
    items = _items(answer)
    return items is not None and len(items) == len(key) and all(map(is_read, items, key))


def _numbers(answer: object) -> list[float]:
    """What number an answer is; with a comma it may be one of two."""
    if isinstance(answer, str) and COMMA.fullmatch(answer):
        return [float(answer.replace(",", sign)) for sign in (".", "")]
    return [answer] if isinstance(answer, int | float) else []


def _items(answer: object) -> Sequence[object] | None:
    """A list, also one of two whole numbers that could be a number with a comma."""
    if isinstance(answer, str) and COMMA.fullmatch(answer):
        return [int(each) for each in answer.split(",")]
    return answer if isinstance(answer, list | tuple) else None


def _plain(text: str) -> str:
    """A text without what does not matter: case, quotes, spaces that are too many."""
    return " ".join(text.casefold().replace('"', " ").split()).strip(" .()")


def softmax(scores: Sequence[float]) -> list[float]:
    """Positive numbers that sum to one."""
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The sum of products."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def mix(weights: Sequence[float], vectors: Sequence[Sequence[float]]) -> list[float]:
    """The weighted sum of vectors."""
    return [dot(weights, column) for column in zip(*vectors, strict=True)]


def whole_vectors(rng: Random, count: int, width: int, largest: int = 3) -> list[list[int]]:
    """Vectors of small whole numbers."""
    return [[rng.randint(-largest, largest) for _ in range(width)] for _ in range(count)]
