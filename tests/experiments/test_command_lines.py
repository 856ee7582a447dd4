"""What a command line cannot mean is said in one sentence, before anything is trained."""

import signal
from unittest.mock import MagicMock

import pytest

from experiments import checkup_tables, circuits, features, swaps


@pytest.mark.parametrize("command", [circuits, features, swaps], ids=lambda each: each.__name__)
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


@pytest.mark.parametrize("content", ["", "[1]", "{}", '[{"a": 1}]'])
def test_a_file_of_others_is_neither_continued_nor_replaced(content, tmp_path, capsys):
    file = tmp_path / "notes.json"
    file.write_text(content)
    assert swaps.main(["--file", str(file)]) == 1
    assert (
        capsys.readouterr().err == f"error: file must hold trainings of this command, got {file}\n"
    )
    assert file.read_text() == content


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
