"""The student edition runs, its exercises wait, and nothing of a solution can be read in it."""

import re
import subprocess

import nbformat
import pytest

from tests.solution_lines import leaks, own_lines
from tools import student
from tools.editions import EditionError
from tools.exercises import STUB, exercise_indices, printed_by
from tools.lesson import SEEN, has_tag
from tools.notebooks import ROOT, execute, lesson_paths, read
from tools.student import main, student_edition, write

PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LESSONS = {path.stem: read(path) for path in lesson_paths()}
SOLUTIONS = own_lines(LESSONS)


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    """The whole edition, read back from its files."""
    return {path.stem: read(path) for path in write(PATHS, tmp_path_factory.mktemp("student"))}


def text_of(notebook):
    """Everything that a notebook without outputs says."""
    return "\n".join(cell.source for cell in notebook.cells)


def test_nothing_of_a_solution_stands_in_the_edition(edition):
    for name, notebook in edition.items():
        assert not leaks(text_of(notebook), SOLUTIONS), name


def test_every_solution_would_be_found():
    assert len(SOLUTIONS) == sum(len(exercise_indices(each)) for each in LESSONS.values())
    for (name, index), lines in SOLUTIONS.items():
        found = leaks(LESSONS[name].cells[index].source, {(name, index): lines})
        assert len(found) == len(lines) > 0, f"{name}, cell {index}"


def test_the_edition_has_every_lesson_and_no_outputs_and_speaks_of_no_solution(edition):
    assert list(edition) == [path.stem for path in PATHS]
    for name, notebook in edition.items():
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
        assert not re.search("solution", text_of(notebook), re.IGNORECASE), name
        assert all(cell.source.strip() for cell in notebook.cells)


@pytest.mark.parametrize("name", LESSONS)
def test_every_exercise_is_there_and_waits(edition, name):
    lesson, notebook = LESSONS[name], edition[name]
    before, after = (
        [each.cells[index].source for index in exercise_indices(each)]
        for each in (lesson, notebook)
    )
    assert before == after
    assert all("..." in STUB.search(source)[2] for source in after)


@pytest.mark.parametrize("name", LESSONS)
def test_only_solutions_claims_and_outputs_are_missing(edition, name):
    kept = {cell.id: cell.source for cell in edition[name].cells}
    for cell in LESSONS[name].cells:
        if cell.cell_type == "code":
            assert has_tag(cell, "claim") or kept[cell.id] == cell.source
        elif "</details>" not in cell.source and "folded below" not in cell.source:
            assert kept[cell.id] == cell.source


@pytest.mark.parametrize("name", LESSONS)
def test_what_is_seen_in_an_outcome_stays_and_stays_folded(edition, name):
    seen = [SEEN.findall(text_of(each)) for each in (LESSONS[name], edition[name])]
    assert seen[0] == seen[1] and len(seen[0]) > 2


def test_a_claim_stays_if_a_later_cell_needs_its_names():
    def edition_of(*sources, claim):
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        cells[claim].metadata["tags"] = ["claim", "hide-cell"]
        notebook = student_edition(nbformat.v4.new_notebook(cells=cells))
        return [cell.source for cell in notebook.cells]

    assert edition_of("a = 1", "b = a\nassert b", "print(a)", claim=1) == ["a = 1", "print(a)"]
    assert len(edition_of("a = 1", "b = a\nassert b", "print(b)", claim=1)) == 3
    assert len(edition_of("a = 1", "assert a", "for a in (1, 2):\n    print(a)", claim=1)) == 2
    assert len(edition_of("b = 1", "b = 2", "with f():\n    b = 3\n    print(b)", claim=1)) == 2
    assert len(edition_of("b = 1", "b = 2", "with f(b):\n    b = 3\n    print(b)", claim=1)) == 3


def test_a_folder_with_somebodys_classes_is_refused_and_left_alone(tmp_path):
    (tmp_path / "my_transformer.py").write_text("class Attention: ...")
    with pytest.raises(EditionError, match="nothing but notebooks, .* got my_transformer.py"):
        write(PATHS[:1], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["my_transformer.py"]


def answer(path):
    """Write an answer into the first exercise of a notebook."""
    notebook = read(path)
    place = exercise_indices(notebook)[0]
    notebook.cells[place].source = notebook.cells[place].source.replace("...", "my_answer", 1)
    nbformat.write(notebook, path)


@pytest.mark.parametrize("name", ["02_attention.ipynb", "02_an_old_name.ipynb"])
def test_a_notebook_with_answers_is_kept_and_named_in_one_sentence(name, tmp_path, capsys):
    assert main(["2", "3", "--to", str(tmp_path)]) == 0
    (tmp_path / "02_attention.ipynb").rename(tmp_path / name)
    answer(tmp_path / name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    capsys.readouterr()
    assert main(["2", "3", "--to", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "no notebook that somebody has changed or run, because it would be lost" in said
    assert f", got {name}:" in said
    assert said.count("\n") == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("content", ["", "{}", "[" * 100_000, None])
def test_what_was_not_written_by_the_command_is_kept(content, tmp_path, capsys):
    path = tmp_path / "02_attention.ipynb"
    path.mkdir() if content is None else path.write_text(content)
    assert main(["2", "--to", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "02_attention.ipynb" in said and said.count("\n") == 1
    assert path.is_dir() if content is None else path.read_text() == content


def test_the_lessons_themselves_are_never_replaced_by_their_edition(tmp_path):
    lesson = tmp_path / "02_attention.ipynb"
    lesson.write_bytes((ROOT / "notebooks" / lesson.name).read_bytes())
    with pytest.raises(EditionError, match="got 02_attention.ipynb"):
        write([lesson], tmp_path)


def test_a_notebook_of_an_earlier_lesson_that_nobody_has_changed_or_run_is_written_anew(tmp_path):
    lesson, to = tmp_path / "02_attention.ipynb", tmp_path / "student"
    whole = read(PATHS[2])
    nbformat.write(nbformat.from_dict(whole | {"cells": whole.cells[:3]}), lesson)
    (path,) = write([lesson], to)
    write(PATHS[2:3], to)
    written = path.read_bytes()
    write(PATHS[2:3], to)
    assert path.read_bytes() == written and read(path).cells[3:]


@pytest.mark.parametrize("part", ["outputs", "attachments", "metadata", "mark"])
def test_a_notebook_that_was_run_is_kept(part, tmp_path):
    (path,) = write(PATHS[2:3], tmp_path)
    notebook = read(path)
    if part == "outputs":
        place = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        notebook.cells[place].outputs = [nbformat.v4.new_output("stream", text="run")]
    elif part == "attachments":
        notebook.cells[0].attachments = {"mine.png": {"image/png": "AAAA"}}
    elif part == "metadata":
        notebook.cells[0].metadata["mine"] = "a remark"
    else:
        del notebook.metadata["student_edition"]
    nbformat.write(notebook, path)
    before = path.read_bytes()
    with pytest.raises(EditionError, match=f"changed or run, .* got {path.name}"):
        write(PATHS[2:3], tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["02_attention.ipynb", "03_masks.ipynb", "02_an_old_name.ipynb"])
def test_what_is_saved_while_the_edition_is_written_stays(name, tmp_path, monkeypatch, capsys):
    write(PATHS[2:3], tmp_path)
    if "old" in name:
        (tmp_path / PATHS[2].name).rename(tmp_path / name)
    whole = student.content_of

    def save_meanwhile(path):
        content = whole(path)
        if path.name == name:
            path.write_text("my answer")
        return content

    monkeypatch.setattr(student, "content_of", save_meanwhile)
    assert main(["2", "3", "--to", str(tmp_path)]) == 1
    wanted = (
        f"{tmp_path / name} stays as it is, because it was saved at this very moment: try again"
    )
    assert capsys.readouterr().err == f"{wanted}\n"
    assert (tmp_path / name).read_text() == "my answer"


def test_what_a_command_that_was_killed_has_left_stops_nobody(tmp_path):
    (tmp_path / ".02_attention.ipynb.0123abcd-0123abcd.spare").write_text("{")
    (tmp_path / ".02_attention.ipynb.77.partial").write_text("{")
    assert write(PATHS[2:3], tmp_path)


def test_a_place_that_cannot_hold_the_edition_is_said_in_one_sentence(tmp_path, capsys):
    taken, link = tmp_path / "student", tmp_path / "link"
    taken.write_text("my notes")
    link.symlink_to("nowhere")
    for name in (str(taken), str(link), "a\0b"):
        assert main(["2", "--to", name]) == 1
        assert capsys.readouterr().err == f"to must be a folder or a new name, got {name!r}\n"
    assert taken.read_text() == "my notes"
    assert sorted(tmp_path.iterdir()) == [link, taken]


def test_half_a_character_in_a_lesson_stays_half_a_character(tmp_path):
    cell = nbformat.v4.new_markdown_cell("half an emoji: HALF")
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[cell])).replace("HALF", r"\ud83d")
    (tmp_path / "mine.ipynb").write_text(text)
    assert main([str(tmp_path / "mine.ipynb"), "--to", str(tmp_path / "student")]) == 0
    written = nbformat.read(tmp_path / "student" / "mine.ipynb", as_version=4)
    assert written.cells[0].source == "half an emoji: \ud83d"


def test_a_damaged_lesson_is_said_in_one_sentence(tmp_path, capsys):
    (tmp_path / "mine.ipynb").write_text("{")
    assert main([str(tmp_path / "mine.ipynb"), "--to", str(tmp_path / "student")]) == 1
    assert capsys.readouterr().err.startswith("a lesson must be a notebook")


def test_a_solution_goes_whole_and_magic_stays(tmp_path):
    fold = "<details>\n<summary>more</summary>\n\nb\n</details>"
    text = f"<details open>\n<summary><b>Solution</b></summary>\n\na\n{fold}\nc\n</details>\n"
    cells = [nbformat.v4.new_markdown_cell(f"before\n\n{text}\nafter {fold}")]
    cells += [nbformat.v4.new_code_cell(each) for each in ("%matplotlib inline", "!ls", "x = 1")]
    edition = student_edition(nbformat.v4.new_notebook(cells=cells))
    assert edition.cells[0].source == f"before\n\nafter {fold}"
    assert [cell.source for cell in edition.cells[1:]] == ["%matplotlib inline", "!ls", "x = 1"]


@pytest.mark.parametrize("content", ["[]", "x = (", "-" * 100_000 + "1"])
def test_a_lesson_that_is_no_notebook_or_no_python_is_named_in_one_sentence(
    content, tmp_path, capsys
):
    path = tmp_path / "mine.ipynb"
    path.write_text(content)
    if content != "[]":
        cell = nbformat.v4.new_code_cell(content)
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    assert main([str(path), "--to", str(tmp_path / "student")]) == 1
    assert capsys.readouterr().err.startswith("a lesson must be a notebook")


def test_an_empty_text_is_no_folder_and_no_lesson(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["2", "--to", ""]) == 1 and main([""]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == "to must be a folder, got an empty text"
    assert second.startswith("a lesson must be a number from 00 to ")
    assert list(tmp_path.iterdir()) == []


def test_a_lesson_with_another_name_today_leaves_the_folder(tmp_path, capsys):
    write(PATHS[2:3], tmp_path)
    (tmp_path / PATHS[2].name).rename(tmp_path / "02_an_old_name.ipynb")
    for name in (PATHS[-1].name, "my_notes.ipynb"):
        (tmp_path / name).write_text("{}")
    assert main(["2", str(PATHS[0]), "--to", str(tmp_path)]) == 0
    written = {PATHS[0].name, "02_attention.ipynb"}
    kept = {PATHS[-1].name, "my_notes.ipynb"}
    assert {path.name for path in tmp_path.iterdir()} == written | kept
    assert capsys.readouterr().out.startswith("2 notebooks without outputs and solutions in ")


@pytest.mark.parametrize("name", ["99", "nothing.ipynb", "README.md"])
def test_what_is_no_lesson_is_refused(name, tmp_path, capsys):
    assert main([name, "--to", str(tmp_path)]) == 1
    words = capsys.readouterr().err
    assert words.startswith("a lesson must be a number from 00 to ")
    assert words.endswith(f" or a notebook, got {name}\n")


def test_the_command_writes_into_a_folder_that_git_ignores():
    result = subprocess.run(
        ["git", "check-ignore", "student/02_attention.ipynb", "slides/02_attention.html"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.stdout.count("\n") == 2


@pytest.mark.slow
def test_a_lesson_of_the_edition_runs_to_its_end_and_every_exercise_waits(edition, tmp_path):
    notebook = nbformat.from_dict(edition["02_attention"])
    execute(notebook, name="02", folder=tmp_path)
    printed = [printed_by(notebook.cells[index]) for index in exercise_indices(notebook)]
    assert len(printed) > 1
    assert all("is waiting for you" in each for each in printed)
