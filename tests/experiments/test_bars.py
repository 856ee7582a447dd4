"""The bars ask for what was promised, and a run that misses one is told."""

from dataclasses import replace

import pytest

from experiments.bars import BARS, Bar, check_bars
from experiments.reference_settings import ReferenceSettings

TINY = Bar(
    settings=ReferenceSettings(
        variant="tiny",
        sizes={"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 8, "dropout": 0.0},
        task_sizes={"train_size": 40, "validation_size": 6, "test_size": 5},
        steps=2,
        batch_size=4,
        evaluate_every=2,
    ),
    exact_match={2: 0.0},
)


def test_the_bars_are_the_promised_ones():
    promised = {
        ("copy", 400): (0.995, 1000, 10),
        ("copy", 800): (1.0, 1000, 10),
        ("reverse", 300): (1.0, 1000, None),
        ("number words", 500): (0.995, 500, 20),
    }
    for (task, within), (least, held_out, seconds) in promised.items():
        fitting = [
            bar
            for bar in BARS
            if bar.settings.task == task
            and any(s <= within and share >= least for s, share in bar.exact_match.items())
        ]
        assert fitting, task
        for bar in fitting:
            assert bar.settings.evaluate_on == held_out
            assert len(bar.settings.build_task().validation) >= held_out
            assert seconds is None or bar.cpu_seconds <= seconds


@pytest.mark.parametrize("bar", BARS)
def test_every_step_asked_for_is_evaluated(bar):
    steps, every = bar.settings.steps, bar.settings.evaluate_every
    assert set(bar.exact_match) <= {*range(every, steps + 1, every), steps}


def test_each_run_has_a_line_and_all_cleared_is_said(capsys):
    assert check_bars([TINY], seeds=(3, 4))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["tiny", "3"], ["tiny", "4"]]
    assert lines[-1] == "all bars are cleared"


@pytest.mark.parametrize(
    "missed", [replace(TINY, exact_match={2: 1.0}), replace(TINY, cpu_seconds=1e-9)]
)
def test_a_missed_bar_is_told(missed, capsys):
    assert not check_bars([TINY, missed], seeds=(3,))
    lines = capsys.readouterr().out.splitlines()
    assert [line.endswith("MISSED") for line in lines[1:3]] == [False, True]
    assert lines[-1] == "1 runs missed their bar"
