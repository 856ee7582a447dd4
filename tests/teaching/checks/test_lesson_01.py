"""Lesson 01: right answers pass, and each usual wrong answer is named."""

import pytest
import torch

from transformer_edu.teaching.checks.answer import AnswerError
from transformer_edu.teaching.checks.lesson_01 import (
    check_label_ids,
    check_most_alike,
    check_start,
    check_table_size,
)

CHECKS = {
    "1.1": check_table_size,
    "1.2": check_label_ids,
    "1.3": check_most_alike,
    "1.4": check_start,
}
FUNCTIONS = ("1.2", "1.3")


def label_ids(sentence, ids):
    return [ids.get(word, ids["<unk>"]) for word in sentence.split()] + [ids["</s>"]]


def most_alike(table, token_id):
    directions = table / table.norm(dim=-1, keepdim=True)
    cosines = directions @ directions[token_id]
    cosines[token_id] = -2
    return int(cosines.argmax())


def by_dot_product(table, token_id):
    products = table @ table[token_id]
    products[token_id] = -1000
    return products.argmax()


def raise_an_error(*_):
    raise IndexError("too far")


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        ("1.1", 37_000 * 512),
        ("1.1", torch.tensor(18_944_000)),
        ("1.1", 18_944_000.0),
        ("1.2", label_ids),
        ("1.2", lambda sentence, ids: torch.tensor(label_ids(sentence, ids))),
        ("1.3", most_alike),
        ("1.3", lambda table, token_id: torch.tensor(most_alike(table, token_id))),
        ("1.4", 256**-0.5),
        ("1.4", 1 / 16),
        ("1.4", torch.tensor(0.0625)),
    ],
)
def test_a_right_answer_is_correct(number, answer, capsys):
    CHECKS[number](answer)
    assert capsys.readouterr().out == f"Exercise {number} is correct.\n"


@pytest.mark.parametrize("number", CHECKS)
def test_three_dots_wait(number, capsys):
    CHECKS[number](...)
    assert f"Exercise {number} is waiting" in capsys.readouterr().out


@pytest.mark.parametrize("number", FUNCTIONS)
def test_a_function_of_three_dots_waits(number, capsys):
    CHECKS[number](lambda first, second: ...)
    assert f"Exercise {number} is waiting" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "answer", "hint"),
    [
        ("1.1", 37_512, "add or multiply"),
        ("1.1", 37_000, "a table has both"),
        ("1.1", 512, "a table has both"),
        ("1.1", 2 * 37_000 * 512, "count it once"),
        ("1.1", 1, "How many rows"),
        ("1.1", "many", "a whole number"),
        ("1.1", 0.5, "a whole number"),
        ("1.2", lambda sentence, ids: [ids[word] for word in sentence.split()], "unknown word"),
        ("1.2", lambda sentence, ids: label_ids(sentence, ids)[:-1], "end token is missing"),
        (
            "1.2",
            lambda sentence, ids: [ids[word] for word in sentence.split() if word in ids] + [2],
            "have moved up",
        ),
        ("1.2", lambda sentence, ids: [ids.get(c, 3) for c in sentence] + [2], "the letters"),
        ("1.2", lambda sentence, ids: [1, *label_ids(sentence, ids)], "start token"),
        ("1.2", lambda sentence, ids: [*sentence.split(), "</s>"], "Those are words"),
        ("1.2", lambda sentence, ids: [0, 0], "is not it"),
        ("1.3", lambda table, token_id: (table @ table[token_id]).argmax() * 0, "the word itself"),
        ("1.3", by_dot_product, "won by its length"),
        (
            "1.3",
            lambda table, token_id: torch.cosine_similarity(table, table[token_id]).argmin(),
            "opposite way",
        ),
        ("1.3", lambda table, token_id: 7, "from 0 to 3"),
        ("1.3", lambda table, token_id: 3, "use the id"),
        ("1.4", 1.0, "torch does by itself"),
        ("1.4", 1 / 256, "That is the variance"),
        ("1.4", 16, "the factor itself"),
        ("1.4", 0.5, "For which s"),
    ],
)
def test_a_usual_wrong_answer_is_named(number, answer, hint):
    with pytest.raises(AnswerError, match=hint):
        CHECKS[number](answer)


@pytest.mark.parametrize("number", CHECKS)
def test_none_nan_and_errors_become_hints(number):
    wrong = [None, float("nan"), "", raise_an_error]
    if number in FUNCTIONS:
        wrong += [lambda *_: None, lambda *_: float("nan"), lambda *_: torch.tensor(torch.nan)]
    for answer in wrong:
        with pytest.raises(AnswerError):
            CHECKS[number](answer)
