"""A reader's Transformer of lesson 9, written by hand: its attributes have the lessons' names.

No class of the package or of the course's page is used, and no line is theirs: heads in a loop or
an einsum, positions with two assignments, a norm of its own.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class TokenEmbedding(nn.Module):
    def __init__(self, vocabulary_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocabulary_size, d_model)
        self.table.weight.data /= math.sqrt(d_model)
        self.d_model = d_model

    def forward(self, token_ids):
        return self.d_model**0.5 * F.embedding(token_ids, self.table.weight)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, f"{name}_projection", nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            self.query_projection(query),
            self.key_projection(key),
            self.value_projection(value),
        )
        found = []
        for head in range(self.num_heads):
            part = slice(head * self.d_head, (head + 1) * self.d_head)
            scores = torch.einsum("bqd,bkd->bqk", q[..., part], k[..., part]) / self.d_head**0.5
            if mask is not None:
                allowed = mask.expand(len(q), -1, -1, -1)[:, 0]
                scores = torch.where(allowed, scores, -1e9)
            found.append(torch.einsum("bqk,bkd->bqd", torch.softmax(scores, -1), v[..., part]))
        return self.output_projection(torch.cat(found, -1))


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_length=500):
        super().__init__()
        place = torch.arange(max_length).double()[:, None]
        rate = torch.exp(-math.log(10_000) * torch.arange(0, d_model, 2).double() / d_model)
        table = torch.zeros(max_length, d_model)
        table[:, 0::2] = torch.sin(place * rate).float()
        table[:, 1::2] = torch.cos(place * rate).float()
        self.register_buffer("table", table, persistent=False)

    def forward(self, x):
        return self.table[None, : x.shape[1]] + x


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.widen, self.narrow = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.narrow(torch.clamp(self.widen(x), min=0))


class AddAndNorm(nn.Module):
    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.norm, self.rate = nn.LayerNorm(d_model), dropout

    def forward(self, x, sublayer):
        x = x + F.dropout(sublayer(x), self.rate, self.training)
        centered = x - x.mean(-1, keepdim=True)
        spread = (centered.square().mean(-1, keepdim=True) + self.norm.eps).sqrt()
        return centered / spread * self.norm.weight + self.norm.bias


class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.around_self_attention = AddAndNorm(d_model, dropout)
        self.around_feed_forward = AddAndNorm(d_model, dropout)

    def forward(self, x, mask=None):
        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, mask))
        return self.around_feed_forward(x, self.feed_forward)


class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.around_self_attention = AddAndNorm(d_model, dropout)
        self.around_cross_attention = AddAndNorm(d_model, dropout)
        self.around_feed_forward = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, target_mask=None, source_mask=None):
        def across(y):
            return self.cross_attention(y, memory, memory, source_mask)

        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, target_mask))
        return self.around_feed_forward(self.around_cross_attention(x, across), self.feed_forward)


class Stack(nn.Module):
    def __init__(self, kind, num_layers, *sizes):
        super().__init__()
        self.layers = nn.ModuleList([kind(*sizes) for _ in range(num_layers)])

    def forward(self, x, *given):
        for layer in self.layers:
            x = layer(x, *given)
        return x


class Transformer(nn.Module):
    def __init__(self, vocabulary_size, d_model, num_heads, num_layers, d_ff, dropout=0.1):
        super().__init__()
        sizes = (d_model, num_heads, d_ff, dropout)
        self.encoder = Stack(EncoderLayer, num_layers, *sizes)
        self.decoder = Stack(DecoderLayer, num_layers, *sizes)
        self.source_embedding = TokenEmbedding(vocabulary_size, d_model)
        self.target_embedding = self.source_embedding
        self.positions = PositionalEncoding(d_model)
        self.output_projection = nn.Linear(d_model, vocabulary_size)
        self.output_projection.weight = self.source_embedding.table.weight

    def source_mask(self, source_ids):
        return source_ids.ne(0)[:, None, None]

    def encode(self, source_ids, source_mask):
        return self.encoder(self.positions(self.source_embedding(source_ids)), source_mask)

    def decode(self, target_ids, memory, source_mask):
        past = torch.tril(torch.ones(2 * [target_ids.shape[1]], dtype=torch.bool))
        x = self.positions(self.target_embedding(target_ids))
        return self.decoder(x, memory, self.source_mask(target_ids) & past, source_mask)

    def project(self, decoded):
        return self.output_projection(decoded)

    def forward(self, source_ids, target_ids):
        mask = self.source_mask(source_ids)
        return self.project(self.decode(target_ids, self.encode(source_ids, mask), mask))
