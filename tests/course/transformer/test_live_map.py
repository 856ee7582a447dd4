"""Every box of the live map names a lesson that is there; its figure is in the browser's tests."""

from pathlib import Path

import pytest
import torch

from transformer_course import our_transformer
from transformer_course.drawing.course_map import HEIGHT, WIDTH, plot_architecture
from transformer_course.transformer.live_map import UNIT, lesson_of, model_parts, recorded_map
from transformer_edu.model.transformer import Transformer as PackageTransformer
from transformer_edu.model.transformer import TransformerConfig

LESSONS = Path(__file__).parents[3] / "notebooks"
BUILT = {  # the class that a lesson's exercise asks for
    "TokenEmbedding": "Token embedding",
    "MultiHeadAttention": "Cross-attention",
    "PositionalEncoding": "Positional",
    "FeedForward": "Feed-forward",
    "AddAndNorm": "Cross-attention, Add & Norm",
    "Transformer": "Output projection",
}


def test_every_box_has_a_lesson_that_is_there():
    names = {each["box"] for each in recorded_map()} - {None}
    assert all((LESSONS / f"{lesson_of(name)}.ipynb").is_file() for name in names)


@pytest.mark.parametrize(("built", "box"), BUILT.items(), ids=BUILT)
def test_the_lesson_of_a_box_asks_for_its_class(built, box):
    lesson = (LESSONS / f"{lesson_of(box)}.ipynb").read_text(encoding="utf-8")
    assert f"class {built}(" in lesson


def test_the_map_has_every_word_of_the_drawing():
    drawn = {text.get_text() for text in plot_architecture().axes[0].texts} - {""}
    recorded = {"\n".join(each["lines"]) for each in recorded_map() if each["kind"] == "words"}
    assert recorded == drawn


def test_every_box_has_words_inside_it_and_lies_on_the_paper():
    elements = recorded_map()
    rects = [each for each in elements if each["kind"] == "rect" and each["box"]]
    assert all(0 <= each["x"] <= WIDTH * UNIT - each["width"] for each in rects)
    assert all(0 <= each["y"] <= HEIGHT * UNIT - each["height"] for each in rects)
    own = {each["box"]: each for each in rects if not each["sheet"]}
    words = [each for each in elements if each["kind"] == "words" and each["box"]]
    assert len(own) == len(words) == 19
    for each in words:
        box = own[each["box"]]
        assert box["x"] < each["x"] < box["x"] + box["width"]
        assert box["y"] < each["y"] < box["y"] + box["height"]


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


def test_a_projection_by_the_table_itself_has_its_box_too():
    class ByTheTable(our_transformer.Transformer):
        def project(self, decoded):
            return decoded @ self.source_embedding.table.weight.T + self.output_projection.bias

    torch.manual_seed(0)
    parts = model_parts(ByTheTable(**SIZES), *IDS)
    assert parts == model_parts(our_transformer.Transformer(**SIZES), *IDS)


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
