"""The models that ours is measured against are the same Transformer, and so a fair match."""

import pytest
import torch
from torch import nn

from transformer_edu.model.pytorch import to_pytorch
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.peers import PytorchTransformer, build_marian

SIZES = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20, "vocabulary_size": 13}
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8], [5, 4, 7, 0, 0]])
TARGET_IDS = torch.tensor([[1, 5, 8, 10], [1, 6, 0, 0]])


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_the_peer_of_torch_nn_computes_what_ours_does():
    torch.manual_seed(0)
    config = TransformerConfig(**SIZES, dropout=0.0, bias=True, final_norm=True)
    ours, peer = Transformer(config), PytorchTransformer(config)
    assert count(peer) == count(ours)
    peer.transformer = to_pytorch(ours)
    peer.embedding.load_state_dict(ours.target_embedding.state_dict())
    peer.output_projection.load_state_dict(ours.output_projection.state_dict())
    torch.testing.assert_close(peer(SOURCE_IDS, TARGET_IDS), ours(SOURCE_IDS, TARGET_IDS))


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_the_peer_of_torch_nn_drops_as_much_as_it_does_by_itself():
    peer = PytorchTransformer(TransformerConfig(**SIZES, dropout=0.3))
    layer = peer.transformer.encoder.layers[0]
    assert {layer.self_attn.dropout, layer.dropout.p, layer.dropout1.p, peer.dropout.p} == {0.3}


def test_marian_is_of_the_same_size_and_hides_padding():
    pytest.importorskip("transformers")
    config = TransformerConfig(**SIZES, dropout=0.0, bias=True)
    marian = build_marian(config).eval()
    # Its output has a bias too, which it does not train.
    assert count(marian) - sum(p.numel() for p in marian.parameters() if not p.requires_grad) == (
        count(Transformer(config)) - config.vocabulary_size
    )
    logits = marian(SOURCE_IDS, TARGET_IDS)
    assert logits.shape == (2, 4, 13)
    longer = torch.cat([SOURCE_IDS, torch.zeros(2, 1, dtype=torch.long)], dim=1)
    torch.testing.assert_close(marian(longer, TARGET_IDS), logits)
