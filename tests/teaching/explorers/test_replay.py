"""The replay's picture shows the step chosen, and its controls reach every step, layer and head."""

import numpy as np
import pytest
import torch

from tests.published import caught_explorers
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.explorers import replay as module
from transformer_edu.teaching.explorers.replay import (
    describe_training,
    explore_training,
    plot_training,
)
from transformer_edu.teaching.inspect.replay import TrainingReplay, sharpness, uniform_sharpness
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.state import StepRecord, TrainingRun

HEADS, LAYERS = 3, 2
STEPS = (0, 20, 50, 70)
CROSS = [f"decoder.layers.{number}.cross_attention" for number in range(LAYERS)]
TOKENS = ["<pad>", "<s>", "</s>", "<unk>", "zero", "$x$", "two", "three"]


@pytest.fixture
def replay() -> TrainingReplay:
    """Four moments of different random weights stand for a training."""
    made = TrainingReplay(([4, 5, 6, 7], [6, 5, 4, 7, 7]), TOKENS, CROSS)
    sizes = {"d_model": 12, "num_heads": HEADS, "num_layers": LAYERS, "d_ff": 8}
    for seed, step in enumerate(STEPS):
        torch.manual_seed(seed)
        made.record(Transformer(TransformerConfig(vocabulary_size=8, **sizes)), step=step)
    made.run = TrainingRun(
        [StepRecord(step, 9.0 / step, 0.1) for step in range(1, 81)],
        [Evaluation(30, 1.0, 0.9, 0.25), Evaluation(70, 1.0, 0.9, 0.5)],
    )
    return made


@pytest.fixture
def explored(monkeypatch) -> list[tuple]:
    return caught_explorers(monkeypatch, module)


def test_the_map_is_that_of_the_step_layer_and_head(replay):
    grid = plot_training(replay, step=50, layer=2, head=3).axes[0]
    drawn = np.asarray(grid.images[0].get_array())
    np.testing.assert_allclose(drawn, replay.moments[2].maps[1].weights[2])
    assert grid.get_title("left") == "Cross-attention, layer 2"
    assert [each.get_text() for each in grid.get_xticklabels()] == [
        "zero",
        r"\$x\$",
        "two",
        "three",
    ]
    assert grid.get_yticklabels()[0].get_text() == "<s>"


def test_no_head_is_the_mean_of_all(replay):
    drawn = plot_training(replay, step=20, layer=1, head=0).axes[0].images[0].get_array()
    np.testing.assert_allclose(np.asarray(drawn), replay.moments[1].maps[0].weights.mean(axis=0))


def test_both_curves_run_over_all_moments_and_mark_the_one_shown(replay):
    _, _, losses, shares = plot_training(replay, step=50, layer=2, head=1).axes
    expected = [sharpness(moment.maps[1].weights[0]) for moment in replay.moments]
    for axes, values in (
        (losses, [moment.loss for moment in replay.moments]),
        (shares, expected),
    ):
        (curve,) = (line for line in axes.lines if tuple(line.get_xdata()) == STEPS)
        np.testing.assert_allclose(curve.get_ydata(), values)
        mark = axes.lines[-1]
        assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (50, pytest.approx(values[2]))
        assert f"{values[2]:.2f}" in axes.get_title("left")
        assert [50, 50] in [list(line.get_xdata()) for line in axes.lines]
    assert losses.get_xlim() == shares.get_xlim() and losses.get_ylim()[0] == 0
    even = uniform_sharpness([moment.maps[1].weights for moment in replay.moments])
    assert even == pytest.approx(1 / 4)
    assert any(set(line.get_ydata()) == {even} for line in shares.lines)


@pytest.mark.parametrize(("layer", "keys_seen"), [(1, [1, 2, 3, 4, 5, 6]), (2, [4])])
def test_the_uniform_sharpness_is_the_layers_own_with_its_name_where_there_is_room(
    layer, keys_seen
):
    """Six tokens that look back at one another, and at four of the source."""
    layers = ["decoder.layers.1.self_attention", CROSS[0]]
    made = TrainingReplay(([4, 5, 6, 7], [6, 5, 4, 7, 7]), TOKENS, layers)
    torch.manual_seed(0)
    sizes = {"d_model": 12, "num_heads": HEADS, "num_layers": LAYERS, "d_ff": 8}
    made.record(Transformer(TransformerConfig(vocabulary_size=8, **sizes)), step=3)
    shares = plot_training(made, step=3, layer=layer, head=0).axes[3]
    even = sum(1 / count for count in keys_seen) / len(keys_seen)
    (line,) = (each for each in shares.lines if each.get_linestyle() == ":")
    assert list(line.get_ydata()) == pytest.approx([even, even])
    (words,) = shares.texts
    assert words.get_text() == "if uniform"
    is_below = even > 1 / 4  # where more room is
    assert words.get_va() == ("top" if is_below else "bottom")
    assert (words.get_position()[1] < even) == is_below


def test_the_batches_losses_are_there_where_the_run_is_known(replay):
    batches = plot_training(replay, step=0, layer=1, head=0).axes[2].lines[0]
    assert batches.get_color() == module.REFERENCE
    np.testing.assert_allclose(batches.get_ydata(), [9.0 / step for step in range(1, 81)])
    replay.run = TrainingRun()
    losses = plot_training(replay, step=0, layer=1, head=0).axes[2]
    assert module.REFERENCE not in {line.get_color() for line in losses.lines}
    assert not losses.texts


@pytest.mark.parametrize(("length", "every"), [(500, 1), (501, 2), (1001, 3)])
def test_a_run_longer_than_500_steps_is_thinned_and_reaches_as_far(replay, length, every):
    replay.run = TrainingRun([StepRecord(step, 1.0, 0.1) for step in range(1, length + 1)])
    axes = plot_training(replay, step=0, layer=1, head=0).axes[2]
    drawn = axes.lines[0].get_xdata()
    assert len(drawn) <= module.MOST_BATCHES == 500
    assert list(drawn) == list(range(1, length + 1, every))
    assert axes.get_xlim()[1] > length


def test_title_and_words_say_what_is_seen(replay):
    share = f"{sharpness(replay.moments[2].maps[0].weights[1]):.0%}"
    title = plot_training(replay, step=50, layer=1, head=2).get_suptitle()
    words = describe_training(replay, step=50, layer=1, head=2)
    assert (
        title.startswith(f"After 50 steps the largest weight of head 2 is {share}")
        and title in words
    )
    assert words.startswith("Cross-attention, layer 1, head 2. ")
    assert "After 50 steps the largest weight of the mean of all heads is " in describe_training(
        replay, step=50, layer=1, head=0
    )
    assert f"loss of the pair {replay.moments[2].loss:.2f}, exact match 25% at step 30" in words
    assert "exact match 50% at step 70" in describe_training(replay, step=70, layer=1, head=0)
    largest = TOKENS[4 + int(replay.moments[2].maps[0].weights[1][0].argmax())]
    assert f"<s> to {largest}, two to" in words
    assert "exact match" not in describe_training(replay, step=20, layer=1, head=0)


def test_the_controls_reach_everything_that_was_kept(replay, explored):
    explore_training(replay, step=70, layer=2, head=0)
    ((draw, describe, controls),) = explored
    assert list(controls) == ["step", "layer", "head"]
    assert controls["step"].options == STEPS and controls["step"].value == STEPS[-1]
    assert [name for name, _ in controls["layer"].options] == [
        "cross 1",
        "cross 2",
    ]
    assert controls["layer"].value == 2
    assert (controls["head"].min, controls["head"].max) == (0, HEADS)
    first = {name: control.value for name, control in controls.items()}
    for changed in ({"step": 0}, {"layer": 1}, {"head": HEADS}, {"head": 0}):
        draw(**(first | changed))
        assert describe(**(first | changed))


def test_a_control_that_could_not_move_is_left_out(explored):
    made = TrainingReplay(([4, 5], [5]), TOKENS, CROSS[:1])
    sizes = {"d_model": 4, "num_heads": 1, "num_layers": 1, "d_ff": 6}
    model = Transformer(TransformerConfig(vocabulary_size=8, **sizes))
    made.record(model, step=1)
    made.record(model, step=2)
    explore_training(made, step=1, layer=1, head=1)
    ((draw, describe, controls),) = explored
    assert list(controls) == ["step"] and controls["step"].value == 1
    np.testing.assert_allclose(
        np.asarray(draw(step=2).axes[0].images[0].get_array()), made.moments[1].maps[0].weights[0]
    )
    assert describe(step=2).startswith("Cross-attention, layer 1")
