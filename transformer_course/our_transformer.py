"""The Transformer that lessons 01 to 09 build: post-norm, as in the paper, in plain PyTorch.

Each lesson asks its reader for the next class; these are the solutions. Attributes have the names
of transformer_edu.model, so load_state_dict carries weights over. In a mask, True means a position
may be attended to.
"""

import math

import torch
from torch import nn


class TokenEmbedding(nn.Module):
    """One learned vector per token, multiplied by √d_model (paper §3.4)."""

    def __init__(self, vocabulary_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocabulary_size, d_model)
        nn.init.normal_(self.table.weight, std=d_model**-0.5)

    def forward(self, token_ids):
        """Ids (batch, position) → vectors (batch, position, d_model)."""
        return self.table(token_ids) * math.sqrt(self.table.embedding_dim)


class Attention(nn.Module):
    """Scaled dot-product attention with its three projections (paper §3.2.1)."""

    def __init__(self, d_model, d_head):
        super().__init__()
        self.query_projection = nn.Linear(d_model, d_head, bias=False)
        self.key_projection = nn.Linear(d_model, d_head, bias=False)
        self.value_projection = nn.Linear(d_model, d_head, bias=False)

    def forward(self, query, key, value, mask=None):
        """(batch, query, d_model) and, twice, (batch, key, d_model) → (batch, query, d_head)."""
        query = self.query_projection(query)
        key = self.key_projection(key)
        value = self.value_projection(value)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return scores.softmax(dim=-1) @ value


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in its own d_head dimensions (paper §3.2.2)."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query_projection = nn.Linear(d_model, d_model, bias=False)
        self.key_projection = nn.Linear(d_model, d_model, bias=False)
        self.value_projection = nn.Linear(d_model, d_model, bias=False)
        self.output_projection = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        """(batch, position, d_model) → (batch, head, position, d_head)."""
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        """(batch, query, d_model) and, twice, (batch, key, d_model) → (batch, query, d_model)."""
        query = self.split(self.query_projection(query))
        key = self.split(self.key_projection(key))
        value = self.split(self.value_projection(value))
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        heads = scores.softmax(dim=-1) @ value  # (batch, head, query, d_head)
        return self.output_projection(heads.transpose(1, 2).flatten(-2))


class PositionalEncoding(nn.Module):
    """Adds a sine and a cosine of each frequency to every vector (paper §3.5)."""

    def __init__(self, d_model, max_length=5000):
        super().__init__()
        position = torch.arange(max_length, dtype=torch.float64).unsqueeze(1)
        even = torch.arange(0, d_model, 2, dtype=torch.float64)
        angle = position / 10_000 ** (even / d_model)  # (position, d_model / 2)
        table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).float()
        self.register_buffer("table", table, persistent=False)

    def forward(self, x):
        """Vectors (batch, position, d_model) → the same shape."""
        return x + self.table[: x.size(1)]


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them, the same at every position (paper §3.3)."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)

    def forward(self, x):
        """Vectors (batch, position, d_model) → the same shape."""
        return self.narrow(self.widen(x).relu())


class AddAndNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))) around any sub-layer (paper §3.1, §5.4)."""

    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        """Vectors (batch, position, d_model) and a function of them → the same shape."""
        return self.norm(x + self.dropout(sublayer(x)))


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each inside Add & Norm (paper §3.1)."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.around_self_attention = AddAndNorm(d_model, dropout)
        self.around_feed_forward = AddAndNorm(d_model, dropout)

    def forward(self, x, mask=None):
        """Vectors (batch, position, d_model) → the same shape."""
        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, mask))
        return self.around_feed_forward(x, self.feed_forward)


class Encoder(nn.Module):
    """A stack of encoder layers (paper §3.1)."""

    def __init__(self, num_layers, *sizes):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(*sizes) for _ in range(num_layers))

    def forward(self, x, mask=None):
        """Embedded source (batch, source, d_model) → memory of the same shape."""
        for layer in self.layers:
            x = layer(x, mask)
        return x


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention and feed-forward, each inside Add & Norm (paper §3.1)."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.around_self_attention = AddAndNorm(d_model, dropout)
        self.around_cross_attention = AddAndNorm(d_model, dropout)
        self.around_feed_forward = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, target_mask=None, source_mask=None):
        """Target (batch, target, d_model), memory (batch, source, d_model) → target's shape."""
        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, target_mask))
        x = self.around_cross_attention(
            x, lambda y: self.cross_attention(y, memory, memory, source_mask)
        )
        return self.around_feed_forward(x, self.feed_forward)


class Decoder(nn.Module):
    """A stack of decoder layers (paper §3.1)."""

    def __init__(self, num_layers, *sizes):
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(*sizes) for _ in range(num_layers))

    def forward(self, x, memory, target_mask=None, source_mask=None):
        """Target (batch, target, d_model), memory (batch, source, d_model) → target's shape."""
        for layer in self.layers:
            x = layer(x, memory, target_mask, source_mask)
        return x


class Transformer(nn.Module):
    """The encoder–decoder Transformer, with one table for source, target and output (paper §3)."""

    def __init__(self, vocabulary_size, d_model, num_heads, num_layers, d_ff, dropout=0.1):
        super().__init__()
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.xavier_uniform_(weight)
        self.source_embedding = self.target_embedding = TokenEmbedding(vocabulary_size, d_model)
        self.positions = PositionalEncoding(d_model)
        self.embedding_dropout = nn.Dropout(dropout)
        self.output_projection = nn.Linear(d_model, vocabulary_size)
        self.output_projection.weight = self.source_embedding.table.weight

    def source_mask(self, source_ids):
        """Hide padding, which has the id 0: a mask of shape (batch, 1, 1, source)."""
        return (source_ids != 0)[:, None, None, :]

    def embed(self, token_ids):
        """Ids (batch, position) → tokens plus positions (batch, position, d_model)."""
        return self.embedding_dropout(self.positions(self.source_embedding(token_ids)))

    def encode(self, source_ids, source_mask):
        """Ids (batch, source) → memory (batch, source, d_model)."""
        return self.encoder(self.embed(source_ids), source_mask)

    def decode(self, target_ids, memory, source_mask):
        """Ids (batch, target), start token first → vectors (batch, target, d_model)."""
        length = target_ids.size(1)
        past = target_ids.new_ones(length, length, dtype=torch.bool).tril()
        target_mask = self.source_mask(target_ids) & past
        return self.decoder(self.embed(target_ids), memory, target_mask, source_mask)

    def project(self, decoded):
        """Vectors (batch, target, d_model) → logits (batch, target, vocabulary)."""
        return self.output_projection(decoded)

    def forward(self, source_ids, target_ids):
        """Ids of source and target → the logits of every next token of the target."""
        source_mask = self.source_mask(source_ids)
        memory = self.encode(source_ids, source_mask)
        return self.project(self.decode(target_ids, memory, source_mask))
