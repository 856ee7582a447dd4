"""Every lesson runs on the device that pick_device finds, and every exercise of it can be solved.

The form of an exercise is described in tools/exercises.py: a code cell tagged ``exercise`` whose
answer stands between ``# Your answer:`` and the first line that begins with ``check_``, and below
it a Markdown cell with the solution inside ``<details>``, fenced as Python. Here every solution is
put in the place of its stub, the lesson runs from top to bottom in one process where pick_device
answers with the pretend device, and every check must print "Exercise N.k is correct."

That takes long, since each operation on the pretend device passes through Python. Therefore the
lessons are shortened here as shortening.py says: short trainings, no drawing, and nothing required
of a trained model. ``make devices`` runs them whole: it sets WHOLE_LESSONS.
"""

import os

import pytest

from tests.devices.shortening import shortened
from tests.devices.watching import run_on_pretend_device
from tools.exercises import exercise_indices, number_of, solved
from tools.notebooks import lesson_paths, read, refusal

WHOLE = bool(os.environ.get("WHOLE_LESSONS"))
STEPS = 4  # of each training
OTHER_STEPS = {
    "07_encoder": 100,  # draws all 100
    "00_start_here": 20,  # two answers of its model must differ
    "22_features": 400,  # a feature must stand for words
    "10_training": 20,  # draws means of 10 steps, and compares 20
}


@pytest.mark.slow
@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.stem)
def test_a_lesson_with_every_exercise_solved_runs_to_its_end_on_another_device(path):
    notebook, steps = solved(read(path)), None
    if not WHOLE:
        steps = OTHER_STEPS.get(path.stem, STEPS)
        notebook = shortened(notebook, steps)
    report = run_on_pretend_device(notebook, path.name, steps=steps)
    elsewhere = f"these modules were called with weights that lie elsewhere: {report.strangers}"
    assert report.strangers == [], refusal(path.name, elsewhere)
    assert report.computations > 0, refusal(path.name, "nothing was computed on the device")
    answers = {
        number_of(notebook, index): report.printed[index] for index in exercise_indices(notebook)
    }
    assert answers, f"{path.name} has no exercise"
    for number, printed in answers.items():
        words = f"the solution of exercise {number} is answered with {printed!r}"
        assert f"Exercise {number} is correct." in printed, refusal(path.name, words)
