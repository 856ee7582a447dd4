"""Runs are drawn with all their seeds, and their ends are told in words."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from transformer_edu.teaching.run_curves import describe_runs, draw_band, plot_runs, run_table
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.stored_runs import Glance, SeedRun, StoredRuns


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
    glance = Glance(source=("a",), target=(), written=(), head=0, weights=((1.0,),))
    return StoredRuns(variant=variant, settings={}, runs=runs, glance=glance)


def test_a_line_is_the_median_and_the_band_reaches_from_worst_to_best():
    _, axes = plt.subplots()
    draw_band(axes, stored(), "loss")
    assert axes.lines[0].get_xdata().tolist() == [10, 20]
    assert axes.lines[0].get_ydata().tolist() == [2.0, 0.2]
    corners = axes.collections[0].get_paths()[0].vertices
    assert {(10.0, 1.0), (10.0, 3.0), (20.0, 0.1)} <= set(map(tuple, np.round(corners, 6)))


def test_each_measure_has_its_panel_with_named_axes_and_a_scale():
    measures = ["loss", "token_accuracy", "exact_match"]
    figure = plot_runs([stored("a"), stored("b$x$")], title="t", measures=measures)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "loss (nats per token)",
        "token accuracy",
        "exact match",
    ]
    assert {axes.get_xlabel() for axes in figure.axes} == {"training step"}
    assert figure.axes[0].get_ylim()[0] == 0
    assert all(axes.get_ylim() == (-0.04, 1.04) for axes in figure.axes[1:])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", r"b\$x\$"]
    assert figure._suptitle.get_text() == "t"


def test_variants_differ_in_colour_and_in_marker():
    lines = plot_runs([stored(str(i)) for i in range(4)], title="t").axes[0].lines
    assert len({line.get_color() for line in lines}) == 4
    assert len({line.get_marker() for line in lines}) == 4


def test_names_may_be_shorter_than_the_variants():
    legend = plot_runs([stored("long")], title="t", names=["short"]).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["short"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variants": []}, "variants must be 1 to 5, got 0"),
        ({"variants": [stored()] * 6}, "variants must be 1 to 5, got 6"),
        ({"variants": [stored()], "names": ["a", "b"]}, "names must name 1 variants, got 2"),
        ({"variants": [stored()], "measures": ["speed"]}, r"got \['speed'\]"),
        ({"variants": [stored()], "measures": []}, r"measures must be of loss, .* got \[\]"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        plot_runs(**arguments, title="t")


def test_the_words_and_the_table_hold_smallest_and_largest():
    runs = [stored("a"), stored("same", losses=(1.0, 1.0))]
    assert describe_runs(runs) == "a: loss 0.10 – 0.30, alone 1.00; same: loss 0.10, alone 1.00"
    lines = run_table(runs).splitlines()
    assert lines[0].split() == ["loss", "tokens", "right", "written", "alone"]
    assert lines[1].split() == ["a", "0.10", "–", "0.30", "0.60", "–", "0.80", "1.00"]
    assert lines[2].split() == ["same", "0.10", "0.60", "1.00"]
    assert len({len(line) for line in lines}) == 1
