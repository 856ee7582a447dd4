"""Checks of lesson 1: words as vectors."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_edu.model.vocabulary import SPECIAL_TOKENS
from transformer_edu.teaching.checks.answer import AnswerError, ask, exercise, require_number

VOCABULARY_SIZE, D_MODEL = 37_000, 512
NARROW = 256  # the width of exercise 1.4
WORDS = ("the", "dog", "sleeps", "soup")
IDS = {token: number for number, token in enumerate((*SPECIAL_TOKENS, *WORDS))}
SENTENCE, LABELS = "the fish sleeps", [4, 3, 6, 2]
# Row 3 has the direction of row 0, row 1 is long with a different direction, row 2 is opposite.
TABLE = torch.tensor(
    [[1.0, 0.2, 0.0], [8.0, 9.0, 0.0], [-1.0, -0.2, 0.0], [0.5, 0.2, 0.0]], device="cpu"
)


@exercise("1.1")
def check_table_size(answer: int) -> None:
    """Exercise 1.1: how many numbers the embedding table of the paper's base model holds."""
    number = require_number(answer, whole=True)
    if number == VOCABULARY_SIZE + D_MODEL:
        raise AnswerError("Every token has a row of its own with 512 numbers: add or multiply?")
    if number in (VOCABULARY_SIZE, D_MODEL):
        raise AnswerError("That is the number of rows or of columns; a table has both.")
    if number == 2 * VOCABULARY_SIZE * D_MODEL:
        raise AnswerError("Both sides share one table when they share a vocabulary: count it once.")
    if number != VOCABULARY_SIZE * D_MODEL:
        raise AnswerError("How many rows does the table have, and how many numbers are in a row?")


@exercise("1.2")
def check_label_ids(answer: Callable[[str, dict[str, int]], list[int]]) -> None:
    """Exercise 1.2: a function (sentence, ids) → the ids of its words and the end token."""
    try:
        labels = ask(answer, SENTENCE, dict(IDS))
    except KeyError as error:
        raise AnswerError(
            f"{error} is not in the dictionary: what stands for an unknown word?"
        ) from None
    labels = labels.tolist() if isinstance(labels, Tensor) else list(labels)
    if any(isinstance(label, str) for label in labels):
        raise AnswerError("Those are words; the answer is a list of ids.")
    if len(labels) > len(SENTENCE) - 2:
        raise AnswerError("You went through the letters: split the sentence into words first.")
    if labels == LABELS[:-1]:
        raise AnswerError("The end token is missing: a model that never learns it never stops.")
    if labels == [4, 6, 2]:
        raise AnswerError("The unknown word is gone, and the words after it have moved up.")
    if labels == [1, *LABELS]:
        raise AnswerError("The start token is an input of the decoder, not a label.")
    if labels != LABELS:
        raise AnswerError(f"For {SENTENCE!r} without *fish* in the vocabulary, {labels} is not it.")


@exercise("1.3")
def check_most_similar(answer: Callable[[Tensor, int], int]) -> None:
    """Exercise 1.3: a function (table, token_id) → the other row with the largest cosine."""
    found = require_number(ask(answer, TABLE.clone(), 0), whole=True)
    if found == 0:
        raise AnswerError("That is the word itself; every word is most similar to itself.")
    if found == 1:
        raise AnswerError(
            "A long row wins because of its length: divide every row by its length first."
        )
    if found == 2:
        raise AnswerError("That row points the opposite way, with the smallest cosine.")
    if found != 3:
        raise AnswerError(f"The answer is the id of a row of the table, from 0 to 3; got {found}.")
    if require_number(ask(answer, TABLE.clone(), 3), whole=True) != 0:
        raise AnswerError("Right for one word, wrong for another: use the id that is given.")


@exercise("1.4")
def check_initial_std(answer: float) -> None:
    """Exercise 1.4: the standard deviation of a table whose rows times √256 have length √256."""
    std = float(answer)
    if std == 1:
        raise AnswerError(
            "That is what torch does by itself, and it makes the positions too small to matter."
        )
    if abs(std - 1 / NARROW) < 1e-6:
        raise AnswerError(
            "That is the variance, which N(0, 1/d) names. The standard deviation is its root."
        )
    if abs(std - NARROW**0.5) < 1e-6:
        raise AnswerError("That is the factor itself: the rows would become even longer.")
    if not abs(std - NARROW**-0.5) < 1e-6:
        raise AnswerError(
            "256 numbers with standard deviation s make a row of length 16 s; the factor makes it "
            "16 · 16 s. For which s is that 16?"
        )
