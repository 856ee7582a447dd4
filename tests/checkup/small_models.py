"""Small models, written out, with a method for each decision that published code got wrong."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

VOCABULARY, WIDTH, HEADS, LONGEST = 40, 32, 4, 32
PADDING, END = 0, 2
Cache = list[tuple[Tensor, Tensor]]


class Attention(nn.Module):
    """Multi-head attention in separate steps."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        for linear in (self.query, self.key, self.value, self.output):
            nn.init.xavier_uniform_(linear.weight)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)

    def merge(self, heads: Tensor, batch: int) -> Tensor:
        return heads.transpose(1, 2).flatten(-2)

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        return query @ key.mT / math.sqrt(query.size(-1))

    def hide(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return scores
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min)

    def weights(self, scores: Tensor) -> Tensor:
        return scores.softmax(dim=-1)

    def turn(self, query: Tensor, key: Tensor, past: int) -> tuple[Tensor, Tensor]:
        return query, key

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None, cache: Cache | None = None
    ) -> Tensor:
        query, key, value = (
            self.split(projection(each))
            for projection, each in zip(
                (self.query, self.key, self.value), (x, memory, memory), strict=True
            )
        )
        past = cache[0][0].size(2) if cache else 0
        query, key = self.turn(query, key, past)
        if cache is not None:
            key, value = self.keep(cache, key, value)
        weights = self.weights(self.hide(self.scores(query, key), mask))
        return self.output(self.merge(weights @ value, len(x)))

    def keep(self, cache: Cache, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        if cache:
            key, value = (
                torch.cat(pair, dim=2) for pair in zip(cache[0], (key, value), strict=True)
            )
        cache[:] = [(key, value)]
        return key, value


class Rotary(Attention):
    """Rotary positions: queries and keys are turned."""

    def angles(self, length: int, past: int) -> Tensor:
        frequencies = 1000.0 ** -torch.arange(0, 1, 2 / (WIDTH // HEADS))
        return torch.arange(past, past + length)[:, None] * frequencies

    def turn(self, query: Tensor, key: Tensor, past: int) -> tuple[Tensor, Tensor]:
        return tuple(rotated(each, self.angles(each.size(2), past)) for each in (query, key))


def rotated(x: Tensor, angles: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    sine, cosine = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


class Layer(nn.Module):
    """Pre-norm self-attention, cross-attention if there is a memory, and feed-forward."""

    def __init__(self, attention: type[Attention], *, crosses: bool = False) -> None:
        super().__init__()
        self.attend, self.norms = attention(), nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.cross = attention() if crosses else None
        if not crosses:
            del self.norms[2]
        self.feed = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))
        self.dropout = nn.Dropout(0.1)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        y = self.norms[0](x)
        x = x + self.dropout(self.attend(y, y, mask, cache))
        if self.cross is not None:
            x = x + self.dropout(self.cross(self.norms[2](x), memory, memory_mask))
        return x + self.dropout(self.feed(self.norms[1](x)))


class Embedding(nn.Module):
    """Words and learned positions."""

    learned = True

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        nn.init.normal_(self.words.weight, std=0.2)
        if self.learned:
            self.positions = nn.Embedding(LONGEST, WIDTH)
            nn.init.normal_(self.positions.weight, std=0.2)

    def forward(self, ids: Tensor, past: int = 0) -> Tensor:
        x = self.words(ids)
        if not self.learned:
            return x
        return x + self.positions(torch.arange(past, past + ids.size(1), device=ids.device))


class WithoutPositions(Embedding):
    """Words only."""

    learned = False


class GPT(nn.Module):
    """A decoder-only model without padding masks, with a cache of its own."""

    attention, layer, embedding = Attention, Layer, Embedding

    def __init__(self) -> None:
        super().__init__()
        self.embed = self.embedding()
        self.layers = nn.ModuleList(self.layer(self.attention) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def causal(self, ids: Tensor, past: int) -> Tensor | None:
        length = past + ids.size(1)
        return torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()[past:]

    def forward(self, ids: Tensor) -> Tensor:
        return self.decode(ids, None)

    def decode(self, ids: Tensor, caches: list[Cache] | None) -> Tensor:
        past = caches[0][0][0].size(2) if caches and caches[0] else 0
        x, mask = self.embed(ids, past), self.causal(ids, past)
        for layer, cache in zip(self.layers, caches or [None] * len(self.layers), strict=True):
            x = layer(x, mask, cache=cache)
        return self.head(self.norm(x))

    def step(self, ids: Tensor, caches: list[Cache] | None) -> tuple[Tensor, list[Cache]]:
        caches = [[] for _ in self.layers] if caches is None else caches
        return self.decode(ids, caches), caches


class MaskedGPT(GPT):
    """A decoder-only model that takes an attention mask and positions, and generates."""

    def forward(
        self, ids: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        x = self.embed.words(ids)
        if position_ids is None:
            position_ids = torch.arange(ids.size(1), device=ids.device).expand(ids.shape)
        x = x + self.embed.positions(position_ids)
        mask = self.join(self.causal(ids, 0), attention_mask)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))

    def join(self, causal: Tensor, attention_mask: Tensor | None) -> Tensor:
        if attention_mask is None:
            return causal
        seen = causal & attention_mask.bool()[:, None, None, :]
        return seen | torch.eye(len(causal), dtype=torch.bool, device=causal.device)


class Encoder(nn.Module):
    """An encoder of words that hides padding, with a head for every word."""

    attention, layer, embedding, pad_idx = Attention, Layer, Embedding, PADDING

    def __init__(self) -> None:
        super().__init__()
        self.embed = self.embedding()
        self.layers = nn.ModuleList(self.layer(self.attention) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def padding_mask(self, ids: Tensor) -> Tensor:
        return (ids != self.pad_idx)[:, None, None, :]

    def forward(self, ids: Tensor) -> Tensor:
        x, mask = self.embed(ids), self.padding_mask(ids)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


class Seq2Seq(nn.Module):
    """An encoder–decoder."""

    attention, embedding = Attention, Embedding
    pad_idx, end_id, start_id = PADDING, END, 1

    def __init__(self) -> None:
        super().__init__()
        self.embed = self.embedding()
        self.encoder = nn.ModuleList(Layer(self.attention) for _ in range(2))
        self.decoder = nn.ModuleList(Layer(self.attention, crosses=True) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def padding_mask(self, ids: Tensor) -> Tensor:
        return (ids != self.pad_idx)[:, None, None, :]

    def target_mask(self, ids: Tensor) -> Tensor:
        length = ids.size(1)
        return self.padding_mask(ids) & ids.new_ones(length, length, dtype=torch.bool).tril()

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory, mask = self.embed(src), self.padding_mask(src)
        for layer in self.encoder:
            memory = layer(memory, mask)
        x, hidden = self.embed(tgt), self.target_mask(tgt)
        for layer in self.decoder:
            x = layer(x, hidden, memory, mask)
        return self.head(self.norm(x))


def cross_entropy(logits: Tensor, labels: Tensor, ignored: int = PADDING) -> Tensor:
    """The mean over labels that are not ignored."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=ignored)
