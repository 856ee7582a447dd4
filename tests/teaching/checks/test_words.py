"""Lesson 01: right answers pass, and each usual wrong answer is named."""

import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.teaching.checks import words as lesson_01

CHECKS = checks_of(lesson_01)


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


test_a_right_answer_is_correct = right_answers(
    CHECKS,
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

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
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
        ("1.3", by_dot_product, "because of its length"),
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
