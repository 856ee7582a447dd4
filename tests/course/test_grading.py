"""Grading students' notebooks: right, wrong and missing answers, and every kind of bad input."""

import csv
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from itertools import count
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.exercises import exercise_indices, solution_of, with_answer
from tools.notebooks import ROOT, read
from transformer_course.grading import __main__ as command
from transformer_course.grading import limited_run, outcomes
from transformer_course.grading.__main__ import main
from transformer_course.grading.limited_run import Limits
from transformer_course.grading.outcomes import (
    LONGEST_HINT,
    Exercise,
    Row,
    as_csv,
    as_page,
    course_exercises,
    grade_notebook,
)

# The checks of a lesson that needs no library, so that its process starts fast.
CHECKS = """\
class AnswerError(AssertionError): ...


def checked(number, right):
    def check(answer, **given):
        if answer is ...:
            print(f"Exercise {number} is waiting for you: replace the three dots.")
        elif answer != right:
            raise AnswerError(f"{answer} is wrong. <b>Count</b> again.")
        else:
            print(f"Exercise {number} is correct.")
    return check


for number, (name, right) in enumerate({"sum": 5, "product": 6, "word": "five"}.items(), start=1):
    globals()["check_" + name] = checked(f"7.{number}", right)
"""
CALLS = ("check_sum(answer)", "check_product(answer, of=(2, 3))", "check_word(answer)")
WAITING = "..."
LIMITS = Limits(cell_seconds=60, seconds=300, memory=1)


def cell_of(place: int, answer: str) -> str:
    """The cell of an exercise; the answer is an expression, or code that sets answer."""
    code = answer if "\n" in answer or "answer" in answer else f"answer = {answer}"
    return f"# Your answer:\n{code}\n\n{CALLS[place]}"


def lesson(*cells: str) -> NotebookNode:
    """A small lesson with these cells for its exercises."""
    notebook = new_notebook(cells=[new_markdown_cell("# 7 · How much?"), new_code_cell(CHECKS)])
    for place, cell in enumerate(cells, start=1):
        heading = f"### Exercise 7.{place} · Build (1 minute)"
        exercise = new_code_cell(cell, metadata={"tags": ["exercise"]})
        notebook.cells += [new_markdown_cell(heading), exercise]
    return notebook


def answered(*answers: str) -> NotebookNode:
    """The small lesson with these answers."""
    return lesson(*(cell_of(place, answer) for place, answer in enumerate(answers)))


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """The folder of a course that is the small lesson."""
    folder = tmp_path_factory.mktemp("course")
    nbformat.write(answered(WAITING, WAITING, WAITING), folder / "07_how_much.ipynb")
    return folder


@pytest.fixture
def grade(course, tmp_path):
    """Grades a notebook: exercise, outcome and hint of every row."""

    def grade(notebook: NotebookNode, limits: Limits = LIMITS) -> list[tuple[str, str, str]]:
        file = str(tmp_path / "hers.ipynb")
        Path(file).write_text(json.dumps(notebook))  # nbformat writes no half of a character
        rows = grade_notebook(file, course_exercises(course), limits)
        assert {row.file for row in rows} == {file}
        return [(row.exercise, row.outcome, row.hint) for row in rows]

    return grade


def test_a_right_a_wrong_and_a_missing_answer(grade):
    assert grade(answered("5", "7", WAITING)) == [
        ("7.1", "correct", ""),
        ("7.2", "hint", "7 is wrong. <b>Count</b> again."),
        ("7.3", "waiting", ""),
    ]


def test_a_line_of_the_reader_s_that_begins_as_a_check_s_does_is_not_the_outcome(grade):
    done = f"{cell_of(0, '5')}\nprint('Exercise 7.1 is done, next: 7.2')"
    wrong = cell_of(1, "print('Exercise 7.2 is my favorite')\nanswer = 7")
    open_ = cell_of(2, "print('Exercise 7.3 is correctly named')\nanswer = ...")
    assert [outcome for _, outcome, _ in grade(lesson(done, wrong, open_))] == [
        "correct",
        "hint",
        "waiting",
    ]


def test_a_line_that_an_answer_has_not_ended_changes_no_outcome(grade):
    """As a progress line does, which begins with a carriage return, and a print with end=" "."""
    right = cell_of(0, "print('\\rloss 0.12', end='')\nanswer = 5")
    wrong = cell_of(1, "print('my answer:', end=' ')\nanswer = 7")
    open_ = cell_of(2, "print('.', end='')\nanswer = ...")
    assert [outcome for _, outcome, _ in grade(lesson(right, wrong, open_))] == [
        "correct",
        "hint",
        "waiting",
    ]


def test_of_two_calls_in_a_cell_the_last_one_counts(grade):
    right_then_wrong = f"{cell_of(0, '5')}\nanswer = 7\n{CALLS[0]}"
    open_then_wrong = f"{cell_of(1, WAITING)}\n\nanswer = 7\n{CALLS[1]}"
    wrong_then_right = f"{cell_of(2, WAITING)}\nanswer = 'five'\n{CALLS[2]}\n1 / 0"
    found = grade(lesson(right_then_wrong, open_then_wrong, wrong_then_right))
    assert [outcome for _, outcome, _ in found[:3]] == ["hint", "hint", "correct"]


def test_a_hint_is_told_of_the_check_that_gives_it(grade):
    by_two_names = f"mine = 5\ncheck_sum(mine)\n{cell_of(0, '7')}"
    assert grade(lesson(by_two_names))[0][1] == "hint"
    between = f"{cell_of(0, '5')}\n{cell_of(1, '7')}\nanswer = 5\n{CALLS[0]}"
    assert [outcome for _, outcome, _ in grade(lesson(between))[:2]] == ["correct", "hint"]


@pytest.mark.slow
def test_an_endless_loop_too_much_memory_and_a_flood_of_output_stop_nothing_else(grade):
    hog = "answer = bytearray(3 * 2**30)"
    flood = "for _ in range(100):\n    print('x' * 100_000)\nanswer = 'five'"
    limits = Limits(cell_seconds=10, seconds=300, memory=1)
    assert grade(answered("while True:\n    answer = 5", hog, flood), limits) == [
        ("7.1", "error", "It was stopped after 10 seconds."),
        ("7.2", "error", "It needs more than 1 GB of memory."),
        ("7.3", "correct", ""),
        ("", "remark", "Cell 8 wrote 10 MB; only the end was read."),
    ]


def test_a_deleted_a_changed_and_a_silenced_check_are_told_apart(grade):
    changed = "answer = 6\nif answer == 6:\n    check_product(answer, of=(2, 3))"
    silenced = cell_of(2, "check_word = lambda answer: None\nanswer = 'no'")
    found = grade(lesson("answer = 5", changed, silenced))
    assert [outcome for _, outcome, _ in found] == ["deleted", "check changed", "check changed"]
    assert [hint for _, _, hint in found] == [
        "No cell calls check_sum.",
        "The cell must call its check like this: check_product(answer, of=(2, 3))",
        "The cell ran, but check_word said nothing.",
    ]


def test_in_merged_cells_each_exercise_has_its_own_outcome(grade):
    right = "\n\n".join([cell_of(0, "5"), cell_of(1, "7"), cell_of(2, "'five'")])
    assert grade(lesson(right)) == [
        ("7.1", "correct", ""),
        ("7.2", "hint", "7 is wrong. <b>Count</b> again."),
        ("7.3", "not run", "Its cell stopped at an exercise before."),
    ]
    below = f"{cell_of(0, '5')}\nprint(nonsense)"
    assert grade(lesson(below))[0] == ("7.1", "correct", "")


def test_a_cell_that_fails_before_its_check_and_one_elsewhere_are_named(grade):
    notebook = answered("5", "nonsense = = 6\nanswer", f"answer = {'x' * 2000}")
    notebook.cells.insert(2, new_code_cell("1 / 0"))
    sums, product, word, remark = grade(notebook)
    assert sums == ("7.1", "correct", "")
    assert product[1] == "error" and product[2].startswith("SyntaxError: ")
    assert word[1] == "error" and len(word[2]) <= LONGEST_HINT + 2
    assert remark == ("", "remark", "Cell 3: ZeroDivisionError: division by zero")


def test_what_a_process_that_ends_has_answered_counts(grade):
    ends = "import os\nos._exit(1)\nanswer = 6"
    reason = "Python ended in cell 6: no memory left, or a crash."
    assert grade(answered("5", ends, "'five'")) == [
        ("7.1", "correct", ""),
        ("7.2", "not run", reason),
        ("7.3", "not run", reason),
        ("", "remark", reason),
    ]


@pytest.mark.parametrize("name", ["exit", "quit"])
def test_a_cell_that_ends_python_is_named(grade, name):
    notebook = answered("5", "6", "'five'")
    notebook.cells.insert(5, new_code_cell(f"{name}()"))
    reason = "Cell 6 ended Python: exit() or quit()."
    assert [row[1:] for row in grade(notebook)] == [
        ("correct", ""),
        ("not run", reason),
        ("not run", reason),
        ("remark", reason),
    ]


def test_what_a_check_said_before_a_long_output_counts(grade):
    notebook = answered("5", "7", WAITING)
    cell = next(each for each in notebook.cells if "answer = 5" in each.source)
    cell.source += "\nprint('x ' * 9_000)\nprint('x ' * 9_000)"
    assert grade(notebook)[0] == ("7.1", "correct", "")


@pytest.mark.parametrize("size", [7, 61])
def test_a_sentence_is_not_cut_where_the_output_kept_begins(grade, size):
    notebook = answered("5", "7", WAITING)
    cell = next(each for each in notebook.cells if "answer = 5" in each.source)
    cell.source += f"\nfor _ in range({11_000 // size}):\n    print('x' * {size}, flush=True)"
    assert grade(notebook)[0] == ("7.1", "correct", "")


def test_a_notebook_ends_in_time_although_its_cells_refuse_to(grade, monkeypatch):
    monkeypatch.setattr(limited_run, "SECONDS_FOR_OUTPUT", 4)
    stubborn = "while True:\n    try:\n        import time; time.sleep(9)\n    except: ..."
    limits = Limits(cell_seconds=6, seconds=8, memory=1)
    assert grade(answered("5", f"{stubborn}\nanswer = 6", WAITING), limits)[:3] == [
        ("7.1", "correct", ""),
        ("7.2", "error", "It was stopped after 6 seconds."),
        ("7.3", "not run", "The notebook took more than 8 seconds."),
    ]


def test_a_notebook_reaches_its_own_computer_and_no_other(grade):
    own = "import socket\nwith socket.create_server(('localhost', 0)) as door:\n"
    own += "    socket.create_connection(door.getsockname()).close()\nanswer = 5"
    by_name = "from urllib.request import urlopen\nurlopen('http://example.com')\nanswer = 6"
    by_number = "import socket\nsocket.create_connection(('192.0.2.1', 80))\nanswer = 'five'"
    found = grade(answered(own, by_name, by_number))
    assert found[0] == ("7.1", "correct", "")
    for _, outcome, hint in found[1:3]:
        assert outcome == "error" and "has no network while it is graded" in hint


def test_the_last_of_several_cells_counts_and_spaces_at_the_ends_of_lines_do_not(grade):
    notebook = answered("5", "6", "'six'")
    notebook.cells.append(new_code_cell(cell_of(2, "'five'").replace("\n", "  \n") + "\n\nanswer"))
    assert [outcome for _, outcome, _ in grade(notebook)] == ["correct"] * 3


def test_an_answer_runs_as_it_is_stored(grade):
    text = "text = '''five  \n'''\nanswer = 'five' if text == 'five  ' + chr(10) else text"
    assert grade(answered("5", "6", text))[2] == ("7.3", "correct", "")


NOT_NOTEBOOKS = {
    "There is no such file.": None,
    "This is not a notebook: the file is damaged, or not JSON.": b'{"cells": [',
    "This is not a notebook of format 4: it has no cells.": b'{"worksheets": []}',
    "The notebook has no exercise of the course.": b'{"cells": []}',
}


@pytest.mark.parametrize(("hint", "content"), NOT_NOTEBOOKS.items())
def test_a_file_that_cannot_be_graded_gets_one_row(hint, content, tmp_path):
    file = tmp_path / "hers.ipynb"
    if content is not None:
        file.write_bytes(content)
    assert grade_notebook(str(file), course_exercises(ROOT / "notebooks"), LIMITS) == [
        Row(str(file), "", "not graded", hint)
    ]


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\x00", b"[]", b"7", b"[" * 100_000, b'{"cells": 3}', b'{"cells": [{}]}']
    + [json.dumps({"cells": [{"cell_type": "code", "source": it}]}).encode() for it in (7, [7])],
)
def test_no_content_of_a_file_stops_the_grading(content, tmp_path):
    (tmp_path / "hers.ipynb").write_bytes(content)
    (row,) = grade_notebook(str(tmp_path / "hers.ipynb"), [], LIMITS)
    assert (row.exercise, row.outcome) == ("", "not graded")
    (row,) = grade_notebook(str(tmp_path), [], LIMITS)
    assert row.hint.startswith("The file could not be read: ")


def test_the_exercises_of_the_course_are_those_that_have_a_check():
    paths = sorted((ROOT / "transformer_course").glob("*/*checks.py"))
    modules = [
        importlib.import_module(f"transformer_course.{path.parent.name}.{path.stem}")
        for path in paths
    ]
    there = {
        (check.exercise, name)
        for module in modules
        for name, check in vars(module).items()
        if hasattr(check, "exercise")
    }
    found = course_exercises(ROOT / "notebooks")
    assert [(each.number, each.check) for each in found] == sorted(
        there, key=lambda pair: [*map(int, pair[0].split("."))]
    )
    assert all(each.call.startswith(f"{each.check}(") for each in found)


def test_the_command_grades_what_it_can_and_names_the_rest(course, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    nbformat.write(answered("5", "6", "'five'"), "b.ipynb")
    nbformat.write(new_notebook(cells=[new_code_cell("check_sums(5)")]), "[b].ipynb")
    assert main(["[b].ipynb", "b.*", "./b.ipynb", "c.ipynb", "--course", str(course)]) == 1
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [
        "error: [b].ipynb: The notebook has no exercise of the course.",
        "error: c.ipynb: There is no such file.",
    ]
    assert printed.out.splitlines()[0] == "b.ipynb: 3 of 3 correct"
    with open("grades.csv", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [(row["file"], row["exercise"], row["outcome"]) for row in rows] == [
        ("[b].ipynb", "", "not graded"),
        *(("b.ipynb", f"7.{number}", "correct") for number in (1, 2, 3)),
        ("c.ipynb", "", "not graded"),
    ]
    assert Path("grades.html").read_text(encoding="utf-8").count(">b.ipynb<") == 3


@pytest.fixture
def folder_of_answers(course, tmp_path, monkeypatch):
    """A folder with two answered notebooks, in which the command grades: its status and errors."""
    monkeypatch.chdir(tmp_path)
    for name in ("q1.ipynb", "q2.ipynb"):
        nbformat.write(new_notebook(cells=[new_code_cell("no exercise")]), name)

    def run(capsys, *arguments: str) -> tuple[int, str]:
        before = {path: path.read_bytes() for path in Path().glob("*.ipynb")}
        status = main([*arguments, "--course", str(course)])
        assert {path: path.read_bytes() for path in Path().glob("*.ipynb")} == before
        return status, capsys.readouterr().err

    return run


@pytest.mark.parametrize("option", ["csv", "page"])
@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_no_notebook_is_written_over(option, overwrite, folder_of_answers, capsys):
    Path("answers").write_bytes(Path("q1.ipynb").read_bytes())  # a notebook by another name
    for place, file in (("q1.ipynb", "q2.ipynb"), ("answers", "answers"), ("ANSWERS", "answers")):
        status, said = folder_of_answers(capsys, f"--{option}", place, file, *overwrite)
        assert (status, said) == (1, f"error: {option} must not be a notebook, got {place}\n")
    if hasattr(os, "link"):
        os.link("answers", "same")
        said = folder_of_answers(capsys, f"--{option}", "same", "answers", *overwrite)[1]
        assert said == f"error: {option} must not be a notebook, got same\n"
    assert Path("answers").read_bytes() == Path("q1.ipynb").read_bytes()


@pytest.mark.parametrize("name", ["grades.csv", "grades.html"])
def test_a_file_that_the_command_has_not_written_is_kept_unless_told_to(
    name, folder_of_answers, capsys
):
    Path(name).write_text("my own notes")
    refused = folder_of_answers(capsys, "q1.ipynb")
    assert refused[0] == 1 and "must be a new file, or one that this command has" in refused[1]
    assert refused[1].count("\n") == 1 and f"got {name}: choose" in refused[1]
    assert Path(name).read_text() == "my own notes"
    missing = "error: q1.ipynb: The notebook has no exercise of the course.\n"
    assert folder_of_answers(capsys, "q1.ipynb", "--overwrite") == (1, missing)
    assert Path("grades.bak").read_text() == "my own notes"
    assert folder_of_answers(capsys, "q1.ipynb") == (1, missing)  # by now it is the command's own
    assert "q1.ipynb" in Path(name).read_text(encoding="utf-8")
    with open(name, "a", encoding="utf-8") as file:
        file.write("and a remark of mine")
    assert folder_of_answers(capsys, "q1.ipynb") == refused
    assert Path(name).read_text(encoding="utf-8").endswith("and a remark of mine")


def test_one_name_for_both_files_is_refused(folder_of_answers, capsys):
    for page in ("grades.csv", "./grades.csv", "Grades.csv"):
        said = folder_of_answers(capsys, "q1.ipynb", "--page", page)[1]
        assert said.startswith("error: csv and page must be two files, got grades.csv and ")
    assert not Path("grades.csv").exists()


def test_a_command_that_was_killed_again_and_again_may_write_its_files(
    folder_of_answers, capsys, monkeypatch
):
    folder_of_answers(capsys, "q1.ipynb")
    writing = {name: getattr(command, name) for name in ("_remember", "replace_unchanged")}
    for stopped_at in (0, 1, 1, 2, 3, 3):
        steps = count()

        def killed(whole, *given, steps=steps, stopped_at=stopped_at, **named):
            if next(steps) == stopped_at:
                raise KeyboardInterrupt
            return whole(*given, **named)

        with monkeypatch.context() as patch:
            for name, whole in writing.items():
                patch.setattr(command, name, partial(killed, whole))
            assert folder_of_answers(capsys, f"q{stopped_at}.ipynb")[0] == 130
    assert "no exercise" in folder_of_answers(capsys, "q2.ipynb")[1]
    assert sorted(path.name for path in Path().glob("grades*")) == ["grades.csv", "grades.html"]


@pytest.mark.parametrize("notebooks", [1, 2])
def test_what_somebody_changes_while_the_command_runs_is_kept(
    notebooks, course, folder_of_answers, capsys, monkeypatch
):
    whole = command.as_csv

    def changed_meanwhile(rows):
        if len(rows) == notebooks:
            Path("grades.csv").write_text("my remarks")
        return whole(rows)

    monkeypatch.setattr(command, "as_csv", changed_meanwhile)
    assert main(["q1.ipynb", "q2.ipynb", "--course", str(course)]) == 1
    said = capsys.readouterr().out
    assert "grades.csv was changed while it was written, and is kept as grades.bak\n" in said
    assert Path("grades.bak").read_text() == "my remarks"
    assert "q2.ipynb" in Path("grades.csv").read_text(encoding="utf-8-sig")


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_a_table_with_an_outcome_that_is_not_found_again_is_kept_with_a_word(
    overwrite, course, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "grade_notebook", one_right_and_one_wrong)
    arguments = ["--course", str(course), *overwrite]
    for again in range(2):
        names = ["=a.ipynb", "b.ipynb", "c.ipynb", "d.ipynb"]
        assert main([*names, *arguments]) == 0 and not list(tmp_path.glob("*.bak"))
        assert capsys.readouterr().out.count("kept as") == 0, again
    before = Path("grades.csv").read_bytes()
    assert main(["b.ipynb", "=a.ipynb", *arguments]) == 0
    said = "grades.csv held 4 outcomes that it holds no more, and is kept as grades.bak\n"
    assert said in capsys.readouterr().out
    assert Path("grades.bak").read_bytes() == before
    # The same names, in another week: the notebooks of another lesson.
    monkeypatch.setattr(command, "grade_notebook", right_in_the_next_lesson)
    assert main(["b.ipynb", "=a.ipynb", *arguments]) == 0
    assert "4 outcomes that it holds no more, and is kept as grades.1" in capsys.readouterr().out
    assert Path("grades.1.bak").read_bytes().count(b"7.1,correct") == 2
    assert Path("grades.bak").read_bytes() == before


def test_a_table_without_a_name_is_refused_in_one_sentence(course, capsys):
    assert main(["a.ipynb", "--course", str(course), "--csv", "."]) == 1
    assert capsys.readouterr().err == "error: csv must be a file, got the folder .\n"


def test_the_page_is_named_after_the_table(course, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "grade_notebook", one_right_and_one_wrong)
    assert main(["a.ipynb", "--course", str(course), "--csv", "week 2.csv"]) == 0
    assert Path("week 2.html").exists() and not Path("grades.html").exists()


def test_a_grading_that_is_stopped_keeps_the_outcomes_it_did_not_come_to(
    course, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "grade_notebook", one_right_and_one_wrong)
    assert main(["a.ipynb", "b.ipynb", "--course", str(course)]) == 0
    before = Path("grades.csv").read_bytes()

    def stopped(rows):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_report", stopped)
    assert main(["a.ipynb", "b.ipynb", "--course", str(course)]) == 130
    assert "held 2 outcomes" in capsys.readouterr().out
    assert Path("grades.bak").read_bytes() == before


@pytest.mark.parametrize("content", ["", "file", "file,exercise\n", "x" * 200_000, "a\0b\nc"])
def test_a_table_of_something_else_holds_no_outcomes(content):
    assert outcomes.outcomes_in(content.encode()) == set()


def right_in_the_next_lesson(file, exercises, limits, lesson):
    return [Row(file, "8.1", "correct"), Row(file, "8.2", "correct")]


def one_right_and_one_wrong(file, exercises, limits, lesson):
    return [Row(file, "7.1", "correct"), Row(file, "7.2", "hint"), Row(file, "", "remark")]


@pytest.mark.parametrize(
    "named", [[], ["--csv", "x.csv", "--page", "grades.html"], ["--page", "x.html"]]
)
def test_a_second_grading_into_the_same_file_is_refused_at_once(
    named, course, folder_of_answers, capsys, monkeypatch
):
    whole, second = command.as_csv, []

    def with_a_second(rows):
        if not second:
            second.append(main(["q3.ipynb", "--course", str(course), *named, "--overwrite"]))
        return whole(rows)

    monkeypatch.setattr(command, "as_csv", with_a_second)
    assert main(["q1.ipynb", "q2.ipynb", "--course", str(course)]) == 1
    name, file = ("page", "grades.html") if named[:1] == ["--csv"] else ("csv", "grades.csv")
    wanted = f"{name} must be a file into which no other process grades, got {file}: wait, or"
    said = capsys.readouterr().err.splitlines()
    assert second == [1] and f"error: {wanted} choose another name" in said and len(said) == 3
    table = Path("grades.csv").read_text(encoding="utf-8-sig")
    assert "q1.ipynb" in table and "q2.ipynb" in table and "q3.ipynb" not in table
    assert folder_of_answers(capsys, "q3.ipynb")[0] == 1  # its own file again
    assert "q3.ipynb" in Path("grades.csv").read_text(encoding="utf-8-sig")


def test_half_a_character_changes_no_outcome(grade):
    notebook = answered("5  # \ud83d", "6", "'\ud83d'")
    notebook.cells.insert(0, new_markdown_cell("\ude00"))
    found = grade(notebook)
    assert [outcome for _, outcome, _ in found] == ["correct", "correct", "hint"]
    assert found[2][2].startswith("\N{REPLACEMENT CHARACTER} is wrong.")


@pytest.mark.parametrize("kind", ["comm_open", "comm_msg", "status", "stream", "display_data"])
@pytest.mark.parametrize("content", [{}, {"text": 5, "transient": "no", "execution_state": []}])
def test_a_malformed_message_changes_no_outcome(kind, content, grade):
    sends = (
        "kernel = get_ipython().kernel\n"
        f"where, content = kernel.iopub_socket, {content}\n"
        f"kernel.session.send(where, {kind!r}, content, parent=kernel.get_parent())\n"
        "answer = 6"
    )
    found = grade(answered("5", sends, "'five'"))
    assert [outcome for _, outcome, _ in found] == ["correct"] * 3


def test_what_is_no_message_ends_its_notebook_with_a_reason(grade):
    sends = "get_ipython().kernel.iopub_socket.send_multipart([b'no message'])\nanswer = 6"
    found = grade(answered("5", sends, "'five'"))
    assert found[0] == ("7.1", "correct", "") and found[2][1] == "not run"
    assert found[2][2].startswith("The run ended in cell ")


def test_a_notebook_that_ends_its_run_leaves_no_traceback(course, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    sends = "get_ipython().kernel.iopub_socket.send_multipart([b'no message'])\nanswer = 6"
    Path("hers.ipynb").write_text(json.dumps(answered("5", sends, "'five'")))
    assert main(["hers.ipynb", "--course", str(course)]) == 0
    gc.collect()  # a task that failed says so when it goes
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []


def test_whatever_fails_in_one_notebook_the_others_are_graded(
    course, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for name in ("a.ipynb", "b.ipynb"):
        nbformat.write(answered("5", "6", "'five'"), name)
    whole = outcomes.run_limited

    def fails_once(sources, limits):
        monkeypatch.setattr(outcomes, "run_limited", whole)
        raise LookupError("no such kernel")

    monkeypatch.setattr(outcomes, "run_limited", fails_once)
    assert main(["a.ipynb", "b.ipynb", "--course", str(course)]) == 1
    printed = capsys.readouterr()
    reason = "It could not be graded: LookupError no such kernel"
    assert printed.err == f"error: a.ipynb: {reason}\n"
    assert printed.out.startswith("b.ipynb: 3 of 3 correct\n")
    assert reason in Path("grades.csv").read_text(encoding="utf-8-sig")


def test_a_lesson_that_is_not_asked_for_is_not_run(course, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    nbformat.write(answered("5", "6", "open('ran', 'w')"), "hers.ipynb")
    assert main(["hers.ipynb", "--lesson", "2", "--course", str(course)]) == 1
    assert capsys.readouterr().err == "error: hers.ipynb: This is lesson 7, not lesson 2.\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--jobs", "0"], "jobs must be at least 1, got 0"),
        (["--cell-seconds", "-1"], "cell_seconds must be at least 1, got -1"),
        (["--csv", "no/grades.csv"], "csv must lie in a folder that exists, got no/grades.csv"),
        (["--course", "."], "course must be the folder of the lessons, got ."),
    ],
)
def test_bad_options_are_refused_before_anything_runs(
    options, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["hers.ipynb", *options]) == 1
    assert capsys.readouterr().err == f"error: {message}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", ["[]", "{", "no check", "no number"])
def test_a_damaged_lesson_of_the_course_is_named(content, tmp_path, capsys):
    path = tmp_path / "07_how_much.ipynb"
    path.write_text(content)
    if content.startswith("no"):
        exercise = new_code_cell("check_sums(1)", metadata={"tags": ["exercise"]})
        exercise.source = exercise.source if content == "no number" else "1"
        nbformat.write(new_notebook(cells=[exercise]), path)
    assert main(["hers.ipynb", "--course", str(tmp_path), "--csv", str(tmp_path / "g.csv")]) == 1
    message = f"course must hold whole lessons with numbered exercises, got {path}"
    assert capsys.readouterr().err == f"error: {message}\n"


def test_more_jobs_than_notebooks_are_no_more_threads(course, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before, most = threading.active_count(), []
    monkeypatch.setattr(
        "transformer_course.grading.__main__.as_page",
        lambda rows: most.append(threading.active_count() - before) or "",
    )
    assert main(["hers.ipynb", "--jobs", "500", "--course", str(course)]) == 1
    assert max(most) < 10


def test_a_spreadsheet_takes_nothing_for_a_formula():
    row = Row("=cmd()|a.ipynb", "2.1", "hint", '-1 is wrong, "look"\nagain')
    (_, cells) = csv.reader(as_csv([row]).splitlines(keepends=True))
    assert cells == ["'=cmd()|a.ipynb", "2.1", "hint", '\'-1 is wrong, "look"\nagain']


def test_the_page_counts_outcomes_and_shows_no_ones_markup():
    hostile = '<img src=x onerror="alert(1)">'
    rows = [
        Row(hostile, "10.1", "hint", hostile),
        Row("b", "9.4", "correct"),
        Row("c", "9.4", "hint"),
    ]
    page = as_page(rows)
    assert "<img" not in page and page.count("&lt;img") == 2
    assert page.index('<th scope="row">9.4') < page.index('<th scope="row">10.1')
    summary = page[page.index('<th scope="row">9.4') :].partition("\n")[0]
    assert summary.endswith("<td>1</td><td>1</td><td>0</td></tr>")  # correct, hint, waiting
    for part in ('<html lang="en">', "<caption>", "prefers-color-scheme: dark", "<script"):
        assert (part in page) == (part != "<script")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT to send")
def test_ctrl_c_keeps_what_is_graded_and_leaves_no_process(course, tmp_path):
    nbformat.write(answered("5", "6", "'five'"), tmp_path / "a.ipynb")
    sleeper = (
        "import os, time\nopen(PLACE, 'w').write(str(os.getpid()))\ntime.sleep(600)\nanswer = 5"
    )
    place = tmp_path / "pid"
    nbformat.write(
        answered(sleeper.replace("PLACE", repr(str(place))), "6", "7"), tmp_path / "b.ipynb"
    )
    command = [sys.executable, "-m", "transformer_course.grading", "a.ipynb", "b.ipynb"]
    command += ["--course", str(course)]
    process = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    wait_until(lambda: place.exists() and place.read_text())
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    wait_until(lambda: not is_running(int(place.read_text())))
    assert (tmp_path / "grades.csv").read_text(encoding="utf-8-sig").count("correct") == 3


def wait_until(it_is_so) -> None:
    """Wait for something that happens soon, on a busy machine too."""
    end = time.monotonic() + 120
    while not it_is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def is_running(process: int) -> bool:
    """Whether a process does something; one that nobody has waited for does not."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True
    )
    return state.stdout.strip() not in ("", "Z", "Zs", "Zsl")


@pytest.mark.slow
def test_a_lesson_of_the_course_with_a_right_a_wrong_and_no_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = read(ROOT / "notebooks" / "02_attention.ipynb")
    first, second = exercise_indices(notebook)
    for place, answer in (
        (first, solution_of(notebook, first)),
        (second, "reordered = key, value"),
    ):
        notebook.cells[place].source = with_answer(notebook.cells[place].source, answer)
    nbformat.write(notebook, "hers.ipynb")
    assert main(["hers.ipynb", "--lesson", "2"]) == 0
    with open("grades.csv", encoding="utf-8-sig") as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    assert rows[0] == ("hers.ipynb", "2.1", "correct", "")
    assert rows[1][:3] == ("hers.ipynb", "2.2", "hint")
    assert rows[1][3].startswith("These are key and value as the check gets them.")
    assert not list(tmp_path.glob("my_transformer*")), "a graded class was kept"


def test_of_two_lessons_in_a_notebook_the_one_that_is_asked_for_is_graded(course, tmp_path):
    file = str(tmp_path / "both.ipynb")
    notebook = answered("5", "6", "'five'")
    notebook.cells.append(new_code_cell("check_other(1)"))
    nbformat.write(notebook, file)
    exercises = [*course_exercises(course), Exercise("8.1", "check_other", "check_other(1)")]
    found = [(row.exercise, row.hint) for row in grade_notebook(file, exercises, LIMITS)]
    assert found[0] == ("7.1", "") and ("", "It also has exercises of lesson 8.") in found
    asked = [(row.exercise, row.hint) for row in grade_notebook(file, exercises, LIMITS, 8)]
    assert asked[0][0] == "8.1" and ("", "It also has exercises of lesson 7.") in asked
