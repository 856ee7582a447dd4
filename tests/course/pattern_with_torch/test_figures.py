"""Every figure of lesson 13 has its title and says in words what it shows; tables are aligned."""

from functools import partial

import pytest

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.pattern_with_torch import figures
from transformer_course.pattern_with_torch.pattern import (
    PROMPTS,
    encode_pairs,
    pattern_vocabulary,
)
from transformer_edu.data.batches import make_batch
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.state import StepRecord, TrainingRun

LENGTHS = range(2, 21)
EXACT = [1.0] * 15 + [0.5] * 4
SYMBOLS = pattern_vocabulary()


def run(losses, *, every=2):
    """A run with an evaluation after every so many steps, whose loss is that step's."""
    steps = [StepRecord(step, loss, 1.0, 0.1) for step, loss in enumerate(losses, start=1)]
    ends = range(every, len(losses) + 1, every)
    return TrainingRun(steps, [Evaluation(end, losses[end - 1], 1.0, 1.0) for end in ends])


LOSSES = {"Adam": run([8, 6, 4, 2, 2, 2, 1, 1]), "SGD": run([8, 8, 7, 7, 6, 6, 5, 5])}
FIGURES = {
    "plot_by_length": partial(figures.plot_by_length, LENGTHS, EXACT),
    "plot_by_length, repaired": partial(figures.plot_by_length, LENGTHS, EXACT, repaired=EXACT),
    "plot_loss_curves": partial(figures.plot_loss_curves, figures.loss_curves(LOSSES)),
    "plot_moved": partial(figures.plot_moved, LENGTHS, EXACT, EXACT[6:]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


def test_the_titles_follow_the_numbers():
    title = figures.plot_by_length(range(3, 24), [0.1] * 8 + [0.5] + [0.2] * 12).get_label()
    assert title == "50% of the answers are right at 11 symbols, 20% at 23"
    assert "at 5 symbols" in figures.plot_by_length(range(2, 9), [0.5] * 7).get_label()
    worse = figures.plot_by_length(LENGTHS, EXACT, repaired=[0] * len(EXACT)).get_label()
    assert worse == "The model as it was, and the repaired one"
    assert figures.plot_moved(range(3), [1, 1, 1], [0.5, 0.25]).get_label().endswith("by 1: 0.25")


def test_moved_prompts_stand_where_their_last_tokens_are():
    figure = figures.plot_moved(range(2, 13), [1.0] * 11, [0.5, 0.25, 0.125])
    moved = next(line for line in figure.axes[0].lines if "moved" in line.get_label())
    drawn = {int(x): y for x, y in moved.get_xydata() if y == y}
    assert drawn == {8: 0.5, 9: 0.25, 10: 0.125}


def test_a_training_loss_is_the_mean_of_the_steps_before_its_evaluation():
    curves = figures.loss_curves(LOSSES)
    assert curves["Adam, validation"] == [6, 2, 2, 1]
    assert curves["Adam, training"] == [7, 3, 2, 1]


def test_the_title_of_two_optimizers_follows_their_losses():
    near_0 = run([4, 1, 0.5, 0.1, 0.1, 0.05, 0, 0])
    for runs, title in (
        ({**LOSSES, "Adam": near_0}, "SGD's loss falls all the time, Adam's is soon near 0"),
        (LOSSES, "Validation loss at the end: Adam 1.00, SGD 5.00"),
        ({"Adam": near_0, "SGD": run([4] * 8)}, "Validation loss at the end: Adam 0.00, SGD 4.00"),
        ({"AdamW": near_0}, "Validation loss at the end: AdamW 0.00"),
    ):
        assert figures.plot_loss_curves(figures.loss_curves(runs)).get_label() == title


def test_the_figure_of_an_interrupted_training_says_so():
    curves = figures.loss_curves({**LOSSES, "SGD": run([8, 8, 7])})
    assert {len(curve) for curve in curves.values()} == {1}
    assert "interrupted or shortened" in figures.plot_loss_curves(curves).get_label()


def test_a_training_over_more_than_two_epochs_is_refused():
    curves = figures.loss_curves({"Adam": run([4] * 16)})
    with pytest.raises(ValueError, match="curves must have at most 4 losses each, got 8"):
        figures.plot_loss_curves(curves)


def test_short_prompts_are_not_called_long():
    figure = figures.plot_by_length([4, 6, 8], [0.5, 0.5, 0.5], repaired=[1.0, 1.0, 1.0])
    assert figure.get_label() == "The model as it was, and the repaired one"


def test_the_rows_of_a_batch_stand_below_each_other():
    batch = make_batch(encode_pairs(SYMBOLS, [("1010", 3), ("10", 2)]))
    lines = figures.batch_table(batch, SYMBOLS).splitlines()
    assert [line.split() for line in lines[:2]] == [
        ["source", "1", "0", "1", "0", "+3"],
        ["source", "1", "0", "+2", "<pad>", "<pad>"],
    ]
    assert [line.split() for line in lines[4:]] == [
        ["labels", "1", "0", "1", "</s>"],
        ["labels", "1", "0", "</s>", "<pad>"],
    ]
    assert [len(set(map(len, part))) for part in (lines[:2], lines[2:4], lines[4:])] == [1, 1, 1]


def test_the_right_answers_stand_beside_what_the_models_write():
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 8, "max_length": 32}
    model = Transformer(TransformerConfig(vocabulary_size=len(SYMBOLS), **sizes)).eval()
    header, *lines = figures.continuation_table({"a": model, "b": model}, SYMBOLS).splitlines()
    assert header.split() == ["prompt", "right", "a", "b"]
    assert [line.split()[:2] for line in lines[:3]] == [
        ["00000000", "00000"],
        ["11111111", "11111"],
        ["10101010", "10101"],
    ]
    assert len(lines) == len(PROMPTS)
