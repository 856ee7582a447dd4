"""Writing on: what has been written so far, and the model's logits for what comes next.

Greedy search, beam search and sampling all stand on it; they differ only in what they choose.
Read in notebooks/11_generation.ipynb.
"""

from inspect import signature

import torch
from torch import Tensor, nn

from transformer_edu.model.cache import DecoderCache


class Continuation:
    """Targets that are being written, each for its own source.

    The source is read once. With a cache, every step computes the newest position only;
    without, the whole target again. The logits are the same. A decoder with parts of a learner's
    own that take no ``cache`` does without.

    Args:
        model: Has ``source_mask``, ``encode``, ``decode`` and ``project``, as Transformer has;
            in evaluation mode, gradients off.
        source_ids: Sources, padded at the end, shape (batch, source position).
        start_id: What every target starts with.
        longest: The most tokens that will be appended.
        cached: Whether to use a cache where the model can.
    """

    def __init__(
        self,
        model: nn.Module,
        source_ids: Tensor,
        *,
        start_id: int,
        longest: int,
        cached: bool = True,
    ) -> None:
        self.model = model
        self.source_mask = model.source_mask(source_ids)  # (batch, 1, 1, source position)
        self.memory = model.encode(source_ids, source_mask=self.source_mask)
        self.written = source_ids.new_full((len(source_ids), 1), start_id)  # (rows, position)
        self.cache = None
        if cached and can_cache(model):
            layers = len(model.decoder.layers)
            self.cache = DecoderCache(num_layers=layers, max_length=longest)

    def next_logits(self) -> Tensor:
        """Score every token as the next one of every row, shape (rows, vocabulary).

        Raises:
            ValueError: If the model answers NaN; the message names the step, the first being 1.
        """
        if self.cache is None:
            decoded = self.model.decode(self.written, self.memory, source_mask=self.source_mask)
        else:
            newest = self.written[:, self.cache.length :]  # (rows, 1)
            decoded = self.model.decode(
                newest, self.memory, source_mask=self.source_mask, cache=self.cache
            )
        logits = self.model.project(decoded[:, -1:]).squeeze(1)
        if logits.amax(dim=-1).isnan().any():
            raise ValueError(f"logits must be numbers, got NaN at step {self.written.size(1)}")
        return logits

    def append(self, next_ids: Tensor) -> None:
        """Write one more token in every row.

        Args:
            next_ids: Shape (rows,).
        """
        newest = next_ids.to(self.written.dtype).unsqueeze(1)
        self.written = torch.cat([self.written, newest], dim=1)

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on with what row rows[i] has written; both must have the same source.

        Args:
            rows: Row numbers, shape (rows,).
        """
        self.written = self.written[rows]
        if self.cache is not None:
            self.cache.keep(rows, same_sources=True)

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only, each with its source; a row may be taken more than once.

        Args:
            rows: Row numbers, shape (new rows,).
        """
        self.written = self.written[rows]
        self.source_mask, self.memory = self.source_mask[rows], self.memory[rows]
        if self.cache is not None:
            self.cache.keep(rows)


def can_cache(model: nn.Module) -> bool:
    """Whether every part of the model's decoder can go on from a cache; a learner's own may not.

    Args:
        model: Any model with ``decode``.
    """
    decoder = getattr(model, "decoder", None)
    layers = list(getattr(decoder, "layers", []))
    attentions = [
        getattr(layer, name, None)
        for layer in layers
        for name in ("self_attention", "cross_attention")
    ]
    return (
        _takes(model.decode, "cache")
        and all(_takes(part, "cache") for part in (decoder, *layers, *attentions))
        and _takes(getattr(model, "positions", None), "offset")
    )


def _takes(call: object, name: str) -> bool:
    """Whether a function, or a module's forward, has a parameter of that name."""
    call = getattr(call, "forward", call)
    return callable(call) and name in signature(call).parameters
