"""Checks of lesson 2: attention."""

from torch import Tensor, nn

from transformer_course.asking.answer import AnswerError, close, exercise, require_shape
from transformer_course.asking.projections import SIZES, built_attention, require_attention
from transformer_course.my_transformer import FILE, keep, kept_source
from transformer_edu.model.attention import scaled_dot_product_attention


@exercise("2.1", sizes=SIZES)
def check_attention(answer: type[nn.Module]) -> None:
    """Exercise 2.1: a class Attention(d_model, d_head), which gets the package's weights.

    It is kept in the reader's own file.
    """
    attention = built_attention(answer)
    require_attention(attention)
    if "mask" in kept_source("Attention"):
        print(f"Your Attention of lesson 3, which takes a mask, stays in {FILE}.")
        return
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
        raise AnswerError(
            "These are key and value as the check gets them. If you have changed them in place, or "
            "given their names to something else, take new names and run the cells above again."
        )
    if close(new_key, key) or close(new_value, value):
        raise AnswerError("You moved only one of the two. A key must take its value with it.")
    if (new_key == key).all(dim=-1).any():
        raise AnswerError("Some rows are where they were: every row must leave its place.")
    expected, _ = scaled_dot_product_attention(query, key, value)
    received, _ = scaled_dot_product_attention(query, new_key, new_value)
    if close(new_key.sort(dim=-1).values, key.sort(dim=-1).values):
        raise AnswerError("You moved the numbers inside each vector. Move whole rows: dim 0.")
    if (new_key.unsqueeze(1) == value).all(dim=-1).any(dim=1).all():
        raise AnswerError("You exchanged the two: first the keys, then the values.")
    if (new_value.unsqueeze(1) == key).all(dim=-1).any(dim=1).all():
        raise AnswerError("Both are keys: the second of the pair is the values, in the same order.")
    same = (new_key.unsqueeze(1) == key).all(dim=-1)  # (new place, old place)
    if not (same.any(dim=0).all() and same.any(dim=1).all()):
        raise AnswerError(
            "The first of the pair is not key in a new order: some rows are missing, or new."
        )
    if not close(received, expected):
        raise AnswerError(
            "The outputs have changed. Use one order for both, so that a key keeps its value."
        )
