"""The ends of runs are told in words and in a table, over all seeds."""

from transformer_course.curves.run_figures import describe_runs, run_table
from transformer_course.curves.stored_runs import Glance, SeedRun, StoredRuns
from transformer_edu.training.evaluation import Evaluation

GLANCE = Glance(
    source=("$a$", "b", "c"),
    target=("c", "b"),
    written=("c",),
    head=1,
    weights=((0.0, 0.0, 1.0), (0.0, 0.75, 0.25), (0.5, 0.25, 0.25)),
)


def stored(variant: str = "no mask", *, losses: tuple[float, ...] = (3.0, 1.0, 2.0)) -> StoredRuns:
    """One seed for each loss; the second evaluation has a tenth of the first one's."""
    runs = tuple(
        SeedRun(
            seed=seed,
            evaluations=(
                Evaluation(10, loss, 0.25, 0.0),
                Evaluation(20, loss / 10, 0.5 + loss / 10, 1.0),
            ),
        )
        for seed, loss in enumerate(losses)
    )
    return StoredRuns(variant=variant, settings={}, runs=runs, glance=GLANCE)


def test_the_words_and_the_table_hold_smallest_and_largest():
    runs = [stored("a"), stored("same", losses=(1.0, 1.0))]
    said = "a: loss 0.10 – 0.30, exact match 1.00; same: loss 0.10, exact match 1.00"
    assert describe_runs(runs) == said
    lines = run_table(runs).splitlines()
    assert lines[0].split() == ["loss", "token", "accuracy", "exact", "match"]
    assert lines[1].split() == ["a", "0.10", "–", "0.30", "0.60", "–", "0.80", "1.00"]
    assert lines[2].split() == ["same", "0.10", "0.60", "1.00"]
    assert len({len(line) for line in lines}) == 1
