"""The published loop has its faults, and tells what it can really do beside what it prints."""

import pytest
import torch

from experiments.published_copy import published_labels, train_as_published
from tests.small_model import small_transformer
from transformer_edu.data.batches import make_batch
from transformer_edu.data.toy_tasks import Task, copy_task
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.evaluation import evaluate
from transformer_edu.training.loss import token_loss

TRAINING = TrainingConfig(steps=7, batch_size=16, learning_rate=3e-3, evaluate_every=3, seed=2)


@pytest.fixture
def task() -> Task:
    return copy_task(
        num_symbols=6, shortest=3, longest=3, train_size=90, validation_size=20, test_size=10
    )


def model(dropout: float = 0.1) -> Transformer:
    return small_transformer(10, dropout=dropout)


def test_no_gradient_reaches_the_question_for_the_end_token():
    batch = make_batch([([4, 5], [4, 5]), ([6, 7], [6, 7])])
    logits = torch.randn(2, 3, 10, requires_grad=True)
    token_loss(logits, published_labels(batch.label_ids)).backward()
    assert not logits.grad[:, 2].any()
    assert logits.grad[:, :2].any()


def test_it_prints_at_every_evaluation_and_at_the_end(task):
    trained = model()
    evaluations, printed = train_as_published(trained, task, TRAINING)
    assert [step for step, _, _ in printed] == [each.step for each in evaluations] == [3, 6, 7]
    assert evaluations[-1] == evaluate(trained, task.validation, step=7)
    assert not trained.training


def test_the_same_seed_gives_the_same_run_and_leaves_the_random_state(task):
    first = train_as_published(model(), task, TRAINING)
    second_model = model()
    torch.manual_seed(99)
    before = torch.get_rng_state()
    assert train_as_published(second_model, task, TRAINING) == first
    assert torch.get_rng_state().equal(before)


def test_it_judges_the_batch_just_learned_from_with_dropout_on(task):
    _, printed = train_as_published(model(dropout=0.5), task, TRAINING)
    _, without = train_as_published(model(dropout=0.0), task, TRAINING)
    assert [loss for _, loss, _ in printed] != [loss for _, loss, _ in without]


def test_it_learns_symbols_and_never_to_stop(task):
    config = TrainingConfig(steps=150, batch_size=32, learning_rate=5e-3, evaluate_every=150)
    (last,), ((_, _, shown),) = train_as_published(model(dropout=0.0), task, config)
    assert shown > 0.9
    assert last.exact_match == 0
    assert last.token_accuracy < 0.8
