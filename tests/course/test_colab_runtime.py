"""A reader's classes outlive a runtime of Colab, and the set-up cell works without Colab, too.

What Colab brings is stood in for by functions that do to files what its own do.
"""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tools.colab import setup_cell_source
from transformer_course.colab_runtime import DRIVE, FOLDER, MOUNT, keep_work_in
from transformer_course.my_transformer import FILE, SWITCH, keep
from transformer_course.our_transformer import FeedForward

ADDRESS = "https://github.com/owner/name"


class Colab:
    """A reader's Google Drive and machine, which stay when a runtime is deleted.

    Args:
        place: Where both lie.
    """

    def __init__(self, place: Path) -> None:
        self.drive, self.machine = place / DRIVE, place / "machine"
        self.drive.mkdir()
        self.machine.mkdir()
        self.chosen = None  # the file that is uploaded; None if the reader cancels
        self.allows = True  # whether Drive may be mounted

    def mount(self, mountpoint: str) -> None:
        """As google.colab.drive.mount."""
        if not self.allows:
            raise ValueError("mount failed")
        Path(mountpoint).mkdir(exist_ok=True)
        if not (Path(mountpoint) / DRIVE).exists():
            (Path(mountpoint) / DRIVE).symlink_to(self.drive)

    def download(self, filename: str) -> None:
        """As google.colab.files.download."""
        (self.machine / filename).write_bytes(Path(filename).read_bytes())

    def upload_file(self, filename: str) -> None:
        """As google.colab.files.upload_file."""
        if self.chosen is None:
            raise ValueError("File has not been uploaded")
        Path(filename).write_bytes(self.chosen.read_bytes())


@pytest.fixture
def colab(tmp_path, monkeypatch) -> Colab:
    """Colab in a new runtime."""
    monkeypatch.delenv(SWITCH, raising=False)
    found = Colab(tmp_path)
    module = ModuleType("google.colab")
    module.drive = SimpleNamespace(mount=found.mount)
    module.files = SimpleNamespace(download=found.download, upload_file=found.upload_file)
    monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", module)
    enter_new_runtime(tmp_path, monkeypatch)
    return found


def enter_new_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, as Colab gives it."""
    folder = tmp_path / f"content-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def run_setup(place: str | None = None) -> None:
    """Run the set-up cell as it is stored, or with another choice in its form."""
    source = setup_cell_source(ADDRESS)
    stored = 'keep_in = "this runtime"'
    assert source.count(stored) == 1
    exec(source.replace(stored, f'keep_in = "{place}"') if place else source, {})


def test_without_colab_the_set_up_cell_says_nothing_and_stays_where_it_is(tmp_path, capsys):
    before = Path.cwd()
    for place in (None, "Google Drive", "download", "upload"):
        run_setup(place)
    assert capsys.readouterr() == ("", "")
    assert Path.cwd() == before


def test_the_set_up_cell_offers_each_place_and_each_works(colab, capsys):
    (line,) = (each for each in setup_cell_source(ADDRESS).splitlines() if "# @param" in each)
    places = json.loads(line.split("# @param ")[1])
    assert places[0] == "this runtime" and len(places) == 4
    for place in places:
        run_setup(place)
    with pytest.raises(ValueError, match=r"^place must be one of .*, got 'the moon'$"):
        keep_work_in("the moon")


def test_on_colab_nothing_but_a_sentence_comes_of_running_all_cells(colab, capsys):
    before = sorted(Path.cwd().iterdir())
    run_setup()
    assert sorted(Path.cwd().iterdir()) == before
    said = capsys.readouterr().out
    assert FILE in said and "Google Drive" in said and said.count("\n") == 1


def test_what_is_kept_in_drive_is_there_in_the_next_runtime(colab, tmp_path, monkeypatch, capsys):
    run_setup("Google Drive")
    keep(FeedForward)
    written = Path(FILE).read_bytes()
    enter_new_runtime(tmp_path, monkeypatch)
    assert not Path(FILE).exists()
    run_setup("Google Drive")
    assert Path(FILE).read_bytes() == written
    run_setup("Google Drive")  # a second time changes nothing
    assert Path(FILE).read_bytes() == written
    assert Path.cwd().name == FOLDER
    run_setup()
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{FILE} is kept in your Google ")


def test_drive_is_chosen_before_anything_is_kept(colab, capsys):
    run_setup("Google Drive")
    assert "failed" not in capsys.readouterr().out and Path.cwd().name == FOLDER


def test_what_was_written_before_drive_was_chosen_is_taken_along(colab, tmp_path, monkeypatch):
    keep(FeedForward)
    written = Path(FILE).read_bytes()
    run_setup("Google Drive")
    assert Path(FILE).read_bytes() == written
    assert (colab.drive / FOLDER / FILE).read_bytes() == written


def test_drive_keeps_its_own_file_and_says_where_the_other_one_is(
    colab, tmp_path, monkeypatch, capsys
):
    (colab.drive / FOLDER).mkdir()
    (colab.drive / FOLDER / FILE).write_text("the older work of a term")
    keep(FeedForward)
    other, written = Path(FILE).absolute(), Path(FILE).read_bytes()
    run_setup("Google Drive")
    assert Path(FILE).read_text() == "the older work of a term"
    assert other.read_bytes() == written
    assert str(other) in capsys.readouterr().out


def test_a_reader_who_refuses_drive_goes_on_in_this_runtime(colab, capsys):
    colab.allows, before = False, Path.cwd()
    run_setup("Google Drive")
    assert Path.cwd() == before and not Path(MOUNT).exists()
    said = f"{FILE} stays where it is: Google Drive failed (mount failed).\n"
    assert capsys.readouterr().out == said


def test_a_file_goes_down_to_the_readers_machine_and_up_into_the_next_runtime(
    colab, tmp_path, monkeypatch, capsys
):
    run_setup("download")
    assert capsys.readouterr().out.startswith(f"There is no {FILE} yet")
    keep(FeedForward)
    written = Path(FILE).read_bytes()
    run_setup("download")
    enter_new_runtime(tmp_path, monkeypatch)
    colab.chosen = colab.machine / FILE
    run_setup("upload")
    assert Path(FILE).read_bytes() == written
    assert [path.name for path in Path.cwd().iterdir()] == [FILE]


def test_an_upload_replaces_no_work_without_a_copy_of_it(colab, capsys):
    keep(FeedForward)
    written = Path(FILE).read_bytes()
    run_setup("upload")  # cancelled
    assert Path(FILE).read_bytes() == written
    assert "upload failed (File has not been uploaded)" in capsys.readouterr().out
    colab.chosen = colab.machine / "mine.py"
    colab.chosen.write_bytes(b"\x89PNG")
    run_setup("upload")
    assert Path(FILE).read_bytes() == written
    assert "upload failed (the file that you chose holds no Python)" in capsys.readouterr().out
    colab.chosen.write_text("other = 1")
    run_setup("upload")
    assert Path(FILE).read_text() == "other = 1"
    assert Path(FILE).with_suffix(".bak").read_bytes() == written
    assert ".bak" in capsys.readouterr().out
