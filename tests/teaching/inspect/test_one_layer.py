"""The layer is found by what its heads do; its weights are those that the model computes."""

import torch

from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.teaching.inspect.one_layer import most_different_heads
from transformer_edu.teaching.inspect.recording import record_attention

ENGLISH = "A man is playing the guitar on the street."


def test_no_other_encoder_layer_has_more_different_heads():
    translator = load_pretrained()
    layer = most_different_heads(translator, ENGLISH, "playing")
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
