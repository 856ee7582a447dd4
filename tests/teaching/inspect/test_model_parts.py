"""The boxes of the map, and what they are in a model."""

from pathlib import Path

import pytest
import torch

from transformer_edu.model.transformer import Transformer as PackageTransformer
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.teaching import our_transformer
from transformer_edu.teaching.figures.recorded_map import recorded_map
from transformer_edu.teaching.inspect.model_parts import model_parts

# Every axis has its own length.
BATCH, SOURCE, TARGET, HEADS, D_MODEL, D_FF, VOCABULARY, LAYERS = 2, 5, 7, 3, 12, 20, 23, 4
IDS = torch.ones(BATCH, SOURCE).long(), torch.ones(BATCH, TARGET).long()
SIZES = {
    "vocabulary_size": VOCABULARY,
    "d_model": D_MODEL,
    "num_heads": HEADS,
    "num_layers": LAYERS,
    "d_ff": D_FF,
}


@pytest.fixture(params=["ours", "package"])
def model(request):
    if request.param == "ours":
        return our_transformer.Transformer(**SIZES)
    return PackageTransformer(TransformerConfig(**SIZES))


def names() -> set[str]:
    return {each["box"] for each in recorded_map() if each["box"]}


def test_every_box_of_the_map_is_a_part(model):
    assert set(model_parts(model, *IDS)) == names()
    assert len(names()) == 19


def test_the_shapes_are_those_of_the_pass(model):
    parts = model_parts(model, *IDS)
    source, target = (BATCH, SOURCE, D_MODEL), (BATCH, TARGET, D_MODEL)
    logits = (BATCH, TARGET, VOCABULARY)
    cross = parts["target: Cross-attention"]
    assert cross.inputs == (target, source) and cross.output == target
    assert parts["source: Self-attention"].inputs == (source,)
    assert parts["target: Masked self-attention"].output == target
    assert parts["source: Token embedding × √d_model"].inputs == ((BATCH, SOURCE),)
    assert parts["target: Token embedding × √d_model"].output == target
    assert parts["source: Memory"].output == source
    assert parts["target: Output projection"].inputs == (target,)
    assert parts["target: Output projection"].output == logits
    assert parts["target: Softmax"].output == logits


def test_the_parameters_of_all_boxes_are_those_of_the_model(model):
    parts = model_parts(model, *IDS).values()
    counted = sum(each.parameters * each.layers - each.shared for each in parts)
    assert counted == sum(each.numel() for each in model.parameters())


def test_a_model_without_numbers_has_the_same_parts(model):
    with torch.device("meta"):
        other = our_transformer.Transformer(**SIZES)
    ids = [each.to("meta") for each in IDS]
    parts, real = model_parts(other, *ids), model_parts(our_transformer.Transformer(**SIZES), *IDS)
    assert parts == real


def test_the_model_is_left_as_it_was(model):
    model.train()
    model_parts(model, *IDS)
    assert model.training
    assert not any(module._forward_hooks for module in model.modules())


def test_the_files_have_the_classes(model):
    root = Path(__file__).parents[3]
    for part in model_parts(model, *IDS).values():
        if part.module not in (None, "Linear"):
            assert f"class {part.module}(" in (root / part.file).read_text(encoding="utf-8")
