"""The reader's class computes with the matrices that it is given."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_course.asking.projections import given, weights_of
from transformer_course.attention.own_attention import FEATURES, finished, vectors_of
from transformer_course.looking.found_heads import Head
from transformer_course.our_transformer import Attention

MATRICES = torch.randn(3, 6, 4)
QUERY, KEY = torch.randn(2, 3, 6), torch.randn(2, 5, 6)


class Own(nn.Module):
    def __init__(self, width, small):
        super().__init__()
        for name in ("query", "key", "value"):
            setattr(self, f"{name}_projection", nn.Linear(width, small, bias=False))

    def forward(self, query, key, value):
        layers = self.query_projection, self.key_projection, self.value_projection
        projected = [x @ f.weight.T for f, x in zip(layers, (query, key, value), strict=True)]
        return F.scaled_dot_product_attention(*projected)


class Sum(Own):
    def forward(self, query, key, value):
        return super().forward(query, key, value) * 2


class Scaffold(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        ...

    def forward(self, query, key, value):
        return ...


@pytest.mark.parametrize(("kind", "is_theirs"), [(Own, True), (Sum, False), (Scaffold, False)])
def test_the_class_of_the_course_stands_in_for_an_unfinished_one(kind, is_theirs, capsys):
    head = Head("a head", list("abc"), list("abcde"), QUERY[0], KEY[0], *MATRICES, 1, 1)
    assert finished(kind, head) is (kind if is_theirs else Attention)
    said = capsys.readouterr().out
    assert said.startswith("Your Attention." if is_theirs else "The course's Attention,")


@pytest.mark.parametrize("kind", [Own, Attention])
def test_it_computes_with_these_matrices_and_tells_its_weights(kind):
    attention = given(kind, *MATRICES)
    query, key, value = (x @ w for x, w in zip((QUERY, KEY, KEY), MATRICES, strict=True))
    weights = (query @ key.mT / 2).softmax(dim=-1)
    torch.testing.assert_close(weights_of(attention, QUERY, KEY), weights)
    torch.testing.assert_close(attention(QUERY, KEY, KEY), weights @ value)


def test_an_adjective_without_features_is_refused():
    with pytest.raises(ValueError, match="last_word must be one of tired, wide, got 'hungry'"):
        vectors_of("hungry", "cpu")


def test_matrices_of_different_shapes_are_refused():
    message = r"must have one shape, got \[\(6, 6\), \(5, 5\), \(5, 5\)\]"
    with pytest.raises(ValueError, match=message):
        given(Attention, torch.zeros(6, 6), torch.eye(5), torch.eye(5))


def test_the_words_have_their_features_and_all_others_zeros():
    words, vectors = vectors_of("wide", "cpu")
    assert vectors.shape == (1, len(words), 5) and words[-1] == "wide"
    for word, vector in zip(words, vectors[0].tolist(), strict=True):
        assert vector == FEATURES.get(word, [0] * 5)
