"""The command trains, goes on bit for bit where it stopped, and tells errors in one line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from tests.small_model import same, weights
from tools.notebooks import ROOT
from transformer_edu.runs import command
from transformer_edu.runs.command import INTERRUPTED, main
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import TINY
from transformer_edu.runs.watching import Watcher
from transformer_edu.training import loop
from transformer_edu.training.checkpoint import average_models, load_history, load_model
from transformer_edu.training.evaluation import evaluate
from transformer_edu.training.state import TrainingRun

SMALL = [
    *("--d-model", "16", "--heads", "2", "--layers", "1", "--d-ff", "24"),
    *("--steps", "6", "--evaluate-every", "2", "--keep", "2"),
]
CLOCKS = {"cpu_seconds", "seconds"}
SECONDS = 600  # ends what hangs; a quiet machine takes a tenth of it


def results(path: Path) -> tuple[list[dict], list[bytes]]:
    """All that two equal runs have in common."""
    folder = RunFolder(path)
    history = [
        {name: value for name, value in record.items() if name not in CLOCKS}
        for record in folder.read_history()
    ]
    files = [folder.model, folder.best, *folder.kept_weights().values()]
    return history, [file.read_bytes() for file in files]


def test_a_toy_task_is_trained(tmp_path, capsys):
    assert main(["--task", "numbers", *SMALL, "--out", str(tmp_path / "x")]) == 0
    folder = RunFolder(tmp_path / "x")
    assert [record["step"] for record in folder.read_history()] == [2, 4, 6]
    assert len(load_history(folder.checkpoint).steps) == 6
    assert "average validation_loss" in capsys.readouterr().out


def test_the_result_is_the_average_of_the_last_weights(text_run):
    folder = RunFolder(text_run)
    kept = folder.kept_weights()
    assert list(kept) == [4, 6, 7]
    average = average_models(list(kept.values()))
    assert same(weights(average), weights(load_model(folder.model)))
    scores = json.loads(folder.result_file.read_text())
    assert scores["average"].keys() == {"validation_loss", "bleu"}
    assert len(folder.read_history()) == 4


def test_the_same_command_gives_the_same_run(text_run, small_options, tmp_path):
    assert main([*small_options, "--out", str(tmp_path / "x")]) == 0
    assert results(tmp_path / "x") == results(text_run)
    assert main([*small_options, "--seed", "1", "--out", str(tmp_path / "y")]) == 0
    assert results(tmp_path / "y") != results(text_run)


@pytest.mark.parametrize(
    "moment", ["after step 3", "before evaluation 4", "before look 4", "in look 4", "after step 4"]
)
def test_a_run_that_goes_on_is_the_run_that_never_stopped(
    text_run, small_options, tmp_path, monkeypatch, capsys, moment
):
    path = str(tmp_path / "x")
    with monkeypatch.context() as patch:
        interrupt_once(patch, moment)
        assert main([*small_options, "--out", path]) == INTERRUPTED
    assert "--resume" in capsys.readouterr().err
    assert main(["--out", path, "--resume"]) == 0
    history, files = results(tmp_path / "x")
    whole, expected = results(text_run)
    assert files == expected
    scored = [record for record in history if record["bleu"] is not None]
    without_loss = [{**record, "loss": 0} for record in whole]  # its mean is since the last line
    assert [{**record, "loss": 0} for record in scored] == without_loss


def last_step(watcher: Watcher, run: TrainingRun) -> int:
    return run.steps[-1].step


def interrupt_once(patch: pytest.MonkeyPatch, moment: str) -> None:
    """Press Ctrl-C at a moment of the run."""
    when, what, number = moment.split()
    owner, name, step_of = {
        "step": (Watcher, "__call__", last_step),
        "evaluation": (loop, "evaluate", lambda *_, step, **__: step),
        "look": (Watcher, "__call__" if when == "before" else "observe", last_step),
    }[what]
    original = getattr(owner, name)

    def interrupted(*arguments, **named):
        is_now = step_of(*arguments, **named) == int(number)
        if is_now and when != "after":
            raise KeyboardInterrupt
        answer = original(*arguments, **named)
        if is_now:
            raise KeyboardInterrupt
        return answer

    patch.setattr(owner, name, interrupted)


def test_a_finished_run_can_be_asked_again(text_run, tmp_path):
    path = shutil.copytree(text_run, tmp_path / "x")
    assert main(["--out", str(path), "--resume"]) == 0
    assert results(path) == results(text_run)


def test_patience_ends_a_run_and_resuming_does_not_stretch_it(tmp_path):
    # So small a learning rate changes no translation: the second score is no better.
    options = ["--task", "copy", *SMALL, "--learning-rate", "1e-9", "--patience", "1"]
    assert main([*options, "--out", str(tmp_path / "x")]) == 0
    history = RunFolder(tmp_path / "x").read_history()
    assert [record["step"] for record in history] == [2, 4]
    assert main(["--out", str(tmp_path / "x"), "--resume"]) == 0
    assert RunFolder(tmp_path / "x").read_history() == history


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--task", "copy", "--steps", "0"], "steps must be at least 1, got 0"),
        (["--task", "copy", "--threads", "0"], "threads must be at least 1, got 0"),
        (["--task", "copy", "--device", "abacus"], "TRANSFORMER_EDU_DEVICE must name a device"),
        (
            ["--task", "copy", "--seed", str(10**23)],
            "seed must be at most 18,446,744,073,709",
        ),
        (["--task", "copy", "--d-ff", str(10**15)], "memory must suffice for this command, got no"),
        (["--out", "a\0b"], r"path must hold no NUL character, got 'a\x00b'"),
        (["--resume"], "run must be the folder of a run, got"),
        (["--task", "copy", "--out", "/dev/null/x"], "[Errno 20] Not a directory: '/dev/null/x"),
        (["--task", "files", "--source", "a", "--target", "b"], "[Errno 2] No such file"),
    ],
    ids=range(9),
)
def test_errors_are_told_in_one_line(tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.setenv("TRANSFORMER_EDU_DEVICE", "cpu")
    assert main(["--out", str(tmp_path / "x"), *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}")
    assert error.count("\n") == 1


def test_a_second_process_is_refused_while_one_trains_in_the_folder(text_run, capsys):
    before = results(text_run)
    with RunFolder(text_run).locked():
        assert main(["--out", str(text_run), "--resume"]) == 1
    message = f"got {text_run}, in which one is training now"
    assert message in capsys.readouterr().err
    assert results(text_run) == before
    assert main(["--out", str(text_run), "--resume"]) == 0


def test_a_run_that_began_while_this_one_waited_is_not_overwritten(tmp_path, monkeypatch, capsys):
    folder = RunFolder(tmp_path / "x")
    lock = RunFolder.locked

    def locked_late(self):
        self.make()
        self.write_settings(TINY, {})
        return lock(self)

    monkeypatch.setattr(RunFolder, "locked", locked_late)
    assert main(["--task", "copy", "--out", str(folder.path)]) == 1
    assert "which holds one: add --resume" in capsys.readouterr().err


def test_the_history_is_cut_to_what_the_checkpoint_knows_and_that_is_said(
    text_run, tmp_path, capsys
):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    whole = folder.read_history()
    folder.write_history([*whole, whole[-1] | {"step": 9}])
    assert main(["--out", str(folder.path), "--resume"]) == 0
    assert folder.read_history() == whole
    assert "evaluations.json: cut after step 7, as the checkpoint is of" in capsys.readouterr().err
    folder.history_file.write_text("torn")
    assert main(["--out", str(folder.path), "--resume"]) == 1
    assert capsys.readouterr().err.endswith("must hold a run's records, got something else\n")


def test_without_its_best_weights_a_run_does_not_go_on(text_run, tmp_path, capsys):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    folder.best.unlink()
    assert main(["--out", str(folder.path), "--resume"]) == 1
    assert f"error: run must have {folder.best}, its best" in capsys.readouterr().err


def test_the_thread_count_can_be_chosen(tmp_path, monkeypatch):
    threads = []
    monkeypatch.setattr(
        command, "train_in_folder", lambda *_, **__: threads.append(torch.get_num_threads())
    )
    before = torch.get_num_threads()
    main(["--task", "copy", "--threads", "3", "--out", str(tmp_path / "x")])
    torch.set_num_threads(before)
    assert threads == [3]


@pytest.mark.slow
def test_a_real_interrupt_leaves_a_run_that_goes_on(tmp_path):
    folder = RunFolder(tmp_path / "x")
    options = [*SMALL, "--steps", "100000", "--evaluate-every", "5", "--out", str(folder.path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "transformer_edu.training", "--task", "copy", *options],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        # Those who start tests in the background may have told them to ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + SECONDS
    while len(folder.read_history()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=SECONDS)
    taken = len(load_history(folder.checkpoint).steps)
    assert taken >= 10
    assert process.returncode == INTERRUPTED
    assert "Traceback" not in errors
    assert folder.read_history()[-1]["step"] == taken
    model = load_model(folder.checkpoint)
    assert evaluate(model, [([4, 5], [4, 5])]).loss > 0
