"""Half precision and accumulation change the speed and the memory of training, not its result."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from tests.small_model import small_transformer
from transformer_edu.data.batches import make_batch
from transformer_edu.data.toy_tasks import reverse_task
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.loop import NotFiniteError, find_gradients, fit
from transformer_edu.training.machine.device import gradient_scaler
from transformer_edu.training.state import TrainingRun

TASK = reverse_task(
    num_symbols=5, shortest=2, longest=6, train_size=60, validation_size=8, test_size=8
)
SHORT = TrainingConfig(steps=5, batch_size=22, evaluate_every=5, seed=3)  # 60 = 22 + 22 + 16


@pytest.fixture
def model() -> Transformer:
    return small_transformer(dropout=0.0)


def weights(model: nn.Module) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def gradients(model: nn.Module, **changes: object) -> tuple[float, Tensor]:
    """The loss and every gradient that find_gradients finds for one batch of unequal lengths."""
    config = TrainingConfig(largest_gradient=None, **changes)
    scaler = gradient_scaler(model, config.precision)
    loss = find_gradients(model, make_batch(TASK.train[:21]), config, TrainingRun(), scaler)
    scale = scaler.get_scale()
    return loss, torch.cat([weight.grad.flatten() for weight in model.parameters()]) / scale


@pytest.mark.parametrize("parts", [2, 5, 21, 100])
@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_accumulated_gradients_equal_the_large_batch_s(model, parts, dtype, error):
    model.to(dtype)
    expected_loss, expected = gradients(model, label_smoothing=0.1)
    loss, accumulated = gradients(model, label_smoothing=0.1, accumulate=parts)
    assert loss == pytest.approx(expected_loss, rel=error)
    assert (accumulated - expected).abs().max() < error * expected.abs().max().clamp(min=1)


def test_the_parts_are_unequal_so_that_a_mean_of_means_would_be_wrong():
    parts = make_batch(TASK.train[:21]).parts(5)
    shares = [share for _, share in parts]
    assert sum(shares) == pytest.approx(1, rel=1e-12)
    assert max(shares) > 1.2 * min(shares)


def test_a_part_is_all_that_is_computed_at_once(model):
    rows = []
    model.output_projection.register_forward_hook(lambda *call: rows.append(len(call[-1])))
    gradients(model, accumulate=4)
    assert rows == [6, 6, 6, 3]


def test_a_whole_run_in_parts_is_the_run_in_one(model):
    in_parts = copy.deepcopy(model).double()
    run = fit(model.double(), TASK, SHORT)
    other = fit(in_parts, TASK, replace(SHORT, accumulate=3))
    expected = [record.loss for record in run.steps]
    assert [record.loss for record in other.steps] == pytest.approx(expected, rel=1e-9)
    torch.testing.assert_close(weights(in_parts), weights(model), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("precision", "bits"), [("bfloat16", 8), ("float16", 11)])
def test_half_precision_gives_nearly_the_same_gradients_in_float32(model, precision, bits):
    expected_loss, expected = gradients(model)
    loss, found = gradients(model, precision=precision)
    assert found.dtype == torch.float32
    assert not found.equal(expected)
    assert loss == pytest.approx(expected_loss, rel=4 * 2**-bits)
    assert (found - expected).norm() < 20 * 2**-bits * expected.norm()


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_half_precision_learns_as_float32_does(model, precision):
    narrow = copy.deepcopy(model)
    config = TrainingConfig(steps=40, batch_size=30, learning_rate=1e-2, warmup_steps=5)
    losses = {
        name: fit(learner, TASK, replace(config, precision=name)).evaluations[-1].loss
        for name, learner in (("float32", model), (precision, narrow))
    }
    assert losses["float32"] < 2.0  # a model that knows nothing: ln 12, which is 2.5
    assert losses[precision] == pytest.approx(losses["float32"], rel=0.1)
    assert narrow.output_projection.weight.dtype == torch.float32


def test_evaluations_are_in_float32(model):
    seen = []
    model.output_projection.register_forward_hook(
        lambda module, inputs, output: seen.append((module.training, output.dtype))
    )
    fit(model, TASK, replace(SHORT, steps=1, precision="bfloat16"))
    assert set(seen) == {(True, torch.bfloat16), (False, torch.float32)}


def test_an_update_that_overflows_float16_is_skipped_and_the_next_ones_are_not(model):
    # The gradient of the logits is enlarged so that 2¹⁶ times as much exceeds 65,504.
    model.output_projection.register_full_backward_pre_hook(
        lambda module, gradients: tuple(200 * gradient for gradient in gradients)
    )
    seen = []
    run = fit(
        model,
        TASK,
        replace(SHORT, steps=12, precision="float16"),
        after_step=lambda _: seen.append(weights(model)),
    )
    moved = [not after.equal(before) for before, after in zip(seen, seen[1:], strict=False)]
    assert not moved[0]
    assert moved[-1]
    assert len(run.steps) == 12
    assert weights(model).isfinite().all()


def test_gradients_that_never_become_finite_stop_float16_too(model):
    model.output_projection.register_full_backward_pre_hook(
        lambda module, gradients: tuple(gradient * torch.nan for gradient in gradients)
    )
    before = weights(model)
    with pytest.raises(NotFiniteError, match="gradient must be finite, got nan at step 17"):
        fit(model, TASK, TrainingConfig(steps=40, precision="float16"))
    assert weights(model).equal(before)


def test_long_gradients_are_shortened_in_float16_too(model):
    before = weights(model)
    config = TrainingConfig(steps=1, warmup_steps=1, largest_gradient=1e-3, precision="float16")
    fit(model, TASK, config, optimizer=torch.optim.SGD(model.parameters(), lr=1.0))
    assert (weights(model) - before).norm().item() == pytest.approx(1e-3, rel=1e-2)


def test_a_loss_that_is_not_finite_stops_in_every_precision(model):
    model.register_forward_hook(lambda module, inputs, logits: logits * torch.nan)
    for precision in ("float32", "bfloat16", "float16"):
        with pytest.raises(NotFiniteError, match="loss must be finite, got nan at step 1"):
            fit(model, TASK, replace(SHORT, precision=precision))
