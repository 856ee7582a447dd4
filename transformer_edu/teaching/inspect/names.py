"""What the package's modules, tensors and axes are called when a lesson speaks of them."""

import torch
from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.embeddings import PositionalEncoding, TokenEmbedding
from transformer_edu.model.encoder import Encoder, EncoderLayer
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.transformer import Transformer

HYPHENATED = {
    "around ": "Add & Norm around ",
    "self attention": "self-attention",
    "cross attention": "cross-attention",
    "feed forward": "feed-forward",
}
IDS = ("batch", "position")
VECTORS = ("batch", "position", "d_model")
WIDE = ("batch", "position", "d_ff")
QUERIES, KEYS = ("batch", "query", "d_model"), ("batch", "key", "d_model")
MASK = ("batch", "heads", "query", "key")

# What comes out of a part of a known module: the module, the part, then words and axes.
OUT_OF = {
    (MultiHeadAttention, "query_projection"): ("Q = query W_Q", QUERIES),
    (MultiHeadAttention, "key_projection"): ("K = key W_K", KEYS),
    (MultiHeadAttention, "value_projection"): ("V = value W_V", KEYS),
    (MultiHeadAttention, "output_projection"): ("times W_O", QUERIES),
    (FeedForward, "widen"): ("widened: x W₁ + b₁", WIDE),
    (FeedForward, "narrow"): ("narrowed: · W₂ + b₂", VECTORS),
    (AddAndNorm, "norm"): ("normalised", VECTORS),
    (TokenEmbedding, "table"): ("looked up", VECTORS),
    (Transformer, "output_projection"): ("logits", ("batch", "position", "vocabulary")),
}
# What goes into such a part, where it is computed between two modules.
INTO = {
    (MultiHeadAttention, "output_projection"): ("heads merged", QUERIES),
    (FeedForward, "narrow"): ("ReLU: max(0, ·)", WIDE),
    (AddAndNorm, "norm"): ("x + sub-layer", VECTORS),
}
# What attention is called with.
GIVEN = {"query": QUERIES, "key": KEYS, "value": KEYS, "key = value": KEYS}
# What comes out of a module as a whole.
WHOLE = {
    TokenEmbedding: "times √d_model",
    PositionalEncoding: "+ positions",
    AddAndNorm: "x + sub-layer",
}
KNOWN = (
    *(MultiHeadAttention, FeedForward, AddAndNorm, TokenEmbedding, PositionalEncoding),
    *(EncoderLayer, DecoderLayer, Encoder, Decoder, Transformer),
)


def in_words(name: str) -> str:
    """``self_attention`` as *self-attention*, ``my_layer`` as *my layer*, others as they are."""
    words = name.replace("_", " ").strip() if name.isidentifier() else name
    for plain, hyphenated in HYPHENATED.items():
        words = words.replace(plain, hyphenated)
    return words or name


def place_in_words(model: nn.Module, path: str) -> str:
    """``encoder.layers.0.feed_forward`` as *encoder · layer 1 · feed-forward*.

    A module that stands in several places is named after all of them.
    """
    if not path:
        return type(model).__name__
    module = model.get_submodule(path)
    everywhere = model.named_modules(remove_duplicate=False)
    return " = ".join(_one_place(model, place) for place, other in everywhere if other is module)


def _one_place(model: nn.Module, path: str) -> str:
    module, words = model, []
    for piece in path.split("."):
        parent, module = module, module.get_submodule(piece)
        if isinstance(parent, nn.ModuleList) and words:
            words[-1] = f"{words[-1].removesuffix('s')} {int(piece) + 1}"
        else:
            words.append(in_words(piece))
    return " · ".join(words)


def name_tensor(
    module: nn.Module, parent: nn.Module | None, part: str, tensor: Tensor, *, into: bool
) -> tuple[str, tuple[str, ...]]:
    """A tensor's words and axes; no axes for a module that the package does not know.

    Args:
        module: The module that it goes into or comes out of.
        parent: The module which that one is a part of.
        part: The part's name in the parent.
        tensor: The tensor.
        into: Whether it goes in.
    """
    for (kind, name), names in (INTO if into else OUT_OF).items():
        if isinstance(parent, kind) and part == name:
            return names
    words = in_words(part) if part else type(module).__name__
    if into:
        words = f"into {words}"
    else:
        words = next((WHOLE[kind] for kind in WHOLE if isinstance(module, kind)), words)
    if not isinstance(module, KNOWN) and not isinstance(parent, KNOWN):
        return words, ()
    if tensor.dtype == torch.bool:
        return words, MASK[-tensor.dim() :] if 0 < tensor.dim() <= len(MASK) else ()
    return words, {2: IDS, 3: VECTORS, 4: MASK}.get(tensor.dim(), ())
