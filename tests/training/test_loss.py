"""The loss is PyTorch's, over real tokens only."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_edu.model.vocabulary import PADDING_ID
from transformer_edu.training.loss import token_accuracy, token_loss

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


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_is_the_cross_entropy_with_epsilon_shared_by_all_tokens(logits, epsilon):
    total = 0.0
    for scores, label in zip(logits.flatten(0, 1).tolist(), LABELS.flatten().tolist(), strict=True):
        if label != PADDING_ID:
            normaliser = math.log(sum(math.exp(score) for score in scores))
            for token, score in enumerate(scores):
                wanted = epsilon / VOCABULARY + (1 - epsilon) * (token == label)
                total -= wanted * (score - normaliser)
    loss = token_loss(logits, LABELS, label_smoothing=epsilon)
    torch.testing.assert_close(loss.item(), total / 6, rtol=1e-5, atol=1e-6)


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


def test_more_padding_does_not_change_the_mean(logits):
    longer = torch.cat([logits, torch.randn(BATCH, 3, VOCABULARY)], dim=1)
    torch.testing.assert_close(
        token_loss(longer, F.pad(LABELS, (0, 3))), token_loss(logits, LABELS)
    )


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


@pytest.mark.parametrize(
    ("epsilon", "error", "message"),
    [
        (1, ValueError, "label_smoothing must be below 1, got 1"),
        (-0.1, ValueError, "label_smoothing must be from 0 to 1, got -0.1"),
        (math.nan, ValueError, "label_smoothing must be from 0 to 1, got nan"),
        ("0.1", TypeError, "label_smoothing must be a number from 0 to 1, got '0.1'"),
    ],
)
def test_label_smoothing_outside_its_range_is_refused(logits, epsilon, error, message):
    with pytest.raises(error, match=message):
        token_loss(logits, LABELS, label_smoothing=epsilon)
