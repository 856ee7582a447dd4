"""The command trains, goes on bit for bit where it stopped, and tells errors in one line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
import torch

from tests.small_model import same, small_transformer, weights
from tools.notebooks import ROOT
from transformer_edu.runs import command
from transformer_edu.runs.command import INTERRUPTED, main
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import TINY
from transformer_edu.runs.watching import Watcher
from transformer_edu.training import loop
from transformer_edu.training.checkpoint import (
    average_models,
    load_history,
    load_model,
    save_model,
)
from transformer_edu.training.checkpoint_file import read_checkpoint_file, write_checkpoint_file
from transformer_edu.training.evaluation import evaluate
from transformer_edu.training.state import StepRecord, TrainingRun

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
    options = ["--task", "numbers", *SMALL, "--evaluate-on", "5", "--out", str(tmp_path / "x")]
    assert main(options) == 0
    folder = RunFolder(tmp_path / "x")
    assert [record["step"] for record in folder.read_history()] == [2, 4, 6]
    assert len(load_history(folder.checkpoint).steps) == 6
    printed = capsys.readouterr()
    assert "average validation_loss" in printed.out
    assert "pairs to learn from, 5 to evaluate on" in printed.err


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
    assert scored == whole


def last_step(watcher: Watcher, run: TrainingRun) -> int:
    return run.steps[-1].step


@pytest.mark.parametrize("moment", ["before look 2", "in look 2", "after look 2", "in look 4"])
def test_so_is_a_run_that_was_killed_and_nothing_of_it_is_refused(
    text_run, small_options, tmp_path, monkeypatch, moment
):
    path = str(tmp_path / "x")
    with monkeypatch.context() as patch:
        interrupt_once(patch, moment, SystemExit)  # which saves nothing
        with pytest.raises(SystemExit):
            main([*small_options, "--out", path])
    assert main(["--out", path, "--resume"]) == 0
    assert results(tmp_path / "x") == results(text_run)
    assert folder_content(tmp_path / "x", "last.safetensors") == folder_content(
        text_run, "last.safetensors"
    )


def interrupt_once(
    patch: pytest.MonkeyPatch, moment: str, stop: type[BaseException] = KeyboardInterrupt
) -> None:
    """Press Ctrl-C, or something else that stops a run, at a moment of it."""
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
            raise stop
        answer = original(*arguments, **named)
        if is_now:
            raise stop
        return answer

    patch.setattr(owner, name, interrupted)


def test_a_finished_run_can_be_asked_again_elsewhere(text_run, tmp_path, monkeypatch):
    path = shutil.copytree(text_run, tmp_path / "x")
    monkeypatch.setattr("platform.machine", lambda: "abacus")
    assert main(["--out", str(path), "--resume"]) == 0
    assert results(path) == results(text_run)
    settings = [(each / "settings.json").read_bytes() for each in (path, text_run)]
    assert settings[0] == settings[1]  # no step was taken on the abacus


def test_patience_ends_a_run_and_resuming_does_not_stretch_it(tmp_path):
    # So small a learning rate changes no translation: the second score is no better.
    options = ["--task", "copy", *SMALL, "--learning-rate", "1e-9", "--patience", "1"]
    assert main([*options, "--out", str(tmp_path / "x")]) == 0
    history = RunFolder(tmp_path / "x").read_history()
    assert [record["step"] for record in history] == [2, 4]
    assert main(["--out", str(tmp_path / "x"), "--resume"]) == 0
    assert RunFolder(tmp_path / "x").read_history() == history


def test_a_result_is_no_longer_one_when_its_run_goes_on(tmp_path, monkeypatch, capsys):
    folder, path = RunFolder(tmp_path / "x"), str(tmp_path / "x")
    options = ["--task", "copy", *SMALL, "--learning-rate", "1e-9", "--patience", "1"]
    assert main([*options, "--out", path]) == 0
    assert list(folder.kept_weights()) == [2, 4]
    before, first = folder.model.read_bytes(), folder.weights_at(2)
    first.rename(tmp_path / "away")
    assert main(["--out", path, "--resume"]) == 1  # it would average other weights
    assert "weights/000002.safetensors to go on, got no such file" in capsys.readouterr().err
    assert folder.model.read_bytes() == before
    (tmp_path / "away").rename(first)
    with monkeypatch.context() as patch:
        interrupt_once(patch, "after step 6")
        assert main(["--out", path, "--resume", "--patience", "9"]) == INTERRUPTED
    assert not folder.model.exists() and not folder.result_file.exists()
    assert (tmp_path / "x" / "model.safetensors.bak").read_bytes() == before
    assert f"An earlier end's {folder.model.name} is kept as" in capsys.readouterr().err
    assert main(["--out", path, "--resume"]) == 0
    assert folder.model.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--task", "copy", "--steps", "0"], "steps must be at least 1, got 0"),
        (["--task", "copy", "--threads", "0"], "threads must be at least 1, got 0"),
        (["--task", "copy", "--threads", "100000"], "threads must be at most 256, got 100,000"),
        (
            ["--task", "copy", "--device", "tpu"],
            "device must be one of this machine (cpu), got 'tpu' from --device or "
            "TRANSFORMER_EDU_DEVICE\n",
        ),
        (["--task", "copy", "--dropout", "1"], "dropout must be below 1, got 1.0"),
        (
            ["--task", "copy", "--seed", str(10**23)],
            "seed must be at most 18,446,744,073,709",
        ),
        (["--task", "copy", "--d-ff", str(10**15)], "model must have at most "),
        (["--task", "copy", "--layers", str(10**9)], "model must have at most "),
        (["--task", "copy", "--d-model", "1000000"], "model must have at most "),
        (["--out", ""], "folder must be a path, got ''"),
        (["--task", "files", "--source", "", "--target", "b"], "source must be a path, got ''"),
        (["--task", "files", "--source", "/", "--target", "b"], "[Errno 21] Is a directory: '/'"),
        (["--out", "a\0b"], r"folder must hold no NUL character, got 'a\x00b'"),
        (["--resume"], "run must be the folder of a run, got"),
        (["--task", "copy", "--out", "/dev/null/x"], "[Errno 20] Not a directory: '/dev/null/x"),
        (["--task", "files", "--source", "a", "--target", "b"], "[Errno 2] No such file"),
    ],
    ids=range(16),
)
def test_errors_are_told_in_one_line_and_leave_no_folder(
    tmp_path, monkeypatch, capsys, options, message
):
    monkeypatch.setenv("TRANSFORMER_EDU_DEVICE", "cpu")
    monkeypatch.chdir(tmp_path)
    assert main(["--out", "deep/x", *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}")
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("count", ["x", "", "0", "2"])
def test_processes_that_torchrun_has_not_started_are_refused(tmp_path, monkeypatch, capsys, count):
    monkeypatch.setenv("WORLD_SIZE", count)
    assert main(["--task", "copy", "--out", str(tmp_path / "x")]) == 1
    error = capsys.readouterr().err
    message = f"error: WORLD_SIZE must be set by torchrun, got {count!r}, and no connection: "
    assert error.startswith(message) and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_more_processes_than_gpus_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("TRANSFORMER_EDU_DEVICE", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert main(["--task", "copy", "--out", str(tmp_path / "x")]) == 1
    words = "error: --nproc-per-node must be at most 1, the GPUs here, got 2"
    assert capsys.readouterr().err == f"{words}\n"
    assert not list(tmp_path.iterdir())


def test_a_process_whose_others_never_come_says_so(tmp_path, monkeypatch, capsys):
    def wait_in_vain(*_: object, **__: object) -> None:
        raise torch.distributed.DistNetworkError("timed out\n  in a frame")

    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(torch.distributed, "init_process_group", wait_in_vain)
    assert main(["--task", "copy", "--out", str(tmp_path / "x")]) == 1
    assert capsys.readouterr().err.endswith("got '2', and no connection: timed out\n")


@pytest.mark.parametrize("kind", ["a file", "a link to nothing"])
def test_what_is_no_folder_is_refused_and_left(tmp_path, capsys, kind):
    out = tmp_path / "x"
    out.write_text("mine") if kind == "a file" else out.symlink_to("nowhere")
    assert main(["--task", "copy", "--out", str(out)]) == 1
    assert capsys.readouterr().err == f"error: out must be a folder or a new name, got {out}\n"
    assert out.read_text() == "mine" if kind == "a file" else out.is_symlink()
    assert list(tmp_path.iterdir()) == [out]


def test_a_refusal_leaves_a_folder_of_the_users_as_it_was(tmp_path, capsys):
    (tmp_path / "notes").write_text("mine")
    for folder in (tmp_path, tmp_path / "empty"):
        folder.mkdir(exist_ok=True)
        assert main(["--task", "copy", "--layers", str(10**9), "--out", str(folder)]) == 1
        assert capsys.readouterr().err.startswith("error: model must have at most ")
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["empty", "notes"]


@pytest.mark.parametrize("removed", [None, "lock"])
def test_a_second_process_is_refused_while_one_trains_in_the_folder(text_run, capsys, removed):
    before = results(text_run)
    with RunFolder(text_run).locked():
        with suppress(PermissionError):  # Windows removes no open file
            (text_run / str(removed)).unlink(missing_ok=True)
        assert main(["--out", str(text_run), "--resume"]) == 1
    message = f"got {text_run}, in which one is training now"
    assert message in capsys.readouterr().err
    assert results(text_run) == before
    assert main(["--out", str(text_run), "--resume"]) == 0


def test_a_run_that_began_while_this_one_waited_is_not_overwritten(tmp_path, monkeypatch, capsys):
    folder = RunFolder(tmp_path / "x")
    lock = RunFolder.locked

    def locked_late(self):
        self.path.mkdir(parents=True, exist_ok=True)
        self.write_settings(TINY, {})
        return lock(self)

    monkeypatch.setattr(RunFolder, "locked", locked_late)
    assert main(["--task", "copy", "--out", str(folder.path)]) == 1
    assert "which holds one: add --resume" in capsys.readouterr().err


def test_a_checkpoint_of_another_run_is_refused_and_changes_no_file(text_run, tmp_path, capsys):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    others = RunFolder(tmp_path / "others")
    assert (
        main(["--task", "copy", "--steps", "4", "--d-model", "16", "--out", str(others.path)]) == 0
    )
    shutil.copy(others.checkpoint, folder.checkpoint)
    before = {file.name: file.read_bytes() for file in folder.path.iterdir() if file.is_file()}
    assert main(["--out", str(folder.path), "--resume"]) == 1
    assert "last.safetensors" in capsys.readouterr().err
    assert before == {f.name: f.read_bytes() for f in folder.path.iterdir() if f.is_file()}


def interrupted_at_once(*_: object, **given: Path) -> TrainingRun:
    run = load_history(given["resume"])
    run.interrupted = True
    return run


def test_an_older_checkpoint_takes_the_result_away_only_with_a_new_record(
    text_run, small_options, tmp_path, monkeypatch
):
    begun, folder = tmp_path / "begun", RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    with monkeypatch.context() as patch:
        interrupt_once(patch, "after step 4")
        assert main([*small_options, "--out", str(begun)]) == INTERRUPTED
    shutil.copy(begun / "last.safetensors", folder.checkpoint)
    before = folder_content(folder.path, "last.safetensors")
    with monkeypatch.context() as patch:
        patch.setattr(Watcher, "__call__", lambda *_: pytest.fail("a step"))
        patch.setattr(command, "fit", interrupted_at_once)
        assert main(["--out", str(folder.path), "--resume"]) == INTERRUPTED
    assert before == folder_content(folder.path, "last.safetensors")
    with monkeypatch.context() as patch:
        interrupt_once(patch, "after step 5")
        assert main(["--out", str(folder.path), "--resume"]) == INTERRUPTED
    assert folder.read_history()[-1]["step"] == 5 and not folder.model.exists()
    assert main(["--out", str(folder.path), "--resume"]) == 0
    assert results(folder.path)[1] == results(text_run)[1]


def test_the_history_is_cut_to_what_the_checkpoint_knows_and_that_is_said(
    text_run, tmp_path, capsys
):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    whole = folder.read_history()
    folder.write_history([*whole, whole[-1] | {"step": 9}])
    assert main(["--out", str(folder.path), "--resume"]) == 0
    assert folder.read_history() == whole
    assert "evaluations.json: goes on after step 7, as the checkpoint is" in capsys.readouterr().err
    folder.history_file.write_text("torn")
    assert main(["--out", str(folder.path), "--resume"]) == 1
    assert capsys.readouterr().err.endswith("must hold a run's records, got something else\n")


def test_weights_of_a_step_that_was_never_taken_are_not_averaged(text_run, tmp_path):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    shutil.copy(folder.weights_at(4), folder.weights_at(99))
    assert main(["--out", str(folder.path), "--resume"]) == 0
    assert folder.model.read_bytes() == RunFolder(text_run).model.read_bytes()


def test_without_its_best_weights_a_run_does_not_go_on(text_run, tmp_path, capsys):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    folder.best.unlink()
    assert main(["--out", str(folder.path), "--resume"]) == 1
    assert f"error: run must have {folder.best} to go on, got no" in capsys.readouterr().err
    shutil.copy(RunFolder(text_run).best, folder.best)
    shutil.rmtree(folder.weights)
    assert main(["--out", str(folder.path), "--resume"]) == 1
    missing = folder.weights_at(4)  # the first that the average needs
    assert f"error: run must have {missing} to go on, got no" in capsys.readouterr().err


def test_weights_that_the_average_needs_are_not_left_out_in_silence(text_run, tmp_path, capsys):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    folder.weights_at(6).unlink()
    assert main(["--out", str(folder.path), "--resume"]) == 1
    assert f"error: run must have {folder.weights_at(6)} to go on" in capsys.readouterr().err


def folder_content(path: Path, names: str = "*") -> dict[Path, bytes]:
    """Every file in a folder by its place in it."""
    return {
        file.relative_to(path): file.read_bytes() for file in path.rglob(names) if file.is_file()
    }


@pytest.mark.parametrize(
    "left", ["best.safetensors", "evaluations.json", "weights", "model.safetensors", "result.json"]
)
def test_without_its_checkpoint_a_run_is_not_begun_again_over_what_is_left(
    text_run, tmp_path, capsys, left
):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    for file in [file for file in folder.path.rglob("*") if file.is_file()]:
        if file.name not in ("settings.json", "tokenizer.json", left) and file.parent.name != left:
            file.unlink()
    before = folder_content(folder.path)
    assert main(["--out", str(folder.path), "--resume"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: run must have {folder.checkpoint} to go on, got only {left}")
    assert error.endswith("begin a new run in another folder\n")
    assert folder_content(folder.path) == before


def test_a_run_that_has_only_its_settings_begins_again(text_run, tmp_path):
    folder = RunFolder(tmp_path / "x")
    folder.path.mkdir()
    shutil.copy(RunFolder(text_run).settings_file, folder.settings_file)
    assert main(["--out", str(folder.path), "--resume"]) == 0
    assert results(folder.path) == results(text_run)


@pytest.mark.parametrize("kept", [None, 0, 2, 3])
def test_without_its_whole_history_a_run_does_not_go_on(text_run, tmp_path, capsys, kept):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    records, best = folder.read_history(), folder.best.read_bytes()
    assert [record["step"] for record in records] == [2, 4, 6, 7]
    if kept is None:
        folder.history_file.unlink()
    else:
        folder.write_history(records[:kept])
    if kept == 3:  # the last one may be missing: its model is in the checkpoint
        assert main(["--out", str(folder.path), "--resume"]) == 0
        assert results(folder.path) == results(text_run)
        return
    assert main(["--out", str(folder.path), "--resume"]) == 1
    missing = records[kept or 0]["step"]
    message = f"error: run must have the score of step {missing} in {folder.history_file} to go on"
    assert message in capsys.readouterr().err
    assert folder.best.read_bytes() == best


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *product(["best", "weights/000004", "weights/000007"], ["cut", "another model"]),
        ("weights/000004", "another step"),
    ],
)
def test_damaged_weights_are_noticed_before_a_step_is_taken(
    text_run, tmp_path, monkeypatch, capsys, name, damage
):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    file = folder.path / f"{name}.safetensors"
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-1])
    elif damage == "another step":
        shutil.copy(folder.weights_at(6), file)
    else:
        save_model(file, small_transformer())
    monkeypatch.setattr(command, "fit", lambda *_, **__: pytest.fail("trains"))
    assert main(["--out", str(folder.path), "--resume"]) == 1
    wanted = "a whole checkpoint of this package" if damage == "cut" else "the run's own model"
    assert f"error: {file} must be {wanted}, got " in capsys.readouterr().err


def test_the_best_of_another_run_of_the_same_sizes_is_not_taken_for_the_run_s(
    text_run, small_options, tmp_path, monkeypatch, capsys
):
    assert main([*small_options, "--seed", "1", "--out", str(tmp_path / "other")]) == 0
    for steps_taken in (7, 5):
        folder = RunFolder(shutil.copytree(text_run, tmp_path / f"{steps_taken}"))
        shutil.copy(RunFolder(tmp_path / "other").best, folder.best)
        before = folder_content(folder.path)
        with monkeypatch.context() as patch:
            patch.setattr(command, "fit", lambda *_, **__: pytest.fail("trains"))
            taken = [StepRecord(step, 1.0, 0.1) for step in range(1, steps_taken + 1)]
            run = TrainingRun(taken)
            patch.setattr(
                command, "load_checkpoint", lambda _, state, run=run: vars(state).update(run=run)
            )
            assert main(["--out", str(folder.path), "--resume"]) == 1
        said = capsys.readouterr().err.splitlines()[-1]
        assert said == f"error: {folder.best} must be the run's own model, got another one"
        after = folder_content(folder.path)
        assert {name for name in after if after[name] != before.get(name)} <= {
            Path("settings.json")
        }


@pytest.mark.parametrize("lost", ["the note", "the record"])
def test_an_older_best_and_one_whose_record_a_kill_has_lost_are_the_run_s(lost, text_run, tmp_path):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    tensors, about = read_checkpoint_file(folder.best)
    assert about["won"] in [
        [record["step"], record["validation_loss"]] for record in folder.read_history()
    ]
    if lost == "the note":
        del about["won"]
    else:
        about["won"] = [7, 0.1]  # in place of what is written again
        folder.write_history(folder.read_history()[:-1])
    write_checkpoint_file(folder.best, tensors, about)
    assert main(["--out", str(folder.path), "--resume"]) == 0
    assert folder.model.read_bytes() == RunFolder(text_run).model.read_bytes()


def test_changed_texts_are_called_by_their_name(text_run, tmp_path, capsys):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    settings = folder.read_settings()
    target = tmp_path / "numbers.de"
    target.write_text(Path(settings.target).read_text("utf-8").replace("neun", "drei"), "utf-8")
    folder.write_settings(settings.changed(target=str(target)), {})
    assert main(["--out", str(folder.path), "--resume"]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    wanted = f"the texts that {folder.checkpoint} has learned from"
    assert error == f"error: task must have {wanted}, got changed ones"


@pytest.mark.parametrize("begun", ["with a checkpoint", "without"])
def test_texts_may_have_moved_when_a_run_goes_on(begun, text_run, tmp_path, capsys):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    settings = folder.read_settings()
    moved = [shutil.copy(file, tmp_path) for file in (settings.source, settings.target)]
    folder.write_settings(settings.changed(source="/gone/a.en", target="/gone/a.de"), {})
    if begun == "without":
        for name in folder.results():
            (shutil.rmtree if name == "weights" else Path.unlink)(folder.path / name)
    assert main(["--out", str(folder.path), "--resume"]) == 1
    assert "/gone/a.en" in capsys.readouterr().err
    options = ["--out", str(folder.path), "--resume", "--source", moved[0], "--target", moved[1]]
    assert main(options) == 0
    assert folder.model.read_bytes() == RunFolder(text_run).model.read_bytes()


def test_other_texts_do_not_get_the_tokens_of_a_run_that_has_learned_nothing(
    text_run, tmp_path, capsys
):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "x"))
    for name in folder.results():
        (shutil.rmtree if name == "weights" else Path.unlink)(folder.path / name)
    for name in ("source", "target"):
        lines = (f"quite another sentence, number {number}\n" for number in range(400))
        (tmp_path / name).write_text("".join(lines), "utf-8")
    texts = ["--source", str(tmp_path / "source"), "--target", str(tmp_path / "target")]
    assert main(["--out", str(folder.path), "--resume", *texts]) == 1
    assert "tokenizer.json must hold this run's tokens, got others" in capsys.readouterr().err


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
@pytest.mark.parametrize("imported", [1, 200, 600, 1000])
@pytest.mark.parametrize(
    "name",
    [
        "transformer_edu.training",
        "transformer_edu.generation",
        "transformer_edu.runs.scoring",
        "transformer_course.grading",
    ],
)
def test_an_interrupt_while_a_command_is_imported_is_one_sentence(
    text_run, tmp_path, name, imported
):
    options = ["--task", "copy", *SMALL, "--steps", "100000", "--out", str(tmp_path / "x")]
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", name]
        + (options if name.endswith("training") else [str(text_run)]),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    for line in process.stderr:  # a line for every module; the first ones are Python's own
        if line.rstrip().endswith("transformer_edu.training.machine.failures"):
            break
    for _ in range(imported):
        process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=SECONDS)
    said = [line for line in errors.splitlines() if not line.startswith("import time:")]
    assert process.returncode == INTERRUPTED
    assert [line for line in said if line.startswith(("Interrupted", "Trace", "Exc"))] == said[-1:]


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
    way_on = f"python -m transformer_edu.training --out {folder.path} --resume"
    assert errors.endswith(f"Interrupted; to go on: {way_on}\n")
    assert folder.read_history()[-1]["step"] == taken
    model = load_model(folder.checkpoint)
    assert evaluate(model, [([4, 5], [4, 5])]).loss > 0


def test_a_file_in_the_place_of_the_kept_weights_is_refused_before_the_first_step(tmp_path, capsys):
    weights = tmp_path / "weights"
    weights.write_text("mine")
    assert main(["--task", "copy", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"error: out must be a folder or a new name, got {weights}\n"
    assert [*tmp_path.iterdir()] == [weights] and weights.read_text() == "mine"
