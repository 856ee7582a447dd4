"""Writing on: what has been written so far, and the model's logits for what comes next.

Greedy search, beam search and sampling all stand on it; they differ only in what they choose.
Read in notebooks/11_generation.ipynb.
"""

from inspect import signature

import torch
from torch import Tensor, nn

from transformer_edu.generation.ranking import require_possible
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.refusals import require_rows


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
            ValueError: If the best logit of a row is NaN or infinite; the message names the step,
                the first being 1.
        """
        if self.cache is None:
            decoded = self.model.decode(self.written, self.memory, source_mask=self.source_mask)
        else:
            newest = self.written[:, self.cache.length :]  # (rows, 1)
            decoded = self.model.decode(
                newest, self.memory, source_mask=self.source_mask, cache=self.cache
            )
        logits = self.model.project(decoded[:, -1:]).squeeze(1)
        require_possible(logits.amax(dim=-1), step=self.written.size(1))
        return logits

    def append(self, next_ids: Tensor) -> None:
        """Write one more token in every row.

        Args:
            next_ids: Shape (rows,), int32 or int64.

        Raises:
            TypeError, ValueError: If they are not token ids, one for each row.
        """
        rows = len(self.written)
        if not isinstance(next_ids, Tensor) or next_ids.dtype not in (torch.int64, torch.int32):
            got = next_ids.dtype if isinstance(next_ids, Tensor) else type(next_ids).__name__
            raise TypeError(f"next_ids must be a tensor of token ids, got {got}")
        if next_ids.shape != (rows,):
            raise ValueError(
                f"next_ids must have shape ({rows},), one for each row, got {tuple(next_ids.shape)}"
            )
        newest = next_ids.to(self.written.dtype).unsqueeze(1)
        self.written = torch.cat([self.written, newest], dim=1)

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on with what row rows[i] has written; both must have the same source.

        Args:
            rows: Row numbers, shape (rows,).

        Raises:
            TypeError, ValueError: If they are not as many row numbers as there are rows.
        """
        require_rows("rows", rows, len(self.written))
        if len(rows) != len(self.written):
            raise ValueError(f"rows must be {len(self.written)}, got {len(rows)}")
        self.written = self.written[rows]
        if self.cache is not None:
            self.cache.keep(rows, same_sources=True)

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only, each with its source; a row may be taken more than once.

        Args:
            rows: Row numbers, shape (new rows,).

        Raises:
            TypeError, ValueError: If they are not row numbers.
        """
        require_rows("rows", rows, len(self.written))
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
