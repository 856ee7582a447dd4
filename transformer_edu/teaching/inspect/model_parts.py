"""The parts of a Transformer, by the boxes of its map: shapes, parameters, class and file."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.embeddings import PositionalEncoding, TokenEmbedding
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.transformer import Transformer
from transformer_edu.teaching.inspect.recording import removed_at_the_end

# Where the package has what a box stands for; a linear map is a part of the whole.
PACKAGE = {
    each.__name__: each
    for each in (TokenEmbedding, PositionalEncoding, MultiHeadAttention, AddAndNorm, FeedForward)
}
# A box by its name in the recorded map: the module, and which of its calls is meant.
FIRST_LAYER = "{}.layers.0.{}"
MODULES = {
    "source: Token embedding × √d_model": ("source_embedding", 0),
    "source: + Positional encoding": ("positions", 0),
    "target: Token embedding × √d_model": ("target_embedding", 1),
    "target: + Positional encoding": ("positions", 1),
    "target: Output projection": ("output_projection", 0),
} | {
    f"{side}: {label}{norm}": (FIRST_LAYER.format(stack, f"{around}{part}"), 0)
    for side, stack, label, part in (
        ("source", "encoder", "Self-attention", "self_attention"),
        ("source", "encoder", "Feed-forward", "feed_forward"),
        ("target", "decoder", "Masked self-attention", "self_attention"),
        ("target", "decoder", "Cross-attention", "cross_attention"),
        ("target", "decoder", "Feed-forward", "feed_forward"),
    )
    for norm, around in (("", ""), (", Add & Norm", "around_"))
}


@dataclass(frozen=True)
class Part:
    """What one box of the map is in a model.

    Args:
        inputs: The shapes that go in, each once for each tensor.
        output: The shape that comes out.
        parameters: How many it has, in one layer.
        shared: How many of them a box before it has, too.
        layers: How often the model has it.
        module: Its class; None for what is not a module.
        file: Where the package has it; "" where module is None.
    """

    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    parameters: int = 0
    shared: int = 0
    layers: int = 1
    module: str | None = None
    file: str = ""


def model_parts(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> dict[str, Part]:
    """Send one batch through a model and describe the part of every box of the map.

    Args:
        model: Has the parts of Transformer, under their names; it is not changed. On the device
            meta it needs no memory.
        source_ids: Shape (batch, source position).
        target_ids: Shape (batch, target position).

    Returns:
        By the names of the boxes in figures/recorded_map.py.
    """
    calls = _calls(model, source_ids, target_ids)
    parts, seen = {}, set()
    for name, (path, call) in MODULES.items():
        module = model.get_submodule(path)
        own = list(module.parameters())
        layers = len(model.encoder.layers) if ".layers." in path else 1
        counts = sum(p.numel() for p in own), sum(p.numel() for p in own if id(p) in seen), layers
        seen.update(map(id, own))
        kind = PACKAGE.get(type(module).__name__, Transformer)
        parts[name] = Part(*calls[path][call], *counts, type(module).__name__, _file(kind))
    source, target = tuple(source_ids.shape), tuple(target_ids.shape)
    logits = parts["target: Output projection"].output
    memory = parts["source: Feed-forward, Add & Norm"].output
    return parts | {
        "source: Source tokens": Part((), source),
        "target: Target tokens (shifted right)": Part((), target),
        "source: Memory": Part((memory,), memory),
        "target: Softmax": Part((logits,), logits),
    }


def _calls(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> dict[str, list[tuple]]:
    """For each module's path, the shapes of what went in and came out, one pair for each call."""
    calls: dict[str, list[tuple]] = {path: [] for path, _ in MODULES.values()}

    def note(path: str) -> Callable[..., None]:
        def hook(_: nn.Module, given: tuple, named: dict, out: Tensor) -> None:
            tensors = {
                id(each): tuple(each.shape)
                for each in (*given, *named.values())
                if isinstance(each, Tensor) and each.dtype.itemsize > 1  # a mask is bool
            }
            calls[path].append((tuple(tensors.values()), tuple(out.shape)))

        return hook

    hooks = [
        model.get_submodule(path).register_forward_hook(note(path), with_kwargs=True)
        for path in calls
    ]
    device = next(model.parameters()).device
    with removed_at_the_end(hooks), evaluation_mode(model):
        model(source_ids.to(device), target_ids.to(device))
    return calls


def _file(kind: type) -> str:
    """The class's file as the repository names it."""
    return kind.__module__.replace(".", "/") + ".py"
