"""The five published systems of the starting point: what each does works here.

One section for each; its faults are shown beside what this package does instead. S2, and
training and decoding in S3, are tested where those parts live.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import (
    MultiHeadAttention,
    attention_weights,
    merge_heads,
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
from transformer_edu.teaching.trace import trace


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


# S0: the paper's architecture, class by class

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


# S1: the idea of encoder and decoder


def test_s1_an_encoder_is_n_blocks_each_a_context_of_the_context_before_it():
    layers = [EncoderLayer(d_model=8, num_heads=2, d_ff=12, dropout=0.0) for _ in range(6)]
    x = torch.randn(2, 5, 8)
    context = x
    for layer in layers:
        context = layer(context)
        assert context.shape == x.shape, "every block keeps the shape"
    torch.testing.assert_close(Encoder(layers)(x), context)


def test_s1_fault_layers_in_a_plain_list_have_no_registered_parameters():
    class PlainList(nn.Module):
        """Its encoder: the layers exist, and nobody knows of them."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = [EncoderLayer(d_model=8, num_heads=2, d_ff=12) for _ in range(6)]

    faulty = PlainList()
    assert count(faulty) == 0
    assert faulty.state_dict() == {}
    assert count(Encoder(faulty.layers)) == 6 * count(faulty.layers[0]) > 0


def test_s1_fault_query_and_key_do_not_always_have_one_shape():
    attention = MultiHeadAttention(d_model=8, num_heads=2)
    target, memory = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    assert attention(target, memory, memory).shape == (2, 3, 8)
    assert attention.attention_weights(target, memory).shape == (2, 2, 3, 5)


def test_s1_key_and_value_differ_though_they_come_from_the_same_token():
    attention = MultiHeadAttention(d_model=8, num_heads=2)
    token = torch.randn(1, 1, 8)
    assert not torch.allclose(attention.key_projection(token), attention.value_projection(token))


def test_s1_the_decoder_turns_context_and_the_sentence_so_far_into_the_next_word():
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": 6, "d_ff": 12}
    model = Transformer(TransformerConfig(vocabulary_size=9, **sizes)).eval()
    memory = model.encode(torch.tensor([[4, 5, 6, 7]]))
    so_far = torch.tensor([[1, 5, 3]])
    next_word = model.project(model.decode(so_far, memory, source_mask=None))[:, -1]
    assert next_word.shape == (1, 9)
    for other in (model.encode(torch.tensor([[7, 6, 5, 4]])), memory + 1):
        changed = model.project(model.decode(so_far, other, source_mask=None))[:, -1]
        assert not torch.allclose(changed, next_word)


# S3: nine steps to a copy task, the first seven

S3 = TransformerConfig(
    vocabulary_size=20,
    target_vocabulary_size=20,
    tie_embeddings=False,
    bias=True,
    d_model=64,
    num_heads=4,
    num_layers=2,
    d_ff=128,
)
S3_BATCH, S3_LENGTH = 32, 8


def test_s3_the_seven_steps_in_its_order():
    sizes = {"d_model": S3.d_model, "num_heads": S3.num_heads}
    x = torch.randn(S3_BATCH, S3_LENGTH, S3.d_model)
    shape = (S3_BATCH, S3_LENGTH, S3.d_model)
    assert PositionalEncoding(d_model=S3.d_model)(x).shape == shape  # 1
    assert MultiHeadAttention(**sizes)(x, x, x).shape == shape  # 2
    assert FeedForward(d_model=S3.d_model, d_ff=S3.d_ff)(x).shape == shape  # 3
    memory = EncoderLayer(**sizes, d_ff=S3.d_ff)(x)  # 4
    assert DecoderLayer(**sizes, d_ff=S3.d_ff)(x, memory).shape == shape  # 5
    token_ids = torch.randint(1, 20, (S3_BATCH, S3_LENGTH))
    logits = Transformer(S3)(token_ids, token_ids)  # 6
    assert logits.shape == (S3_BATCH, S3_LENGTH, 20)
    both = padding_mask(token_ids) & causal_mask(S3_LENGTH)  # 7
    assert torch.equal(both, target_mask(token_ids))


def test_s3_its_model_has_171_284_parameters():
    assert count(Transformer(S3)) == 171_284


def test_s3_fault_boolean_and_float_masks_do_not_combine():
    token_ids = torch.tensor([[4, 5, 0]])
    future = nn.Transformer.generate_square_subsequent_mask(3)  # 0 and -inf
    with pytest.raises(RuntimeError):
        padding_mask(token_ids) & future
    assert (padding_mask(token_ids) & causal_mask(3)).dtype == torch.bool


def test_s3_fault_standard_normal_embeddings_drown_the_positions():
    root, positions = math.sqrt(64), sinusoidal_positions(50, 64)
    drowned = nn.Embedding(20, 64).weight * root
    ours = TokenEmbedding(vocabulary_size=20, d_model=64).table.weight * root
    share = [
        (positions.pow(2).mean() / (positions.pow(2).mean() + words.pow(2).mean())).item()
        for words in (drowned, ours)
    ]
    assert share[0] < 0.02
    assert share[1] > 0.25


def test_s3_fault_a_source_of_padding_alone_is_nan_in_its_attention_and_zero_in_ours():
    x = torch.randn(2, 5, 8)
    real = torch.tensor([[True] * 5, [False] * 5])
    faulty = nn.MultiheadAttention(8, 2, batch_first=True)
    output, _ = faulty(x, x, x, key_padding_mask=~real)
    assert output[1].isnan().all()
    ours = MultiHeadAttention(d_model=8, num_heads=2)(x, x, x, mask=real[:, None, None])
    assert torch.equal(ours[1], torch.zeros(5, 8))


# S4: shapes of self-attention

S4_BATCH, S4_LENGTH, S4_WIDTH, S4_HEADS = 2, 10, 512, 8


def test_s4_the_shape_walk():
    layer = EncoderLayer(d_model=S4_WIDTH, num_heads=S4_HEADS, d_ff=2048)
    attention = layer.self_attention
    x = torch.randn(S4_BATCH, S4_LENGTH, S4_WIDTH)
    whole, heads = (2, 10, 512), (2, 8, 10, 64)
    query, key, value = (
        projection(x)
        for projection in (
            attention.query_projection,
            attention.key_projection,
            attention.value_projection,
        )
    )
    assert query.shape == key.shape == value.shape == whole
    query, key, value = (split_heads(tensor, S4_HEADS) for tensor in (query, key, value))
    assert query.shape == key.shape == value.shape == heads
    weights = attention_weights(query, key)
    assert weights.shape == (2, 8, 10, 10)
    gathered = weights @ value
    assert gathered.shape == heads
    concatenated = merge_heads(gathered)
    assert concatenated.shape == whole
    mixed = attention.output_projection(concatenated)
    assert mixed.shape == whole
    torch.testing.assert_close(mixed, attention(x, x, x))
    assert layer.feed_forward.widen(mixed).shape == (2, 10, 2048)
    assert layer(x).shape == whole


def test_s4_the_walk_is_printed_from_a_real_forward_pass():
    layer = EncoderLayer(d_model=S4_WIDTH, num_heads=S4_HEADS, d_ff=2048)
    shapes = {step.shape for step in trace(layer, torch.randn(S4_BATCH, S4_LENGTH, S4_WIDTH))}
    assert {(2, 10, 512), (2, 8, 10, 64), (2, 8, 10, 10), (2, 10, 2048)} <= shapes


def test_s4_an_encoder_layer_has_two_sub_layers_and_a_decoder_layer_three():
    sizes = {"d_model": 8, "num_heads": 2, "d_ff": 12}
    for build, expected in ((EncoderLayer, 2), (DecoderLayer, 3)):
        boxes = [box for box in build(**sizes).children() if isinstance(box, AddAndNorm)]
        assert len(boxes) == expected


def test_s4_attention_looks_from_target_to_source_and_self_attention_within_one_sequence():
    attention = MultiHeadAttention(d_model=8, num_heads=2)
    source, target = torch.randn(2, 5, 8), torch.randn(2, 3, 8)
    assert attention.attention_weights(target, source).shape == (2, 2, 3, 5)
    assert attention.attention_weights(source, source).shape == (2, 2, 5, 5)
