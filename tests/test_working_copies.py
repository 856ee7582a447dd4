"""The reader's copies of the lessons: they follow a lesson until the reader changes one."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from tests.fresh_clone import clone_into
from tools import working_copies
from tools.colab import places_to_open
from tools.notebooks import ROOT, lesson_paths, read
from tools.working_copies import MEMORY, NOT_SIGNED, SIGNED, Update, main, update
from transformer_course import kept_files


@pytest.fixture(autouse=True)
def jupyter_folders(tmp_path, monkeypatch):
    """Folders of Jupyter for this test alone."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter" / "data"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "jupyter" / "config"))


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


def newer(lessons, copies):
    """Bring the copies up to date. Returns the lessons that are newer than a changed copy."""
    done = update(lessons, copies)
    assert done.failed == {} and done.signed
    return done.newer


def first_source(path):
    """The first cell's source."""
    return read(path).cells[0].source


def test_every_lesson_is_copied_and_one_that_was_deleted_comes_back(folders):
    lessons, copies = folders
    assert newer(lessons, copies) == []
    (copies / "00_start.ipynb").unlink()
    assert newer(lessons, copies) == []
    for lesson in lessons.iterdir():
        assert (copies / lesson.name).read_bytes() == lesson.read_bytes()


def run(notebook):
    notebook.cells[0].outputs = [nbformat.v4.new_output("stream", text="40 minutes")]


def attach(notebook):
    notebook.cells[0]["attachments"] = {"note.txt": {"text/plain": "an idea"}}


def tag(notebook):
    notebook.cells[0].metadata["tags"] = ["mine"]


def note(notebook):
    notebook.metadata["jupytext"] = {"formats": "ipynb,py"}


@pytest.mark.parametrize("what", [run, attach, tag, note])
@pytest.mark.parametrize("lesson_is", ["newer", "renamed", "gone"])
def test_a_copy_that_was_run_or_added_to_follows_its_lesson_and_is_kept_as_it_was(
    what, lesson_is, folders, course, capsys
):
    lessons, copies = folders
    update(lessons, copies)
    copy, lesson = copies / "00_start.ipynb", lessons / "00_start.ipynb"
    notebook = json.loads(copy.read_bytes(), object_hook=nbformat.NotebookNode)
    what(notebook)
    copy.write_text(json.dumps(notebook))
    before = copy.read_bytes()
    assert course(capsys) == (0, "", "") and copy.read_bytes() == before
    if lesson_is == "newer":
        write(lesson, "print('newer')")
    elif lesson_is == "renamed":
        lesson.rename(lessons / "02_start.ipynb")
    else:
        lesson.unlink()
    _, said, complaint = course(capsys)
    assert complaint == ""
    assert "The course has a newer version of 00_start.ipynb: your copy in work/, with " in said
    assert said.endswith("what you have run or added, is kept as 00_start.bak.\n")
    assert (copies / "00_start.bak").read_bytes() == before
    assert copy.exists() == (lesson_is == "newer") and course(capsys) == (0, "", "")
    assert len(list(copies.glob("*.bak"))) == 1


@pytest.mark.parametrize("memory_is_lost", [False, True])
def test_copies_that_nobody_has_touched_leave_nothing_behind(memory_is_lost, folders):
    lessons, copies = folders
    update(lessons, copies)
    for version in ("newer", "newest"):
        if memory_is_lost:
            (copies / MEMORY).unlink()
            update(lessons, copies)
        write(lessons / "00_start.ipynb", f"print('{version}')", output=version)
        assert update(lessons, copies) == Update(copied=["00_start.ipynb"])
        assert first_source(copies / "00_start.ipynb") == f"print('{version}')"
    (lessons / "00_start.ipynb").unlink()
    assert update(lessons, copies) == Update()
    assert {path.name for path in copies.iterdir()} == {MEMORY, "01_words.ipynb"}


def test_a_changed_copy_is_never_overwritten_and_a_newer_lesson_is_announced_each_time(folders):
    lessons, copies = folders
    update(lessons, copies)
    write(copies / "00_start.ipynb", "my answer")
    before = (copies / "00_start.ipynb").read_bytes()
    assert newer(lessons, copies) == []
    write(lessons / "00_start.ipynb", "print('newer')")
    assert newer(lessons, copies) == newer(lessons, copies) == ["00_start.ipynb"]
    assert (copies / "00_start.ipynb").read_bytes() == before
    (copies / "00_start.ipynb").rename(copies / "mine.ipynb")
    assert newer(lessons, copies) == []
    assert first_source(copies / "00_start.ipynb") == "print('newer')"
    assert (copies / "mine.ipynb").read_bytes() == before


def test_a_version_that_was_there_once_is_announced_again(folders):
    lessons, copies = folders
    first = (lessons / "00_start.ipynb").read_bytes()
    update(lessons, copies)
    write(lessons / "00_start.ipynb", "print('newer')")
    second = (lessons / "00_start.ipynb").read_bytes()
    update(lessons, copies)
    (lessons / "00_start.ipynb").write_bytes(first)
    update(lessons, copies)
    write(copies / "00_start.ipynb", "my answer")
    assert newer(lessons, copies) == []
    (lessons / "00_start.ipynb").write_bytes(second)
    assert newer(lessons, copies) == ["00_start.ipynb"]


@pytest.mark.parametrize("memory", ["", "{", "[1]", None])
@pytest.mark.parametrize("changed", ["copies", "lessons"])
def test_without_its_memory_a_copy_that_differs_stays_and_nobody_is_said_to_have_changed_it(
    folders, memory, changed, course, capsys
):
    lessons, copies = folders
    update(lessons, copies)
    write((copies if changed == "copies" else lessons) / "00_start.ipynb", "another")
    before = (copies / "00_start.ipynb").read_bytes()
    (copies / ".copied.json").unlink()
    if memory is not None:
        (copies / ".copied.json").write_text(memory)
    for _ in range(2):
        status, said, complaint = course(capsys)
        assert (status, said.count("\n"), complaint) == (0, 1, "")
        assert "You have changed" not in said and "newer version" not in said
        assert "work/.copied.json does not say which: 00_start.ipynb. They stay as they are" in said
        assert (copies / "00_start.ipynb").read_bytes() == before
    write(lessons / "01_words.ipynb", "print('newer')")
    assert update(lessons, copies) == Update(copied=["01_words.ipynb"], unknown=["00_start.ipynb"])
    (copies / "00_start.ipynb").rename(copies / "mine.ipynb")
    assert update(lessons, copies) == Update(copied=["00_start.ipynb"])
    assert (copies / "mine.ipynb").read_bytes() == before


def test_a_damaged_copy_is_the_readers_own(folders):
    lessons, copies = folders
    update(lessons, copies)
    (copies / "00_start.ipynb").write_text("{")
    write(lessons / "00_start.ipynb", "print('newer')")
    assert newer(lessons, copies) == ["00_start.ipynb"]
    assert (copies / "00_start.ipynb").read_text() == "{"


def test_a_lesson_that_is_gone_takes_its_unchanged_copy_along(folders):
    lessons, copies = folders
    update(lessons, copies)
    write(copies / "00_start.ipynb", "my answer")
    for lesson in list(lessons.iterdir()):
        lesson.rename(lessons / f"1{lesson.name[1:]}")
    assert newer(lessons, copies) == []
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
    assert printed[:2] == [f"{SIGNED.format(folder='work', count=2)}\n", ""]
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


@pytest.fixture
def course(folders, monkeypatch):
    """Runs the command on the two lessons; its status and what it says."""
    lessons, copies = folders
    monkeypatch.setattr(working_copies, "ROOT", lessons.parent)

    def run(capsys):
        status = main([])
        return status, *capsys.readouterr()

    return run


def test_who_asks_for_help_gets_no_copies(folders, course):
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0 and not folders[1].exists()


def only_the_second_is_copied(folders, done):
    """Whether the first copy failed, and the second is there, whole."""
    lessons, copies = folders
    assert list(done.failed) == ["00_start.ipynb"]
    copied = (copies / "01_words.ipynb").read_bytes()
    return copied == (lessons / "01_words.ipynb").read_bytes()


@pytest.mark.parametrize("taken_by", ["folder", "link"])
def test_a_folder_or_a_broken_link_in_place_of_a_copy_stops_no_other(
    taken_by, folders, course, capsys
):
    _, copies = folders
    copies.mkdir()
    place = copies / "00_start.ipynb"
    place.mkdir() if taken_by == "folder" else place.symlink_to(copies / "elsewhere" / "mine.ipynb")
    status, said, complaint = course(capsys)
    assert (status, said.count("\n")) == (0, 1)
    what = "a folder" if taken_by == "folder" else "a link that leads nowhere"
    reason = f"it is {what} and not a file"
    assert complaint == f"00_start.ipynb could not be brought up to date in work/: {reason}.\n"
    assert only_the_second_is_copied(folders, update(*folders))
    assert place.is_dir() or place.is_symlink()


def test_a_folder_in_place_of_the_memory_is_named(folders, course, capsys):
    (folders[1] / MEMORY).mkdir(parents=True)
    status, said, complaint = course(capsys)
    assert (status, said, complaint.count("\n")) == (1, "", 1)
    assert complaint.startswith("00_start.ipynb, 01_words.ipynb could not be brought up to date")
    assert f"({MEMORY})" in complaint


def test_a_damaged_lesson_replaces_no_copy(folders, course, capsys):
    update(*folders)
    (folders[0] / "00_start.ipynb").write_text("{")
    reason = "the lesson is damaged"
    complaint = f"00_start.ipynb could not be brought up to date in work/: {reason}.\n"
    assert course(capsys) == (0, "", complaint)
    assert first_source(folders[1] / "00_start.ipynb") == "print('00_start')"


def test_without_any_lesson_no_copy_is_removed(folders):
    lessons, copies = folders
    update(lessons, copies)
    lessons.rename(lessons.with_name("moved"))
    assert newer(lessons, copies) == []
    assert len(list(copies.glob("*.ipynb"))) == 2


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_copy_that_the_reader_keeps_on_another_disk_is_updated_there(folders):
    lessons, copies = folders
    update(lessons, copies)
    disk = copies.parent / "disk.ipynb"
    (copies / "00_start.ipynb").rename(disk)
    (copies / "00_start.ipynb").symlink_to(disk)
    write(lessons / "00_start.ipynb", "print('newer')")
    assert newer(lessons, copies) == []
    assert (copies / "00_start.ipynb").is_symlink() and first_source(disk) == "print('newer')"


@pytest.mark.parametrize("name", ["\ud800.ipynb", "\0.ipynb", f"{'x' * 300}.ipynb"])
def test_a_name_in_the_memory_that_no_file_can_have_stops_nothing(name, folders):
    lessons, copies = folders
    update(lessons, copies)
    memory = json.loads((copies / MEMORY).read_text())
    (copies / MEMORY).write_text(json.dumps(memory | {name: ["x"]}))
    write(lessons / "00_start.ipynb", "print('newer')")
    assert newer(lessons, copies) == []
    assert first_source(copies / "00_start.ipynb") == "print('newer')"


def test_without_lessons_the_command_says_what_is_missing(folders, course, capsys):
    for path in folders[0].iterdir():
        path.unlink()
    assert course(capsys) == (1, "", "notebooks/ must hold the lessons, got none.\n")


def full_disk(only):
    """In place of replace_file: writes half of a file of this name and fails, as a full disk."""
    whole = kept_files.replace_file

    def write_half(path, parts):
        if only not in path.name:
            return whole(path, parts)
        path.with_name(f".{path.name}.partial").write_bytes(b"".join(parts)[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    return write_half


def test_a_full_disk_stops_no_other_copy_and_is_said_in_one_sentence(
    folders, course, monkeypatch, capsys
):
    update(*folders)
    write(folders[0] / "00_start.ipynb", "print('newer')")
    write(folders[0] / "01_words.ipynb", "print('newer')")
    monkeypatch.setattr(kept_files, "replace_file", full_disk("00_start.ipynb"))
    status, _, complaint = course(capsys)
    reason = os.strerror(errno.ENOSPC)
    assert status == 0
    assert complaint == f"00_start.ipynb could not be brought up to date in work/: {reason}.\n"
    monkeypatch.undo()
    assert first_source(folders[1] / "00_start.ipynb") == "print('00_start')"
    assert first_source(folders[1] / "01_words.ipynb") == "print('newer')"
    write(folders[0] / "00_start.ipynb", "print('newest')")
    assert newer(*folders) == [], "a copy that nobody has touched is taken for the reader's"
    assert first_source(folders[1] / "00_start.ipynb") == "print('newest')"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_said_in_one_sentence(folders, course, capsys):
    folders[1].mkdir(mode=0o500)
    status, said, complaint = course(capsys)
    assert (status, said, complaint.count("\n")) == (1, "", 1)
    assert complaint.startswith("00_start.ipynb, 01_words.ipynb could not be brought up to date")


def test_a_folder_that_cannot_be_made_is_said_in_one_sentence(folders, course, capsys):
    folders[1].write_text("my notes")
    assert course(capsys) == (1, "", "work must be a folder, got a file: please rename it.\n")
    assert folders[1].read_text() == "my notes"
    folders[1].unlink()
    folders[1].symlink_to(folders[1])
    got = "a link that leads nowhere"
    assert course(capsys) == (1, "", f"work must be a folder, got {got}: please rename it.\n")


@pytest.mark.parametrize("content", ["[" * 100_000, '{"cells": ' * 100_000])
def test_a_copy_that_is_nested_deeply_is_the_readers_own(content, folders):
    update(*folders)
    (folders[1] / "00_start.ipynb").write_text(content)
    (folders[1] / MEMORY).write_text(content)
    assert update(*folders) == Update(unknown=["00_start.ipynb"])
    assert (folders[1] / "00_start.ipynb").read_text() == content


@pytest.mark.parametrize("moment", ["write_json", "sign", "replace_unchanged"])
@pytest.mark.parametrize("after", [False, True])
def test_a_copy_is_never_taken_for_the_readers_after_an_update_that_was_killed(
    moment, after, folders, monkeypatch
):
    lessons, copies = folders
    update(lessons, copies)
    step = getattr(working_copies, moment)

    def killed(*given, **chosen):
        if after:
            step(*given, **chosen)
        raise KeyboardInterrupt

    for version in ("second", "third"):
        write(lessons / "00_start.ipynb", f"print('{version}')")
        with monkeypatch.context() as patch:
            patch.setattr(working_copies, moment, killed)
            with pytest.raises(KeyboardInterrupt):
                update(lessons, copies)
        nbformat.validate(read(copies / "00_start.ipynb"))
    write(lessons / "00_start.ipynb", "print('fourth')")
    assert newer(lessons, copies) == []
    assert first_source(copies / "00_start.ipynb") == "print('fourth')"


@pytest.mark.parametrize("there", [True, False])
def test_two_updates_at_once_do_the_same(there, folders, monkeypatch):
    lessons, copies = folders
    if there:
        update(lessons, copies)
        write(lessons / "00_start.ipynb", "print('newer')")
    others = []

    def with_another(content):
        if not others:
            others.append(None)
            others[0] = update(lessons, copies)
        return True

    monkeypatch.setattr(working_copies, "sign", with_another)
    assert update(lessons, copies).failed == others[0].failed == {}
    assert all((copies / each.name).read_bytes() == each.read_bytes() for each in lessons.iterdir())
    assert len(list(copies.iterdir())) == 3  # with the memory


def test_what_the_reader_saves_in_a_copy_that_is_removed_stays(folders, monkeypatch):
    lessons, copies = folders
    update(lessons, copies)
    (lessons / "00_start.ipynb").unlink()

    def read_and_save(content):
        if b"00_start" in content:
            write(copies / "00_start.ipynb", "my answer")
        return whole(content)

    whole = working_copies.fingerprint
    monkeypatch.setattr(working_copies, "fingerprint", read_and_save)
    update(lessons, copies)
    assert first_source(copies / "00_start.ipynb") == "my answer"


def test_what_the_reader_saves_during_an_update_stays(folders, monkeypatch):
    lessons, copies = folders
    update(lessons, copies)
    write(lessons / "00_start.ipynb", "print('newer')")

    def save_meanwhile(content):
        write(copies / "00_start.ipynb", "my answer")
        return True

    monkeypatch.setattr(working_copies, "sign", save_meanwhile)
    assert list(update(lessons, copies).failed) == ["00_start.ipynb"]
    assert first_source(copies / "00_start.ipynb") == "my answer"


def test_names_with_a_folder_in_the_memory_are_ignored(folders):
    lessons, copies = folders
    update(lessons, copies)
    memory = json.loads((copies / MEMORY).read_text())
    outside = copies.parent / "00_start.ipynb"
    outside.write_bytes((copies / "00_start.ipynb").read_bytes())
    for name in ("../00_start.ipynb", str(outside), ".", "", "..", "notes"):
        memory[name] = memory["00_start.ipynb"]
    (copies / MEMORY).write_text(json.dumps(memory))
    assert newer(lessons, copies) == [] and outside.exists()
    write(lessons / "00_start.ipynb", "print('newer')")
    assert newer(lessons, copies) == [] and outside.exists()
    assert set(json.loads((copies / MEMORY).read_text())) == {"00_start.ipynb", "01_words.ipynb"}


def test_a_memory_of_the_first_edition_is_understood(folders):
    lessons, copies = folders
    update(lessons, copies)
    memory = json.loads((copies / MEMORY).read_text())
    (copies / MEMORY).write_text(json.dumps({name: known[0] for name, known in memory.items()}))
    write(lessons / "00_start.ipynb", "print('newer')")
    assert newer(lessons, copies) == []
    assert first_source(copies / "00_start.ipynb") == "print('newer')"


def is_trusted(path):
    """Whether this user's JupyterLab trusts a notebook."""
    return NotebookNotary().check_signature(read(path))


def test_two_cells_with_one_id_bring_no_warning(tmp_path, recwarn):
    path = tmp_path / "lesson.ipynb"
    write(path, "print(1)")
    notebook = json.loads(path.read_bytes())
    notebook["cells"] *= 2
    working_copies.sign(json.dumps(notebook).encode())
    assert not recwarn.list


def test_a_copy_is_trusted_when_it_is_made_and_when_it_is_updated(folders):
    lessons, copies = folders
    write(lessons / "00_start.ipynb", "print('newer')", output="a figure")
    assert update(lessons, copies) == Update(copied=["00_start.ipynb", "01_words.ipynb"])
    assert is_trusted(copies / "00_start.ipynb") and is_trusted(copies / "01_words.ipynb")
    write(lessons / "00_start.ipynb", "print('newest')", output="another figure")
    assert not is_trusted(lessons / "00_start.ipynb")
    assert update(lessons, copies) == Update(copied=["00_start.ipynb"])
    assert is_trusted(copies / "00_start.ipynb")


def test_what_was_not_just_copied_is_not_signed(folders):
    lessons, copies = folders
    update(lessons, copies)
    write(copies / "00_start.ipynb", "my answer", output="what somebody sent me")
    write(copies / "01_words.ipynb", "print('01_words')", output="what somebody sent me")
    assert update(lessons, copies) == Update()
    for name in ("00_start.ipynb", "01_words.ipynb"):
        assert not is_trusted(copies / name)
    write(lessons / "00_start.ipynb", "print('newer')")
    assert update(lessons, copies) == Update(newer=["00_start.ipynb"])
    assert not is_trusted(copies / "00_start.ipynb")


def test_links_of_a_copy_lead_to_other_copies_where_those_of_the_lesson_lead_to_colab(folders):
    lessons, copies = folders
    place = "https://colab.research.google.com/github/owner/name/blob/main/notebooks"
    above = f"[Open in Colab]({place}/00_start.ipynb) · [Open in Binder](https://x.org)"
    write(
        lessons / "00_start.ipynb", f"{above} [on]({place}/01_words.ipynb#a) [g]({place}/g.ipynb)"
    )
    assert newer(lessons, copies) == []
    copy = copies / "00_start.ipynb"
    assert first_source(copy) == f"{above} [on](01_words.ipynb#a) [g](g.ipynb)"
    assert is_trusted(copy)
    write(lessons / "00_start.ipynb", f"{above} [on](01_words.ipynb#a) [g](g.ipynb)")
    before = copy.read_bytes()
    assert newer(lessons, copies) == [] and copy.read_bytes() == before


def test_jupyterlab_shows_the_live_figures_of_a_copy_of_a_lesson(tmp_path):
    contents = pytest.importorskip("jupyter_server.services.contents.largefilemanager")
    (tmp_path / "notebooks").mkdir()
    lesson = ROOT / "notebooks" / "00_start_here.ipynb"
    (tmp_path / "notebooks" / lesson.name).write_bytes(lesson.read_bytes())
    server = contents.LargeFileManager(root_dir=str(tmp_path))

    def trusted(folder):
        cells = server.get(f"{folder}/{lesson.name}")["content"]["cells"]
        return {cell.metadata.trusted for cell in cells if cell.cell_type == "code"}

    assert trusted("notebooks") == {False}
    update(tmp_path / "notebooks", tmp_path / "work")
    assert trusted("work") == {True}


@pytest.mark.skipif(sys.platform == "win32", reason="Binder runs on Linux")
def test_binder_opens_a_copy_that_jupyterlab_trusts(tmp_path):
    clone, first = clone_into(tmp_path / "clone"), lesson_paths()[0].name
    python = str(Path(sys.executable).parent)
    path = os.pathsep.join([python, os.environ["PATH"]])
    settings = {"PATH": path, "PYTHONPATH": str(clone)}
    subprocess.run(["./postBuild"], cwd=clone, env=os.environ | settings, check=True)
    place = places_to_open("https://github.com/owner/name", f"notebooks/{first}")["Binder"]
    opened = clone / unquote(place.partition("?labpath=")[2])
    assert opened.name == first and is_trusted(opened)


def test_lessons_are_copied_where_they_cannot_be_signed(folders, course, monkeypatch, capsys):
    (folders[0].parent / "jupyter").write_text("a file, in place of Jupyter's folder")
    assert course(capsys) == (0, f"{NOT_SIGNED.format(folder='work', count=2)}\n", "")
    assert first_source(folders[1] / "00_start.ipynb") == "print('00_start')"
