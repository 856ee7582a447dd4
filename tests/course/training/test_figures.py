"""The figures of lesson 10 say what is to be seen in what they get."""

import pytest
import torch

from transformer_course.curves.stored_runs import load_deep_runs
from transformer_course.training.checks import our_rate
from transformer_course.training.figures import (
    name_costs,
    plot_costs,
    plot_deep_runs,
    plot_loss_curves,
    plot_paths,
    plot_rates,
)
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.state import StepRecord, TrainingRun


def title_of(figure):
    return figure.get_suptitle() or figure.axes[0].get_title("left")


def test_deep_runs_are_named_by_what_distinguishes_them():
    figure = plot_deep_runs(load_deep_runs("no warm-up", "warm-up 100"))
    assert "only the learning rate differs" in title_of(figure)
    assert [each.get_text() for each in figure.legends[0].get_texts()] == [
        "no warm-up",
        "warm-up 100",
    ]
    assert "6+6 layers, warm-up 100: loss" in figure.get_label()


def test_the_most_expensive_token_is_named(translator):
    ids = translator.tokenizer.encode("Ein Mann.")
    costs = name_costs(translator, ids, torch.tensor([0.5, 4.0, 1.0, 0.5]))
    assert costs == {"Ein": 0.5, "Mann": 4.0, ".": 1.0, "end": 0.5}
    figure = plot_costs(costs)
    assert title_of(figure) == "'Mann' costs most; the mean is 1.5 nats"
    assert figure.get_label() == "'Mann' costs most"


def test_a_token_that_occurs_again_has_a_bar_of_its_own(translator):
    ids = translator.tokenizer.encode("Ein Mann und ein Mann.")
    given = torch.arange(len(ids) + 1.0)
    costs = name_costs(translator, ids, given)
    assert list(costs) == ["Ein", "Mann", "und", "ein", "Mann (2)", ".", "end"]
    assert list(costs.values()) == given.tolist()
    assert title_of(plot_costs(costs)) == "'end' costs most; the mean is 3.0 nats"
    with pytest.raises(ValueError, match="costs must be one for each of 7 tokens, the end token"):
        name_costs(translator, ids, given[1:])


def test_the_title_says_when_both_weights_reach_zero():
    paths = {"descent": [1.0, 0.5, 0.2], "Adam, A": [1.0, -0.1, 0.0], "Adam, B": [1.0, 0.1, 0.0]}
    figure = plot_paths(paths)
    assert title_of(figure) == figure.get_label()
    assert title_of(figure) == "With Adam, A reaches 0 at step 1 and B at step 2"


def test_a_weight_that_starts_below_zero_reaches_it_from_there():
    paths = {"Adam, A": [-1.0, -0.5, 0.0], "Adam, B": [-1.0, -0.5, -0.2]}
    assert title_of(plot_paths(paths)) == "With Adam, A reaches 0 at step 2 and B not by step 2"


def test_of_another_rate_no_peak_is_told():
    figure = plot_rates(lambda step, d_model, warmup_steps: 1.0, [(4, 100)])
    assert figure.get_label() == "The rate at every step; at the end of the warm-up [1.0]"


def test_the_highest_rates_are_in_the_description():
    figure = plot_rates(our_rate, [(4, 100), (16, 100)])
    assert figure.get_label() == "the rate rises to a peak and falls; peaks [0.05, 0.025]"


def test_the_training_loss_is_the_mean_since_the_evaluation_before():
    steps = [StepRecord(step, loss, 1.0) for step, loss in enumerate([4.0, 2, 1, 0], start=1)]
    evaluations = [Evaluation(2, 1.0, 0.5, 0.5), Evaluation(4, 1.5, 0.5, 0.5)]
    figure = plot_loss_curves(TrainingRun(steps, evaluations))
    validation, training = figure.axes[0].lines
    assert list(validation.get_ydata()) == [1.0, 1.5] and list(training.get_ydata()) == [3.0, 0.5]
    assert "lowest at step 2" in figure.get_label() and "2" not in title_of(figure)


def test_the_title_claims_only_what_the_compared_runs_show():
    only_rates = "only the learning rate differs"
    for names in [
        ("no warm-up", "pre-norm, no warm-up"),
        ("warm-up 100", "warm-up 100, larger start"),
        ("warm-up 100",),
    ]:
        assert only_rates not in title_of(plot_deep_runs(load_deep_runs(*names)))
    figure = plot_deep_runs(load_deep_runs("no warm-up", "pre-norm, no warm-up"))
    assert title_of(figure) == "Exact match at the end: from 0.00 to 1.00"


def test_a_peak_beyond_the_axis_is_not_told_as_seen():
    label = plot_rates(our_rate, [(4, 100_000)]).get_label()
    assert label.startswith("The rate at every step; at the end of the warm-up [0.00158")


def test_a_training_that_ended_before_its_first_evaluation_is_refused():
    with pytest.raises(ValueError, match="evaluations.* got none"):
        plot_loss_curves(TrainingRun())


def test_a_rate_without_warm_up_is_refused():
    with pytest.raises(ValueError, match="the warm-up must have at least 1 step, got 0"):
        plot_rates(our_rate, [(512, 0)])


def test_all_of_the_most_expensive_tokens_are_named():
    assert plot_costs({"a": 2.0, "b": 2.0, "c": 1.0}).get_label() == "'a' and 'b' cost most"
    assert plot_costs({"a": 2.0, "b": 2.0, "c": 2.0}).get_label() == "3 of 3 cost most"
