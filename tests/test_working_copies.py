"""The reader's copies of the lessons: they follow a lesson until the reader changes one."""

import json
import os
import subprocess
import sys

import nbformat
import pytest

from tools.notebooks import ROOT, read
from tools.working_copies import update


@pytest.fixture
def folders(tmp_path):
    """A folder with two lessons, and the place of their copies."""
    lessons = tmp_path / "notebooks"
    lessons.mkdir()
    for name in ("00_start", "01_words"):
        write(lessons / f"{name}.ipynb", f"print('{name}')")
    return lessons, tmp_path / "work"


def write(path, *sources, output=""):
    """Write a notebook of code cells, each with this output."""
    cells = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    for cell in cells:
        cell.outputs = [nbformat.v4.new_output("stream", text=output)] if output else []
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


def first_source(path):
    """The first cell's source."""
    return read(path).cells[0].source


def test_every_lesson_is_copied_and_one_that_was_deleted_comes_back(folders):
    lessons, copies = folders
    assert update(lessons, copies) == []
    (copies / "00_start.ipynb").unlink()
    assert update(lessons, copies) == []
    for lesson in lessons.iterdir():
        assert (copies / lesson.name).read_bytes() == lesson.read_bytes()


def test_a_copy_that_was_only_run_follows_its_lesson(folders):
    lessons, copies = folders
    update(lessons, copies)
    write(copies / "00_start.ipynb", "print('00_start')", output="00_start\n")
    before = (copies / "00_start.ipynb").read_bytes()
    assert update(lessons, copies) == []
    assert (copies / "00_start.ipynb").read_bytes() == before
    write(lessons / "00_start.ipynb", "print('newer')")
    assert update(lessons, copies) == []
    assert first_source(copies / "00_start.ipynb") == "print('newer')"


def test_a_changed_copy_is_never_overwritten_and_a_newer_lesson_is_announced_each_time(folders):
    lessons, copies = folders
    update(lessons, copies)
    write(copies / "00_start.ipynb", "my answer")
    before = (copies / "00_start.ipynb").read_bytes()
    assert update(lessons, copies) == []
    write(lessons / "00_start.ipynb", "print('newer')")
    assert update(lessons, copies) == update(lessons, copies) == ["00_start.ipynb"]
    assert (copies / "00_start.ipynb").read_bytes() == before
    (copies / "00_start.ipynb").rename(copies / "mine.ipynb")
    assert update(lessons, copies) == []
    assert first_source(copies / "00_start.ipynb") == "print('newer')"
    assert (copies / "mine.ipynb").read_bytes() == before


@pytest.mark.parametrize("memory", ["", "{", "[1]", None])
def test_without_its_memory_no_copy_that_differs_is_overwritten(folders, memory):
    lessons, copies = folders
    update(lessons, copies)
    write(copies / "00_start.ipynb", "my answer")
    (copies / ".copied.json").unlink()
    if memory is not None:
        (copies / ".copied.json").write_text(memory)
    assert update(lessons, copies) == ["00_start.ipynb"]
    assert first_source(copies / "00_start.ipynb") == "my answer"
    write(lessons / "01_words.ipynb", "print('newer')")
    assert update(lessons, copies) == ["00_start.ipynb"]
    assert first_source(copies / "01_words.ipynb") == "print('newer')"


def test_a_damaged_copy_is_the_readers_own(folders):
    lessons, copies = folders
    update(lessons, copies)
    (copies / "00_start.ipynb").write_text("{")
    write(lessons / "00_start.ipynb", "print('newer')")
    assert update(lessons, copies) == ["00_start.ipynb"]
    assert (copies / "00_start.ipynb").read_text() == "{"


def test_a_lesson_that_is_gone_takes_its_unchanged_copy_along(folders):
    lessons, copies = folders
    update(lessons, copies)
    write(copies / "00_start.ipynb", "my answer")
    for lesson in list(lessons.iterdir()):
        lesson.rename(lessons / f"1{lesson.name[1:]}")
    assert update(lessons, copies) == []
    names = {path.name for path in copies.glob("*.ipynb")}
    assert names == {"00_start.ipynb", "10_start.ipynb", "11_words.ipynb"}


def test_the_command_says_in_one_sentence_how_to_get_a_newer_lesson(folders):
    lessons, copies = folders
    tools = lessons.parent / "tools"
    tools.mkdir()
    (tools / "working_copies.py").write_bytes((ROOT / "tools/working_copies.py").read_bytes())
    printed = []
    for changed in (copies / "none", copies / "00_start.ipynb", lessons / "00_start.ipynb"):
        if changed.exists():
            write(changed, f"changed in {changed.parent.name}")
        command = [sys.executable, "-m", "tools.working_copies"]
        result = subprocess.run(
            command,
            cwd=lessons.parent,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": ""},
        )
        assert (result.returncode, result.stderr) == (0, "")
        printed.append(result.stdout)
    assert printed[:2] == ["", ""]
    assert (
        "You have changed 00_start.ipynb in work/, and the course has a newer version" in printed[2]
    )
    assert "rename it" in printed[2] and printed[2].count("\n") == 1


def test_the_lessons_of_the_course_are_copied_and_remembered(tmp_path):
    # tests/test_student.py runs one in another folder than its own.
    update(ROOT / "notebooks", tmp_path)
    assert len(json.loads((tmp_path / ".copied.json").read_text())) == len(
        list((ROOT / "notebooks").glob("*.ipynb"))
    )
