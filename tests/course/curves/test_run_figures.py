"""The ends of runs are told in words and in a table, over all seeds."""

from tests.small_runs import stored
from transformer_course.curves.run_figures import describe_runs, run_table


def test_the_words_and_the_table_hold_smallest_and_largest():
    runs = [stored("a"), stored("same", losses=(1.0, 1.0))]
    said = "a: loss 0.10 – 0.30, exact match 1.00; same: loss 0.10, exact match 1.00"
    assert describe_runs(runs) == said
    lines = run_table(runs).splitlines()
    assert lines[0].split() == ["loss", "token", "accuracy", "exact", "match"]
    assert lines[1].split() == ["a", "0.10", "–", "0.30", "0.60", "–", "0.80", "1.00"]
    assert lines[2].split() == ["same", "0.10", "0.60", "1.00"]
    assert len({len(line) for line in lines}) == 1
