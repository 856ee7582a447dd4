"""The benchmark's arithmetic and its tables; what it measures is never a test."""

import torch

from transformer_edu.benchmark.timing import (
    compare,
    machine,
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


def test_the_longer_of_two_is_so_many_times_as_long():
    def work(times: int) -> None:
        for _ in range(times):
            torch.randn(60, 60) @ torch.randn(60, 60)

    _, _, faster = compare(lambda: work(5), lambda: work(500), 3)
    assert float(faster.split(" / ")[1]) > 2


def test_the_machine_is_told_with_its_threads_and_the_version():
    told = machine()
    assert f"torch {torch.__version__}" in told
    assert f"{torch.get_num_threads()} thread" in told
