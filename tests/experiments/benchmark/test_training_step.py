"""Both sides train on the same, and the reports say on what; what is measured is no test."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from experiments.benchmark import training_step
from experiments.benchmark.training_step import (
    OURS,
    PYTORCH,
    Workload,
    build_marian,
    build_trainer,
    draw_batch,
)
from transformer_edu.model.special_ids import PADDING_ID, START_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

TOY = Workload(
    config=TransformerConfig(vocabulary_size=13, d_model=8, num_heads=2, num_layers=1, d_ff=12),
    batch=5,
    length=9,
    rounds=3,
)


def test_both_models_train_on_the_same_padded_batch():
    source_ids, target_ids = draw_batch(TOY)
    assert source_ids.shape == (5, 9)
    assert target_ids.shape == (5, 10)
    assert (target_ids[:, 0] == START_ID).all()
    for token_ids in (source_ids, target_ids):
        lengths = (token_ids != PADDING_ID).sum(dim=1)
        assert len(set(lengths.tolist())) > 1
        real = torch.arange(token_ids.size(1)) < lengths.unsqueeze(1)
        assert torch.equal(token_ids != PADDING_ID, real), "padding stands at the end"
    again, _ = draw_batch(TOY)
    assert torch.equal(source_ids, again)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("name", [OURS, PYTORCH])
def test_a_step_is_a_training_step(name):
    step = build_trainer(name, TOY)
    losses = [step() for _ in range(100)]
    assert losses[-1] < losses[0]


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_the_report_has_a_row_for_each_size():
    report = "\n".join(training_step.report_train([TOY]))
    assert f"torch {torch.__version__}" in report
    assert "| 8/2/1+1/12, batch 5 × 9, vocabulary 13 |" in report


def test_precision_puts_bfloat16_first_and_float32_second(monkeypatch):
    built = []
    monkeypatch.setattr(training_step, "cpu_is_faster_in_bfloat16", lambda: True)
    monkeypatch.setattr(
        training_step, "build_trainer", lambda name, workload, precision: built.append(precision)
    )
    monkeypatch.setattr(training_step, "compare", lambda *steps_and_rounds: ["1", "2", "2.00"])
    table = list(training_step.report_precision([TOY]))[1]
    assert built == ["bfloat16", "float32"]
    assert table.index("bfloat16, ms") < table.index("float32, ms", table.index("bfloat16, ms") + 9)


def test_without_bfloat16_the_report_says_so_and_measures_nothing(monkeypatch):
    monkeypatch.setattr(training_step, "cpu_is_faster_in_bfloat16", lambda: False)
    monkeypatch.setattr(training_step, "build_trainer", None)
    [line] = training_step.report_precision([TOY])
    assert line.startswith("A product in bfloat16 is not faster here, so float32 is chosen.")


def test_a_step_in_bfloat16_is_another_computation_with_nearly_the_same_loss():
    narrow, wide = (build_trainer(OURS, TOY, precision=name) for name in ("bfloat16", "float32"))
    narrow_loss, wide_loss = narrow(), wide()
    assert narrow_loss != wide_loss
    assert narrow_loss == pytest.approx(wide_loss, rel=0.05)


def number_of_weights(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_marian_is_of_the_same_size_and_hides_padding():
    pytest.importorskip("transformers")
    config = replace(TOY.config, dropout=0.0, bias=True)
    marian = build_marian(config).eval()
    # Its output projection has a bias too, but does not train it.
    assert number_of_weights(marian) - sum(
        p.numel() for p in marian.parameters() if not p.requires_grad
    ) == (number_of_weights(Transformer(config)) - config.vocabulary_size)
    source_ids = torch.tensor([[4, 5, 6, 7, 8], [5, 4, 7, 0, 0]])
    target_ids = torch.tensor([[1, 5, 8, 10], [1, 6, 0, 0]])
    logits = marian(source_ids, target_ids)
    assert logits.shape == (2, 4, 13)
    longer = torch.cat([source_ids, torch.zeros(2, 1, dtype=torch.long)], dim=1)
    torch.testing.assert_close(marian(longer, target_ids), logits)
