"""Lesson 18: right answers pass, and each usual wrong answer is named."""

import pytest
import torch
import torch.nn.functional as F

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.asking.answer import AnswerError
from transformer_course.speed_and_scale import checks as lesson_18
from transformer_edu.model.attention import merge_heads, split_heads
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.pretrained.loading import load_pretrained

CHECKS = checks_of(lesson_18)
CONFIG = load_pretrained().model.config
D_MODEL, D_FF = CONFIG.d_model, CONFIG.d_ff


def projected(attention, x):
    """Query, key and value of the newest position, each (1, heads, 1, d_head)."""
    names = ("query_projection", "key_projection", "value_projection")
    return (split_heads(getattr(attention, name)(x), attention.num_heads) for name in names)


def cached_step(attention, x, cache):
    query, key, value = projected(attention, x)
    if cache:
        key = torch.cat([cache["key"], key], dim=2)
        value = torch.cat([cache["value"], value], dim=2)
    cache["key"], cache["value"] = key, value
    heads = F.scaled_dot_product_attention(query, key, value)
    return attention.output_projection(merge_heads(heads))


def newest_in_front(attention, x, cache):
    """The order of the keys does not matter."""
    query, key, value = projected(attention, x)
    for name, new in (("key", key), ("value", value)):
        cache[name] = torch.cat([new, cache[name]], dim=2) if name in cache else new
    heads = F.scaled_dot_product_attention(query, cache["key"], cache["value"])
    return attention.output_projection(merge_heads(heads))


def only_itself(attention, x, cache):
    cache["seen"] = x
    return attention(x, x, x)


def nothing_kept(attention, x, cache):
    return attention(x, x, x)


def is_causal(attention, x, cache):
    query, key, value = projected(attention, x)
    if cache:
        key = torch.cat([cache["key"], key], dim=2)
        value = torch.cat([cache["value"], value], dim=2)
    cache["key"], cache["value"] = key, value
    heads = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return attention.output_projection(merge_heads(heads))


def added_too_late(attention, x, cache):
    query, key, value = projected(attention, x)
    old_key, old_value = cache.get("key", key), cache.get("value", value)
    heads = F.scaled_dot_product_attention(query, old_key, old_value)
    if cache:
        key, value = torch.cat([old_key, key], dim=2), torch.cat([old_value, value], dim=2)
    cache["key"], cache["value"] = key, value
    return attention.output_projection(merge_heads(heads))


def unprojected(attention, x, cache):
    query, key, value = projected(attention, x)
    if cache:
        key = torch.cat([cache["key"], key], dim=2)
        value = torch.cat([cache["value"], value], dim=2)
    cache["key"], cache["value"] = key, value
    return merge_heads(F.scaled_dot_product_attention(query, key, value))


def swapped(attention, x, cache):
    query, key, value = projected(attention, x)
    cache["key"] = key
    heads = F.scaled_dot_product_attention(query, value, key)
    return attention.output_projection(merge_heads(heads))


def only_keys(attention, x, cache):
    query, key, value = projected(attention, x)
    if cache:
        key = torch.cat([cache["key"], key], dim=2)
    cache["key"] = key
    value = value.expand_as(key)
    heads = F.scaled_dot_product_attention(query, key, value)
    return attention.output_projection(merge_heads(heads))


def training_bytes(config, *, forgotten=0):
    with torch.device("meta"):
        model = Transformer(config)
    return 16 * (sum(each.numel() for each in model.parameters()) + forgotten)


def wrong_by(numbers):
    """An answer with more or fewer numbers than the model has."""
    return lambda config: training_bytes(config, forgotten=numbers(config))


def per_weight(size):
    return lambda config: training_bytes(config) // 16 * size


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("18.1", cached_step),
        ("18.1", newest_in_front),
        ("18.2", D_FF - 2 * D_MODEL),
        ("18.2", torch.tensor(float(D_FF - 2 * D_MODEL))),
        ("18.3", training_bytes),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("18.1", only_itself, "only to itself: put the new key"),
        ("18.1", only_keys, "only to itself: put the new key"),
        ("18.1", nothing_kept, "cache is still empty"),
        ("18.1", is_causal, "is_causal=True with a single query"),
        ("18.1", added_too_late, "does not attend to itself"),
        ("18.1", unprojected, "output projection is missing"),
        ("18.1", swapped, "first position is wrong already"),
        ("18.1", lambda attention, x, cache: x[0], "shape must be"),
        ("18.2", 2 * D_MODEL, "right for d_ff = 4"),
        ("18.2", D_FF, "four projections belong"),
        ("18.2", D_FF - D_MODEL, "are two products"),
        ("18.2", 2 * (D_FF - 2 * D_MODEL), "two matrices"),
        ("18.2", 7, "Solve"),
        ("18.3", per_weight(1), "Now the bytes"),
        ("18.3", per_weight(4), "weights alone"),
        ("18.3", per_weight(8), "weights and gradients"),
        ("18.3", per_weight(12), "two means for each"),
        ("18.3", wrong_by(lambda c: -4 * c.d_model**2 * c.num_layers), "has two attentions"),
        ("18.3", wrong_by(lambda c: -2 * (c.d_ff + c.d_model) * c.num_layers), "have biases"),
        ("18.3", wrong_by(lambda c: -10 * c.d_model * c.num_layers), "a gain and a bias"),
        ("18.3", wrong_by(lambda c: -2 * c.d_model * c.num_layers), "three Add & Norms"),
        ("18.3", wrong_by(lambda c: -c.vocabulary_size), "output projection has a bias"),
        ("18.3", wrong_by(lambda c: c.vocabulary_size * c.d_model), "share one table"),
        ("18.3", wrong_by(lambda c: 3), "named_parameters"),
    ],
)


def test_a_number_for_one_model_only_is_no_function_of_the_sizes():
    with pytest.raises(AnswerError, match="your answer is"):
        CHECKS["18.3"](lambda config: training_bytes(TransformerConfig.big()))
