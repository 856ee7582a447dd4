"""The loss is PyTorch's, over real tokens only."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from transformer_course.breaking.faults import TargetNotShifted
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.data.toy_tasks import reverse_task
from transformer_edu.model.special_ids import PADDING_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training import loss
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.loop import fit
from transformer_edu.training.loss import (
    batch_loss,
    projected_loss,
    token_accuracy,
    token_loss,
)

BATCH, LENGTH, VOCABULARY = 2, 5, 7
LABELS = torch.tensor([[4, 5, 6, 2, 0], [3, 2, 0, 0, 0]])  # six real tokens


@pytest.fixture
def logits() -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(BATCH, LENGTH, VOCABULARY, generator=generator, requires_grad=True)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.9])
def test_agrees_with_pytorch(logits, epsilon):
    expected = F.cross_entropy(
        logits.flatten(0, 1), LABELS.flatten(), ignore_index=PADDING_ID, label_smoothing=epsilon
    )
    torch.testing.assert_close(token_loss(logits, LABELS, label_smoothing=epsilon), expected)


def smoothed(label_ids: Tensor, epsilon: float) -> Tensor:
    """The target distributions of label smoothing, as the docstring of token_loss has them."""
    true = F.one_hot(label_ids, VOCABULARY).double()
    return (1 - epsilon) * true + epsilon / VOCABULARY


def cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """-Σ target · log softmax(logits), averaged over the real tokens of LABELS."""
    each = -(target * logits.log_softmax(dim=-1)).sum(dim=-1)
    return each[LABELS != PADDING_ID].mean()


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.9])
def test_is_the_cross_entropy_with_epsilon_shared_by_all_tokens(logits, epsilon):
    loss = token_loss(logits.double(), LABELS, label_smoothing=epsilon)
    torch.testing.assert_close(loss, cross_entropy(logits.double(), smoothed(LABELS, epsilon)))


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_padding_adds_no_loss_and_exactly_no_gradient(logits, epsilon):
    loss = token_loss(logits, LABELS, label_smoothing=epsilon)
    loss.backward()
    padding = LABELS == PADDING_ID
    assert (logits.grad[padding] == 0).all()
    assert (logits.grad[~padding] != 0).all()
    changed = logits.detach().clone()
    changed[padding] = 50.0
    assert token_loss(changed, LABELS, label_smoothing=epsilon) == loss


def test_a_batch_of_padding_has_no_loss_and_no_gradient(logits):
    loss = token_loss(logits, torch.zeros_like(LABELS))
    loss.backward()
    assert loss == 0
    assert (logits.grad == 0).all()


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_extreme_logits_give_a_finite_loss(epsilon):
    for dtype, extreme in ((torch.float32, 1e30), (torch.float16, 6e4), (torch.bfloat16, 1e30)):
        logits = torch.zeros(BATCH, LENGTH, VOCABULARY, dtype=dtype)
        logits[..., 1] = extreme
        logits[..., 4] = -extreme
        loss = token_loss(logits, LABELS, label_smoothing=epsilon)
        assert loss.isfinite()
        assert loss.dtype == torch.float32


def test_another_padding_id_may_be_chosen(logits):
    expected = F.cross_entropy(logits.flatten(0, 1), LABELS.flatten(), ignore_index=2)
    torch.testing.assert_close(token_loss(logits, LABELS, padding_id=2), expected)


def test_accuracy_is_the_share_of_real_tokens_that_come_first():
    logits = F.one_hot(torch.tensor([[4, 5, 0, 2, 0], [3, 3, 0, 0, 0]]), VOCABULARY).float()
    assert token_accuracy(logits, LABELS) == pytest.approx(4 / 6)
    assert token_accuracy(logits, torch.zeros_like(LABELS)) == 0


@pytest.mark.parametrize("measure", [token_loss, token_accuracy])
@pytest.mark.parametrize(
    ("logits", "labels", "error", "message"),
    [
        (torch.randn(2, 5, 7), LABELS.tolist(), TypeError, "label_ids must be a tensor of token"),
        (torch.randn(2, 5, 7), LABELS.float(), TypeError, "label_ids must be of type torch.int64"),
        (torch.randn(2, 4, 7), LABELS, ValueError, r"must have shape \(2, 4\) to fit the logits"),
        (torch.randn(2, 5, 6), LABELS, ValueError, "label_ids must be from 0 to 5, got 6"),
        (torch.randn(2, 5, 7), LABELS - 1, ValueError, "label_ids must be from 0 to 6, got -1"),
        (torch.randn(10, 7), LABELS, ValueError, r"position, vocabulary\), got \(10, 7\)"),
        (LABELS, LABELS, TypeError, "logits must be a tensor of floating-point numbers, got"),
        (None, LABELS, TypeError, "logits must be a tensor of floating-point numbers, got None"),
    ],
)
def test_what_does_not_fit_is_refused(measure, logits, labels, error, message):
    with pytest.raises(error, match=message):
        measure(logits, labels)


def test_no_model_gets_below_the_entropy_and_being_surer_costs_more():
    target = smoothed(LABELS, 0.1)
    floor = cross_entropy(target.log(), target).item()  # a model that predicts the target
    true_token = F.one_hot(LABELS, VOCABULARY).double()
    losses = [token_loss(sure * true_token, LABELS, label_smoothing=0.1) for sure in range(20)]
    lowest_at = min(range(20), key=lambda sure: losses[sure])
    assert lowest_at < 19
    assert losses[lowest_at] >= floor
    assert losses[19] > losses[lowest_at] + 0.5
    best = math.log((1 - 0.1 + 0.1 / VOCABULARY) / (0.1 / VOCABULARY))
    reached = token_loss(best * true_token, LABELS, label_smoothing=0.1)
    assert reached.item() == pytest.approx(floor, rel=1e-12)


CONFIG = TransformerConfig(
    vocabulary_size=23, d_model=8, num_heads=2, num_layers=2, d_ff=12, dropout=0.0
)
SOURCES = torch.tensor([[5, 9, 7, 22], [8, 6, 0, 0], [4, 0, 0, 0]])
BATCH_OF_THREE = Batch(  # 11 real labels are two chunks of d_model 8
    source_ids=SOURCES,
    decoder_input_ids=torch.tensor([[1, 4, 5, 6, 7], [1, 22, 9, 0, 0], [1, 8, 9, 0, 0]]),
    label_ids=torch.tensor([[4, 5, 6, 7, 2], [22, 9, 2, 0, 0], [8, 9, 2, 0, 0]]),
)
each_precision = pytest.mark.parametrize(
    ("dtype", "error"), [(torch.float32, 1e-5), (torch.float64, 1e-12)]
)


def loss_and_gradients(compute: Callable[[], Tensor], variables: list[Tensor]) -> list[Tensor]:
    """What compute returns, and a third of its derivative by each variable."""
    loss = compute()
    return [loss.detach(), *torch.autograd.grad(loss / 3, variables)]


def assert_equal(found: list[Tensor], expected: list[Tensor], error: float) -> None:
    torch.testing.assert_close(found, expected, rtol=error, atol=error)


@each_precision
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("d_model", [3, 6, 50])  # two chunks, one, and one that is not full
def test_projected_loss_is_token_loss_of_the_logits(dtype, error, epsilon, d_model):
    torch.manual_seed(0)
    projection = nn.Linear(d_model, VOCABULARY).to(dtype)
    decoded = torch.randn(BATCH, LENGTH, d_model, dtype=dtype, requires_grad=True)
    variables = [decoded, projection.weight, projection.bias]
    smoothing = {"label_smoothing": epsilon}
    expected = loss_and_gradients(
        lambda: token_loss(projection(decoded), LABELS, **smoothing), variables
    )
    found = loss_and_gradients(
        lambda: projected_loss(decoded, projection, LABELS, **smoothing), variables
    )
    assert_equal(found, expected, error)
    assert (found[1][LABELS == PADDING_ID] == 0).all()
    assert (found[1][LABELS != PADDING_ID] != 0).all()


def test_projected_loss_of_padding_alone_is_zero_and_so_are_its_gradients():
    projection = nn.Linear(6, VOCABULARY)
    decoded = torch.randn(BATCH, LENGTH, 6, requires_grad=True)
    empty = torch.full((BATCH, LENGTH), 5)
    variables = [decoded, projection.weight, projection.bias]
    found = loss_and_gradients(
        lambda: projected_loss(decoded, projection, empty, padding_id=5), variables
    )
    assert all((value == 0).all() for value in found)


def test_projected_loss_of_half_precision_weights_is_finite_for_extreme_logits():
    for dtype in (torch.bfloat16, torch.float16):
        projection = nn.Linear(6, VOCABULARY).to(dtype)
        decoded = torch.full((BATCH, LENGTH, 6), 5e3, dtype=dtype, requires_grad=True)
        loss = projected_loss(decoded, projection, LABELS)
        loss.backward()
        assert loss.dtype == torch.float32
        assert loss.isfinite()
        assert decoded.grad.dtype == projection.weight.grad.dtype == dtype
        assert decoded.grad.isfinite().all()


@pytest.fixture
def in_chunks(monkeypatch) -> None:
    """Let batch_loss take the vocabulary of a toy for a large one."""
    monkeypatch.setattr(loss, "LARGE_VOCABULARY", 2)


def simple_and_batch_loss(model: nn.Module, epsilon: float = 0.1) -> list[list[Tensor]]:
    """Loss and gradients by way of the model's logits, and those of batch_loss."""
    variables, smoothing = list(model.parameters()), {"label_smoothing": epsilon}

    def simple() -> Tensor:
        logits = model(BATCH_OF_THREE.source_ids, BATCH_OF_THREE.decoder_input_ids)
        return token_loss(logits, BATCH_OF_THREE.label_ids, **smoothing)

    return [
        loss_and_gradients(compute, variables)
        for compute in (simple, lambda: batch_loss(model, BATCH_OF_THREE, **smoothing))
    ]


@each_precision
@pytest.mark.parametrize("changes", [{}, {"tie_embeddings": False}, {"norm_first": True}])
def test_batch_loss_of_a_large_vocabulary_is_that_of_the_logits(in_chunks, dtype, error, changes):
    torch.manual_seed(0)
    model = Transformer(replace(CONFIG, **changes)).to(dtype)
    expected, found = simple_and_batch_loss(model)
    assert_equal(found, expected, error)
    model.output_projection.register_forward_hook(lambda *call: pytest.fail("computes all logits"))
    batch_loss(model, BATCH_OF_THREE)


def test_gradients_of_many_chunks_do_not_lose_what_half_precision_would():
    torch.manual_seed(0)
    projection = nn.Linear(4, 50)
    decoded, labels = torch.randn(1, 400, 4), torch.randint(1, 50, (1, 400))  # 100 chunks
    exact = torch.autograd.grad(projected_loss(decoded, projection, labels), projection.bias)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = projected_loss(decoded, projection, labels)
    (found,) = torch.autograd.grad(loss, projection.bias)
    assert (found - exact).norm() < 0.01 * exact.norm()


class Products(TorchDispatchMode):
    """Notes the types of the factors of every product of matrices."""

    def __init__(self) -> None:
        super().__init__()
        self.types: list[set[torch.dtype]] = []

    def __torch_dispatch__(self, operation, types, given=(), named=None):
        if "mm" in operation.name():
            matrices = [each for each in given if isinstance(each, Tensor) and each.dim() == 2]
            self.types.append({each.dtype for each in matrices})
        return operation(*given, **named or {})


@pytest.mark.parametrize("autocast", [True, False])
def test_in_half_precision_every_product_with_the_vocabulary_is(autocast):
    projection, decoded = nn.Linear(6, VOCABULARY), torch.randn(BATCH, LENGTH, 6)
    if not autocast:
        projection, decoded = projection.bfloat16(), decoded.bfloat16()
    decoded.requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast), Products() as products:
        projected_loss(decoded, projection, LABELS)
    assert len(products.types) == 3  # the logits, and the gradients of both factors
    assert set.union(*products.types) == {torch.bfloat16}


def test_projected_loss_refuses_what_token_loss_refuses():
    with pytest.raises(ValueError, match="label_smoothing must be from 0 to 1, got -1"):
        projected_loss(torch.randn(1, 2, 4), nn.Linear(4, 9), LABELS[:1, :2], label_smoothing=-1)


def test_a_token_that_cannot_be_costs_nothing():
    projection = nn.Linear(4, 9)
    with torch.no_grad():
        projection.bias[8] = -torch.inf
    decoded, labels = torch.randn(1, 3, 4), torch.tensor([[4, 5, 6]])
    expected = token_loss(projection(decoded), labels)
    torch.testing.assert_close(projected_loss(decoded, projection, labels), expected)


def test_batch_loss_is_close_under_autocast(in_chunks):
    torch.manual_seed(0)
    model = Transformer(CONFIG)
    exact, _ = simple_and_batch_loss(model)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected, found = simple_and_batch_loss(model)
    assert {gradient.dtype for gradient in found} == {torch.float32}
    assert found[0] != exact[0]
    for wide, simple, chunked in zip(exact, expected, found, strict=True):
        assert (chunked - wide).norm() <= 2 * (simple - wide).norm() + 2**-8 * wide.norm()


def test_batch_loss_goes_the_simple_way_with_few_tokens_or_a_model_of_another_kind(
    in_chunks, monkeypatch
):
    torch.manual_seed(0)
    shifted = TargetNotShifted(CONFIG)
    expected, found = simple_and_batch_loss(shifted)
    assert found[0] == expected[0]
    shifted.__class__ = Transformer
    assert batch_loss(shifted, BATCH_OF_THREE, label_smoothing=0.1) != expected[0]

    monkeypatch.setattr(loss, "LARGE_VOCABULARY", CONFIG.vocabulary_size + 1)
    called = []
    shifted.output_projection.register_forward_hook(lambda *call: called.append(True))
    batch_loss(shifted, BATCH_OF_THREE)
    assert called


class Doubled(nn.Linear):
    """Twice what it should be."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * super().forward(x)


class ProjectsDoubled(Transformer):
    """The same as the model's own method."""

    def project(self, decoded: Tensor) -> Tensor:
        return 2 * super().project(decoded)


def double_layer(model: Transformer) -> None:
    model.output_projection.__class__ = Doubled


def double_method(model: Transformer) -> None:
    model.__class__ = ProjectsDoubled


def remove_bias(model: Transformer) -> None:
    model.output_projection.bias = None


@pytest.mark.parametrize("change", [double_layer, double_method, remove_bias])
def test_a_large_vocabulary_does_not_skip_a_projection_of_the_models_own(in_chunks, change):
    torch.manual_seed(0)
    model = Transformer(CONFIG)
    with torch.no_grad():
        model.output_projection.bias.copy_(torch.arange(CONFIG.vocabulary_size) / 9)
    usual = batch_loss(model, BATCH_OF_THREE, label_smoothing=0.1)
    change(model)
    expected, found = simple_and_batch_loss(model)
    assert_equal(found, expected, 0)
    assert (found[0] - usual).abs() > 0.01


@pytest.mark.parametrize("name", ["forward", "project"])
def test_batch_loss_calls_a_method_that_was_exchanged(in_chunks, name):
    model, called = Transformer(CONFIG), []
    own = getattr(model, name)

    def exchanged(*given: object) -> Tensor:
        called.append(True)
        return own(*given)

    setattr(model, name, exchanged)
    batch_loss(model, BATCH_OF_THREE)
    assert called


def test_a_run_in_chunks_is_the_run_by_logits(monkeypatch):
    task = reverse_task(
        num_symbols=5, shortest=2, longest=6, train_size=60, validation_size=8, test_size=8
    )
    config = TrainingConfig(steps=6, batch_size=22, label_smoothing=0.1, accumulate=2)
    runs = []
    for large in (2, 1000):
        monkeypatch.setattr(loss, "LARGE_VOCABULARY", large)
        torch.manual_seed(0)
        size = len(task.vocabulary.tokens)
        model = Transformer(replace(CONFIG, vocabulary_size=size, dropout=0.1)).double()
        runs.append([record.loss for record in fit(model, task, config).steps])
    assert runs[0] == pytest.approx(runs[1], rel=1e-9)
    assert runs[0] != runs[1]


@pytest.mark.parametrize("smallest", [2, 1000])
def test_batch_loss_leaves_out_the_padding_of_the_model(smallest, monkeypatch):
    monkeypatch.setattr(loss, "LARGE_VOCABULARY", smallest)
    model = Transformer(replace(CONFIG, padding_id=5)).eval()
    pairs = [([6, 7], [6, 7, 6, 7]), ([6], [7])]
    alone = [batch_loss(model, make_batch([pair], model)) for pair in pairs]
    together = batch_loss(model, make_batch(pairs, model))
    assert torch.allclose(together, (5 * alone[0] + 2 * alone[1]) / 7, atol=1e-5)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        (lambda ids: ids + 99, ValueError, r"label_ids must be from 0 to \d+, got 1"),
        (lambda ids: ids.masked_fill(ids == 0, -100), ValueError, "label_ids must .*, got -100"),
        (lambda ids: ids[:, 1:], ValueError, "label_ids must have shape .* to fit the logits"),
        (lambda ids: ids.float(), TypeError, "label_ids must be .*got .*float32"),
    ],
)
@pytest.mark.parametrize("smallest", [2, 1000])
def test_batch_loss_of_any_vocabulary_refuses_labels_that_are_none(
    smallest, changed, error, message, monkeypatch
):
    monkeypatch.setattr(loss, "LARGE_VOCABULARY", smallest)
    batch = replace(BATCH_OF_THREE, label_ids=changed(BATCH_OF_THREE.label_ids))
    with pytest.raises(error, match=message):
        batch_loss(Transformer(CONFIG), batch)


def test_batch_loss_refuses_pairs():
    with pytest.raises(TypeError, match="batch must be a Batch, got list"):
        batch_loss(Transformer(CONFIG), [([4], [5])])


@pytest.mark.parametrize(
    ("epsilon", "error", "message"),
    [
        (1, ValueError, "label_smoothing must be below 1, got 1"),
        (-0.1, ValueError, "label_smoothing must be from 0 to 1, got -0.1"),
        (math.nan, ValueError, "label_smoothing must be from 0 to 1, got nan"),
    ],
)
def test_label_smoothing_outside_its_range_is_refused(logits, epsilon, error, message):
    with pytest.raises(error, match=message):
        token_loss(logits, LABELS, label_smoothing=epsilon)
