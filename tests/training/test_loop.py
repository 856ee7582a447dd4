"""fit repeats itself exactly, stops when it should, and leaves everything usable."""

import copy
import signal
from dataclasses import replace
from itertools import islice

import pytest
import torch
from torch import nn

from tests.small_model import same, small_transformer, weights
from transformer_edu.data.toy_tasks import reverse_task
from transformer_edu.model.transformer import Transformer
from transformer_edu.training import loop
from transformer_edu.training.config import TrainingConfig, inverse_square_root
from transformer_edu.training.evaluation import evaluate
from transformer_edu.training.loop import NotFiniteError, endless_batches, fit, paper_adam
from transformer_edu.training.machine.failures import NotEnoughMemoryError

TASK = reverse_task(
    num_symbols=5, shortest=2, longest=4, train_size=60, validation_size=8, test_size=8
)
SHORT = TrainingConfig(steps=6, batch_size=16, evaluate_every=4, seed=3)


def transformer(seed: int = 0, **changes: float) -> Transformer:
    return small_transformer(20, seed=seed, **{"dropout": 0.1} | changes)


OF_ANOTHER_MODEL = paper_adam(transformer(), 1e-3)
PADS_WITH_3 = Transformer(replace(transformer().config, padding_id=3))
ENDS_WITH_3 = Transformer(replace(transformer().config, end_id=3))


def test_the_history_has_a_record_for_every_step_and_every_evaluation():
    model = transformer()
    before = copy.deepcopy(TASK.train)
    run = fit(model, TASK, SHORT)
    assert before == TASK.train
    assert not any(module.training for module in model.modules())  # ready for use
    assert [record.step for record in run.steps] == [1, 2, 3, 4, 5, 6]
    assert [found.step for found in run.evaluations] == [4, 6]
    assert run.evaluations[-1] == evaluate(model, TASK.validation, step=6)
    assert not run.interrupted


def test_the_same_seed_gives_the_same_training_whatever_was_drawn_before():
    first, second = transformer(), transformer()
    run = fit(first, TASK, SHORT)
    torch.rand(17)
    assert fit(second, TASK, SHORT) == run
    assert same(weights(first), weights(second))
    assert fit(transformer(), TASK, replace(SHORT, seed=4)).steps != run.steps


def test_the_global_random_state_threads_and_interrupt_handler_are_as_before():
    model = transformer()
    before = torch.get_rng_state(), torch.get_num_threads(), signal.getsignal(signal.SIGINT)
    fit(model, TASK, SHORT)
    assert torch.get_rng_state().equal(before[0])
    assert (torch.get_num_threads(), signal.getsignal(signal.SIGINT)) == before[1:]


def test_dropout_is_on_while_learning_also_after_an_evaluation():
    model, modes = transformer(), []
    model.embedding_dropout.register_forward_hook(lambda *_: modes.append(model.training))
    config = TrainingConfig(steps=3, evaluate_every=1)
    fit(model, TASK, config, after_step=lambda run: modes.append("step"))
    starts = [0, *(i + 1 for i, mode in enumerate(modes) if mode == "step")][:3]
    assert [modes[start] for start in starts] == [True] * 3


@pytest.mark.parametrize("tokens", [None, 48])
@pytest.mark.parametrize("skip", [1, 4, 5, 9, 40])
def test_batches_can_start_anywhere_in_any_epoch(skip, tokens):
    config = replace(SHORT, batch_tokens=tokens)
    expected = list(islice(endless_batches(TASK, config), skip, skip + 9))  # 4 to 7 are an epoch
    found = list(islice(endless_batches(TASK, config, skip=skip), 9))
    for one, other in zip(found, expected, strict=True):
        assert one.source_ids.equal(other.source_ids)
        assert one.label_ids.equal(other.label_ids)
        assert tokens is None or one.label_ids.numel() <= tokens


def test_what_dropout_drops_at_a_step_is_decided_by_seed_and_step_alone():
    def losses(seed: int, **changes: object) -> list[float]:
        config = TrainingConfig(steps=4, batch_size=1, learning_rate=1e-30, seed=seed)
        run = fit(transformer(dropout=0.5), replace(TASK, train=TASK.train[:1]), config, **changes)
        return [record.loss for record in run.steps]

    # Every batch is the same pair and nothing is learned: the losses differ by dropout alone.
    assert len(set(losses(0))) == len(set(losses(1))) == 4
    assert not set(losses(0)) & set(losses(1))
    assert losses(0, after_step=lambda run: torch.rand(3)) == losses(0)


def test_every_step_has_the_learning_rate_of_its_number():
    def schedule(step: int) -> float:
        return inverse_square_root(step, d_model=16, warmup_steps=3)

    config = TrainingConfig(steps=6, learning_rate=2.0, schedule=schedule)
    rates = [record.learning_rate for record in fit(transformer(), TASK, config).steps]
    assert rates == pytest.approx([2.0 * schedule(step) for step in range(1, 7)])


@pytest.mark.parametrize("changed", [{}, {"lr": 1e-5}])
def test_an_optimizer_has_its_own_rate_again_which_can_be_changed(changed):
    model = transformer()
    optimizer = paper_adam(model, 1e-2)
    fit(model, TASK, SHORT, optimizer=optimizer)
    (group,) = optimizer.param_groups
    assert group["lr"] == 1e-2
    group.update(changed)
    run = fit(model, TASK, replace(SHORT, schedule=lambda n: 0.5**n), optimizer=optimizer)
    assert [each.learning_rate for each in run.steps] == [group["lr"] * 0.5**n for n in range(1, 7)]


def test_a_step_is_the_one_that_pytorch_makes_by_hand():
    ours, theirs = transformer(dropout=0.0), transformer(dropout=0.0)
    one_batch = TrainingConfig(
        steps=1, batch_size=60, warmup_steps=1, learning_rate=1e-2, largest_gradient=None
    )
    fit(ours, TASK, one_batch)
    optimizer = torch.optim.Adam(theirs.parameters(), lr=1e-2, betas=(0.9, 0.98), eps=1e-9)
    losses, tokens = 0.0, 0
    for source, target in TASK.train:  # one pair at a time: no padding anywhere
        logits = theirs(torch.tensor([source]), torch.tensor([[1, *target]]))[0]
        labels = torch.tensor([*target, 2])
        losses = losses + nn.functional.cross_entropy(logits, labels, reduction="sum")
        tokens += len(labels)
    (losses / tokens).backward()
    optimizer.step()
    changed = torch.cat([weight.flatten() for weight in weights(ours)])
    expected = torch.cat([weight.flatten() for weight in weights(theirs)])
    # Adam's first step is ±1e-2 wherever the gradient is not lost in rounding.
    assert ((changed - expected).abs() < 1e-4).float().mean() > 0.99


def test_the_optimizer_forgets_gradients_and_their_squares_as_fast_as_the_paper_s():
    weight = nn.Linear(1, 1, bias=False)
    optimizer = paper_adam(weight, 1e-2)
    weight.weight.grad = torch.tensor([[3.0]])
    optimizer.step()
    (kept,) = optimizer.state.values()
    assert kept["exp_avg"].item() == pytest.approx((1 - 0.9) * 3)
    assert kept["exp_avg_sq"].item() == pytest.approx((1 - 0.98) * 3**2)


def test_a_step_that_the_memory_cannot_hold_is_told_in_one_sentence():
    model = transformer()
    model.register_forward_hook(lambda *_: torch.empty(10**15))
    message = (
        "memory must suffice for training on batches of 48 tokens, got no room for "
        "4000000000000000 bytes; smaller batches or accumulate above 1 need less"
    )
    with pytest.raises(NotEnoughMemoryError, match=message):
        fit(model, TASK, replace(SHORT, batch_tokens=48))
    assert not model.training


def test_a_training_has_gradients_where_they_are_switched_off_around_it():
    expected, model = transformer(), transformer()
    fit(expected, TASK, SHORT)
    with torch.no_grad():
        fit(model, TASK, SHORT)
    assert all(map(torch.equal, weights(model), weights(expected)))


def test_long_gradients_are_shortened():
    plain = torch.optim.SGD
    model, before = transformer(), weights(transformer())
    config = TrainingConfig(steps=1, warmup_steps=1, largest_gradient=1e-3)
    fit(model, TASK, config, optimizer=plain(model.parameters(), lr=1.0))
    moved = torch.cat(
        [(new - old).flatten() for new, old in zip(weights(model), before, strict=True)]
    )
    assert moved.norm().item() == pytest.approx(1e-3, rel=1e-2)


def test_after_step_sees_every_step_and_its_errors_come_through():
    seen = []
    fit(transformer(), TASK, SHORT, after_step=lambda run: seen.append(len(run.steps)))
    assert seen == [1, 2, 3, 4, 5, 6]

    def stumble(run):
        raise RuntimeError("a learner's mistake")

    model = transformer()
    with pytest.raises(RuntimeError, match="a learner's mistake"):
        fit(model, TASK, SHORT, after_step=stumble)
    assert not model.training


@pytest.mark.parametrize("where", ["forward", "backward", "update", "after_step"])
def test_an_interrupt_leaves_whole_steps_and_a_history_of_the_same_length(where):
    model, calls = transformer(dropout=0.0), []
    optimizer = paper_adam(model, SHORT.learning_rate)

    def interrupt_in_third(*_):
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    if where == "forward":
        hook = model.encoder.register_forward_hook(interrupt_in_third)
    elif where == "backward":
        hook = model.output_projection.bias.register_post_accumulate_grad_hook(interrupt_in_third)
    elif where == "update":
        hook = optimizer.register_step_pre_hook(interrupt_in_third)
    after_step = interrupt_in_third if where == "after_step" else None
    run = fit(model, TASK, SHORT, optimizer=optimizer, after_step=after_step)
    if after_step is None:
        hook.remove()

    assert run.interrupted
    steps = 3 if where in ("update", "after_step") else 2
    assert len(run.steps) == steps
    reference = transformer(dropout=0.0)
    expected = fit(reference, TASK, SHORT, after_step=interrupt_after(steps))
    assert run.steps == expected.steps
    assert same(weights(model), weights(reference))
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def interrupt_after(steps: int):
    def after_step(run):
        if len(run.steps) == steps:
            raise KeyboardInterrupt

    return after_step


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_a_loss_that_is_not_finite_stops_with_the_step_named(bad):
    model, calls = transformer(), []

    def spoil(module, inputs, logits):
        calls.append(1)
        return logits * bad if len(calls) == 3 else logits

    model.register_forward_hook(spoil)
    kept = []
    with pytest.raises(NotFiniteError, match="loss must be finite, got .* at step 3") as caught:
        fit(model, TASK, SHORT, after_step=lambda run: kept.append(weights(model)))
    assert len(caught.value.run.steps) == 2
    assert same(weights(model), kept[-1])
    assert isinstance(caught.value, ValueError)


def test_a_gradient_that_is_not_finite_stops_too():
    model = transformer()
    model.output_projection.bias.register_hook(lambda gradient: gradient * torch.nan)
    with pytest.raises(NotFiniteError, match="gradient must be finite, got nan at step 1"):
        fit(model, TASK, SHORT)


def test_no_progress_is_shown_unless_asked_for(capsys):
    fit(transformer(), TASK, SHORT)
    assert capsys.readouterr() == ("", "")
    fit(transformer(), TASK, TrainingConfig(steps=2, progress=True))
    assert "2/2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": lambda s, t: None}, TypeError, "model must be a Module, got function"),
        ({"model": nn.ReLU()}, ValueError, "model must have parameters, got none"),
        ({"model": PADS_WITH_3}, ValueError, "padding_id must be 0 to be trained, got 3"),
        ({"model": ENDS_WITH_3}, ValueError, "model's end_id must be 2 to be trained, got 3"),
        ({"model": transformer().requires_grad_(False)}, ValueError, "requires_grad to be trained"),
        ({"model": nn.Linear(2, 2)}, TypeError, "must have the method source_mask, got Linear"),
        ({"task": TASK.train}, TypeError, "task must be a Task, got list"),
        ({"config": 500}, TypeError, "config must be a TrainingConfig, got int"),
        ({"processes": None}, ValueError, "processes must be the 1 that .*, got None"),
        ({"optimizer": "adam"}, TypeError, "optimizer must be an Optimizer, got str"),
        (
            {"optimizer": OF_ANOTHER_MODEL},
            ValueError,
            "optimizer must have .* model's weights only",
        ),
        ({"after_step": 5}, TypeError, "after_step must be a function or None, got int"),
    ],
)
def test_what_cannot_be_trained_is_refused(arguments, error, message):
    arguments = {"model": transformer(), "task": TASK, "config": SHORT} | arguments
    with pytest.raises(error, match=message):
        fit(**arguments)


def test_processes_that_are_connected_do_not_train_apart_in_silence(monkeypatch):
    monkeypatch.setattr(loop, "process_count", lambda: 2)
    model = transformer()
    before = weights(model)
    message = "processes must be the 2 that joined_processes has connected, got 1"
    with pytest.raises(ValueError, match=message):
        fit(model, TASK, SHORT)
    assert same(weights(model), before)
