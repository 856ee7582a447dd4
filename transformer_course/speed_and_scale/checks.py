"""Checks of lesson 18: speed and scale."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_number,
    require_shape,
)
from transformer_edu.model.attention import MultiHeadAttention, merge_heads, split_heads
from transformer_edu.model.masks import causal_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.pretrained.loading import load_pretrained

D_MODEL, NUM_HEADS, POSITIONS = 12, 3, 5
BYTES_A_WEIGHT = 16  # weight, gradient and Adam's two means, 4 bytes each


@exercise("18.1")
def check_cached_step(answer: Callable[..., Tensor]) -> None:
    """Exercise 18.1: the causal self-attention of the newest position, with a cache."""
    with torch.random.fork_rng([]), torch.no_grad():
        torch.manual_seed(18)
        attention = MultiHeadAttention(d_model=D_MODEL, num_heads=NUM_HEADS)
        x = torch.randn(1, POSITIONS, D_MODEL)
        right = attention(x, x, x, mask=causal_mask(POSITIONS))
        cache: dict = {}
        steps = [
            require_shape(ask(answer, attention, each, cache), (1, 1, D_MODEL), "(1, 1, d_model)")
            for each in x.split(1, dim=1)
        ]
        found = torch.cat(steps, dim=1)
        if not cache:
            raise AnswerError("The cache is still empty: put the new keys and values into it.")
        if close(found, right):
            return
        refuse_mistakes(found, _wrong_steps(attention, x))
    if not close(found[:, :1], right[:, :1]):
        raise AnswerError("The very first position is wrong already: it attends to itself.")
    raise AnswerError("The first position is right; a later one must attend to all before it, too.")


def _wrong_steps(attention: MultiHeadAttention, x: Tensor) -> dict[str, Tensor]:
    """What the usual mistakes lead to, for all positions, by their hints."""
    whole = {
        name: split_heads(getattr(attention, f"{name}_projection")(x), NUM_HEADS)
        for name in ("query", "key", "value")
    }
    query, key, value = whole.values()
    itself = torch.eye(POSITIONS, dtype=torch.bool)
    first = torch.zeros(POSITIONS, POSITIONS, dtype=torch.bool)
    first[:, 0] = True
    before = causal_mask(POSITIONS) & ~itself
    before[0, 0] = True  # the first position has nothing before it

    def attend(mask: Tensor) -> Tensor:
        return merge_heads(F.scaled_dot_product_attention(query, key, value, attn_mask=mask))

    project = attention.output_projection
    return {
        "Each position attends only to itself: put the new key and value behind those in the "
        "cache, with torch.cat along the axis of positions.": project(attend(itself)),
        "Each position attends only to the first one. is_causal=True with a single query allows "
        "only the first key; nothing needs to be hidden here.": project(attend(first)),
        "The newest position does not attend to itself: add its key and value to the cache "
        "first.": project(attend(before)),
        "The heads are right. Now the output projection is missing.": attend(
            causal_mask(POSITIONS)
        ),
    }


@exercise("18.2")
def check_crossing(answer: float) -> None:
    """Exercise 18.2: from which length on the translator's attention costs more than its FFN."""
    length = require_number(answer)
    config = load_pretrained().model.config
    d_model, d_ff = config.d_model, config.d_ff
    if length == d_ff - 2 * d_model:
        return
    refuse_numbers(
        length,
        {
            2 * d_model: "2 · d_model is right for d_ff = 4 · d_model. Put this model's d_ff into "
            "the equation.",
            d_ff: "That compares the two products with the feed-forward network. The four "
            "projections belong to self-attention, too.",
            d_ff - d_model: "Scores and averages are two products: 2 · L · d_model for each "
            "position.",
            2 * (d_ff - 2 * d_model): "The feed-forward network has two matrices of d_model · d_ff "
            "numbers, and attention has two products: both sides have a factor of 2.",
        },
    )
    raise AnswerError(
        "Solve 4 · d_model² + 2 · L · d_model = 2 · d_model · d_ff for L, with the sizes in "
        "model.config."
    )


@exercise("18.3")
def check_training_bytes(answer: Callable[[TransformerConfig], float]) -> None:
    """Exercise 18.3: the bytes of weights, gradients and Adam's means of any configuration."""
    for config in (
        TransformerConfig(vocabulary_size=70, d_model=8, num_heads=2, num_layers=1, d_ff=20),
        TransformerConfig(vocabulary_size=50, d_model=12, num_heads=2, num_layers=3, d_ff=16),
        TransformerConfig.big(),
    ):
        with torch.device("meta"):  # shapes without numbers
            model = Transformer(config)
        weights = sum(each.numel() for each in model.parameters())
        given = require_number(ask(answer, config))
        if given == BYTES_A_WEIGHT * weights:
            continue
        refuse_numbers(given, _wrong_bytes(weights))
        refuse_numbers(given, _forgotten(config, weights))
        raise AnswerError(
            f"For {config.num_layers} layers, d_model {config.d_model}, d_ff {config.d_ff} and "
            f"{config.vocabulary_size:,} tokens your answer is {given:,.0f} bytes, the right one "
            f"is {BYTES_A_WEIGHT * weights:,}. Compare with "
            "{name: each.numel() for name, each in model.named_parameters()} of a small model."
        )


def _wrong_bytes(weights: int) -> dict[float, str]:
    """Hints for the right number of weights with the wrong bytes for each."""
    kept = "Each weight needs four numbers of 4 bytes: itself, its gradient, Adam's two means."
    return {
        weights: "That is the number of weights. Now the bytes.",
        4 * weights: f"That is the weights alone. {kept}",
        8 * weights: f"That is weights and gradients. {kept}",
        12 * weights: f"Adam keeps two means for each weight. {kept}",
    }


def _forgotten(config: TransformerConfig, weights: int) -> dict[float, str]:
    """Hints for one kind of weights forgotten, or counted again."""
    d, ff, layers, tokens = config.d_model, config.d_ff, config.num_layers, config.vocabulary_size
    mistakes = {
        -4 * d * d * layers: "A decoder layer has two attentions.",
        -(ff + d) * 2 * layers: "The two matrices of a feed-forward network have biases.",
        -(2 * d) * 5 * layers: "Each Add & Norm has a gain and a bias, d_model numbers each.",
        -(2 * d) * layers: "Too few by 2·d_model for each layer. A decoder layer has three Add & "
        "Norms, and the second matrix of a feed-forward network has a bias, too.",
        -tokens: "The output projection has a bias, one number for each token.",
        tokens * d: "Source, target and output share one table: count it once.",
        2 * tokens * d: "Source, target and output share one table: count it once.",
    }
    return {BYTES_A_WEIGHT * (weights + more): hint for more, hint in mistakes.items()}
