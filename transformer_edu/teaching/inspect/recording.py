"""Looking at attention from outside: the layers know nothing of it."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from transformer_edu.model.attention import MultiHeadAttention, attention_weights, split_heads


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
        TypeError: If model is no module, or a layer of it takes no query and key.
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
        raise ValueError(
            f"model must hold a MultiHeadAttention to record, got {type(model).__name__}"
        )
    recorded: dict[str, Tensor] = {}
    hooks = [
        layer.register_forward_hook(_recorder(name, recorded), with_kwargs=True)
        for name, layer in layers.items()
    ]
    try:
        with torch.compiler.set_stance("force_eager"):  # compiled code skips new hooks
            yield recorded
    finally:
        for hook in hooks:
            hook.remove()


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
