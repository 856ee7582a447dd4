"""Checks of lesson 2: attention."""

import math

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import AnswerError, close, exercise, require_shape
from transformer_course.asking.projections import built_attention, require_forward, require_weights
from transformer_course.my_transformer import keep
from transformer_edu.model.attention import scaled_dot_product_attention


@exercise("2.1")
def check_attention(answer: type[nn.Module]) -> None:
    """Exercise 2.1: a class Attention(d_model, d_head), which gets the package's weights.

    It is kept in the reader's own file.
    """
    attention = built_attention(answer)
    require_weights(attention)
    require_forward(attention)
    keep(answer)


@exercise("2.2")
def check_unnoticed_order(
    answer: tuple[Tensor, Tensor], *, query: Tensor, key: Tensor, value: Tensor
) -> None:
    """Exercise 2.2: keys and values in another order, with the same outputs.

    Args:
        answer: What the reader gave, a pair (keys, values).
        query: Shape (query, d_k).
        key: Shape (key, d_k).
        value: Shape (key, d_v).
    """
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise AnswerError("The answer is a pair: the keys and the values in their new order.")
    new_key = require_shape(answer[0], tuple(key.shape), "(key, d_k)")
    new_value = require_shape(answer[1], tuple(value.shape), "(key, d_v)")
    if close(new_key, key) and close(new_value, value):
        raise AnswerError("Nothing has moved: every row must leave its place.")
    if close(new_key, key) or close(new_value, value):
        raise AnswerError("You moved only one of the two. A key must take its value with it.")
    if (new_key == key).all(dim=-1).any():
        raise AnswerError("Some rows are where they were: every row must leave its place.")
    expected, _ = scaled_dot_product_attention(query, key, value)
    received, _ = scaled_dot_product_attention(query, new_key, new_value)
    if close(new_key.sort(dim=-1).values, key.sort(dim=-1).values):
        raise AnswerError("You moved the numbers inside each vector. Move whole rows: dim 0.")
    same = (new_key.unsqueeze(1) == key).all(dim=-1)  # (new place, old place)
    if not (same.any(dim=0).all() and same.any(dim=1).all()):
        raise AnswerError("Some keys are missing, or new: every row of key only changes its place.")
    if not close(received, expected):
        raise AnswerError(
            "The outputs have changed. Use one order for both, so that a key keeps its value."
        )


@exercise("2.3")
def check_repaired_weights(answer: Tensor, *, query: Tensor, key: Tensor) -> None:
    """Exercise 2.3: the weights of a target that attends to a source, (target, source).

    Args:
        answer: What the learner gave.
        query: The target's queries, shape (target, d_k).
        key: The source's keys, shape (source, d_k).
    """
    shape = (len(query), len(key))
    if isinstance(answer, Tensor) and tuple(answer.shape) == shape[::-1]:
        raise AnswerError("Rows are queries: the queries come from the target, so they come first.")
    weights = require_shape(answer, shape, "(target, source)")
    scores = query @ key.T / math.sqrt(query.size(-1))
    if close(weights, scores.softmax(dim=0)):
        raise AnswerError(
            "Right shape, wrong sums: the softmax still runs over the targets. It must run over "
            "the keys, the source."
        )
    scores_of_source = key @ query.T / math.sqrt(query.size(-1))
    turned = scores_of_source.softmax(dim=-1).T
    if close(weights, turned / turned.sum(dim=-1, keepdim=True)):
        raise AnswerError(
            "The rows sum to one only because you divided by their sums. The numbers still come "
            "from a softmax over the targets: compute the scores of the target's queries."
        )
    if close(weights, (query @ key.T).softmax(dim=-1)):
        raise AnswerError("The rows sum to one; now divide the scores by √d_k as before.")
    if not close(weights, scores.softmax(dim=-1)):
        sums = weights.sum(dim=-1)
        if not close(sums, torch.ones_like(sums)):
            raise AnswerError(f"Every row must sum to one; yours sum to {sums.tolist()}.")
        raise AnswerError("The rows sum to one, but they come from other scores than section 3's.")
