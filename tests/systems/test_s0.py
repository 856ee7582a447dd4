"""S0, the paper's architecture class by class: what it does works here, its faults are shown."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.attention import (
    MultiHeadAttention,
    attention_weights,
)
from transformer_edu.model.embeddings import (
    sinusoidal_positions,
)
from transformer_edu.model.masks import causal_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig

S0 = {"vocabulary_size": 10_000, "target_vocabulary_size": 10_000, "tie_embeddings": False}
S0_LENGTH, S0_BATCH = 20, 2


@pytest.fixture(scope="module")
def s0_model() -> Transformer:
    return Transformer(TransformerConfig(**S0, max_length=S0_LENGTH)).eval()


def test_s0_has_206_tensors_of_59_482_896_values():
    # Its tutorial says 205. It has what ours has, and 18 biases and two norms that ours omits.
    def build(**switches: bool) -> list[nn.Parameter]:
        with torch.device("meta"):
            return list(Transformer(TransformerConfig(**S0, **switches)).parameters())

    ours, with_norms = build(), build(final_norm=True)
    attentions = 6 * 1 + 6 * 2
    assert len(with_norms) - len(ours) == 2 * 2
    assert (len(ours), sum(p.numel() for p in ours)) == (184, 59_471_632)
    assert len(with_norms) + attentions == 206
    assert sum(p.numel() for p in with_norms) + attentions * 512 == 59_482_896


def s0_positions(length: int, d_model: int) -> Tensor:
    """Its table, fault included: 2i is doubled again, and a pair has two frequencies."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    i = torch.arange(0, d_model, 2, dtype=torch.float64)
    sines = (position / 10_000 ** (2 * i / d_model)).sin()
    cosines = (position / 10_000 ** (2 * (i + 1) / d_model)).cos()
    return torch.stack([sines, cosines], dim=-1).flatten(-2).float()


def test_s0_fault_72_percent_of_the_positions_are_wrong():
    table, faulty = sinusoidal_positions(S0_LENGTH, 512), s0_positions(S0_LENGTH, 512)
    wrong = ((table - faulty).abs() > 1e-3).float().mean().item()
    assert wrong == pytest.approx(0.72, abs=0.01)


@torch.no_grad()
def test_s0_fault_with_a_mask_of_ones_the_future_is_visible(s0_model):
    source_ids, target_ids = torch.randint(4, 10_000, (2, S0_BATCH, S0_LENGTH))
    changed = target_ids.clone()
    changed[:, -1] = 3
    memory = s0_model.encode(source_ids)

    def change(mask: Tensor | None) -> float:
        before, after = (
            s0_model.decode(ids, memory, source_mask=None, target_mask=mask)[:, :-1]
            for ids in (target_ids, changed)
        )
        return (before - after).abs().max().item()

    assert change(torch.tensor(True)) > 0.01
    assert change(None) == 0


def test_s0_fault_attention_stored_after_dropout_is_no_distribution():
    attention = MultiHeadAttention(d_model=8, num_heads=2, dropout=0.1).train()
    x = torch.randn(3, 20, 8)
    weights = attention.attention_weights(x, x)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 2, 20))
    dropped = F.dropout(weights, 0.1).sum(dim=-1)
    assert dropped.min() < 0.9
    assert dropped.max() > 1.05


def test_s0_fault_minus_a_billion_overflows_in_float16():
    scores = torch.zeros(3, 3, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="overflow"):
        scores.masked_fill(~causal_mask(3), -1e9)
    weights = attention_weights(scores, scores, mask=causal_mask(3))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, dtype=torch.float16))
