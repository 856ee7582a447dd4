"""A replay holds what the model attended to at each step of a run."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.inspect.recording import record_attention
from transformer_edu.teaching.inspect.replay import (
    TrainingReplay,
    read_pair,
    sharpness,
    uniform_sharpness,
)
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.data.batches import make_batch
from transformer_edu.training.data.toy_tasks import Task, copy_task
from transformer_edu.training.loop import NotFiniteError, fit
from transformer_edu.training.loss import token_loss
from transformer_edu.training.state import StepRecord, TrainingRun

SIZES = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20, "dropout": 0.4}
TOKENS = ["<pad>", "<s>", "</s>", "<unk>", "a", "b", "c"]
PAIR = ([4, 5], [6, 5, 4])
CROSS = "decoder.layers.1.cross_attention"


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(TransformerConfig(vocabulary_size=len(TOKENS), **SIZES)).train()


def test_a_reading_is_the_models_own_without_dropout(model):
    reading = read_pair(model, PAIR)
    assert model.training
    batch = make_batch([PAIR])
    with torch.no_grad(), record_attention(model.eval()) as recorded:
        logits = model(batch.source_ids, batch.decoder_input_ids)
    assert reading.loss == pytest.approx(token_loss(logits, batch.label_ids).item())
    assert list(reading.attention) == list(recorded)
    for name, weights in recorded.items():
        torch.testing.assert_close(reading.attention[name], weights)


def test_a_small_model_reads_on_one_thread_so_that_every_machine_keeps_the_same(model):
    seen = []
    model.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        read_pair(model, PAIR)
        assert (seen, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


def test_a_moment_keeps_the_chosen_layers_with_their_tokens(model):
    reading = read_pair(model, PAIR)
    moment = reading.moment(7, TOKENS, [CROSS])
    assert (moment.step, moment.loss) == (7, reading.loss)
    (cross,) = moment.maps
    assert (cross.name, cross.weights.shape) == (CROSS, (3, 4, 2))
    assert (cross.queries.tokens, cross.keys.tokens) == (("<s>", "c", "b", "a"), ("a", "b"))
    np.testing.assert_array_equal(cross.weights, reading.attention[CROSS][0].numpy())
    assert len(reading.moment(7, TOKENS, None).maps) == len(reading.attention)


def test_a_reading_is_finite_until_the_loss_or_a_weight_is_not(model):
    assert read_pair(model, PAIR).is_finite()
    with torch.no_grad():
        model.decoder.layers[1].cross_attention.query_projection.weight.fill_(float("nan"))
    broken = read_pair(model, PAIR)
    assert not broken.is_finite()
    assert not type(broken)(PAIR, float("inf"), {}).is_finite()
    assert not type(broken)(PAIR, 1.0, broken.attention).is_finite()


def test_what_is_no_model_or_not_its_layer_is_refused(model):
    with pytest.raises(TypeError, match="model must be a torch.nn.Module, got NoneType"):
        read_pair(None, PAIR)
    with pytest.raises(ValueError, match=f"layers must be of .*{CROSS}, got 'decoder'"):
        read_pair(model, PAIR).moment(0, TOKENS, [CROSS, "decoder"])


HEADS, LAYERS = 4, 2
TRAINING_REPLAY_SIZES = {
    "d_model": 16,
    "num_heads": HEADS,
    "num_layers": LAYERS,
    "d_ff": 24,
    "dropout": 0.3,
}
STEPS = 6
TRAINING_REPLAY_PAIR = ([4, 5, 6], [7, 4, 5, 8, 6])  # three tokens to read, five to write


@pytest.fixture
def task() -> Task:
    sizes = {"num_symbols": 5, "shortest": 2, "longest": 3}
    return copy_task(**sizes, train_size=9, validation_size=3, test_size=2)


@pytest.fixture
def replayed_model(task) -> Transformer:
    torch.manual_seed(0)
    return Transformer(
        TransformerConfig(vocabulary_size=len(task.vocabulary), **TRAINING_REPLAY_SIZES)
    )


@pytest.fixture
def replay(task) -> TrainingReplay:
    return TrainingReplay(TRAINING_REPLAY_PAIR, task.vocabulary.tokens)


def attention_of(replayed_model: nn.Module) -> dict[str, torch.Tensor]:
    batch = make_batch([TRAINING_REPLAY_PAIR])
    with torch.no_grad(), record_attention(replayed_model.eval()) as recorded:
        replayed_model(batch.source_ids, batch.decoder_input_ids)
    return recorded


def test_every_map_is_the_models_own_without_dropout(replayed_model, replay):
    replay.look(replayed_model.train(), step=0)
    (moment,) = replay.moments
    assert len(moment.maps) == 3 * LAYERS
    recorded = attention_of(replayed_model)
    for shown in moment.maps:
        np.testing.assert_array_equal(shown.weights, recorded[shown.name][0].numpy())


def test_the_loss_is_that_of_the_pair_alone_without_dropout(replayed_model, replay):
    replay.look(replayed_model.train(), step=0)
    batch = make_batch([TRAINING_REPLAY_PAIR])
    logits = replayed_model.eval()(batch.source_ids, batch.decoder_input_ids)
    assert replay.moments[0].loss == pytest.approx(token_loss(logits, batch.label_ids).item())


def test_rows_and_columns_are_named_after_what_the_model_reads(replayed_model, replay):
    replay.look(replayed_model, step=0)
    cross = next(each for each in replay.moments[0].maps if each.name == CROSS)
    assert cross.weights.shape == (HEADS, 6, 3)
    assert cross.queries.tokens == ("<s>", "3", "0", "1", "4", "2")
    assert cross.keys.tokens == ("0", "1", "2")
    assert (cross.kind, cross.layer) == ("Cross-attention", "2")


def test_looking_leaves_the_model_as_it_was(replayed_model, replay):
    replayed_model.train()
    replayed_model.decoder.layers[1].eval()
    token_loss(replayed_model(*[torch.tensor([[4, 5]])] * 2), torch.tensor([[5, 6]])).backward()
    modes = [module.training for module in replayed_model.modules()]
    gradients = [weight.grad.clone() for weight in replayed_model.parameters()]
    random_state = torch.get_rng_state()
    replay.look(replayed_model, step=0)
    assert [module.training for module in replayed_model.modules()] == modes
    for weight, gradient in zip(replayed_model.parameters(), gradients, strict=True):
        assert torch.equal(weight.grad, gradient)
    assert torch.equal(torch.get_rng_state(), random_state)
    assert not any(module._forward_hooks for module in replayed_model.modules())


def test_a_run_that_is_followed_ends_with_the_same_weights_and_records(
    replayed_model, task, replay
):
    config = TrainingConfig(steps=STEPS, evaluate_every=3)
    alone = copy.deepcopy(replayed_model)
    expected = fit(alone, task, config)
    run = fit(
        replayed_model,
        task,
        config,
        after_step=replay.follow(replayed_model, steps=range(STEPS + 1)),
    )
    assert run == expected
    for name, weight in alone.state_dict().items():
        assert torch.equal(replayed_model.state_dict()[name], weight)


def test_the_steps_that_were_asked_for_are_kept_in_their_order(replayed_model, task, replay):
    before = attention_of(copy.deepcopy(replayed_model))[CROSS][0]
    steps = [5, 0, 2, 99]
    after_step = replay.follow(replayed_model, steps=steps)
    steps.append(3)  # too late
    run = fit(replayed_model, task, TrainingConfig(steps=STEPS), after_step=after_step)
    assert [moment.step for moment in replay.moments] == [0, 2, 5]
    assert replay.run is run
    first, *_, last = (moment.maps[-1].weights for moment in replay.moments)
    np.testing.assert_array_equal(first, before)
    assert not np.allclose(first, last)


def test_only_the_layers_asked_for_are_kept(replayed_model, task):
    replay = TrainingReplay(TRAINING_REPLAY_PAIR, task.vocabulary.tokens, [CROSS])
    replay.look(replayed_model, step=7)
    assert [each.name for each in replay.moments[0].maps] == [CROSS]


def test_sharpness_is_one_for_a_single_favourite_and_the_uniform_sharpness_without_any():
    assert sharpness(np.eye(3, 5)) == 1
    assert sharpness(np.full((3, 5), 0.2)) == pytest.approx(0.2)
    assert sharpness(np.array([[0.7, 0.3], [0.5, 0.5]])) == pytest.approx(0.6)


def test_the_uniform_sharpness_counts_only_what_may_be_looked_at():
    causal = np.tril(np.ones((3, 3)))
    weights = np.stack([causal / causal.sum(axis=1, keepdims=True)] * 2)  # (heads, query, key)
    assert uniform_sharpness([weights]) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    # A weight that has become exactly zero may still be looked at: it was not zero before.
    settled = np.stack([np.eye(3)] * 2)
    assert uniform_sharpness([weights, settled]) == pytest.approx(uniform_sharpness([weights]))
    # What one head looks at, another may look at too.
    assert uniform_sharpness([np.stack([np.eye(2, 5), np.eye(2, 5, 1)])]) == pytest.approx(1 / 2)
    assert uniform_sharpness([np.array([[[1.0, 0, 0], [0.5, 0.5, 0]]])]) == pytest.approx(3 / 4)


def test_a_query_that_may_look_at_nothing_has_no_share():
    weights = np.array([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0]])
    with np.errstate(divide="raise"):
        assert uniform_sharpness([weights[None]]) == pytest.approx((1 / 2 + 0) / 2)
    assert sharpness(weights) == pytest.approx((0.75 + 0) / 2)


def look_twice(replayed_model, replay):
    replay.look(replayed_model, step=4)
    replay.look(replayed_model, step=4)


def start_again(replayed_model, replay):
    replay.look(replayed_model, step=4)
    replay.follow(replayed_model, steps=[0])


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (start_again, ValueError, "step must be above 4, the last one kept, got 0"),
        (look_twice, ValueError, "step must be above 4, the last one kept, got 4"),
        (lambda m, r: r.look(m, step=-1), ValueError, "step must be at least 0, got -1"),
        (
            lambda m, r: r.look(None, step=0),
            TypeError,
            "model must be a torch.nn.Module",
        ),
        (lambda m, r: r.follow(m, steps=[]), ValueError, "steps must hold at least one step"),
        (lambda m, r: r.follow(m, steps=[0.5]), TypeError, "steps must be a whole number"),
        (lambda m, r: r.follow(m, steps=[-1]), ValueError, "steps must be at least 0, got -1"),
        (
            lambda m, r: r.follow(None, steps=[1]),
            TypeError,
            "model must be a torch.nn.Module",
        ),
    ],
    ids=[
        "again",
        "twice",
        "before 0",
        "no replayed_model",
        "none",
        "half",
        "negative",
        "nobody",
    ],
)
def test_what_cannot_be_followed_is_refused(use, error, message, replayed_model, replay):
    with pytest.raises(error, match=message):
        use(replayed_model, replay)


def test_a_layer_that_the_model_has_not_is_refused_with_those_it_has(replayed_model, task):
    replay = TrainingReplay(
        TRAINING_REPLAY_PAIR, task.vocabulary.tokens, ["decoder.layers.2.cross_attention"]
    )
    with pytest.raises(ValueError, match=rf"layers must be of .*{CROSS}.*, got 'decoder.layers.2"):
        replay.look(replayed_model, step=0)
    with pytest.raises(ValueError, match=rf"layers must be of .*{CROSS}.*, got 'decoder.layers.2"):
        replay.follow(replayed_model, steps=[3])
    assert replay.moments == []


def test_a_pair_too_long_to_be_shown_is_refused_before_the_run(replayed_model, task):
    replay = TrainingReplay(([4], [5] * 200), task.vocabulary.tokens)
    with pytest.raises(ValueError, match="must be 1 to 128 tokens, got 201"):
        replay.follow(replayed_model, steps=[3])


def test_the_look_before_the_run_is_kept_only_where_step_0_is_wanted(replayed_model, replay):
    modes = [module.training for module in replayed_model.modules()]
    replay.follow(replayed_model, steps=[3])
    assert replay.moments == []
    replay.follow(replayed_model, steps=[0, 3])
    assert [moment.step for moment in replay.moments] == [0]
    assert [module.training for module in replayed_model.modules()] == modes


def test_a_run_that_breaks_is_told_by_fit_and_leaves_only_finite_moments(
    replayed_model, task, replay
):
    optimizer = torch.optim.SGD(replayed_model.parameters(), lr=1e15)
    after_step = replay.follow(replayed_model, steps=range(STEPS + 1))
    with pytest.raises(NotFiniteError, match="must be finite, got .* at step"):
        fit(
            replayed_model,
            task,
            TrainingConfig(steps=STEPS),
            optimizer=optimizer,
            after_step=after_step,
        )
    assert replay.moments[0].step == 0
    assert len(replay.moments) <= len(replay.run.steps)
    assert replay.run.steps[-1].step > replay.moments[-1].step
    for moment in replay.moments:
        assert np.isfinite(moment.loss)
        assert all(np.isfinite(each.weights).all() for each in moment.maps)


@pytest.mark.parametrize(
    ("pair", "tokens", "layers", "error", "message"),
    [
        (([], [5]), ["a"] * 9, None, ValueError, "pair must have a source of at least one token"),
        (([4], [9]), ["a"] * 9, None, ValueError, "pair must hold ids below 9, got 9"),
        (([4], [-1]), ["a"] * 9, None, ValueError, "pair must be at least 0, got -1"),
        (([4], [5]), ["a"] * 9, CROSS, TypeError, "layers must be several names, got the single"),
        (([4], [5]), ["a"] * 9, [], ValueError, "layers must hold at least one name, got none"),
    ],
    ids=["empty", "above", "below", "one layer", "no layer"],
)
def test_what_is_no_pair_with_tokens_is_refused(pair, tokens, layers, error, message):
    with pytest.raises(error, match=message):
        TrainingReplay(pair, tokens, layers)


def test_a_second_run_into_the_same_replay_is_refused(replayed_model, replay):
    after_step = replay.follow(replayed_model, steps=[1, 2])
    run = TrainingRun([StepRecord(1, 1.0, 0.1)])
    after_step(run)
    with pytest.raises(ValueError, match="one replay, one run"):
        after_step(run)


@pytest.mark.parametrize("again", [[2, 4], [STEPS + 1]], ids=["same steps", "steps above"])
def test_a_second_run_leaves_the_record_of_the_first(replayed_model, task, replay, again):
    config = TrainingConfig(steps=STEPS)
    first = fit(
        replayed_model,
        task,
        config,
        after_step=replay.follow(replayed_model, steps=[2, 4]),
    )
    after_step = replay.follow(replayed_model, steps=again)
    longer = TrainingConfig(steps=STEPS + 2)
    with pytest.raises(ValueError, match="run must be the one followed to step 6, got another"):
        fit(replayed_model, task, longer, after_step=after_step)
    assert replay.run is first
    assert len(first.steps) == STEPS
    assert [moment.step for moment in replay.moments] == [2, 4]


def test_a_run_that_is_resumed_is_still_the_same_run(replayed_model, task, replay):
    after_step = replay.follow(replayed_model, steps=[0, 2, 5])
    records = [StepRecord(step, 1 / step, 0.1) for step in range(1, 6)]
    first, resumed = TrainingRun(), TrainingRun(records[:3])
    for record in records[:3]:
        first.steps.append(record)
        after_step(first)
    for record in records[3:]:
        resumed.steps.append(record)
        after_step(resumed)
    assert [moment.step for moment in replay.moments] == [0, 2, 5]
    assert replay.run is resumed


@pytest.mark.parametrize(
    ("wanted", "same", "is_refused"),
    [([2], 2, False), ([2], 1, True), ([0], 1, False), ([0], 0, True)],
    ids=["to the last moment", "not as far", "its first step", "not even that"],
)
def test_a_resumed_run_may_differ_only_after_the_last_moment(
    replayed_model, replay, wanted, same, is_refused
):
    after_step = replay.follow(replayed_model, steps=wanted)
    records = [StepRecord(step, 1.0, 0.1) for step in (1, 2, 3)]
    for step in (1, 2, 3):
        after_step(TrainingRun(records[:step]))
    others = [StepRecord(step, 2.0, 0.1) for step in (1, 2, 3)]
    resumed = TrainingRun(records[:same] + others[same:])
    if is_refused:
        with pytest.raises(ValueError, match="run must be the one followed to step 3, got another"):
            after_step(resumed)
    else:
        after_step(resumed)
        assert replay.run is resumed
