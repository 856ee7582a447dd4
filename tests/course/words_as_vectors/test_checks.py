"""Lesson 01: right answers pass, and each usual wrong answer is named."""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.our_transformer import TokenEmbedding
from transformer_course.words_as_vectors import checks as lesson_01
from transformer_course.words_as_vectors.checks import (
    VOCABULARY_SIZE,
    check_changed_row,
    check_token_embedding,
)

ROWS = torch.tensor([[2.0, 1.0], [1.8, 1.2], [0.5, 2.0]])
CHECKS = checks_of(lesson_01) | {"1.3": partial(check_changed_row, table=ROWS)}


def embedding(forward=None, *, std=None, table=nn.Embedding):
    """A class like the reader's, with this forward(table, ids) and this start; right when None."""

    class Answer(nn.Module):
        def __init__(self, vocabulary_size, d_model):
            super().__init__()
            self.table = table(vocabulary_size, d_model)
            nn.init.normal_(self.table.weight, std=d_model**-0.5 if std is None else std)

        def forward(self, token_ids):
            if forward is None:
                return self.table(token_ids) * self.table.weight.size(1) ** 0.5
            return forward(self.table, token_ids)

    return Answer


class NoSuper(nn.Module):
    def __init__(self, vocabulary_size, d_model):
        self.table = nn.Embedding(vocabulary_size, d_model)


class OtherName(TokenEmbedding):
    def __init__(self, vocabulary_size, d_model):
        super().__init__(vocabulary_size, d_model)
        self.rows = self.table
        del self.table

    def forward(self, token_ids):
        return self.rows(token_ids)


class WithABias(TokenEmbedding):
    def __init__(self, vocabulary_size, d_model):
        super().__init__(vocabulary_size, d_model)
        self.bias = nn.Parameter(torch.zeros(d_model))


class Shifted(TokenEmbedding):
    def __init__(self, vocabulary_size, d_model):
        super().__init__(vocabulary_size, d_model)
        nn.init.uniform_(self.table.weight, 0, 2 * 3**0.5 * d_model**-0.5)


def most_alike(table, token_id):
    directions = table / table.norm(dim=-1, keepdim=True)
    cosines = directions @ directions[token_id]
    cosines[token_id] = -2
    return int(cosines.argmax())


def by_dot_product(table, token_id):
    products = table @ table[token_id]
    products[token_id] = -1000
    return products.argmax()


def by_distance(table, token_id):
    distances = (table - table[token_id]).norm(dim=1)
    distances[token_id] = 1000
    return distances.argmin()


def zero_for_itself(table, token_id):
    cosines = F.cosine_similarity(table, table[token_id])
    cosines[token_id] = 0
    return cosines.argmax()


def times(*factors):
    return ROWS * torch.tensor(factors).unsqueeze(1)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("1.1", TokenEmbedding),
        ("1.1", embedding()),
        ("1.2", most_alike),
        ("1.2", lambda table, token_id: torch.tensor(most_alike(table, token_id))),
        ("1.3", times(1.0, 1.0, 3.0)),
        ("1.3", times(1.0, 0.1, 1.0)),
        ("1.3", times(2.0, 0.5, 2.0)),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("1.1", TokenEmbedding(20, 8), "class TokenEmbedding itself"),
        ("1.1", NoSuper, "super"),
        ("1.1", OtherName, "self.table to an nn.Embedding"),
        ("1.1", embedding(lambda t, ids: ids, table=nn.Linear), "yours is Linear"),
        (
            "1.1",
            embedding(lambda t, ids: ids, table=lambda size, width: nn.Embedding(width, size)),
            "turned around",
        ),
        (
            "1.1",
            embedding(lambda t, ids: ids, table=lambda size, width: nn.Embedding(size, size)),
            "The table must be",
        ),
        ("1.1", Shifted, "the mean 0"),
        ("1.1", embedding(std=1.0), "the default of nn.Embedding"),
        ("1.1", embedding(std=1 / 16), "is the variance"),
        ("1.1", embedding(std=4.0), "factor of forward"),
        ("1.1", embedding(std=VOCABULARY_SIZE**-0.5), "not the number of rows"),
        ("1.1", embedding(std=0.5), "should be 1/√d_model = 0.25"),
        ("1.1", WithABias, "only parameter"),
        ("1.1", embedding(lambda t, ids: t(ids).sum(dim=1)), "shape must be"),
        ("1.1", embedding(lambda t, ids: t.weight.data[ids] * 4), "cannot learn"),
        ("1.1", embedding(lambda t, ids: t(ids)), "factor is missing"),
        ("1.1", embedding(lambda t, ids: t(ids) * t.embedding_dim), "its root"),
        ("1.1", embedding(lambda t, ids: t(ids) / math.sqrt(t.embedding_dim)), "multiplies"),
        ("1.1", embedding(lambda t, ids: t(ids) / t.embedding_dim), "multiply by its root"),
        ("1.1", embedding(lambda t, ids: t(ids) * VOCABULARY_SIZE**0.5), "√vocabulary_size"),
        ("1.1", embedding(lambda t, ids: F.normalize(t(ids), dim=-1) * 4), "one length"),
        ("1.1", embedding(lambda t, ids: t(ids) * 3), "The numbers differ"),
        ("1.1", embedding(lambda t, ids: t(ids) * 4), "wrong for another"),
        ("1.1", embedding(lambda t, ids: t(ids) * math.nan), "NaN"),
        ("1.1", embedding(lambda t, ids: None), "returns nothing"),
        ("1.2", lambda table, token_id: (table @ table[token_id]).argmax() * 0, "the word itself"),
        ("1.2", by_dot_product, "because of its length"),
        ("1.2", by_distance, "not distances"),
        ("1.2", zero_for_itself, "below -1"),
        (
            "1.2",
            lambda table, token_id: torch.cosine_similarity(table, table[token_id]).argmin(),
            "opposite way",
        ),
        ("1.2", lambda table, token_id: 7, "from 0 to 4"),
        ("1.2", lambda table, token_id: 3, "use the id"),
        ("1.3", ROWS, "has not changed"),
        ("1.3", ROWS[:2], "shape must be"),
        ("1.3", ROWS + 1, "cosines have changed"),
        ("1.3", times(1.0, 1.0, -3.0), "a positive one"),
        ("1.3", times(5.0, 1.0, 1.0), "Which row"),
    ],
)


def test_a_scaffold_waits(capsys):
    class Scaffold(nn.Module):
        def __init__(self, vocabulary_size, d_model):
            super().__init__()

        def forward(self, token_ids):
            return ...

    check_token_embedding(Scaffold)
    assert capsys.readouterr().out.startswith("Exercise 1.1 is waiting for you")
