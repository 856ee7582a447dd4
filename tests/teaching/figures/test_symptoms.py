"""The gallery shows every patient's loss, scores and attention on common scales."""

import pytest

from transformer_edu.teaching.figures.symptoms import plot_symptoms, written_table
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.runs.stored_runs import Glance, SeedRun, StoredRuns

GLANCE = Glance(
    source=("$a$", "b", "c"),
    target=("c", "b"),
    written=("c",),
    head=1,
    weights=((0.0, 0.0, 1.0), (0.0, 0.75, 0.25), (0.5, 0.25, 0.25)),
)


def patient(variant: str, loss: float = 1.0) -> StoredRuns:
    evaluations = (Evaluation(10, loss, 0.5, 0.25), Evaluation(20, loss / 2, 1.0, 0.75))
    run = SeedRun(seed=0, evaluations=evaluations)
    return StoredRuns(variant=variant, settings={}, runs=(run,), glance=GLANCE)


def panels(figure):
    """Loss, scores and attention, three lists from left to right."""
    count = (len(figure.axes) - 1) // 3  # the last is the colour bar
    return [figure.axes[row * count : (row + 1) * count] for row in range(3)]


def test_a_column_holds_the_curves_and_the_map_of_one_patient():
    loss, scores, attention = panels(plot_symptoms([patient("a", 3.0), patient("b$x$")], title="t"))
    assert [axes.get_title(loc="left") for axes in loss] == ["a", r"b\$x\$"]
    assert loss[0].lines[0].get_ydata().tolist() == [3.0, 1.5]
    tokens, alone = scores[1].lines
    assert (tokens.get_ydata().tolist(), alone.get_ydata().tolist()) == ([0.5, 1.0], [0.25, 0.75])
    assert tokens.get_marker() != alone.get_marker()
    assert attention[0].images[0].get_array().tolist() == [list(row) for row in GLANCE.weights]


def test_the_scales_are_common_and_attention_runs_from_0_to_1():
    loss, scores, attention = panels(plot_symptoms([patient("a", 3.0), patient("b")], title="t"))
    assert loss[0].get_ylim() == loss[1].get_ylim()
    assert loss[0].get_ylim()[0] == 0
    assert {axes.get_ylim() for axes in scores} == {(-0.04, 1.04)}
    assert {axes.images[0].get_clim() for axes in attention} == {(0, 1)}


def test_rows_are_the_decoders_input_and_columns_the_source():
    *_, attention = panels(plot_symptoms([patient("a")], title="t"))
    rows = [label.get_text() for label in attention[0].get_yticklabels()]
    columns = [label.get_text() for label in attention[0].get_xticklabels()]
    assert rows == ["<s>", "c", "b"]
    assert columns == [r"\$a\$", "b", "c"]


def test_everything_is_labelled():
    figure = plot_symptoms([patient("a"), patient("b")], title="what to see")
    loss, scores, attention = panels(figure)
    assert [row[0].get_ylabel() for row in (loss, scores, attention)] == [
        "loss",
        "share right",
        "query: who looks",
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "tokens, after true prefixes",
        "sequences, written alone",
    ]
    assert figure.axes[-1].get_ylabel() == "attention weight"
    assert figure._suptitle.get_text() == "what to see"


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_name_of_a_row_s_axis_stands_once_and_in_the_middle_of_the_sheet(count):
    figure = plot_symptoms([patient("a")] * count, title="t")
    figure.draw_without_rendering()
    _, scores, attention = panels(figure)
    for row, name in ((scores, "training step"), (attention, "key: who is looked at")):
        (label,) = [axes.xaxis.label for axes in row if axes.get_xlabel()]
        assert label.get_text() == name
        left, right = row[0].get_window_extent().x0, row[-1].get_window_extent().x1
        extent = label.get_window_extent()
        assert abs((extent.x0 + extent.x1) / 2 - (left + right) / 2) < 0.02 * (right - left)


@pytest.mark.parametrize("count", [0, 5])
def test_too_few_or_too_many_patients_are_refused(count):
    with pytest.raises(ValueError, match=f"variants must be 1 to 4, got {count}"):
        plot_symptoms([patient("a")] * count, title="t")


def test_what_each_writes_stands_below_what_was_asked_for():
    silent = StoredRuns(
        variant="silent",
        settings={},
        runs=patient("x").runs,
        glance=Glance(source=("a",), target=("c", "b"), written=(), head=0, weights=()),
    )
    lines = written_table([patient("no positions"), silent]).splitlines()
    assert lines == ["asked for     c b", "no positions  c", "silent        (nothing)"]
