"""The table of exercises says what the checks said when the notebooks were saved."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.published import caught_bundles
from tools import facts
from tools.notebooks import ROOT, lesson_paths, read
from transformer_course.grading.outcomes import CORRECT, HINT, NOT_RUN, WAITING
from transformer_course.review import solved as module
from transformer_course.review.solved import show_solved, solved_exercises


def exercise(number, *outputs):
    """The cells of an exercise."""
    cell = new_code_cell("check_it()", outputs=list(outputs))
    cell.metadata["tags"] = ["exercise"]
    return [new_markdown_cell(f"### Exercise {number} · Build (5 minutes)"), cell]


def printed(text):
    return new_output("stream", text=text)


def test_the_outcome_of_each_exercise_is_what_its_check_said_last(tmp_path, monkeypatch):
    hint = new_output("error", ename="AnswerError", evalue="Not yet.")
    cells = exercise("2.1", printed("Exercise 2.1 is correct.\nYour class is kept.\n"))
    cells += exercise("2.2", printed("Exercise 2.2 is waiting for you: replace the three dots.\n"))
    cells += exercise("2.3", hint) + exercise("2.4") + exercise("2.5", printed("2.1 is correct."))
    nbformat.write(new_notebook(cells=cells), tmp_path / "02_attention.ipynb")
    (tmp_path / "03_masks.ipynb").write_text("damaged")
    nbformat.write(new_notebook(cells=exercise("9.1")), tmp_path / "my_notes.ipynb")
    nbformat.write(new_notebook(cells=exercise("2.1")), tmp_path / "02_attention-Copy1.ipynb")
    renamed = tmp_path / "02_mine.ipynb"
    found = {each.number: each.outcome for each in solved_exercises(tmp_path)}
    assert found == {"2.1": CORRECT, "2.2": WAITING, "2.3": HINT, "2.4": NOT_RUN, "2.5": NOT_RUN}
    published = caught_bundles(monkeypatch, module)
    show_solved(tmp_path)
    data = published[0]["data"]
    assert data["text/plain"].startswith("1 of 5 exercises are solved")
    assert data["text/html"].count("<tr>") == 1 and "✓ 2.1</td>" in data["text/html"]
    nbformat.write(new_notebook(cells=exercise("2.1")), renamed)
    show_solved(tmp_path)
    assert published[1]["data"]["text/plain"].startswith("1 of 5 exercises are solved")


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(NotADirectoryError, match="folder must be a folder with your noteb.*got no"):
        show_solved("no such folder")
    for wrong in (None, 7, ""):
        with pytest.raises(TypeError, match=f"folder must be a path, got {wrong!r}"):
            show_solved(wrong)


def test_every_exercise_of_the_course_is_found_and_waits():
    found = solved_exercises(ROOT / "notebooks")
    wanted = [each.number for path in lesson_paths() for each in facts.exercises(read(path))]
    assert [each.number for each in found] == wanted
    assert {each.outcome for each in found} == {WAITING}
