"""A moment holds what the model made of the pair, and tells whether that is finite."""

import numpy as np
import pytest
import torch

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.recording import record_attention
from transformer_edu.teaching.replay_moment import read_pair
from transformer_edu.training.batches import make_batch
from transformer_edu.training.loss import token_loss

SIZES = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20, "dropout": 0.4}
TOKENS = ["<pad>", "<s>", "</s>", "<unk>", "a", "b", "c"]
PAIR = ([4, 5], [6, 5, 4])
CROSS = "decoder.layers.1.cross_attention"


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(TransformerConfig(vocabulary_size=len(TOKENS), **SIZES)).train()


def test_a_reading_is_the_models_own_without_dropout(model):
    reading = read_pair(model, PAIR)
    assert model.training
    batch = make_batch([PAIR])
    with torch.no_grad(), record_attention(model.eval()) as recorded:
        logits = model(batch.source_ids, batch.decoder_input_ids)
    assert reading.loss == pytest.approx(token_loss(logits, batch.label_ids).item())
    assert list(reading.attention) == list(recorded)
    for name, weights in recorded.items():
        torch.testing.assert_close(reading.attention[name], weights)


def test_a_small_model_reads_on_one_thread_so_that_every_machine_keeps_the_same(model):
    seen = []
    model.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        read_pair(model, PAIR)
        assert (seen, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


def test_a_moment_keeps_the_chosen_layers_with_their_tokens(model):
    reading = read_pair(model, PAIR)
    moment = reading.moment(7, TOKENS, [CROSS])
    assert (moment.step, moment.loss) == (7, reading.loss)
    (cross,) = moment.maps
    assert (cross.name, cross.weights.shape) == (CROSS, (3, 4, 2))
    assert (cross.queries.tokens, cross.keys.tokens) == (("<s>", "c", "b", "a"), ("a", "b"))
    np.testing.assert_array_equal(cross.weights, reading.attention[CROSS][0].numpy())
    assert len(reading.moment(7, TOKENS, None).maps) == len(reading.attention)


def test_a_reading_is_finite_until_the_loss_or_a_weight_is_not(model):
    assert read_pair(model, PAIR).is_finite()
    with torch.no_grad():
        model.decoder.layers[1].cross_attention.query_projection.weight.fill_(float("nan"))
    broken = read_pair(model, PAIR)
    assert not broken.is_finite()
    assert not type(broken)(PAIR, float("inf"), {}).is_finite()
    assert not type(broken)(PAIR, 1.0, broken.attention).is_finite()


def test_what_is_no_model_or_not_its_layer_is_refused(model):
    with pytest.raises(TypeError, match="model must be a torch.nn.Module, got NoneType"):
        read_pair(None, PAIR)
    with pytest.raises(ValueError, match=f"layers must be of .*{CROSS}, got 'decoder'"):
        read_pair(model, PAIR).moment(0, TOKENS, [CROSS, "decoder"])
