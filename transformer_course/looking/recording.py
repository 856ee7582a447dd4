"""What goes on in a forward pass, seen from outside: attention weights, inputs, words by layer;
and the tokens of a pass as a reader writes them.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from transformer_edu.generation.continuation import end_id_of, start_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator
from transformer_edu.model.attention import MultiHeadAttention, attention_weights, split_heads
from transformer_edu.model.cache import KeyValueCache
from transformer_edu.training.machine.device import device_of
from transformer_edu.variants.language_model import GroupedAttention, rotate

WORD_START = "▁"  # how Tokenizer.tokens writes the space before a word
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
        model: Any module that holds MultiHeadAttention somewhere, or a LanguageModel.

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
def record_inputs(modules: Mapping[str, nn.Module]) -> Iterator[dict[str, tuple[Tensor, ...]]]:
    """Collect what goes into some modules of a model while it runs, without gradients.

    Args:
        modules: By name; such as attentions_of returns them.

    Yields:
        The positional arguments of each module's last call, by its name; filled as the model runs.
    """
    inputs: dict[str, tuple[Tensor, ...]] = {}
    hooks = [
        module.register_forward_pre_hook(
            lambda _, given, name=name: inputs.update({name: given})  # None: the input stays
        )
        for name, module in modules.items()
    ]
    with removed_at_the_end(hooks), torch.no_grad():
        yield inputs


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


def attentions_of(model: nn.Module) -> dict[str, MultiHeadAttention | GroupedAttention]:
    """The attention layers of a model, by name.

    Args:
        model: Any module that holds MultiHeadAttention somewhere, or a LanguageModel.

    Raises:
        TypeError: If model is not a module.
        ValueError: If the model holds no MultiHeadAttention.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    layers = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, (MultiHeadAttention, GroupedAttention))
    }
    if not layers:
        raise ValueError(f"model must hold a MultiHeadAttention, got {type(model).__name__}")
    return layers


def _recorder(name: str, recorded: dict[str, Tensor]) -> Callable[..., None]:
    """A forward hook that writes one layer's weights into recorded."""

    def record(layer: nn.Module, args: tuple, kwargs: dict, output: Tensor) -> None:
        given = inspect.signature(layer.forward).bind(*args, **kwargs).arguments
        if isinstance(layer, GroupedAttention):
            recorded[name] = _grouped_weights(layer, **given)
            return
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


@torch.no_grad()
def _grouped_weights(
    layer: GroupedAttention,
    x: Tensor,
    mask: Tensor,
    angles: Tensor | None = None,
    cache: KeyValueCache | None = None,
) -> Tensor:
    """The weights of a language model's attention after it has run; the arguments are its own."""
    queries = split_heads(layer.query_projection(x), layer.num_heads)
    keys = split_heads(layer.key_projection(x), layer.groups)
    if angles is not None:
        queries, keys = rotate(queries, angles), rotate(keys, angles)
    if cache is not None:  # the step has just added its keys
        keys = cache.keys
    keys = keys.repeat_interleave(layer.num_heads // layer.groups, dim=1)
    return attention_weights(queries, keys, mask=mask)


def source_row(translator: Translator, source: str) -> Tensor:
    """The ids of a sentence as a batch of one, on the model's device.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.

    Raises:
        ValueError: If it has no tokens.
    """
    ids = translator.source_ids(source)
    if not ids:
        raise ValueError(f"source must have at least one token, got {source!r}")
    return torch.tensor([ids], device=device_of(translator.model))


class Words(list[str]):
    """The tokens of a sentence; one that is not there is refused in a sentence that names them."""

    def index(self, word: str, *bounds: int) -> int:
        """Where a word is, as in every list.

        Raises:
            ValueError: If it is not one of the tokens.
        """
        if word not in self:
            raise ValueError(f"{word!r} is not a token of this sentence; its tokens: {[*self]}")
        return super().index(word, *bounds)


def words_of(translator: Translator, token_ids: Sequence[int]) -> Words:
    """Tokens as a reader writes them, without the space before a word.

    Args:
        translator: Its tokenizer is the package's.
        token_ids: Of one sentence.
    """
    return Words(each.removeprefix(WORD_START) for each in translator.tokenizer.tokens(token_ids))


def vectors_by_layer(translator: Translator, text: str) -> tuple[list[str], Tensor]:
    """The vectors of all words of a sentence on their way through the encoder.

    Args:
        translator: Its tokenizer is the package's.
        text: The sentence that the encoder reads.

    Returns:
        The tokens as a reader writes them; and the vectors before the first layer and after
        each, shape (layers + 1, word, d_model).
    """
    model, source_ids = translator.model, source_row(translator, text)
    with evaluation_mode(model):
        x = model.positions(model.source_embedding(source_ids))
        vectors = [x[0]]
        for layer in model.encoder.layers:
            x = layer(x)
            vectors.append(x[0])
    return words_of(translator, source_ids[0].tolist()), torch.stack(vectors)


def token_words(translator: Translator, token_ids: Sequence[int]) -> Words:
    """The tokens of ids as a reader writes them; ``<s>`` starts a target and ``</s>`` ends it.

    A space before a word is not written; a token that is only a space is ``▁``.

    Args:
        translator: Its tokenizer is the package's.
        token_ids: Of one sentence.
    """
    names, model = translator.tokenizer.tokens(token_ids), translator.model
    marks = {start_id_of(model): "<s>", end_id_of(model): "</s>"}
    return Words(
        marks.get(token_id, name.removeprefix(WORD_START) or WORD_START)
        for token_id, name in zip(token_ids, names, strict=True)
    )
