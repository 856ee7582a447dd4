"""Stored runs with few numbers, for the tests of what is drawn and told of them."""

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
