"""S0, the paper's architecture class by class: what it does works here, its faults are shown."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import (
    MultiHeadAttention,
    attention_weights,
    split_heads,
)
from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.embeddings import (
    PositionalEncoding,
    TokenEmbedding,
    sinusoidal_positions,
)
from transformer_edu.model.encoder import Encoder, EncoderLayer
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.masks import causal_mask, padding_mask, target_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig

S0 = {"vocabulary_size": 10_000, "target_vocabulary_size": 10_000, "tie_embeddings": False}
S0_LENGTH, S0_BATCH = 20, 2


@pytest.fixture(scope="module")
def s0_model() -> Transformer:
    return Transformer(TransformerConfig(**S0, max_length=S0_LENGTH)).eval()


@torch.no_grad()
def test_s0_smoke_run_has_its_shapes(s0_model):
    source_ids, target_ids = torch.randint(4, 10_000, (2, S0_BATCH, S0_LENGTH))
    memory = s0_model.encode(source_ids)
    assert memory.shape == (S0_BATCH, S0_LENGTH, 512)
    source_mask = s0_model.source_mask(source_ids)
    decoded = s0_model.decode(target_ids, memory, source_mask=source_mask)
    assert decoded.shape == (S0_BATCH, S0_LENGTH, 512)
    logits = s0_model.project(decoded)
    assert logits.shape == (S0_BATCH, S0_LENGTH, 10_000)
    log_probabilities = logits.log_softmax(dim=-1)
    torch.testing.assert_close(log_probabilities.exp().sum(-1), torch.ones(S0_BATCH, S0_LENGTH))


def test_s0_every_class_of_figure_1_stands_on_its_own():
    token_ids = torch.tensor([[4, 5, 6], [7, 8, 0]])
    x = TokenEmbedding(vocabulary_size=9, d_model=8)(token_ids)
    x = PositionalEncoding(d_model=8, max_length=3)(x)
    x = AddAndNorm(d_model=8)(x, lambda y: MultiHeadAttention(d_model=8, num_heads=2)(y, y, y))
    x = AddAndNorm(d_model=8)(x, FeedForward(d_model=8, d_ff=12))
    sizes = {"d_model": 8, "num_heads": 2, "d_ff": 12}
    memory = Encoder([EncoderLayer(**sizes)])(x, mask=padding_mask(token_ids))
    output = Decoder([DecoderLayer(**sizes)])(x, memory, target_mask=target_mask(token_ids))
    assert output.shape == (2, 3, 8)


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


def test_s0_fault_most_dimensions_hardly_tell_positions_apart():
    def nearly_constant(table: Tensor) -> float:
        return ((table.amax(dim=0) - table.amin(dim=0)) < 0.025).float().mean().item()

    assert nearly_constant(s0_positions(200, 512)) == pytest.approx(0.56, abs=0.02)
    assert nearly_constant(sinusoidal_positions(200, 512)) == pytest.approx(0.14, abs=0.02)


def test_s0_fault_a_shift_is_no_longer_a_rotation():
    def error_of_the_best_linear_map(table: Tensor) -> float:
        """How badly any 2 × 2 matrix moves the first pair seven positions on."""
        before, after = table[:-7, :2].double(), table[7:, :2].double()
        matrix = torch.linalg.lstsq(before, after).solution
        return (before @ matrix - after).abs().max().item()

    assert error_of_the_best_linear_map(sinusoidal_positions(100, 8)) < 1e-5
    assert error_of_the_best_linear_map(s0_positions(100, 8)) > 0.5


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


def test_s0_faults_in_sizes_are_refused_by_name():
    with pytest.raises(ValueError, match="d_model must be even"):
        sinusoidal_positions(4, 7)
    with pytest.raises(ValueError, match="num_heads must divide d_model, got 3 and 16"):
        MultiHeadAttention(d_model=16, num_heads=3)
    positions = PositionalEncoding(d_model=4, max_length=3)
    with pytest.raises(ValueError, match="sequence length must be at most 3, got 4"):
        positions(torch.zeros(2, 4, 4))


def test_s0_why_one_matrix_instead_of_h_small_ones():
    # The rows of one d_model × d_model matrix are the h small ones, one above the other.
    attention = MultiHeadAttention(d_model=12, num_heads=3)
    x = torch.randn(2, 5, 12)
    small = attention.query_projection.weight.chunk(3)
    each = torch.stack([x @ matrix.T for matrix in small], dim=1)
    torch.testing.assert_close(split_heads(attention.query_projection(x), 3), each)
