"""The command examines what a file builds, and its exit status says what it found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from transformer_edu.checkup.__main__ import main

FILE = """
import torch
from transformer_edu.checkup import Adapter
from transformer_edu.variants.language_model import LanguageModel, LanguageModelConfig

def build():
    torch.manual_seed(0)
    return LanguageModel(LanguageModelConfig(vocabulary_size=40, d_model=16))

def build_tied_by_copy():
    model = build()
    model.output_projection.weight.data = model.embedding.weight.detach().clone()
    return model

def build_with_adapter():
    def ask(model, ids, real):
        return model(ids)
    return build(), Adapter(ask=ask, vocabulary_size=40)

def step(model, ids):
    logits = model(ids)
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())

def step_without_reduction(model, ids):
    logits = model(ids[:, :-1]).flatten(0, 1)
    return torch.nn.functional.cross_entropy(logits, ids[:, 1:].flatten(), reduction="none")

def fail():
    raise OSError("no such checkpoint")

def leave():
    raise SystemExit

def linear():
    return torch.nn.Linear(2, 2)

def build_from_neighbour():
    from layers_of_mine import build
    return build()

def build_three():
    return build(), None, None
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_file.py"
    path.write_text(FILE, encoding="utf-8")
    path.with_name("layers_of_mine.py").write_text(FILE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("arguments", "exit_status", "words"),
    [
        (["build"], 0, "No illness found."),
        (["build", "--decoder-only"], 0, "(decoder-only)"),
        (["build_with_adapter"], 0, "No illness found."),
        (["build_tied_by_copy"], 1, "ILL: tied by value only."),
        (["build", "--training-step", "step"], 1, "LABELS ARE NOT SHIFTED"),
        (["build", "--encoder-decoder"], 2, "it reads 1 streams of tokens"),
        (["build_from_neighbour"], 0, "No illness found."),
        (["build_three"], 2, "model must be a torch.nn.Module, got tuple"),
        (["linear"], 2, "cannot ask Linear: it raised RuntimeError"),
        (["fail"], 2, "raised OSError: no such checkpoint"),
        (["leave"], 2, "raised SystemExit: "),
        (["nothing"], 2, "my_file:build_model must be what can be loaded, got"),
    ],
)
def test_the_exit_status_says_what_was_found(file, capsys, arguments, exit_status, words):
    addresses = [f"{file}:{each}" if each[0] != "-" else each for each in arguments]
    path = list(sys.path)
    assert main(addresses) == exit_status
    output = capsys.readouterr()
    assert words in (output.err if exit_status == 2 else output.out)
    assert sys.path[: len(path)] == path  # the file's folder hides no module


def test_the_report_can_be_json(file, capsys):
    assert main([f"{file}:build_tied_by_copy", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["illnesses"] == ["tied by value only"]


def test_what_the_model_prints_is_no_part_of_the_report(file, capsys):
    file.write_text(FILE.replace("    model = build()\n", "    model = build()\n    print('hi')\n"))
    assert main([f"{file}:build_tied_by_copy", "--json"]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["model"] == "LanguageModel" and told.err == "hi\n"


def test_a_report_that_cannot_be_written_is_no_illness(file):
    """A full disk must not say, by the exit status, that the model is ill."""
    command = [sys.executable, "-m", "transformer_edu.checkup", f"{file}:build"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: writing the report raised OSError: ")


def test_an_empty_name_of_a_training_step_is_none(file, capsys):
    assert main([f"{file}:build", "--training-step", ""]) == 2
    assert "my_file:build_model must be what can be loaded, got ''" in capsys.readouterr().err


def test_an_error_in_the_file_of_the_training_step_is_told_of_it(file, capsys):
    steps = file.with_name("steps.py")
    steps.write_text("X = F.relu", encoding="utf-8")
    assert main([f"{file}:build", "--training-step", f"{steps}:step"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {steps}:step raised NameError: ")


def test_a_path_without_the_end_of_a_file_s_name_is_refused(capsys):
    assert main(["./good:build"]) == 2
    wanted = "error: my_file:build_model must be what can be loaded, got './good:build' (No module"
    assert capsys.readouterr().err.startswith(wanted)


def test_a_training_step_that_could_not_be_examined_is_not_passed_by(file, capsys):
    assert main([f"{file}:build", "--training-step", f"{file}:step_without_reduction"]) == 2
    assert "a loss must be one number, got shape (" in capsys.readouterr().out


def test_the_command_finds_a_module_in_the_folder_where_it_runs(file):
    command = [sys.executable, "-m", "transformer_edu.checkup", "my_file:build_tied_by_copy"]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1, done.stderr
    assert "TIED BY VALUE ONLY" in done.stdout and "\033[" not in done.stdout


@pytest.mark.parametrize("name", ["copy.py", "my.model.py", "1.py"])
def test_the_file_that_is_named_is_examined_and_no_module_of_a_like_name(file, name, capsys):
    path = file.rename(file.with_name(name))
    assert main([f"{path}:build"]) == 0
    assert "No illness found." in capsys.readouterr().out


def test_a_file_that_ends_the_program_is_not_called_healthy(file, capsys):
    file.write_text("import sys\nsys.exit(0)", encoding="utf-8")
    assert main([f"{file}:build"]) == 2
    assert capsys.readouterr().err == f"error: {file}:build raised SystemExit: 0\n"


def test_an_interrupt_is_one_word(file):
    file.write_text("raise KeyboardInterrupt", encoding="utf-8")
    command = [sys.executable, "-m", "transformer_edu.checkup", f"{file}:build"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (130, "Interrupted.\n")


def test_torch_is_imported_where_an_interrupt_is_one_word():
    code = "import sys, transformer_edu.checkup; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
