"""Recording attention weights with hooks, from outside the layers."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from transformer_edu.model.attention import MultiHeadAttention, attention_weights, split_heads

Handle = torch.utils.hooks.RemovableHandle


@contextmanager
def record_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Collect the attention weights of every layer while the model runs.

    ::

        with record_attention(model) as attention:
            model(source_ids, target_ids)
        attention["decoder.layers.0.cross_attention"]  # (batch, heads, query, key)

    The weights are those that the forward pass used, before dropout and detached. A layer that
    runs more than once keeps its last run; a step from a cache has a row for its newest position.

    Args:
        model: Any module that holds MultiHeadAttention somewhere.

    Yields:
        Weights by the layer's name, each (batch, heads, query, key); filled as the model runs.

    Raises:
        TypeError: If model is not a module, or a layer of it takes no query and key.
        ValueError: If the model holds no MultiHeadAttention.
    """
    recorded: dict[str, Tensor] = {}
    hooks = [
        layer.register_forward_hook(_recorder(name, recorded), with_kwargs=True)
        for name, layer in attentions_of(model).items()
    ]
    with removed_at_the_end(hooks):
        yield recorded


@contextmanager
def removed_at_the_end(hooks: Iterable[Handle]) -> Iterator[None]:
    """Remove these hooks when the block ends, also when it ends in an error.

    Args:
        hooks: The handles of the hooks. Inside the block a compiled model runs uncompiled, because
            compiled code skips new hooks.
    """
    try:
        with torch.compiler.set_stance("force_eager"):
            yield
    finally:
        for hook in hooks:
            hook.remove()


def attentions_of(model: nn.Module) -> dict[str, MultiHeadAttention]:
    """The attention layers of a model, by name.

    Args:
        model: Any module that holds MultiHeadAttention somewhere.

    Raises:
        TypeError: If model is not a module.
        ValueError: If the model holds no MultiHeadAttention.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    layers = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention)
    }
    if not layers:
        raise ValueError(f"model must hold a MultiHeadAttention, got {type(model).__name__}")
    return layers


def _recorder(name: str, recorded: dict[str, Tensor]) -> Callable[..., None]:
    """A forward hook that writes one layer's weights into recorded."""

    def record(layer: MultiHeadAttention, args: tuple, kwargs: dict, output: Tensor) -> None:
        given = inspect.signature(layer.forward).bind(*args, **kwargs).arguments
        if not {"query", "key"} <= given.keys():
            raise TypeError(f"{name} must take query and key to be recorded, got {list(given)}")
        with torch.no_grad():
            if given.get("cache") is None:
                weights = layer.attention_weights(
                    given["query"], given["key"], mask=given.get("mask")
                )
            else:  # the step has just added its keys
                queries = split_heads(layer.query_projection(given["query"]), layer.num_heads)
                weights = attention_weights(queries, given["cache"].keys, mask=given.get("mask"))
            recorded[name] = weights

    return record
