"""nn.Transformer between our embeddings is the same model as ours, and a fair comparison."""

import pytest
import torch
from torch import nn

from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_edu.checkup.examination import check_up
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.pytorch import to_pytorch
from transformer_edu.model.transformer import Transformer, TransformerConfig

SIZES = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20, "vocabulary_size": 13}
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8], [5, 4, 7, 0, 0]])
TARGET_IDS = torch.tensor([[1, 5, 8, 10], [1, 6, 0, 0]])

# torch.nn warns about an odd number of heads.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(
    "switches",
    [{}, {"activation": "silu", "position_order": "halves", "num_decoder_layers": 1}],
    ids=["the paper's", "others"],
)
def test_pytorch_transformer_computes_what_ours_does(switches):
    torch.manual_seed(0)
    switches = {"bias": True, "final_norm": True, **switches}
    config = TransformerConfig(**SIZES, dropout=0.0, **switches)
    ours, theirs = Transformer(config), PytorchTransformer(config)
    assert count(theirs) == count(ours)
    theirs.transformer = to_pytorch(ours)
    theirs.embedding.load_state_dict(ours.target_embedding.state_dict())
    theirs.output_projection.load_state_dict(ours.output_projection.state_dict())
    torch.testing.assert_close(theirs(SOURCE_IDS, TARGET_IDS), ours(SOURCE_IDS, TARGET_IDS))


def test_pytorch_transformer_drops_as_much_as_it_does_by_itself():
    theirs = PytorchTransformer(TransformerConfig(**SIZES, dropout=0.3))
    layer = theirs.transformer.encoder.layers[0]
    assert {layer.self_attn.dropout, layer.dropout.p, layer.dropout1.p, theirs.dropout.p} == {0.3}


def test_pytorch_transformer_encodes_decodes_and_projects_as_it_answers():
    theirs = PytorchTransformer(TransformerConfig(**SIZES, dropout=0.0))
    source_mask = theirs.source_mask(SOURCE_IDS)
    memory = theirs.encode(SOURCE_IDS, source_mask=source_mask)
    assert memory.shape == (2, 5, 12)
    decoded = theirs.decode(TARGET_IDS, memory, source_mask=source_mask)
    torch.testing.assert_close(theirs.project(decoded), theirs(SOURCE_IDS, TARGET_IDS))
    torch.testing.assert_close(theirs.encode(SOURCE_IDS), memory)


def test_pytorch_transformer_says_the_same_in_both_modes_and_shortens_nothing():
    theirs = PytorchTransformer(TransformerConfig(**SIZES, dropout=0.0))
    before = theirs.train()(SOURCE_IDS, TARGET_IDS)
    longer = torch.cat([SOURCE_IDS, torch.zeros(2, 1, dtype=torch.long)], dim=1)
    with torch.no_grad():  # where torch.nn takes its fast path
        real = TARGET_IDS != 0
        torch.testing.assert_close(theirs.eval()(SOURCE_IDS, TARGET_IDS)[real], before[real])
        torch.testing.assert_close(theirs(longer, TARGET_IDS)[real], before[real])
        assert theirs.encode(longer).shape == (2, 6, 12)


def test_pytorch_transformer_is_healthy():
    torch.manual_seed(0)
    report = check_up(PytorchTransformer(TransformerConfig(**SIZES, dropout=0.0)))
    assert not report.illnesses, f"\n{report}"


def test_greedy_search_takes_pytorch_transformer():
    torch.manual_seed(0)
    theirs = PytorchTransformer(TransformerConfig(**SIZES))
    together = greedy_search(theirs, SOURCE_IDS, max_length=6)
    alone = greedy_search(theirs, SOURCE_IDS[1:, :3], max_length=6)
    assert together[1:] == alone
    assert theirs.training


def test_padding_as_the_start_is_not_for_pytorch_transformer():
    with pytest.raises(ValueError, match="start_id must differ from padding_id, got 0 twice"):
        PytorchTransformer(TransformerConfig(**SIZES, start_id=0))


@pytest.mark.parametrize(
    ("switch", "wanted"),
    [
        ({"target_vocabulary_size": 9}, "one vocabulary and tie_embeddings"),
        ({"tie_embeddings": False}, "one vocabulary and tie_embeddings"),
        ({"num_decoder_heads": 1}, "equal stacks and scale_embeddings"),
        ({"decoder_d_ff": 5}, "equal stacks and scale_embeddings"),
        ({"scale_embeddings": False}, "equal stacks and scale_embeddings"),
    ],
)
def test_what_pytorch_transformer_does_not_have_is_refused(switch, wanted):
    with pytest.raises(ValueError, match=f"config must have {wanted}, got others"):
        PytorchTransformer(TransformerConfig(**SIZES, **switch))
