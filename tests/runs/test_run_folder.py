"""A run's folder gives back what was put in, and refuses what is damaged."""

import json
import subprocess
import sys

import pytest
import torch

from tests.small_model import small_transformer
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import TINY
from transformer_edu.training.checkpoint import load_model

HOLD = """
import fcntl, os, sys
fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    folder = RunFolder(tmp_path / "deep" / "run")
    folder.path.mkdir(parents=True)
    return folder


def test_settings_come_back(folder):
    assert not folder.holds_a_run()
    settings = TINY.changed(seed=3, learning_rate=0.1 + 0.2, patience=4)
    folder.write_settings(settings, {"torch": "9.9"})
    assert folder.holds_a_run()
    assert folder.read_settings() == settings
    assert json.loads(folder.settings_file.read_text())["versions"] == {"torch": "9.9"}


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"settings": {"colour": 1}}', "\x00", "[" * 200_000]
)
def test_damaged_settings_are_refused(folder, content):
    folder.settings_file.write_text(content)
    with pytest.raises(ValueError, match=r"settings\.json must hold a run's settings, got someth"):
        folder.read_settings()


def test_a_folder_without_a_run_is_refused(folder):
    with pytest.raises(FileNotFoundError, match="run must be the folder of a run, got .*run"):
        folder.read_settings()


def test_the_history_comes_back(folder):
    assert folder.read_history() == []
    records = [{"step": step, "loss": step / 3, "bleu": None} for step in (1, 2, 3)]
    folder.write_history(records)
    assert folder.read_history() == folder.read_history("bleu") == records


def test_the_result_of_every_earlier_end_is_kept_and_named(folder, capsys):
    for end in range(3):
        folder.model.write_text(f"end {end}")
        folder.write_history([{"step": end}])
        kept = folder.path / f"{folder.model.name}{f'.{end}' if end else ''}.bak"
        assert kept.read_text() == f"end {end}" and not folder.model.exists()
        said = capsys.readouterr().err
        assert said == f"An earlier end's {folder.model.name} is kept as {kept}\n"


@pytest.mark.parametrize(
    "content", ["", "7", "{}x", "[7]", "[{}]", '[{"step": "2"}]', '[{"step": 2}', "[" * 200_000]
)
def test_a_damaged_history_is_refused_by_name(folder, content):
    folder.history_file.write_text(content)
    with pytest.raises(ValueError, match=r"evaluations\.json must hold a run's records, got some"):
        folder.read_history()


def test_a_record_without_a_number_that_is_needed_is_damaged(folder):
    folder.write_history([{"step": 1, "bleu": None}, {"step": 2}])
    with pytest.raises(ValueError, match="must hold a run's records"):
        folder.read_history("bleu")


@pytest.mark.parametrize(
    "content",
    [
        [{"step": 2, "bleu": "9"}],
        [{"step": 2, "bleu": [9.0]}],
        [{"step": 2, "bleu": True}],
        [{"step": 2, "bleu": float("nan")}],
        [{"step": 2, "bleu": float("inf")}],
        [{"step": 4, "bleu": 1.0}, {"step": 2, "bleu": 1.0}],
        [{"step": True, "bleu": 1.0}],
        [{"step": 2.0, "bleu": 1.0}],
        [{"step": 2}, {"step": 4, "bleu": 1.0}],
    ],
    ids=str,
)
def test_a_history_of_scores_that_are_no_numbers_or_of_steps_in_no_order_is_damaged(
    folder, content
):
    folder.write_history(content)
    with pytest.raises(ValueError, match="must hold a run's records, got something else"):
        folder.read_history("bleu")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows locks files in another way")
@pytest.mark.parametrize("held", [".", "lock"])  # a disk may know one of them only
def test_one_process_at_a_time_has_the_folder_and_a_dead_one_stops_nobody(folder, held):
    (folder.path / "lock").touch()
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder.path / held)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(BlockingIOError, match="out must be a folder in which no other proc"),
            folder.locked(),
        ):
            pass
    finally:
        other.kill()
        other.communicate()
    with folder.locked():
        assert (folder.path / "lock").exists()


def test_only_the_last_weights_are_kept(folder):
    model = small_transformer()
    for step in (2, 4, 6, 8):
        with torch.no_grad():
            model.output_projection.bias.fill_(step)
        folder.keep_weights(model, step, count=3)
    kept = folder.kept_weights()
    assert list(kept) == [4, 6, 8]
    for step, path in kept.items():
        assert load_model(path).output_projection.bias[0] == step
    folder.keep_weights(model, 4, count=1)  # taken again after a crash: later ones stay
    assert list(folder.kept_weights()) == [4, 6, 8]
    folder.keep_weights(model, 5, count=1)
    assert list(folder.kept_weights()) == [5, 6, 8]


def test_files_that_are_not_named_as_a_run_names_weights_are_the_readers_own(folder):
    folder.weights.mkdir()
    own = ["1", "٣", "00010", "0000010", "000010", "1000000", "1abc", "abc", "1.5", "²"]
    for name in own:
        (folder.weights / f"{name}.safetensors").touch()
    assert list(folder.kept_weights()) == [10, 1_000_000]
    folder.keep_weights(small_transformer(), 2_000_000, count=1)
    left = {path.stem for path in folder.weights.iterdir()}
    assert left == {*own, "2000000"} - {"000010", "1000000"}


def test_a_file_name_that_is_no_text_comes_back(folder):
    settings = TINY.changed(task="files", source="caf\udce9.en", target="ü")
    folder.write_settings(settings, {})
    assert folder.read_settings() == settings


def test_what_is_no_path_is_refused():
    with pytest.raises(ValueError, match=r"folder must hold no NUL character, got 'a\\x00b'"):
        RunFolder("a\0b")
    for wrong in (7, ""):
        with pytest.raises(TypeError, match=f"folder must be a path, got {wrong!r}"):
            RunFolder(wrong)
