"""A result is a line to read; a probe leaves a model as it was, and refuses an empty sample."""

import pytest
import torch
from torch import Tensor, nn

from transformer_course.looking.probe_result import (
    ProbeResult,
    answer,
    difference,
    noise,
    require_sample,
    undisturbed,
)

FEW_SOURCES = torch.tensor([[4, 5, 6], [7, 8, 0]])
FEW_TARGETS = torch.tensor([[1, 4, 5, 6], [1, 7, 8, 0]])


def reader(source_ids: Tensor, target_ids: Tensor) -> Tensor:
    return target_ids.unsqueeze(-1).float().expand(-1, -1, 9)


def test_a_result_is_a_line_to_read():
    result = ProbeResult("the future is hidden", False, 0.5, "Look at the causal mask.")
    assert str(result).split("  ")[0] == "FAILED"
    assert "the future is hidden" in str(result)
    assert str(result).endswith("Look at the causal mask.")
    assert str(ProbeResult("a", True, None, "b")).startswith("passed ")
    assert str(ProbeResult("a", None, None, "b")).startswith("not applicable ")


def test_modes_gradients_buffers_and_random_numbers_come_back():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
    model[2].eval()
    model(torch.randn(5, 2)).sum().backward()
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    buffers = [buffer.clone() for buffer in model.buffers()]
    state = torch.get_rng_state()
    with pytest.raises(ZeroDivisionError), undisturbed(model), torch.enable_grad():
        assert all(parameter.grad is None for parameter in model.parameters())
        model.train()
        model(torch.randn(5, 2)).sum().backward()
        raise ZeroDivisionError
    assert [module.training for module in model] == [True, True, False]
    assert all(p.grad.equal(g) for p, g in zip(model.parameters(), gradients, strict=True))
    assert all(now.equal(before) for now, before in zip(model.buffers(), buffers, strict=True))
    assert torch.get_rng_state().equal(state)


def test_a_plain_function_can_be_left_undisturbed_too():
    with undisturbed(reader):
        assert answer(reader, FEW_SOURCES, FEW_TARGETS, training=True).shape == (2, 4, 9)


def test_dropout_is_drawn_alike_every_time():
    class Dropping(nn.Dropout):
        def forward(self, source_ids, target_ids):
            return super().forward(reader(source_ids, target_ids) + 1)

    model = Dropping(0.5)
    first, second = (answer(model, FEW_SOURCES, FEW_TARGETS, training=True) for _ in range(2))
    assert first.equal(second)
    assert (first == 0).any()
    assert (answer(model, FEW_SOURCES, FEW_TARGETS, training=False) != 0).all()


def test_a_difference_is_relative_to_large_numbers_only():
    assert difference(torch.tensor([0.5, 0.0]), torch.tensor([0.5, 0.25])) == 0.25
    assert difference(torch.tensor([8.0, 0.0]), torch.tensor([8.0, 2.0])) == 0.25


def test_coarser_numbers_are_allowed_more_noise():
    assert noise(torch.zeros(1)) < noise(torch.zeros(1, dtype=torch.bfloat16)) < 0.1


@pytest.mark.parametrize(
    ("logits", "error", "message"),
    [
        (None, TypeError, "model must answer with a tensor of logits, got NoneType"),
        (FEW_TARGETS, TypeError, "model must answer with a tensor of logits, got Tensor"),
        (torch.zeros(2, 9), ValueError, r"got \(2, 9\) for target_ids \(2, 4\)"),
        (torch.zeros(2, 3, 9), ValueError, r"got \(2, 3, 9\) for target_ids \(2, 4\)"),
    ],
)
def test_a_model_that_gives_no_logits_is_refused(logits, error, message):
    with pytest.raises(error, match=message):
        answer(lambda source_ids, target_ids: logits, FEW_SOURCES, FEW_TARGETS, training=False)


@pytest.mark.parametrize(
    ("model", "source", "target", "error", "message"),
    [
        (None, FEW_SOURCES, FEW_TARGETS, TypeError, "model must be callable, got NoneType"),
        (
            reader,
            FEW_SOURCES.tolist(),
            FEW_TARGETS,
            TypeError,
            "source_ids must be a tensor of token ids",
        ),
        (
            reader,
            FEW_SOURCES,
            FEW_TARGETS.float(),
            TypeError,
            "target_ids must be of type torch.int64",
        ),
        (
            reader,
            FEW_SOURCES[:1],
            FEW_TARGETS[:1],
            ValueError,
            r"two rows and two positions, got \(1, 3\)",
        ),
        (
            reader,
            FEW_SOURCES,
            FEW_TARGETS[:, :1],
            ValueError,
            r"two rows and two positions, got \(2, 1\)",
        ),
        (reader, FEW_SOURCES.repeat(2, 1), FEW_TARGETS, ValueError, "same batch size, got 4 and 2"),
        (
            reader,
            FEW_SOURCES * 0,
            FEW_TARGETS,
            ValueError,
            "source_ids must hold a real token in every row",
        ),
        (
            reader,
            FEW_SOURCES,
            FEW_TARGETS * 0,
            ValueError,
            "target_ids must hold a real token in every row",
        ),
    ],
)
def test_a_sample_that_shows_nothing_is_refused(model, source, target, error, message):
    with pytest.raises(error, match=message):
        require_sample(model, source, target)
