"""Every sentence of *Attention Is All You Need* that the package claims to keep (§3, §5.4).

The sentences are the paper's own, quoted or nearly so, in its order. Sizes come from
``TransformerConfig()``; the models themselves are built on the meta device, which has shapes
and no numbers.
"""

import math

import pytest
import torch
from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import (
    MultiHeadAttention,
    attention_weights,
    scaled_dot_product_attention,
)
from transformer_edu.model.decoder import DecoderLayer
from transformer_edu.model.embeddings import TokenEmbedding, sinusoidal_positions
from transformer_edu.model.encoder import EncoderLayer
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.masks import causal_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig

BASE = TransformerConfig.base()


def build_on_meta(config: TransformerConfig) -> Transformer:
    """A model of shapes alone: no memory, no numbers."""
    with torch.device("meta"):
        return Transformer(config)


def count(config: TransformerConfig) -> int:
    return sum(parameter.numel() for parameter in build_on_meta(config).parameters())


@pytest.fixture(scope="module")
def base() -> Transformer:
    return build_on_meta(BASE)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


# §3.1 Encoder and decoder stacks


def test_the_encoder_is_a_stack_of_six_layers_of_two_sub_layers(base):
    assert len(base.encoder.layers) == 6
    for layer in base.encoder.layers:
        names = [name for name, _ in layer.named_children() if not name.startswith("around")]
        assert names == ["self_attention", "feed_forward"]


def test_the_decoder_is_a_stack_of_six_layers_that_insert_a_third_sub_layer(base):
    assert len(base.decoder.layers) == 6
    for layer in base.decoder.layers:
        names = [name for name, _ in layer.named_children() if not name.startswith("around")]
        assert names == ["self_attention", "cross_attention", "feed_forward"]


@pytest.mark.parametrize("build", [EncoderLayer, DecoderLayer])
def test_a_residual_connection_stands_around_each_of_the_sub_layers_then_normalisation(build):
    layer = build(d_model=8, num_heads=2, d_ff=12)
    boxes = [module for module in layer.children() if isinstance(module, AddAndNorm)]
    sublayers = [module for module in layer.children() if not isinstance(module, AddAndNorm)]
    assert len(boxes) == len(sublayers)
    assert not any(box.norm_first for box in boxes)


def test_the_output_of_each_sub_layer_is_layer_norm_of_x_plus_sublayer_of_x():
    box = AddAndNorm(d_model=6).eval()
    x, sublayer = torch.randn(2, 3, 6), nn.Linear(6, 6)
    torch.testing.assert_close(box(x, sublayer), nn.LayerNorm(6)(x + sublayer(x)))


def test_all_sub_layers_and_the_embeddings_produce_outputs_of_dimension_512():
    model = build_on_meta(BASE)
    widths = []

    def note(module: nn.Module, inputs: object, output: Tensor) -> None:
        widths.append((type(module), output.size(-1)))

    kinds = (MultiHeadAttention, FeedForward, AddAndNorm, TokenEmbedding, EncoderLayer)
    for module in model.modules():
        if isinstance(module, (*kinds, DecoderLayer)):
            module.register_forward_hook(note)
    token_ids = torch.zeros(2, 3, dtype=torch.long, device="meta")
    model(token_ids, token_ids)
    assert {kind for kind, _ in widths} == {*kinds, DecoderLayer}
    assert {width for _, width in widths} == {512}
    assert len(widths) == 2 + 6 * 5 + 6 * 7


def test_predictions_for_a_position_depend_only_on_known_outputs_before_it():
    sizes = {"vocabulary_size": 9, "d_model": 8, "num_heads": 2, "num_layers": 2, "d_ff": 12}
    model = Transformer(TransformerConfig(**sizes)).eval()
    source_ids, labels = torch.tensor([[4, 5, 6]]), torch.tensor([[5, 6, 7, 8, 2]])
    start = torch.tensor([[1]])
    for position in range(labels.size(1)):
        changed = labels.clone()
        changed[0, position:] = 3
        shifted, shifted_too = (torch.cat([start, ids[:, :-1]], dim=1) for ids in (labels, changed))
        before, after = model(source_ids, shifted), model(source_ids, shifted_too)
        assert torch.equal(before[:, : position + 1], after[:, : position + 1])


# §3.2 Attention


def test_equation_1_attention_is_softmax_of_qk_over_root_dk_times_v():
    query, key, value = torch.randn(4, 6), torch.randn(5, 6), torch.randn(5, 7)
    output, _ = scaled_dot_product_attention(query, key, value)
    expected = (query @ key.T / math.sqrt(6)).softmax(dim=-1) @ value
    torch.testing.assert_close(output, expected)


def test_scaling_keeps_softmax_out_of_the_regions_of_extremely_small_gradients():
    query, key = torch.randn(200, 512), torch.randn(8, 512)

    def gradient(scale: float) -> float:
        """How much the favourite's weight moves with the scores."""
        favourite = (scale * query @ key.T).softmax(dim=-1).amax(dim=-1)
        return (favourite * (1 - favourite)).mean().item()

    assert gradient(1 / math.sqrt(512)) > 5 * gradient(1)
    unscaled = (query @ key.T).softmax(dim=-1)
    assert attention_weights(query, key).amax(dim=-1).mean() < unscaled.amax(dim=-1).mean() / 1.5


def test_multi_head_attention_is_concatenated_heads_times_the_output_matrix():
    attention = MultiHeadAttention(d_model=12, num_heads=3)
    query, memory = torch.randn(2, 4, 12), torch.randn(2, 5, 12)
    heads = []
    for part in torch.arange(12).chunk(3):
        head, _ = scaled_dot_product_attention(
            query @ attention.query_projection.weight[part].T,
            memory @ attention.key_projection.weight[part].T,
            memory @ attention.value_projection.weight[part].T,
        )
        heads.append(head)
    expected = torch.cat(heads, dim=-1) @ attention.output_projection.weight.T
    torch.testing.assert_close(attention(query, memory, memory), expected)


def test_there_are_8_heads_of_dk_equal_dv_equal_64(base):
    for module in base.modules():
        if isinstance(module, MultiHeadAttention):
            assert module.num_heads == 8
            assert module.d_model // module.num_heads == 64
            for projection in (module.key_projection, module.value_projection):
                assert projection.weight.shape == (8 * 64, 512)


def test_the_projections_are_matrices_without_biases(base):
    attention = base.encoder.layers[0].self_attention
    assert [tuple(parameter.shape) for parameter in attention.parameters()] == [(512, 512)] * 4


def test_the_cost_does_not_depend_on_the_number_of_heads():
    sizes = {num_heads: count(TransformerConfig(num_heads=num_heads)) for num_heads in (1, 8, 32)}
    assert len(set(sizes.values())) == 1


def test_illegal_connections_are_masked_out_before_the_softmax():
    query, key = torch.randn(4, 6), torch.randn(4, 6)
    weights = attention_weights(query, key, mask=causal_mask(4))
    scores = query @ key.T / math.sqrt(6)
    expected = scores.masked_fill(~causal_mask(4), float("-inf")).softmax(dim=-1)
    torch.testing.assert_close(weights, expected)
    assert (weights.triu(1) == 0).all()


# §3.3 Position-wise feed-forward networks


def test_equation_2_is_two_linear_transformations_with_a_relu_in_between():
    feed_forward = FeedForward(d_model=6, d_ff=10)
    x = torch.randn(2, 3, 6)
    w_1, b_1 = feed_forward.widen.weight.T, feed_forward.widen.bias
    w_2, b_2 = feed_forward.narrow.weight.T, feed_forward.narrow.bias
    torch.testing.assert_close(feed_forward(x), (x @ w_1 + b_1).clamp(min=0) @ w_2 + b_2)


def test_input_and_output_are_512_and_the_inner_layer_2048_wide(base):
    for module in base.modules():
        if isinstance(module, FeedForward):
            assert module.widen.weight.shape == (2048, 512)
            assert module.narrow.weight.shape == (512, 2048)


# §3.4 Embeddings and softmax


def test_the_two_embeddings_and_the_last_linear_transformation_share_one_matrix(base):
    assert base.source_embedding.table.weight is base.target_embedding.table.weight
    assert base.output_projection.weight is base.target_embedding.table.weight


def test_in_the_embedding_layers_the_weights_are_multiplied_by_root_d_model():
    embedding = TokenEmbedding(vocabulary_size=7, d_model=16)
    vector = embedding(torch.tensor([[5]]))[0, 0]
    torch.testing.assert_close(vector, 4 * embedding.table.weight[5])


# §3.5 Positional encoding


def test_positions_are_sines_and_cosines_of_falling_frequency():
    table = sinusoidal_positions(50, 512)
    for position in (0, 1, 7, 49):
        for i in range(256):
            angle = position / 10_000 ** (2 * i / 512)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_each_dimension_is_a_sinusoid_and_wavelengths_run_from_2_pi_to_10000_times_2_pi():
    table = sinusoidal_positions(2, 512).double()
    # Between the first two positions each pair turns by its frequency.
    frequency = torch.atan2(table[1, 0::2], table[1, 1::2])
    wavelength = 2 * math.pi / frequency
    assert wavelength[0].item() == pytest.approx(2 * math.pi)
    # The last pair stands one step before the end of the progression.
    step = 10_000 ** (2 / 512)
    assert wavelength[-1].item() * step == pytest.approx(10_000 * 2 * math.pi, rel=1e-3)
    ratios = wavelength[1:] / wavelength[:-1]
    torch.testing.assert_close(ratios, torch.full_like(ratios, step), rtol=1e-3, atol=0)


def test_a_shift_by_k_is_a_linear_function_the_same_at_every_position():
    table = sinusoidal_positions(400, 16).double()
    pairs = table.unflatten(-1, (-1, 2))  # (position, pair, sine and cosine)
    for k in (1, 10, 137):
        angle = k / 10_000 ** (torch.arange(0, 16, 2, dtype=torch.float64) / 16)
        rotation = torch.stack(
            [
                torch.stack([angle.cos(), angle.sin()], dim=-1),
                torch.stack([-angle.sin(), angle.cos()], dim=-1),
            ],
            dim=-2,
        )  # (pair, row, column)
        shifted = torch.einsum("prc,tpc->tpr", rotation, pairs[:-k])
        torch.testing.assert_close(shifted, pairs[k:], rtol=0, atol=1e-6)


# §5.4 Regularisation


def test_dropout_stands_where_the_paper_puts_it_and_nowhere_else(base):
    places = [name for name, module in base.named_modules() if isinstance(module, nn.Dropout)]
    on_sub_layers = [name for name in places if "around_" in name]
    assert len(on_sub_layers) == 6 * 2 + 6 * 3
    assert set(places) - set(on_sub_layers) == {"embedding_dropout"}
    assert {module.p for module in base.modules() if isinstance(module, nn.Dropout)} == {0.1}
    attentions = [module for module in base.modules() if isinstance(module, MultiHeadAttention)]
    assert {attention.dropout for attention in attentions} == {0.0}


def test_dropout_is_applied_to_the_sums_of_embeddings_and_positions_in_both_stacks():
    config = TransformerConfig(
        vocabulary_size=9, d_model=8, num_heads=2, num_layers=1, d_ff=12, dropout=1.0
    )
    model = Transformer(config)
    seen = []
    for stack in (model.encoder, model.decoder):
        stack.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    model(torch.tensor([[4, 5, 6]]), torch.tensor([[1, 4]]))
    assert len(seen) == 2
    for embedded in seen:
        assert torch.equal(embedded, torch.zeros_like(embedded))


# Table 3


def test_the_base_and_the_big_model_have_their_sizes():
    for config, sizes in (
        (BASE, (6, 512, 2048, 8, 0.1)),
        (TransformerConfig.big(), (6, 1024, 4096, 16, 0.3)),
    ):
        found = (config.num_layers, config.d_model, config.d_ff, config.num_heads, config.dropout)
        assert found == sizes


def test_the_numbers_of_parameters_are_about_those_of_table_3():
    # 65 and 213 million in the paper, which rounds its vocabulary of "about 37000 tokens".
    assert count(BASE) == pytest.approx(65e6, rel=0.04)
    assert count(TransformerConfig.big()) == pytest.approx(213e6, rel=0.04)


def test_the_base_model_has_63_million_parameters_and_101_million_without_sharing():
    layer = 4 * 512**2 + (2 * 512 * 2048 + 2048 + 512) + 2 * 2 * 512
    third_sub_layer = 4 * 512**2 + 2 * 512
    table, output_bias = 37_000 * 512, 37_000
    assert count(BASE) == table + output_bias + 12 * layer + 6 * third_sub_layer
    assert count(TransformerConfig(tie_embeddings=False)) == count(BASE) + 2 * table
    assert [round(n / 1e6, 1) for n in (count(BASE), count(BASE) + 2 * table)] == [63.1, 101.0]
