"""The targets that a search writes, and the model's logits for the next token of each.

Greedy search, beam search and sampling share it; they differ only in which token they choose.
Read in notebooks/12_generation.ipynb.
"""

import torch
from torch import Tensor, nn

from transformer_edu.generation.ranking import require_finite_maximum
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.embeddings import PositionalEncoding
from transformer_edu.model.refusals import require_flag, require_token_ids, require_whole
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.model.transformer import Transformer

EXTRA_LENGTH = 50  # the paper writes at most 50 tokens more than the source has (§6.1)
LARGEST_WIDTH = 1000  # of a beam; the published translator takes a minute for a sentence with it
LONGEST_LOOP = 8  # tokens of an n-gram that end_loops watches
LOOP_LENGTH = 10  # tokens that end_loops allows beyond twice the source


class Continuation:
    """Targets that are being written, one for each source.

    The source is encoded once. With a cache every step computes the newest position only, without
    one the whole target again; the logits are the same. A model whose targets start with padding
    never writes padding.

    Args:
        model: Has ``source_mask``, ``encode``, ``decode`` and ``project``, as Transformer has;
            in evaluation mode, gradients off.
        source_ids: Sources, padded at the end, shape (batch, source position).
        start_id: What every target starts with.
        cached: Whether to use a cache, if the model ``can_cache``.
        end_loops: Whether to forbid what ``looping_tokens`` finds.
    """

    def __init__(
        self,
        model: nn.Module,
        source_ids: Tensor,
        *,
        start_id: int,
        cached: bool = True,
        end_loops: bool = False,
    ) -> None:
        self.model, self.end_loops = model, end_loops
        padding_id = padding_id_of(model)
        self.forbidden_id = padding_id if start_id == padding_id else None
        self.source_mask = model.source_mask(source_ids)  # (batch, 1, 1, source position)
        self.memory = model.encode(source_ids, source_mask=self.source_mask)
        self.written = source_ids.new_full((len(source_ids), 1), start_id)  # (rows, position)
        self.cache = None
        if cached and can_cache(model):
            self.cache = DecoderCache(num_layers=len(model.decoder.layers))

    def next_logits(self) -> Tensor:
        """Score every token as the next one of every row, shape (rows, vocabulary).

        Append a token before the next call.

        Raises:
            ValueError: If the best logit of a row is NaN or infinite; the message names the step,
                the first being 1.
        """
        read, kept = self.written, {}
        if self.cache is not None:
            read, kept = self.written[:, self.cache.length :], {"cache": self.cache}  # (rows, 1)
        decoded = self.model.decode(read, self.memory, source_mask=self.source_mask, **kept)
        logits = self.model.project(decoded[:, -1:]).squeeze(1)
        require_finite_maximum(logits.amax(dim=-1), step=self.written.size(1))
        if self.forbidden_id is not None:
            logits[:, self.forbidden_id] = -torch.inf
        if self.end_loops:
            rows, token_ids = looping_tokens(self.written)
            logits[rows, token_ids] = -torch.inf
        return logits

    def append(self, next_ids: Tensor) -> None:
        """Append one token to every row: ids of shape (rows,)."""
        newest = next_ids.to(self.written.dtype).unsqueeze(1)
        self.written = torch.cat([self.written, newest], dim=1)

    def reorder(self, rows: Tensor) -> None:
        """Let row i continue what row rows[i] has written; both must have the same source."""
        self.written = self.written[rows]
        if self.cache is not None:
            self.cache.keep(rows, same_sources=True)

    def keep(self, rows: Tensor) -> None:
        """Continue these rows only, each with its source; a row may be taken more than once."""
        self.written = self.written[rows]
        self.source_mask, self.memory = self.source_mask[rows], self.memory[rows]
        if self.cache is not None:
            self.cache.keep(rows)


class Targets(Continuation):
    """A continuation from its start to its end, as every search writes it.

    ``limits`` holds the most tokens of each target, ``end_id`` ends one.

    Args:
        model, source_ids, max_length, start_id, end_id, cached, end_loops: As in
            ``greedy_search``; the model is in evaluation mode, gradients are off.

    Raises:
        TypeError: If model lacks a method, or an argument has the wrong type.
        ValueError: If a source holds only padding, max_length is below 1 or above the model's, or
            start, end and padding are not three different ids of the model's vocabulary. Start and
            padding may be the same if they are in the model's config.
    """

    def __init__(
        self,
        model: nn.Module,
        source_ids: Tensor,
        *,
        max_length: int | None,
        start_id: int | None,
        end_id: int | None,
        cached: bool,
        end_loops: bool = False,
    ) -> None:
        require_model(model)
        require_flag("end_loops", end_loops)
        require_token_ids("source_ids", source_ids)
        require_flag("cached", cached)
        start_id = start_id_of(model) if start_id is None else start_id
        self.end_id = end_id_of(model) if end_id is None else end_id
        self._dropped = (start_id, padding_id_of(model))
        _require_tokens(model, start_id, self.end_id, padding_id_of(model))
        super().__init__(model, source_ids, start_id=start_id, cached=cached, end_loops=end_loops)
        limits = length_limits(model, self.source_mask, max_length)
        if end_loops:
            limits = limits.minimum(2 * self.source_mask.flatten(1).sum(dim=1) + LOOP_LENGTH)
        self.limits: list[int] = limits.tolist()

    def read(self, row: list[int]) -> list[int]:
        """The ids of a row of ``written`` up to its end, without start and padding."""
        written = row[: row.index(self.end_id)] if self.end_id in row else row
        return [token for token in written if token not in self._dropped]


def can_cache(model: nn.Module) -> bool:
    """Whether ``decode``, the decoder's layers and the positions are all the library's own.

    A reader's own parts may not know caches: with them every step computes the whole target.
    """
    return (
        isinstance(model, Transformer)
        and type(model).decode is Transformer.decode
        and type(model.positions) is PositionalEncoding
        and type(model.decoder) is Decoder
        and all(
            type(layer) is DecoderLayer
            and {type(layer.self_attention), type(layer.cross_attention)} == {MultiHeadAttention}
            for layer in model.decoder.layers
        )
    )


def looping_tokens(written: Tensor) -> tuple[Tensor, Tensor]:
    """The tokens that would repeat an n-gram three times in a row, as in "go go go".

    Args:
        written: Targets so far, shape (rows, position).

    Returns:
        The numbers of the rows that such a token could follow, shape (loop,), and the tokens.
        N-grams of 1 to LONGEST_LOOP tokens count.
    """
    rows, token_ids = [written.new_empty(0)], [written.new_empty(0)]
    for n in range(1, min(LONGEST_LOOP, (written.size(1) + 1) // 3) + 1):
        recent = written[:, 1 - 3 * n :]  # one token fewer than three n-grams
        rows.append((recent[:, n:] == recent[:, :-n]).all(dim=1).nonzero()[:, 0])
        token_ids.append(written[rows[-1], -n])
    return torch.cat(rows).long(), torch.cat(token_ids).long()


def length_limits(model: nn.Module, source_mask: Tensor, max_length: int | None) -> Tensor:
    """The most tokens that each row may have, the end token included, shape (batch,).

    Args:
        model: Its config's max_length, if it has one, is never exceeded.
        source_mask: Where the sources hold real tokens, shape (batch, 1, 1, source position).
        max_length: The same limit for all; None allows EXTRA_LENGTH more than the source has.

    Raises:
        TypeError, ValueError: If a source holds only padding, or max_length is not a whole number
            from 1 to the model's.
    """
    lengths = source_mask.flatten(1).sum(dim=1)
    if not lengths.all():
        empty = int((lengths == 0).nonzero()[0])
        raise ValueError(f"source_ids must hold a real token in every row, got none in row {empty}")
    longest = config_field(model, "max_length", None)
    if max_length is None:
        lengths = lengths + EXTRA_LENGTH
        return lengths if longest is None else lengths.clamp(max=longest)
    require_whole("max_length", max_length)
    if longest is not None and max_length > longest:
        wanted = f"at most {longest} (the model's max_length)"
        raise ValueError(f"max_length must be {wanted}, got {max_length}")
    return torch.full_like(lengths, max_length)


def config_field(model: nn.Module, name: str, default: int | None) -> int | None:
    """A field of the model's config, or the default if the model has no config."""
    return getattr(getattr(model, "config", None), name, default)


def padding_id_of(model: nn.Module) -> int:
    """The id that fills short rows: the config's, or PADDING_ID."""
    return config_field(model, "padding_id", PADDING_ID)


def start_id_of(model: nn.Module) -> int:
    """The id that targets start with: the config's, or START_ID."""
    return config_field(model, "start_id", START_ID)


def end_id_of(model: nn.Module) -> int:
    """The id that ends targets: the config's, or END_ID."""
    return config_field(model, "end_id", END_ID)


def require_model(model: nn.Module) -> None:
    """Refuse, with a TypeError, a model that cannot encode and decode in two steps."""
    for method in ("source_mask", "encode", "decode", "project"):
        if not callable(getattr(model, method, None)):
            raise TypeError(f"model must have the method {method}, got {type(model).__name__}")


def _require_tokens(model: nn.Module, start_id: int, end_id: int, padding_id: int) -> None:
    """Refuse start, end and padding that are not three different ids of the vocabulary."""
    size = config_field(model, "output_size", None)
    for name, token_id in (("start_id", start_id), ("end_id", end_id)):
        require_whole(name, token_id, minimum=0, maximum=None if size is None else size - 1)
    starts_with_padding = start_id == padding_id == start_id_of(model)
    if len({start_id, end_id, padding_id}) < (2 if starts_with_padding else 3):
        got = f"{start_id}, {end_id} and {padding_id}"
        raise ValueError(f"start_id, end_id and padding must be three different ids, got {got}")
