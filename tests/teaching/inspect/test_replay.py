"""A replay holds what the model attended to at each step of a run."""

import copy

import numpy as np
import pytest
import torch

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.inspect.recording import record_attention
from transformer_edu.teaching.inspect.replay import TrainingReplay, sharpness, uniform_sharpness
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.data.batches import make_batch
from transformer_edu.training.data.toy_tasks import Task, copy_task
from transformer_edu.training.loop import NotFiniteError, fit
from transformer_edu.training.loss import token_loss

HEADS, LAYERS, STEPS = 4, 2, 6
CROSS = "decoder.layers.1.cross_attention"
PAIR = ([4, 5, 6], [7, 4, 5, 8, 6])  # three tokens to read, five to generate
TRAINING = TrainingConfig(steps=STEPS, evaluate_every=3)


@pytest.fixture
def task() -> Task:
    sizes = {"num_symbols": 5, "shortest": 2, "longest": 3}
    return copy_task(**sizes, train_size=9, validation_size=3, test_size=2)


@pytest.fixture
def model(task) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": HEADS, "num_layers": LAYERS, "d_ff": 24, "dropout": 0.3}
    return Transformer(TransformerConfig(vocabulary_size=len(task.vocabulary), **sizes))


@pytest.fixture
def replay(task) -> TrainingReplay:
    return TrainingReplay(PAIR, task.vocabulary.tokens)


def read(model: Transformer) -> tuple[dict[str, torch.Tensor], float]:
    """The model's own attention and loss of the pair."""
    batch = make_batch([PAIR])
    with torch.no_grad(), record_attention(model.eval()) as recorded:
        logits = model(batch.source_ids, batch.decoder_input_ids)
    return recorded, token_loss(logits, batch.label_ids).item()


def kept_steps(replay: TrainingReplay) -> list[int]:
    return [moment.step for moment in replay.moments]


def test_a_moment_is_the_models_own_attention_and_loss_without_dropout(model, replay):
    replay.record(model.train(), step=7)
    (moment,) = replay.moments
    recorded, loss = read(model)
    assert (moment.step, moment.loss) == (7, pytest.approx(loss))
    assert {shown.name for shown in moment.maps} == set(recorded)
    for shown in moment.maps:
        np.testing.assert_array_equal(shown.weights, recorded[shown.name][0].numpy())
    cross = next(each for each in moment.maps if each.name == CROSS)
    assert cross.weights.shape == (HEADS, 6, 3)
    assert cross.queries.tokens == ("<s>", "3", "0", "1", "4", "2")
    assert cross.keys.tokens == ("0", "1", "2")


def test_a_small_model_reads_on_one_thread_so_that_every_machine_keeps_the_same(model, replay):
    seen = []
    model.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        replay.record(model, step=0)
        assert (seen, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


def test_recording_does_not_change_the_model(model, replay):
    model.train()
    model.decoder.layers[1].eval()
    token_loss(model(*[torch.tensor([[4, 5]])] * 2), torch.tensor([[5, 6]])).backward()
    modes = [module.training for module in model.modules()]
    gradients = [weight.grad.clone() for weight in model.parameters()]
    random_state = torch.get_rng_state()
    replay.record(model, step=0)
    assert [module.training for module in model.modules()] == modes
    for weight, gradient in zip(model.parameters(), gradients, strict=True):
        assert torch.equal(weight.grad, gradient)
    assert torch.equal(torch.get_rng_state(), random_state)
    assert not any(module._forward_hooks for module in model.modules())


def test_a_run_that_is_followed_ends_with_the_same_weights_and_records(model, task, replay):
    alone = copy.deepcopy(model)
    expected = fit(alone, task, TRAINING)
    after_step = replay.follow(model, steps=range(STEPS + 1))
    assert fit(model, task, TRAINING, after_step=after_step) == expected
    for name, weight in alone.state_dict().items():
        assert torch.equal(model.state_dict()[name], weight)


def test_the_wanted_steps_are_kept_in_their_order(model, task, replay):
    before = read(copy.deepcopy(model))[0][CROSS][0]
    steps = [5, 0, 2, 99]
    after_step = replay.follow(model, steps=steps)
    steps.append(3)  # too late
    run = fit(model, task, TRAINING, after_step=after_step)
    assert kept_steps(replay) == [0, 2, 5] and replay.run is run
    first, *_, last = (moment.maps[-1].weights for moment in replay.moments)
    np.testing.assert_array_equal(first, before)
    assert not np.allclose(first, last)


def test_only_the_chosen_layers_are_kept_and_step_0_only_where_it_is_wanted(model, task):
    replay = TrainingReplay(PAIR, task.vocabulary.tokens, [CROSS])
    replay.follow(model, steps=[3])
    assert replay.moments == []
    replay.follow(model, steps=[0, 3])
    assert kept_steps(replay) == [0]
    assert [each.name for each in replay.moments[0].maps] == [CROSS]


def test_a_run_that_breaks_is_reported_by_fit_and_leaves_only_finite_moments(model, task, replay):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e15)
    after_step = replay.follow(model, steps=range(STEPS + 1))
    with pytest.raises(NotFiniteError, match="must be finite, got .* at step"):
        fit(model, task, TRAINING, optimizer=optimizer, after_step=after_step)
    assert replay.moments[0].step == 0
    assert replay.run.steps[-1].step > replay.moments[-1].step
    for moment in replay.moments:
        assert np.isfinite(moment.loss)
        assert all(np.isfinite(each.weights).all() for each in moment.maps)


def test_an_earlier_step_and_an_unknown_layer_are_refused(model, task, replay):
    replay.record(model, step=4)
    message = "step must be above 4, the last one recorded, got"
    for step in (4, 0):
        with pytest.raises(ValueError, match=f"{message} {step}"):
            replay.record(model, step=step)
    with pytest.raises(ValueError, match=f"{message} 2"):
        fit(model, task, TRAINING, after_step=replay.follow(model, steps=[2]))
    assert kept_steps(replay) == [4]
    other = TrainingReplay(PAIR, task.vocabulary.tokens, ["decoder.layers.2.cross_attention"])
    message = rf"layers must be of .*{CROSS}.*, got 'decoder.layers.2"
    for steps in ([0], [3]):
        with pytest.raises(ValueError, match=message):
            other.follow(model, steps=steps)


def test_sharpness_is_one_for_a_single_key_and_that_of_uniform_attention_without_any():
    assert sharpness(np.eye(3, 5)) == 1
    assert sharpness(np.full((3, 5), 0.2)) == pytest.approx(0.2)
    assert sharpness(np.array([[0.7, 0.3], [0.5, 0.5]])) == pytest.approx(0.6)


def test_uniform_sharpness_counts_only_the_keys_that_may_be_attended_to():
    causal = np.tril(np.ones((3, 3)))
    weights = np.stack([causal / causal.sum(axis=1, keepdims=True)] * 2)  # (heads, query, key)
    assert uniform_sharpness([weights]) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    # A weight that has become exactly zero still counts: it was not zero before.
    settled = np.stack([np.eye(3)] * 2)
    assert uniform_sharpness([weights, settled]) == pytest.approx(uniform_sharpness([weights]))
    # A key that one head attends to is allowed for every head.
    assert uniform_sharpness([np.stack([np.eye(2, 5), np.eye(2, 5, 1)])]) == pytest.approx(1 / 2)
    nothing = np.array([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0]])  # a query without any weight
    with np.errstate(divide="raise"):
        assert uniform_sharpness([nothing[None]]) == pytest.approx((1 / 2 + 0) / 2)
    assert sharpness(nothing) == pytest.approx((0.75 + 0) / 2)
