"""The faults that lesson 11 puts into our own Transformer are found, each by its name."""

import pytest
import torch
from torch import Tensor

from transformer_course.breaking.faults import FAULTS
from transformer_course.diagnosis.patients import build_patient
from transformer_course.our_transformer import FeedForward
from transformer_edu.checkup import check_up
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.decoder import DecoderLayer
from transformer_edu.model.transformer import Transformer, TransformerConfig

SIZES = {"d_model": 48, "num_heads": 4, "num_layers": 2, "d_ff": 96, "max_length": 64}
NAMES = {
    "no causal mask": "no causal mask",
    "target not shifted": "the next word is visible",
    "softmax over queries": "softmax over the wrong axis",
    "no positions": "the order of words does not matter",
    "positions along the batch": "a row sees its neighbors",
    "no residual": "depth makes all positions alike",
    "causal mask only in training": "no causal mask",
    "source padding visible": "source padding is visible",
    "padding hidden as queries": "source padding is visible",
    "softmax in the model": "the model returns probabilities",
    "layers in a plain list": "weights are not registered",
    "tied table copied": "tied by value only",
    "embeddings start too large": "words drown positions",
    "heads merged by view": "a reshape mixes positions",
    "norm over the positions": "the future leaks around the mask",
    "dropout in evaluation": "dropout in evaluation",
}


def config(**changes: object) -> TransformerConfig:
    return TransformerConfig(vocabulary_size=40, **SIZES | changes)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_the_lesson_has_its_illness(fault):
    torch.manual_seed(0)
    report = check_up(FAULTS[fault](config(dropout=0.1)))
    assert report.illnesses[:1] == [NAMES[fault]], f"\n{report}"


class SourceForgotten(Transformer):
    def decode(self, target_ids: Tensor, memory: Tensor, **given: Tensor | None) -> Tensor:
        return super().decode(target_ids, torch.ones_like(memory), **given)


class SourceCut(Transformer):
    """The source's last words are hidden in cross-attention."""

    def decode(self, target_ids: Tensor, memory: Tensor, **given: Tensor | None) -> Tensor:
        given["source_mask"] = given["source_mask"].clone()
        given["source_mask"][..., -2:] = False
        return super().decode(target_ids, memory, **given)

    def encode(self, source_ids: Tensor, **given: Tensor | None) -> Tensor:
        mask = torch.eye(source_ids.size(1), dtype=torch.bool)
        return super().encode(source_ids, source_mask=mask[None, None])


@pytest.mark.parametrize(
    ("build", "illness"),
    [(SourceForgotten, "the source has no effect"), (SourceCut, "the source is cut off")],
)
def test_a_source_that_is_lost_is_called_by_its_name(build, illness):
    torch.manual_seed(0)
    report = check_up(build(config()))
    assert report.illnesses == [illness], f"\n{report}"
    assert DecoderLayer.__name__ in str(build(config()))


def test_a_model_that_writes_its_start_token_is_healthy():
    model = build_patient(FeedForward=FeedForward)
    seen = []
    greedy_search(model, torch.arange(4, 64)[:, None], max_length=3, after_step=seen.append)
    assert (seen[-1][:, 1:] == model.start_id).any(), "it should write a start token here"
    report = check_up(model)
    assert not report.illnesses, f"\n{report}"
