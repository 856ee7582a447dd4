"""The table of parameters sums to the model, whatever the model, and its picture says the same."""

import pytest
import torch
from torch import nn

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.figures.parameters import (
    count_parameters,
    plot_parameters,
)

SIZES = {"vocabulary_size": 11, "d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 7}
SWITCHES = (
    {},
    {"tie_embeddings": False},
    {"target_vocabulary_size": 13},
    {"target_vocabulary_size": 13, "tie_embeddings": False},
    {"norm_first": True},
    {"bias": True, "final_norm": True},
)


def base(**changes: object) -> Transformer:
    with torch.device("meta"):
        return Transformer(TransformerConfig.base(**changes))


def total(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


class Own(nn.Module):
    """A learner's module: a bare parameter, a list, an odd key, a shared layer."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.blocks = nn.ModuleList(nn.Linear(2, 2) for _ in range(4))
        self.odd = nn.ModuleDict({"$x_1$": nn.Linear(3, 5)})
        self.again = self.odd["$x_1$"]


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_the_rows_sum_to_the_model(switches):
    model = Transformer(TransformerConfig(**SIZES, **switches))
    assert sum(row.parameters for row in count_parameters(model)) == total(model)


@pytest.mark.parametrize(
    "model",
    [Own(), nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 4)), nn.Linear(2, 3), nn.ReLU()],
    ids=lambda model: type(model).__name__,
)
def test_any_module_is_counted_exactly(model):
    assert sum(row.parameters for row in count_parameters(model)) == total(model)


def test_the_paper_s_base_model_is_explained():
    rows = count_parameters(base())
    stacks = [row for row in rows if row.component.startswith(("encoder", "decoder"))]
    assert round(sum(row.parameters for row in stacks) / 1e6, 1) == 44.1
    (shared,) = [row for row in rows if row.shared_by]
    assert shared.parameters == 37_000 * 512
    assert round(sum(row.parameters for row in rows) / 1e6, 1) == 63.1
    untied = count_parameters(base(tie_embeddings=False))
    assert round(sum(row.parameters for row in untied) / 1e6, 1) == 101.0
    assert not any(row.shared_by for row in untied)


def test_a_shared_table_is_named_after_every_component_that_uses_it():
    rows = count_parameters(Transformer(TransformerConfig(**SIZES)))
    assert rows[0].component == "source embedding = target embedding = output projection"
    assert rows[-1].component == "output projection bias"
    assert len({row.component for row in rows}) == len(rows)


def test_the_layers_of_a_stack_are_counted_together():
    rows = {row.component: row.parameters for row in count_parameters(base(num_layers=3))}
    assert rows["encoder · self-attention × 3"] == 3 * 4 * 512**2
    assert rows["decoder · Add & Norm × 3"] == 3 * 3 * 2 * 512


def test_every_bar_is_as_long_as_its_row_and_carries_its_number():
    model = base()
    figure = plot_parameters(model, title="t")
    rows = count_parameters(model)
    bars = figure.axes[0].patches
    assert [bar.get_width() * 1e6 for bar in bars] == pytest.approx([r.parameters for r in rows])
    assert [text.get_text() for text in figure.axes[0].texts] == [f"{r.parameters:,}" for r in rows]
    assert [bool(bar.get_hatch()) for bar in bars] == [bool(row.shared_by) for row in rows]


def test_labels_do_not_run_into_each_other():
    figure = plot_parameters(base(), title="t")
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    assert all(one.y0 > other.y1 for one, other in zip(boxes, boxes[1:], strict=False))
    assert min(box.x0 for box in boxes) >= 0
