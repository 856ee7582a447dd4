"""What a command line cannot mean is said in one sentence, before anything is trained."""

import errno
import json
import shutil
import signal
from dataclasses import asdict
from unittest.mock import MagicMock

import pytest

from experiments import checkup_tables, circuits, features, swaps
from transformer_course.circuits.jumps import stored_jumps
from transformer_course.features.stored import stored_runs
from transformer_course.from_2017_to_today.language_modeling import stored_trainings
from transformer_edu.training.machine import atomic_files

FILES = {circuits: "JUMPS", features: "FOUND", swaps: "SWAPS"}
every_command = pytest.mark.parametrize("command", FILES, ids=lambda each: each.__name__)


@pytest.fixture
def own(command, tmp_path, monkeypatch):
    """A copy of the lesson's file, in its place; what is measured comes from it, too."""
    file = tmp_path / "own.json"
    shutil.copyfile(getattr(command, FILES[command]), file)
    monkeypatch.setattr(command, FILES[command], file)
    jump, found = stored_jumps("two layers")[0], stored_runs()[0]
    training = stored_trainings()[0]
    for name in ("read_material", "train_autoencoder"):
        monkeypatch.setattr(features, name, MagicMock())
    monkeypatch.setattr(circuits, "measure", lambda *_, **__: (jump, {}))
    monkeypatch.setattr(features, "measure", lambda *_, **__: found)
    monkeypatch.setattr(swaps, "measure", lambda *_, **__: training)
    return file


@every_command
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", "-1"], "steps must be at least 0, got -1"),
        (["--file", "FOLDER/missing/file.json"], "file must lie in a folder that exists, got "),
        (["--file", "FOLDER"], "file must be a file, got the folder "),
    ],
)
def test_a_wrong_option_is_refused(command, options, message, tmp_path, capsys):
    options = [option.replace("FOLDER", str(tmp_path)) for option in options]
    assert command.main(options) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {message}")


@every_command
@pytest.mark.parametrize(
    "content", ["", "# Notes", "[]", "[1]", "{}", '{"jumps": []}', '[{"a": 1}]', "[" * 100_000]
)
def test_a_file_of_others_is_neither_continued_nor_replaced(command, content, own, capsys):
    own.write_text(content)
    assert command.main(["--file", str(own)]) == 1
    wanted = "file must be a new one, or hold numbers of this command"
    assert capsys.readouterr().err == f"error: {wanted}, got {own}\n"
    assert own.read_text() == content


@every_command
def test_an_own_file_is_replaced_whole_or_not_at_all(command, own, monkeypatch, capsys):
    if command is swaps:  # which has nothing to do if all is there
        own.write_text(json.dumps(json.loads(own.read_text("utf-8"))[1:]), encoding="utf-8")
    before = own.read_bytes()

    def fill(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(atomic_files.os, "fsync", fill)
        assert command.main([]) == 1
    assert capsys.readouterr().err == f"error: [Errno 28] No space left on device: '{own}'\n"
    assert own.read_bytes() == before and [*own.parent.iterdir()] == [own]
    assert command.main([]) == 0 and own.read_bytes() != before


@every_command
@pytest.mark.parametrize("file", [[], ["--file", "OWN"]], ids=["no file", "the lesson's"])
def test_what_a_lesson_draws_stays_where_options_are_others(command, file, own, capsys):
    before = own.read_bytes()
    options = ["--steps", "1", *(each.replace("OWN", str(own)) for each in file)]
    assert command.main(options) == 1
    wanted = "file must be another than the lesson's with other steps"
    assert capsys.readouterr().err == f"error: {wanted}, got {own}\n"
    assert own.read_bytes() == before


@pytest.mark.parametrize("command", [features])
def test_other_seeds_than_the_lessons_are_stored_elsewhere(command, own, tmp_path, capsys):
    assert command.main(["--seeds", "3", "--steps", "1"]) == 1
    assert "than the lesson's with other seeds and steps, got " in capsys.readouterr().err
    file = tmp_path / "others.json"
    assert command.main(["--seeds", "3", "--file", str(file)]) == 0
    assert len(stored_runs(file)) == 1


@pytest.mark.parametrize("command", [swaps])
def test_trainings_of_other_steps_are_not_continued(command, own, tmp_path, capsys):
    file = tmp_path / "short.json"
    file.write_text(json.dumps([asdict(stored_trainings()[0]) | {"steps": 1}]))
    before = file.read_text()
    assert command.main(["--file", str(file)]) == 1
    assert capsys.readouterr().err == f"error: steps must be 1, as in {file}, got 400\n"
    assert file.read_text() == before


def test_an_unknown_table_is_refused(capsys):
    assert checkup_tables.main(["mutant"]) == 1
    assert capsys.readouterr().err.startswith("error: table must be one of ")


def test_an_interrupted_training_is_not_stored(tmp_path, capsys, monkeypatch):
    def interrupted(vectors, **settings):
        signal.raise_signal(signal.SIGINT)
        return "half a model"

    monkeypatch.setattr(features, "read_material", MagicMock())
    monkeypatch.setattr(features, "train_autoencoder", interrupted)
    assert features.main(["--file", str(tmp_path / "found.json")]) == 130
    assert capsys.readouterr().err == "Interrupted.\n" and not [*tmp_path.iterdir()]
