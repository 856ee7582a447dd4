"""The three model examinations, and the variant of a student, from the instructor's secret."""

import codecs
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from random import Random

from transformer_course.examination.first import FIRST
from transformer_course.examination.graduate import GRADUATE
from transformer_course.examination.question import Key, Question, question
from transformer_course.examination.second import SECOND

EXAMINATIONS = {"first": FIRST, "second": SECOND, "graduate": GRADUATE}
TITLES = {
    "first": "Examination after lesson 09",
    "second": "Examination after lesson 17",
    "graduate": "Graduate examination",
}
SHORTEST = 16  # characters of a secret


def variant(name: str, student: str, secret: bytes) -> list[Question]:
    """The questions of one student. Nobody can draw them again without the secret.

    Args:
        name: Of the examination: first, second or graduate.
        student: As the list of students names them.
        secret: The instructor's.
    """
    seeds = [
        hmac.new(secret, f"{name}\0{student}\0{draw.__name__}".encode(), hashlib.sha256).digest()
        for draw in EXAMINATIONS[name]
    ]
    return [
        question(draw, Random(seed)) for draw, seed in zip(EXAMINATIONS[name], seeds, strict=True)
    ]


def sheet_name(name: str, secret: bytes) -> str:
    """What the sheets of an examination are called: its name, and a mark of their secret."""
    return f"{name}-{hmac.new(secret, name.encode(), hashlib.sha256).hexdigest()[:6]}"


def tasks_and_keys(questions: Sequence[Question]) -> list[tuple[str, int, str, Key]]:
    """The number of every part, such as 3a, its points, its task and its right answer."""
    return [
        (f"{number}{letter}", *part, key)
        for number, each in enumerate(questions, 1)
        for letter, part, key in zip("abcde", each.parts, each.drawn.keys, strict=False)
    ]


def read_secret(path: Path, *, new: bool = False) -> bytes:
    """The instructor's secret.

    Args:
        path: A file with at least 16 characters.
        new: Make the file if there is none; nobody else on the computer can read it.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is too short.
    """
    if new and not os.path.lexists(path):
        path.touch(mode=0o600, exist_ok=False)
        try:
            path.write_text(secrets.token_hex(32) + "\n", encoding="utf-8")
        except OSError as error:  # such as a full disk: no half secret stays
            path.unlink()
            raise OSError(error.errno, error.strerror, str(path)) from None
        print(f"{path} is a new secret: whoever marks needs it, and so do late students' sheets.")
    secret = path.read_bytes().removeprefix(codecs.BOM_UTF8).strip()
    if len(secret) < SHORTEST:
        raise ValueError(
            f"a secret must have {SHORTEST} characters or more, got {len(secret)} in {path}"
        )
    return secret
