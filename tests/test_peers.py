"""The models that ours is measured against are the same Transformer, and so a fair match."""

import pytest
import torch
from torch import nn

from transformer_edu.model.pytorch import to_pytorch
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.peers import PytorchTransformer, build_marian
from transformer_edu.teaching.inspect.probes import run_probes

SIZES = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20, "vocabulary_size": 13}
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8], [5, 4, 7, 0, 0]])
TARGET_IDS = torch.tensor([[1, 5, 8, 10], [1, 6, 0, 0]])

# torch.nn says so of an odd number of heads.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_peer_of_torch_nn_computes_what_ours_does():
    torch.manual_seed(0)
    config = TransformerConfig(**SIZES, dropout=0.0, bias=True, final_norm=True)
    ours, peer = Transformer(config), PytorchTransformer(config)
    assert count(peer) == count(ours)
    peer.transformer = to_pytorch(ours)
    peer.embedding.load_state_dict(ours.target_embedding.state_dict())
    peer.output_projection.load_state_dict(ours.output_projection.state_dict())
    torch.testing.assert_close(peer(SOURCE_IDS, TARGET_IDS), ours(SOURCE_IDS, TARGET_IDS))


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


def test_the_peer_of_torch_nn_encodes_decodes_and_projects_as_it_answers():
    peer = PytorchTransformer(TransformerConfig(**SIZES, dropout=0.0))
    source_mask = peer.source_mask(SOURCE_IDS)
    memory = peer.encode(SOURCE_IDS, source_mask=source_mask)
    assert memory.shape == (2, 5, 12)
    decoded = peer.decode(TARGET_IDS, memory, source_mask=source_mask)
    torch.testing.assert_close(peer.project(decoded), peer(SOURCE_IDS, TARGET_IDS))
    torch.testing.assert_close(peer.encode(SOURCE_IDS), memory)


def test_the_peer_of_torch_nn_says_the_same_in_both_modes_and_shortens_nothing():
    peer = PytorchTransformer(TransformerConfig(**SIZES, dropout=0.0))
    before = peer.train()(SOURCE_IDS, TARGET_IDS)
    longer = torch.cat([SOURCE_IDS, torch.zeros(2, 1, dtype=torch.long)], dim=1)
    with torch.no_grad():  # where torch.nn takes its fast path
        real = TARGET_IDS != 0
        torch.testing.assert_close(peer.eval()(SOURCE_IDS, TARGET_IDS)[real], before[real])
        torch.testing.assert_close(peer(longer, TARGET_IDS)[real], before[real])
        assert peer.encode(longer).shape == (2, 6, 12)


def test_the_peer_of_torch_nn_passes_every_probe():
    torch.manual_seed(0)
    peer = PytorchTransformer(TransformerConfig(**SIZES, dropout=0.0))
    source_ids = torch.tensor([[4, 5, 6, 7, 8], [9, 10, 11, 0, 0]])
    target_ids = torch.tensor([[1, 5, 8, 10], [1, 6, 7, 12]])
    for result in run_probes(peer, source_ids, target_ids):
        assert result.passed is not False, str(result)


@pytest.mark.parametrize("switch", [{"target_vocabulary_size": 9}, {"tie_embeddings": False}])
def test_what_the_peer_of_torch_nn_does_not_have_is_refused(switch):
    with pytest.raises(ValueError, match="config must have one vocabulary and tie_embeddings"):
        PytorchTransformer(TransformerConfig(**SIZES, **switch))
