"""Every exercise can be solved: the lesson's own solution satisfies the lesson's own check.

The form of an exercise is described in tools/exercises.py: a code cell tagged ``exercise`` whose
answer stands between ``# Your answer:`` and the first line that begins with ``check_``, and below
it a Markdown cell with the solution inside ``<details>``, fenced as Python. Here every solution is
put in the place of its stub, the lesson runs from top to bottom in one kernel, and every check must
print "Exercise N.k is correct."
"""

import pytest

from tools.exercises import exercise_indices, number_of, printed_by, solved
from tools.notebooks import execute, lesson_paths, read


@pytest.mark.slow
@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.name)
def test_the_lesson_runs_to_its_end_with_every_exercise_solved(path):
    notebook = solved(read(path))
    execute(notebook, name=path.name, folder=path.parent)
    answers = {
        number_of(notebook, index): printed_by(notebook.cells[index])
        for index in exercise_indices(notebook)
    }
    assert answers, f"{path.name} has no exercise"
    for number, printed in answers.items():
        assert f"Exercise {number} is correct." in printed, f"exercise {number}: {printed!r}"
