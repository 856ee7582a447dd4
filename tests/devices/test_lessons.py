"""Every lesson runs on the device that pick_device finds, and every exercise of it can be solved.

The form of an exercise is described in tools/exercises.py: a code cell tagged ``exercise`` whose
answer stands between ``# Your answer:`` and the first line that begins with ``check_``, and below
it a Markdown cell with the solution inside ``<details>``, fenced as Python. Here every solution is
put in the place of its stub, the lesson runs from top to bottom in one kernel where pick_device
answers with the pretend device, and every check must print "Exercise N.k is correct."
"""

import pytest

from tests.devices.watching import run_on_pretend_device
from tools.exercises import exercise_indices, number_of, printed_by, solved
from tools.notebooks import lesson_paths, read


@pytest.mark.slow
@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.stem)
def test_a_lesson_with_every_exercise_solved_runs_to_its_end_on_another_device(path):
    notebook = solved(read(path))
    elsewhere, computations = run_on_pretend_device(notebook, path.name)
    assert elsewhere == [], "these modules were called with weights that lie elsewhere"
    assert computations > 0, "nothing was computed on the device"
    answers = {
        number_of(notebook, index): printed_by(notebook.cells[index])
        for index in exercise_indices(notebook)
    }
    assert answers, f"{path.name} has no exercise"
    for number, printed in answers.items():
        assert f"Exercise {number} is correct." in printed, f"exercise {number}: {printed!r}"
