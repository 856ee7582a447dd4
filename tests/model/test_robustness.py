"""What users do to a model: move it, convert it, compile it, load it, put their own parts in."""

import copy
import json
from dataclasses import asdict

import numpy as np
import pytest
import torch

from transformer_course.looking.recording import record_attention
from transformer_course.looking.shape_trace import trace
from transformer_edu.model.attention import MultiHeadAttention, attention_weights
from transformer_edu.model.embeddings import PositionalEncoding, sinusoidal_positions
from transformer_edu.model.encoder import EncoderLayer
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.masks import padding_mask
from transformer_edu.model.pytorch import to_pytorch
from transformer_edu.model.transformer import Transformer, TransformerConfig, without_numbers

CONFIG = TransformerConfig(
    vocabulary_size=11, d_model=8, num_heads=2, num_layers=2, d_ff=12, max_length=20, dropout=0.0
)


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(CONFIG).eval()


@pytest.fixture
def ids() -> torch.Tensor:
    return torch.randint(1, 11, (2, 5))


def test_scores_beyond_half_precision_stay_finite_under_autocast():
    query = torch.full((1, 2, 4), 400.0)  # a score is 320,000; float16 ends at 65,504
    with torch.autocast("cpu", dtype=torch.float16):
        weights = attention_weights(query, query)
    torch.testing.assert_close(weights, torch.full((1, 2, 2), 0.5))


def test_attention_is_recorded_on_the_meta_device():
    attention = MultiHeadAttention(d_model=8, num_heads=2).to("meta")
    x = torch.empty(2, 3, 8, device="meta")
    assert attention.attention_weights(x, x).shape == (2, 2, 3, 3)


def test_converting_to_half_and_back_costs_the_positions_nothing():
    positions = PositionalEncoding(d_model=8)
    before = positions.table.clone()
    assert torch.equal(positions.half().float().table, before)
    exact = sinusoidal_positions(5000, 8, dtype=torch.float64)
    assert torch.equal(positions.double().table, exact)


def test_a_model_made_on_the_meta_device_is_whole_once_its_weights_are_loaded(model, ids):
    with torch.device("meta"):
        empty = Transformer(CONFIG)
    filled = empty.to_empty(device="cpu")
    filled.load_state_dict(model.state_dict())
    assert torch.equal(filled.eval()(ids, ids), model(ids, ids))
    assert filled.output_projection.weight is filled.source_embedding.table.weight


def test_a_model_without_numbers_has_the_shapes_and_ties_of_a_whole_one(model):
    empty = without_numbers(CONFIG)
    assert {tensor.device.type for tensor in empty.state_dict().values()} == {"meta"}
    shapes = ({n: t.shape for n, t in each.state_dict().items()} for each in (empty, model))
    assert next(shapes) == next(shapes)
    assert empty.output_projection.weight is empty.source_embedding.table.weight
    assert Transformer(CONFIG).output_projection.weight.std() > 0  # drawn again after the block


def test_loading_by_assignment_keeps_the_tie(model):
    other = Transformer(CONFIG)
    other.load_state_dict(copy.deepcopy(model.state_dict()), assign=True)
    assert other.output_projection.weight is other.source_embedding.table.weight
    assert len(list(other.parameters())) == len(list(model.parameters()))


@pytest.mark.slow
def test_a_compiled_model_can_still_be_looked_into(model, ids):
    compiled = torch.compile(model, backend="eager")
    compiled(ids, ids)
    with record_attention(model) as attention:
        compiled(ids, ids)
    assert len(attention) == 6
    assert len(trace(compiled, ids, ids)) == len(trace(model, ids, ids))


def test_the_feed_forward_network_changes_nothing_in_place():
    feed_forward = FeedForward(d_model=8, d_ff=9)
    before_relu = []
    feed_forward.widen.register_forward_hook(lambda *call: before_relu.append(call[2]))
    feed_forward.widen.register_full_backward_hook(lambda *_: None)
    feed_forward(torch.randn(2, 3, 8, requires_grad=True)).sum().backward()
    assert before_relu[0].min() < 0


@pytest.mark.parametrize("padding_id", [None, "0", [0], 2.5, -1, True, torch.tensor([0, 1])])
def test_a_padding_id_that_is_no_id_is_refused(padding_id, ids):
    with pytest.raises((TypeError, ValueError), match="padding_id must be"):
        padding_mask(ids, padding_id=padding_id)


def test_a_config_holds_plain_numbers_that_can_be_written_down():
    assert json.loads(json.dumps(asdict(CONFIG))) == asdict(CONFIG)
    with pytest.raises(TypeError, match="d_model must be a whole number"):
        TransformerConfig(d_model=np.int64(8))


def test_a_layer_with_a_part_that_torch_lacks_is_not_carried_over():
    class Gelu(FeedForward):
        pass

    layer = EncoderLayer(d_model=8, num_heads=2, d_ff=12)
    layer.feed_forward = Gelu(d_model=8, d_ff=12)
    with pytest.raises(TypeError, match="feed_forward must be a FeedForward, got Gelu"):
        to_pytorch(layer)


def test_recording_what_cannot_be_recorded_is_refused():
    class Alone(MultiHeadAttention):
        def forward(self, x):
            return super().forward(x, x, x)

    with pytest.raises(TypeError, match="model must be a torch.nn.Module, got NoneType"):
        record_attention(None).__enter__()
    attention = Alone(d_model=8, num_heads=2)
    with pytest.raises(TypeError, match="must take query and key"), record_attention(attention):
        attention(torch.randn(2, 3, 8))
