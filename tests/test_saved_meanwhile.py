"""An editor saves a file at the very moment at which a command replaces it: nothing is lost."""

import ctypes
import errno
import io
import json
import os
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.killed_actions import keep_class, killing
from tools import reset, working_copies
from transformer_course import kept_files
from transformer_course.grading import __main__ as grading
from transformer_course.kept_files import SavedMeanwhileError, replace_unchanged
from transformer_course.my_transformer import FILE
from transformer_course.transformer.own_model import WEIGHTS, keep_weights

LESSON = "02_attention.ipynb"
WATCHED = ("reset", "working_copies", "kept_files", "my_transformer", "own_model", "__main__")
IDEA = b"an idea"


class Editor:
    """Saves a file at one line of what another function runs.

    Args:
        path: The file.
        how: "in place", as JupyterLab and VS Code; "by rename", as PyCharm and vim; or "slowly":
            in place, and begun some lines earlier.
    """

    def __init__(self, path, how):
        self.path, self.how, self.file, self.lines = path, how, None, 0

    def run(self, action, at):
        """Run the action, and save at that line of it."""
        self.file, self.lines = None, 0

        def trace(frame, event, _):
            if Path(frame.f_code.co_filename).stem not in WATCHED:
                return None
            self.lines += 1
            if self.lines == at:
                self.begin()
            if self.lines == at + 5:
                self.end()
            return trace

        sys.settrace(trace)
        try:
            action()
        finally:
            sys.settrace(None)
            self.end()

    def begin(self):
        content = self.content()
        if self.how == "by rename":
            (self.path.with_name(".editor")).write_bytes(content)
            os.replace(self.path.with_name(".editor"), self.path)
        elif self.how == "in place":
            self.path.write_bytes(content)
        else:
            self.file = self.path.open("wb")

    def end(self):
        if self.file is not None:
            self.file.write(self.content())
            self.file.close()
            self.file = None

    def content(self):
        """What the file held when the editor opened it, and an idea; a notebook stays JSON."""
        return self.opened.replace(b"import", IDEA + b" import", 1)


def prepared_reset(folder, monkeypatch):
    monkeypatch.setattr(reset, "is_trusted", lambda content: False)
    exercise = new_code_cell("import mine", metadata={"tags": ["exercise"]})
    cells = [new_markdown_cell("### Exercise 2.1 · Build"), exercise]
    answered = json.dumps(new_notebook(cells=cells)).encode()
    monkeypatch.setattr(reset, "_original", lambda number, root: (folder / LESSON, "..."))
    return folder / LESSON, answered, lambda: reset.reset("2.1", folder)


def prepared_update(folder, monkeypatch):
    monkeypatch.setattr(working_copies, "sign", lambda content: True)
    lessons = folder.parent / "lessons"
    lessons.mkdir(exist_ok=True)
    lesson = json.dumps(new_notebook(cells=[new_code_cell("import torch")])).encode()
    (lessons / LESSON).write_bytes(lesson)
    working_copies.update(lessons, folder)
    copied = (folder / LESSON).read_bytes()
    (lessons / LESSON).write_bytes(lesson.replace(b"import", b"newer import", 1))
    memory = (folder / working_copies.MEMORY).read_bytes()

    def update():
        (folder / working_copies.MEMORY).write_bytes(memory)
        done = working_copies.update(lessons, folder)
        assert done.failed.keys() <= {LESSON}

    return folder / LESSON, copied, update


def prepared_keep(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TRANSFORMER_EDU_KEEP", "1")
    keep_class("FeedForward", "first")
    return folder / FILE, (folder / FILE).read_bytes(), lambda: keep_class("FeedForward", "second")


def prepared_weights(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TRANSFORMER_EDU_KEEP", "1")
    return folder / WEIGHTS, b"import", lambda: keep_weights(torch.nn.Linear(2, 2))


def prepared_grades(folder, monkeypatch):
    path, graded = folder / "grades.csv", b"import graded"

    def write():
        memory = io.BytesIO(grading._digest(graded))
        grading._write(path, memory, b"import more")

    return path, graded, write


ACTIONS = {
    "reset": prepared_reset,
    "update": prepared_update,
    "keep": prepared_keep,
    "weights": prepared_weights,
    "grades": prepared_grades,
}


@pytest.mark.parametrize("how", ["in place", "by rename", "slowly"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "keep")) for name in ACTIONS]
)
def test_what_is_saved_at_any_line_of_a_command_is_there_afterwards(
    name, how, tmp_path, monkeypatch
):
    folder = tmp_path / "work"
    folder.mkdir()
    path, before, action = ACTIONS[name](folder, monkeypatch)
    editor, at = Editor(path, how), 0
    editor.opened = before
    while at <= editor.lines:
        at += 1
        for each in folder.iterdir():
            if each.suffix == ".bak" or each.name.startswith("grades."):
                each.unlink()
        path.write_bytes(before)
        with redirect_stdout(io.StringIO()), suppress(reset.ResetError):
            editor.run(action, at)
        files = [each for each in folder.iterdir() if not each.name.startswith(".")]
        assert at > editor.lines or any(IDEA in each.read_bytes() for each in files), at
    assert at > 20  # lines


@pytest.fixture(params=["at once", "no such disk", "no such system"])
def system(request, monkeypatch):
    """A system that lets two files change names at once, or not."""
    if request.param == "no such disk":
        for name in ("EXCHANGE", "FREE"):
            monkeypatch.setattr(kept_files, name, 1 << 30)  # an unknown flag
    if request.param == "no such system":
        monkeypatch.setattr(ctypes, "CDLL", _no_library)


def _no_library(name, **options):
    raise TypeError("Windows")


def test_a_file_is_replaced_and_stays_under_a_free_name(system, tmp_path):
    path, taken = tmp_path / "mine.txt", tmp_path / "mine.bak"
    path.write_bytes(b"old")
    path.chmod(0o600)
    taken.write_bytes(b"older")
    old = replace_unchanged(path, b"old", b"new", keep=True)
    assert path.stat().st_mode == old.stat().st_mode
    assert old.name == "mine.1.bak" and old.read_bytes() == b"old"
    assert path.read_bytes() == b"new" and taken.read_bytes() == b"older"
    assert len(list(tmp_path.iterdir())) == 3


def test_a_file_that_was_saved_since_it_was_read_stays(system, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"saved")
    with pytest.raises(SavedMeanwhileError, match="it was saved at this very moment"):
        replace_unchanged(path, b"old", b"new")
    assert path.read_bytes() == b"saved" and list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_a_file_that_is_gone_is_told(system, tmp_path):
    link, path = tmp_path / "link", tmp_path / "there" / "mine.txt"
    path.parent.mkdir()
    path.write_bytes(b"old")
    link.symlink_to(path)
    replace_unchanged(link, b"old", b"new")
    assert link.is_symlink() and path.read_bytes() == b"new"
    path.unlink()
    with pytest.raises(FileNotFoundError):
        replace_unchanged(link, b"new", b"newer")
    assert list(path.parent.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
@pytest.mark.parametrize("what", ["a folder", "a device or a pipe", "a link that leads nowhere"])
def test_what_is_no_file_is_named_as_what_it_is(what, tmp_path):
    path, link = tmp_path / "mine.txt", tmp_path / "link"
    link.symlink_to(path)
    if what == "a folder":
        path.mkdir()
    elif what == "a device or a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(link)
    before = sorted(tmp_path.iterdir())
    for name in (path, link):
        with pytest.raises(OSError, match=f"it is {what} and not a file"):
            replace_unchanged(name, None, b"new")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_takes_the_place_of_nothing(system, links, tmp_path, monkeypatch):
    path = tmp_path / "mine.txt"
    if not links:
        monkeypatch.setattr(os, "link", _no_link)
    replace_unchanged(path, None, b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(SavedMeanwhileError):
        replace_unchanged(path, None, b"newer")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_what_another_process_has_written_already_is_written(system, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"new")
    replace_unchanged(path, b"old", b"new")
    replace_unchanged(path, None, b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("how", ["in place", "by rename"])
def test_what_is_saved_in_a_file_that_is_removed_stays(how, tmp_path):
    path = tmp_path / "mine.txt"
    editor = Editor(path, how)
    editor.opened = b"import"
    at = 0
    while at <= editor.lines:
        at += 1
        path.write_bytes(b"import")
        with suppress(SavedMeanwhileError):
            editor.run(lambda: replace_unchanged(path, b"import", None), at)
        assert at > editor.lines or IDEA in path.read_bytes(), at
        assert at <= editor.lines or not path.exists()
        assert list(tmp_path.iterdir()) == [path] * path.exists()
    assert at > 5


@pytest.mark.skipif(os.name != "posix", reason="processes are forked")
@pytest.mark.parametrize("system", ["at once", "no such disk"], indirect=True)
@pytest.mark.parametrize("keep", [False, True])
def test_a_call_that_is_killed_leaves_no_copy_that_misleads(keep, system, tmp_path, monkeypatch):
    path, finished, at = tmp_path / "mine.txt", False, 0
    while not finished:
        at += 1
        path.write_bytes(b"old")
        finished = is_finished(lambda: replace_unchanged(path, b"old", b"new", keep=keep), at)
        now, copies = path.read_bytes(), list(tmp_path.glob("*.bak"))
        assert now == b"old" or (now == b"new" and len(copies) == keep)
        assert len(copies) <= keep and all(copy.read_bytes() == b"old" for copy in copies)
        with monkeypatch.context() as patch:
            patch.setattr(kept_files, "ABANDONED", -1)
            kept_files._settle_abandoned(tmp_path)
        replace_unchanged(path, now, b"newer")
        assert sorted(tmp_path.iterdir()) == sorted([*copies, path])
        for copy in copies:
            copy.unlink()
    assert at > 20


def is_finished(action, killed_at):
    """Do an action in a child, which is killed at one of its lines; whether it came to its end."""
    child = os.fork()
    if child == 0:
        status = 1
        watched = ("kept_files", "atomic_files")
        sys.settrace(killing(killed_at, lambda file: Path(file).stem in watched))
        try:
            action()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def test_what_an_editor_saved_in_a_call_that_was_killed_becomes_a_copy(tmp_path, monkeypatch):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"new")
    spare = kept_files._spare(path, b"new", b"old")
    spare.write_bytes(IDEA)
    replace_unchanged(path, b"new", b"newer")
    assert spare.exists()  # its process may still run
    monkeypatch.setattr(kept_files, "ABANDONED", -1)
    kept_files._settle_abandoned(tmp_path)
    assert not spare.exists() and path.with_suffix(".bak").read_bytes() == IDEA


@pytest.mark.parametrize("disk", ["usual", "no such disk"])
def test_a_file_that_somebody_saves_where_there_was_none_stays(disk, tmp_path, monkeypatch):
    if disk == "no such disk":
        monkeypatch.setattr(kept_files, "FREE", 1 << 30)
    path = tmp_path / "mine.txt"
    editor = Editor(path, "in place")
    editor.opened = b"import"
    at = 0
    while at <= editor.lines:
        at += 1
        path.unlink(missing_ok=True)
        with suppress(SavedMeanwhileError):
            editor.run(lambda: replace_unchanged(path, None, b"new"), at)
        assert at > editor.lines or IDEA in path.read_bytes(), at
        assert list(tmp_path.iterdir()) == [path]
    assert at > 5


def _no_link(*names):
    raise OSError(95, "Operation not supported")


def test_a_file_that_is_named_like_a_copy_has_a_copy_of_another_name(tmp_path):
    path = tmp_path / "own.bak"
    path.write_bytes(IDEA)
    copy = replace_unchanged(path, IDEA, b"new", keep=True)
    assert copy != path and copy.read_bytes() == IDEA and path.read_bytes() == b"new"


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_disk_without_modes_is_written_to(tmp_path, monkeypatch, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(kept_files.shutil, "copymode", refuse)
    path = tmp_path / "file.txt"
    path.write_bytes(IDEA)
    replace_unchanged(path, IDEA, b"new")
    assert path.read_bytes() == b"new"
