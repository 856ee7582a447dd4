"""A file is replaced whole or not at all; what cannot be written is refused with its name."""

import os
from pathlib import Path

import pytest

from transformer_edu.training.machine.atomic_files import (
    lock,
    read_json,
    replace_file,
    require_path,
    require_writable,
    write_json,
)


@pytest.fixture
def path(tmp_path) -> Path:
    """An existing file, alone in its folder."""
    path = tmp_path / "run.checkpoint"
    path.write_bytes(b"the old content")
    return path


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


@pytest.mark.parametrize("stop", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_save_that_stops_in_the_middle_changes_nothing(path, stop):
    def parts():
        yield b"the beginning"
        raise stop

    before = path.read_bytes()
    with pytest.raises(type(stop)) as caught:
        replace_file(path, parts())
    if isinstance(stop, OSError):
        assert str(caught.value) == f"[Errno 28] No space left on device: {str(path)!r}"
    assert (path.read_bytes(), names(path)) == (before, ["run.checkpoint"])


@pytest.mark.parametrize(
    ("place", "error"),
    [("missing/file", FileNotFoundError), ("folder", IsADirectoryError), ("a file/x", OSError)],
)
def test_where_nothing_can_be_saved_is_refused_with_its_name(tmp_path, place, error):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a file").touch()
    for use in (
        lambda path: require_writable("checkpoint", path),
        lambda path: replace_file(path, [b"new"]),
    ):
        with pytest.raises(OSError, match=place) as caught:
            use(tmp_path / place)
        assert isinstance(caught.value, error)
    assert names(tmp_path / "x") == ["a file", "folder"]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")
def test_what_is_there_and_no_file_such_as_a_device_is_not_replaced_by_one(tmp_path):
    os.mkfifo(path := tmp_path / "pipe")
    for use in (lambda path: require_writable("x", path), lambda path: replace_file(path, [b"x"])):
        with pytest.raises(OSError, match="it is not a file.*pipe"):
            use(path)
    assert path.is_fifo() and names(path) == ["pipe"]
    with pytest.raises(IsADirectoryError, match="it is not a file"):
        replace_file(Path("."), [b"x"])


@pytest.mark.skipif(os.name != "posix", reason="Windows knows other rights")
def test_a_folder_that_cannot_be_written_is_refused_with_the_file_s_name(tmp_path):
    folder = Path("/proc") if os.geteuid() == 0 else tmp_path  # root may write almost anywhere
    if folder == tmp_path:
        folder.chmod(0o500)
    elif not folder.is_dir():
        pytest.skip("there is no folder that root cannot write to")
    for use in (
        lambda path: require_writable("checkpoint", path),
        lambda path: replace_file(path, [b"new"]),
    ):
        with pytest.raises(OSError, match=r"run\.checkpoint'$"):
            use(folder / "run.checkpoint")
    tmp_path.chmod(0o700)


def test_where_something_can_be_saved_nothing_is_left_or_changed(path):
    before = path.read_bytes()
    require_writable("checkpoint", path)
    assert (path.read_bytes(), names(path)) == (before, ["run.checkpoint"])


@pytest.mark.skipif(os.name != "posix", reason="Windows cannot remove an open file")
def test_the_file_of_a_killed_process_is_removed_and_that_of_a_living_one_stays(path):
    killed, living = (path.with_name(f".{path.name}.{number}.partial") for number in (1, 2))
    killed.touch()
    with living.open("wb") as file:
        lock(file.fileno())
        replace_file(path, [b"new ", b"content"])
        assert names(path) == [living.name, path.name]
    assert path.read_bytes() == b"new content"


@pytest.mark.parametrize("empty", ["", None, b"x", 0])
def test_what_is_empty_or_of_another_kind_is_no_path(empty):
    with pytest.raises(TypeError, match="out must be a path, got "):
        require_path("out", empty)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o400])
def test_a_file_keeps_its_mode(path, mode):
    path.chmod(mode)
    write_json(path, "the new content")
    assert path.stat().st_mode & 0o777 == mode and read_json(path) == "the new content"


def test_a_disk_without_modes_is_written_to(path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    write_json(path, "the new content")
    assert read_json(path) == "the new content"


def test_json_comes_back_and_a_damaged_file_is_refused(path):
    content = {"ü": [1, None, "caf\udce9"]}
    write_json(path, content)
    assert read_json(path) == content
    for damaged in ("", "{", "[" * 200_000):
        path.write_text(damaged)
        with pytest.raises(ValueError):
            read_json(path)
