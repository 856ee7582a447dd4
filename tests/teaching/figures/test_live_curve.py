"""A run can be watched while it learns; what is stored is the picture before it began."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.figures import live_curve as module
from transformer_edu.teaching.figures.live_curve import LiveCurve, describe_run, plot_run
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.data.toy_tasks import copy_task
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.loop import fit
from transformer_edu.training.state import StepRecord, TrainingRun


def made_run(steps: int, every: int = 5, first_loss: float = 3.0) -> TrainingRun:
    return TrainingRun(
        [StepRecord(step, first_loss / step, 0.1) for step in range(1, steps + 1)],
        [Evaluation(step, 1.0, 0.9, step / 100) for step in range(every, steps + 1, every)],
    )


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The words of every picture, the published one first."""
    words: list[str] = []

    def receive(figure: Figure, alt: str):
        assert isinstance(figure, Figure)
        words.append(alt)
        return receive

    monkeypatch.setattr(module, "show_live", receive)
    return words


def test_it_is_shown_before_the_run_with_the_reference_alone(shown):
    LiveCurve(made_run(20))
    assert shown == ["a run made earlier: loss 0.15 at step 20, exact match 20%"]


def test_it_is_drawn_every_so_many_steps_and_at_every_evaluation(shown):
    curve, run = LiveCurve(every=4), TrainingRun()
    for step in range(1, 14):
        run.steps.append(StepRecord(step, 1.0, 0.1))
        if step in (6, 13):
            run.evaluations.append(Evaluation(step, 1.0, 0.9, 0.5))
        curve(run)
    steps = [int(words.split("step ")[1].split(",")[0]) for words in shown[1:]]
    assert steps == [4, 6, 8, 12, 13]


def test_it_follows_a_real_run_without_changing_it(shown):
    task = copy_task(
        num_symbols=5, longest=3, shortest=2, train_size=9, validation_size=3, test_size=2
    )
    config = TrainingConfig(steps=6, evaluate_every=3)
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 12}
    model = Transformer(TransformerConfig(vocabulary_size=9, **sizes))
    start = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    expected = fit(model, task, config)
    model.load_state_dict(start)
    assert fit(model, task, config, after_step=LiveCurve(expected, every=2)) == expected
    assert len(shown) == 1 + 4  # steps 2, 3, 4, 6
    assert describe_run(expected, reference=expected) == shown[-1]


def test_the_reference_is_grey_and_behind_and_the_run_is_over_it():
    reference, run = made_run(20), made_run(8, first_loss=2.0)
    left, right = plot_run(run, reference=reference).axes
    behind, own = left.lines
    np.testing.assert_allclose(behind.get_ydata(), [3 / step for step in range(1, 21)])
    np.testing.assert_allclose(own.get_ydata(), [2 / step for step in range(1, 9)])
    assert behind.get_color() == module.REFERENCE != own.get_color()
    assert left.get_xlim() == right.get_xlim()
    assert left.get_xlim()[1] > 20
    assert [len(line.get_xdata()) for line in right.lines] == [4, 4, 1, 1]
    exact, tokens = right.lines[2:]
    assert exact.get_marker() != tokens.get_marker()
    assert right.get_ylim() == pytest.approx((0, 1), abs=0.05)


def test_a_reference_of_evaluations_alone_is_drawn_by_their_losses():
    reference = TrainingRun(evaluations=made_run(20).evaluations)
    left, right = plot_run(TrainingRun(), reference=reference).axes
    assert list(left.lines[0].get_xdata()) == [5, 10, 15, 20]
    assert list(left.lines[0].get_ydata()) == [1.0] * 4
    assert right.get_xlim()[1] > 20
    words = describe_run(TrainingRun(), reference=reference)
    assert words == "a run made earlier: loss 1.00 at step 20, exact match 20%"


def test_every_line_is_named_once():
    left, right = plot_run(made_run(8), reference=made_run(20)).axes
    for axes, names in (
        (left, ["a run made earlier", "this run"]),
        (right, ["exact match", "token accuracy"]),
    ):
        assert [text.get_text() for text in axes.get_legend().get_texts()] == names


def test_the_title_says_what_is_reached():
    assert "After 8 steps the loss is 0.38, and 5%" in plot_run(made_run(8)).get_suptitle()
    assert "will be drawn here" in plot_run(TrainingRun()).get_suptitle()
    assert describe_run(TrainingRun()) == "no step taken yet"


def test_drawing_every_zero_steps_is_refused():
    with pytest.raises(ValueError, match="every must be at least 1, got 0"):
        LiveCurve(every=0)
