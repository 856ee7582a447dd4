"""The benchmark's arithmetic and its tables; what it measures is never a test."""

import multiprocessing
import os

import pytest
import torch

from experiments.benchmark.timing import (
    OwnProcess,
    Step,
    alternate,
    markdown_table,
    ratios,
    spread,
    take_turns,
)


def test_a_ratio_tells_how_many_times_as_long_the_second_took():
    assert ratios([(2.0, 3.0), (4.0, 2.0)]) == [1.5, 0.5]


def test_a_spread_is_least_median_and_most():
    assert spread([3.0, 1.0, 2.04], 1) == "1.0 / 2.0 / 3.0"


def test_a_table_is_markdown_with_straight_columns():
    table = markdown_table(["model", "MiB"], [["ours", "811"], ["nn.Transformer", "1,017"]])
    assert table.splitlines() == [
        "| model          | MiB   |",
        "| -------------- | ----- |",
        "| ours           | 811   |",
        "| nn.Transformer | 1,017 |",
    ]


def test_all_sides_take_turns_and_every_second_round_runs_backwards():
    order = []
    steps = [lambda name=name: order.append(name) for name in "abc"]
    rounds = list(take_turns(*steps, rounds=2, warm_up=1))
    assert len(rounds) == 2
    assert all(len(seconds) == 3 and min(seconds) >= 0 for seconds in rounds)
    assert "".join(order) == "abccbaabc"  # one round of warm-up, then two that count


def build_step(threads: int, breaks: bool) -> Step:
    """A step that can tell in which process it is."""
    assert torch.get_num_threads() == threads, "as many threads as here"
    place = os.getpid()

    def work() -> None:
        assert os.getpid() == place and multiprocessing.parent_process() is not None
        for _ in range(50):
            torch.randn(90, 90) @ torch.randn(90, 90)
        if breaks:
            raise ValueError("by hand")

    return work


def test_a_step_in_a_process_of_its_own_is_timed_there():
    timer = OwnProcess(build_step, torch.get_num_threads(), False)
    ((first,), (second,)) = alternate(timer, rounds=2, warm_up=1)
    assert first > 0 and second > 0
    timer.close()
    assert multiprocessing.active_children() == []
    with pytest.raises(OSError, match="closed"):
        timer()


def test_a_process_that_has_ended_says_so(capfd):
    timer = OwnProcess(build_step, torch.get_num_threads(), True)
    with pytest.raises(RuntimeError, match="step must go on in its process, got the end of it"):
        timer()
    timer.close()
    assert "ValueError: by hand" in capfd.readouterr().err
