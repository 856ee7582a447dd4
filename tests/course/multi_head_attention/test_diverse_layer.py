"""The layer that is found is the one whose heads differ most."""

import torch

from transformer_course.looking.recording import record_attention
from transformer_course.multi_head_attention.diverse_layer import most_diverse_layer

ENGLISH = "A man is playing the guitar on the street."


def test_no_other_encoder_layer_has_more_different_heads(translator):
    layer = most_diverse_layer(translator, ENGLISH, "playing")
    row = layer.words.index("playing")
    ids = torch.tensor([translator.tokenizer.encode(ENGLISH)])
    with record_attention(translator.model) as attention, torch.no_grad():
        translator.model.encode(ids)
    encoder = {name: w[0] for name, w in attention.items() if name.startswith("encoder")}

    def different(weights):
        return len(set(weights[:, row].argmax(dim=-1).tolist()) - {row})

    same = [name for name, weights in encoder.items() if torch.allclose(weights, layer.weights)]
    assert len(same) == 1
    assert different(layer.weights) == max(map(different, encoder.values()))
    assert layer.weights.shape == (layer.attention.num_heads, len(layer.words), len(layer.words))
    assert layer.inputs.shape == (len(layer.words), translator.model.source_embedding.d_model)
    assert not any(module._forward_pre_hooks for module in translator.model.modules())
