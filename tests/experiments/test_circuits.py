"""The measurement of lesson 21 stores what the lesson draws."""

import pytest

from experiments.circuits import EVERY, SEEDS, main
from transformer_course.circuits.jumps import KINDS, stored_jumps
from transformer_course.circuits.live_jump import stored_maps
from transformer_course.circuits.repeats import STEPS


def test_the_command_stores_every_model_with_every_seed_as_the_lesson_reads_it(tmp_path, capsys):
    path = tmp_path / "jumps.json"
    assert main(["--file", str(path), "--steps", "0"]) == 0
    *rows, last = capsys.readouterr().out.splitlines()
    assert len(rows) == len(KINDS) * len(SEEDS) and last == f"written to {path}"
    for kind in KINDS:
        fresh, stored = stored_jumps(kind, path), stored_jumps(kind)
        assert [jump.seed for jump in fresh] == [jump.seed for jump in stored] == list(SEEDS)
        for before, after in zip(fresh, stored, strict=True):
            assert list(before.ends) == list(after.ends)
            assert before.steps == (0,)
            assert after.steps == tuple(range(0, STEPS + 1, EVERY))
            assert after.accuracy[0] == pytest.approx(
                before.accuracy[0], abs=0.02
            )  # the same start
    assert stored_maps(path).words == stored_maps().words
