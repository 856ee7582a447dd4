"""Every shape that is drawn is one that passed through the model."""

import itertools

import pytest
import torch

from transformer_edu.model.transformer import Transformer as PackageTransformer
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.teaching import our_transformer
from transformer_edu.teaching.figures.model_shapes import model_shapes, plot_model_shapes

# Every axis has its own length.
BATCH, SOURCE, TARGET, HEADS, D_MODEL, D_FF, VOCABULARY = 2, 5, 7, 3, 12, 20, 23
SOURCE_IDS, TARGET_IDS = torch.ones(BATCH, SOURCE).long(), torch.ones(BATCH, TARGET).long()
SIZES = {
    "vocabulary_size": VOCABULARY,
    "d_model": D_MODEL,
    "num_heads": HEADS,
    "num_layers": 4,
    "d_ff": D_FF,
}


@pytest.fixture(params=["ours", "package"])
def model(request):
    if request.param == "ours":
        return our_transformer.Transformer(**SIZES)
    return PackageTransformer(TransformerConfig(**SIZES))


def test_the_shapes_are_those_of_the_pass(model):
    columns = model_shapes(model, SOURCE_IDS, TARGET_IDS, num_heads=HEADS)
    assert [each.shape for each in columns["source"]] == [
        (BATCH, SOURCE),
        (BATCH, SOURCE, D_MODEL),
        (BATCH, HEADS, SOURCE, SOURCE),
        (BATCH, SOURCE, D_FF),
        (BATCH, SOURCE, D_MODEL),
    ]
    assert [each.shape for each in columns["target"]] == [
        (BATCH, TARGET),
        (BATCH, TARGET, D_MODEL),
        (BATCH, HEADS, TARGET, TARGET),
        (BATCH, HEADS, TARGET, SOURCE),
        (BATCH, TARGET, D_FF),
        (BATCH, TARGET, D_MODEL),
        (BATCH, TARGET, VOCABULARY),
    ]
    for each in itertools.chain(*columns.values()):
        assert len(each.axes) == len(each.shape)


def test_the_model_is_left_as_it_was(model):
    model.train()
    model_shapes(model, SOURCE_IDS, TARGET_IDS, num_heads=HEADS)
    assert model.training
    assert not any(module._forward_hooks for module in model.modules())


def test_no_words_overlap_and_all_shapes_are_in_the_alternative_text(model):
    figure = plot_model_shapes(model, SOURCE_IDS, TARGET_IDS, num_heads=HEADS)
    renderer = figure.canvas.get_renderer()
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    boxes = [text.get_window_extent(renderer) for text in texts]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    columns = model_shapes(model, SOURCE_IDS, TARGET_IDS, num_heads=HEADS)
    for each in itertools.chain(*columns.values()):
        assert str(each.shape) in figure.get_label()
        assert str(each.shape) in [text.get_text() for text in texts]
