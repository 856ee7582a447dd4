"""The walk is printed and drawn with every shape in its place, and every word as it is written."""

import itertools

import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from torch import nn

from transformer_course.looking.shape_trace import Step, trace
from transformer_course.multi_head_attention.shape_walk import (
    plot_shape_walk,
    print_trace,
    shape_in_words,
)
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.encoder import EncoderLayer
from transformer_edu.model.transformer import Transformer, TransformerConfig

HEADS, QUERY, KEY, D_MODEL = 3, 5, 7, 18


@pytest.fixture
def attention() -> MultiHeadAttention:
    return MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS)


@pytest.fixture
def itself(attention) -> list[Step]:
    x = torch.randn(2, QUERY, D_MODEL)
    return trace(attention, x, x, x)


@pytest.fixture
def across(attention) -> list[Step]:
    query, memory = torch.randn(2, QUERY, D_MODEL), torch.randn(2, KEY, D_MODEL)
    return trace(attention, query, memory, memory, mask=torch.arange(KEY) < 4)


def labels(figure: Figure) -> list[str]:
    return [text.get_text().replace("\n", " ") for text in figure.axes[0].texts if text.get_text()]


def sheets(figure: Figure) -> list[FancyBboxPatch]:
    return [patch for patch in figure.axes[0].patches if isinstance(patch, FancyBboxPatch)]


def test_one_line_is_printed_for_each_step(itself, capsys):
    print_trace(itself)
    place, *lines = capsys.readouterr().out.splitlines()
    assert place == "MultiHeadAttention"
    assert len(lines) == len(itself)
    for line, step in zip(lines, itself, strict=True):
        assert line.startswith(f"  {step.words}")
        assert shape_in_words(step) in line
        assert line.endswith(step.source.rpartition("/")[2])
    assert f"{itself[1].values[0]:.2f}" in lines[1]


def test_columns_stand_below_each_other(itself, capsys):
    print_trace(itself)
    _, *lines = capsys.readouterr().out.splitlines()
    assert len({line.index("batch") for line in lines}) == 1
    assert len({line.index("attention.py") for line in lines}) == 1


def test_no_printed_line_is_longer_than_a_page(capsys):
    model = Transformer(TransformerConfig.tiny(vocabulary_size=11))
    print_trace(trace(model, torch.full((2, 300), 4), torch.full((2, 200), 5)))
    long = nn.ModuleDict({"a" * 120: nn.Linear(2, 2)})
    print_trace(trace(long["a" * 120], torch.ones(1, 2)))
    print_trace(trace(nn.TransformerEncoderLayer(6, 2, batch_first=True), torch.randn(2, 3, 6)))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 100


def test_axes_without_names_are_printed_as_bare_lengths():
    assert shape_in_words(trace(nn.Linear(3, 4), torch.ones(5, 3))[-1]) == "5 × 4"
    assert shape_in_words(trace(nn.MSELoss(), torch.ones(5), torch.ones(5))[-1]) == "one number"


def test_every_shape_of_the_walk_is_drawn(itself):
    shown = labels(plot_shape_walk(itself, title="t"))
    for shape in ((2, 5, 18), (2, 3, 5, 6), (2, 3, 5, 5)):
        assert str(shape) in shown
    assert "batch, heads, query, key" in shown
    assert shown.count("Q") == shown.count("K") == shown.count("V") == 2
    assert "split into heads" in shown


def test_there_is_one_sheet_for_each_head(itself):
    figure = plot_shape_walk(itself, title="t")
    # With heads: Q, K, V, scores, weights, output. Without: input, Q, K, V, merged, times W_O.
    with_heads, without = 6, 6
    assert len(sheets(figure)) == HEADS * with_heads + without


def test_a_longer_axis_makes_a_longer_side(across):
    front = [
        patch for patch in sheets(plot_shape_walk(across, title="t")) if patch.get_zorder() == 4
    ]
    query_input, memory_input = front[:2]
    assert query_input.get_width() == memory_input.get_width()
    assert query_input.get_height() < memory_input.get_height()  # 5 queries, 7 keys
    assert query_input.get_width() > query_input.get_height()


def test_shapes_that_differ_in_a_row_are_told_apart(across):
    shown = labels(plot_shape_walk(across, title="t"))
    assert f"Q (2, {QUERY}, {D_MODEL})" in shown
    assert f"K, V (2, {KEY}, {D_MODEL})" in shown
    assert "query, key = value, mask" in shown


@pytest.mark.parametrize("which", ["itself", "across", "layer"])
def test_no_words_overlap_and_none_leave_the_picture(which, request):
    if which == "layer":
        steps = trace(EncoderLayer(d_model=512, num_heads=8, d_ff=2048), torch.randn(2, 10, 512))
    else:
        steps = request.getfixturevalue(which)
    figure = plot_shape_walk(steps, title="Every shape on the way")
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts if text.get_text()]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert all(figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1 for box in boxes)


def test_a_walk_without_steps_or_with_too_many_is_refused():
    with pytest.raises(ValueError, match="steps must fill 1 to 16 rows, got 0"):
        plot_shape_walk([], title="t")
    model = Transformer(TransformerConfig.tiny(vocabulary_size=11))
    steps = trace(model, torch.full((1, 3), 4), torch.full((1, 2), 5))
    with pytest.raises(ValueError, match=r"got \d+; trace one layer"):
        plot_shape_walk(steps, title="t")
