"""The measurement of lesson 22 stores what the lesson draws, and its claims hold for every seed."""

import pytest

from experiments.features import COUNTS, SEEDS, main
from transformer_course.features.stored import stored_runs


@pytest.mark.slow
def test_the_command_stores_every_seed_as_the_lesson_reads_it(tmp_path, capsys):
    path = tmp_path / "found.json"
    assert main(["--file", str(path), "--steps", "0"]) == 0
    *rows, last = capsys.readouterr().out.splitlines()
    assert len(rows) == len(SEEDS) and last == f"written to {path}"
    fresh, stored = stored_runs(path), stored_runs()
    assert [run.seed for run in fresh] == [run.seed for run in stored] == list(SEEDS)
    for before, after in zip(fresh, stored, strict=True):
        assert before.counts == after.counts == COUNTS
        assert before.raw == pytest.approx(after.raw, abs=0.01)
        assert before.sentences == after.sentences
        assert before.explained < after.explained


@pytest.mark.parametrize("run", stored_runs(), ids=lambda run: f"seed {run.seed}")
def test_what_the_lesson_says_of_its_seed_holds_for_the_stored_ones(run):
    assert run.explained > 0.67
    assert 0.1 < run.single_words < 0.35
    assert run.plural >= run.raw and run.plural > run.random
    assert run.flips[0] < 15 and run.flips[-1] > 25
    assert max(run.controls) < 0.3 * run.flips[-1]
    assert run.numbers[-1] > 0.3 * run.subjects
    assert max(run.number_controls) < 0.1 * run.subjects
