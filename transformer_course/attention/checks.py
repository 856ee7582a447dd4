"""Checks of lesson 2: attention."""

import math
from collections.abc import Sequence

from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_class,
    require_shape,
)
from transformer_course.asking.projections import (
    BATCH,
    D_HEAD,
    D_MODEL,
    KEYS,
    QUERIES,
    project_with_package,
    random_inputs,
    require_projections,
)
from transformer_course.my_transformer import keep
from transformer_edu.model.attention import scaled_dot_product_attention


@exercise("2.1")
def check_attention(answer: type[nn.Module]) -> None:
    """Exercise 2.1: a class Attention(d_model, d_head), which gets the package's weights.

    It is kept in the reader's own file.
    """
    require_class(answer, "Attention")
    inputs = random_inputs()
    attention = answer(D_MODEL, D_HEAD)
    try:
        ask(attention, *inputs)
    except RuntimeError as error:
        raise AnswerError(
            f"The shapes do not fit: {error}. With a batch, key.T reverses all three axes; "
            "key.transpose(-2, -1) swaps the last two."
        ) from None
    require_projections(attention)
    projected = project_with_package(attention, inputs)
    shape = (BATCH, QUERIES, D_HEAD)
    received = require_shape(ask(attention, *inputs), shape, "(batch, query, d_head)")
    expected, _ = scaled_dot_product_attention(*projected)
    if not close(received, expected):
        _refuse_output(received, projected)
    if not callable(getattr(attention, "attend", None)):
        raise AnswerError("Write scores, softmax and average in a method attend: lesson 4 uses it.")
    by_head = [x.unflatten(-1, (2, -1)).transpose(1, 2) for x in projected]  # one axis more
    in_heads, _ = scaled_dot_product_attention(*by_head)
    if not close(ask(attention.attend, *by_head), in_heads):
        raise AnswerError(
            "attend must work on the last two axes, whatever is before them (lesson 4 adds an axis "
            "of heads): key.transpose(-2, -1), softmax(dim=-1), and √ of query.size(-1)."
        )
    keep(answer)


def _refuse_output(received: Tensor, projected: Sequence[Tensor]) -> None:
    """Say what an output of the right shape with wrong numbers comes from."""
    query, key, value = projected
    scores = query @ key.transpose(-2, -1)
    scaled = scores / math.sqrt(D_HEAD)
    known_mistakes = {
        "The softmax runs over the queries: use dim=-1, so that every row sums to one.": (
            scaled.softmax(dim=-2)
        ),
        "The softmax runs over the batch: use dim=-1, so that every row sums to one.": (
            scaled.softmax(dim=0)
        ),
        "The scores are not scaled: divide them by √d_head.": scores.softmax(dim=-1),
        "You divided by d_head; the formula divides by its root.": (scores / D_HEAD).softmax(-1),
        "You divided by √d_model. A score is a sum of d_head products: divide by √d_head.": (
            scores / math.sqrt(D_MODEL)
        ).softmax(dim=-1),
        "You divided by the root of the number of keys; use the width, query.size(-1).": (
            scores / math.sqrt(KEYS)
        ).softmax(dim=-1),
        "The softmax is missing between the scores and the average.": scaled,
        "You divided after the softmax; divide the scores before it.": (
            scores.softmax(dim=-1) / math.sqrt(D_HEAD)
        ),
    }
    wrong = {hint: weights @ value for hint, weights in known_mistakes.items()}
    wrong["You averaged the keys: the weights average the values."] = scaled.softmax(dim=-1) @ key
    refuse_mistakes(received, wrong)
    raise AnswerError(
        "The shape is right, the numbers are not. Project query, key and value with their own "
        "layers; then scores = Q Kᵀ / √d_head, a softmax over the keys, and the average of V."
    )


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
        raise AnswerError(
            "Multiply the target's queries with the source's keys, then softmax each row."
        )
