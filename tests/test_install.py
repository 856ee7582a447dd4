"""Installing: which PyTorch comes, and what is said without a network."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tools.install
from tools.install import (
    ROOT,
    InstallError,
    constraints,
    install,
    known_extras,
    remembered_torch,
    torch_arguments,
)


@pytest.mark.parametrize(
    ("torch", "arguments"),
    [
        ("2.13.0+cpu", ["torch==2.13.0+cpu"]),
        ("2.13.0 --index-url https://example.org/cpu", ["torch==2.13.0", "--index-url", "https://example.org/cpu"]),
        ("torch>=2.12,<3", ["torch>=2.12,<3"]),
        ("torch --index-url https://example.org/cpu", ["torch", "--index-url", "https://example.org/cpu"]),
        ("https://example.org/torch.whl", ["https://example.org/torch.whl"]),
        ("--pre torch torchvision", ["--pre", "torch", "torchvision"]),
        ("git+https://example.org/pytorch.git@v2.13.0", ["git+https://example.org/pytorch.git@v2.13.0"]),
        ("'torch[opt] >= 2.10'", ["torch[opt] >= 2.10"]),
        ("-r my_torch.txt", ["-r", "my_torch.txt"]),
        ("pip3 install torch --index-url https://example.org/cpu", ["torch", "--index-url", "https://example.org/cpu"]),
        ("python3 -m pip install torch", ["torch"]),
    ],
)  # fmt: skip
def test_a_pytorch_is_chosen_by_version_or_as_for_pip(torch, arguments):
    assert torch_arguments(torch) == arguments


def test_a_pytorch_is_chosen_by_the_path_of_a_wheel_which_must_exist(tmp_path):
    wheel = tmp_path / "my downloads" / "torch-2.13.0.whl"
    wheel.parent.mkdir()
    wheel.touch()
    assert torch_arguments(str(wheel)) == [str(wheel)]
    wheel = wheel.rename(tmp_path / "numpy-2.0.0.whl")
    with pytest.raises(InstallError, match="must name PyTorch, .* got "):
        torch_arguments(str(wheel))
    with pytest.raises(InstallError, match="must name a wheel that exists, .* got missing.whl"):
        torch_arguments("missing.whl")


@pytest.mark.parametrize(
    ("torch", "message"),
    [
        ('"unclosed', "TORCH must be what pip install takes, got \"unclosed: No closing quotation"),
        ("torch a\\", "TORCH must be what pip install takes, got torch a\\: No escaped character"),
        ("a" * 5000, f"TORCH must name PyTorch, as .* got {'a' * 80}… \\(5,000 characters\\)$"),
        (f"{'a' * 5000}.whl", f"TORCH must name a wheel that exists, .* got {'a' * 80}… "),
        ("pip uninstall torch", "TORCH must be what stands after pip install, got pip uninst"),
        ("~nobody-of-this-name/torch.whl", "TORCH must name a wheel that exists, .* got ~nobody"),
    ],
)  # fmt: skip
def test_a_value_that_pip_cannot_take_is_refused_in_one_sentence(torch, message):
    with pytest.raises(InstallError, match=message.replace("torch a\\:", "torch a.:")):
        torch_arguments(torch)


@pytest.mark.parametrize(
    "torch",
    [
        "numpy",
        "torchvision",
        "torch-geometric",
        "torch_scatter==2.1",
        "pytorch-lightning",
        "''",
        "#",
    ]
    + ["--index-url https://example.org/torch/cpu", "https://example.org/torch/numpy-2.0.0.whl"],
)
def test_a_value_that_names_no_pytorch_is_refused_although_one_is_installed(torch):
    with pytest.raises(
        InstallError, match="TORCH must name PyTorch, as 2.13.0 or torch>=2.10 does"
    ):
        torch_arguments(torch)


def test_the_command_says_in_one_sentence_that_a_value_is_wrong():
    command = [sys.executable, "-m", "tools.install", "lab"]
    for value in ('"unclosed', "numpy", "a" * 5000):
        result = subprocess.run(
            command, cwd=ROOT, env={**os.environ, "TORCH": value}, capture_output=True, text=True
        )
        assert result.returncode == 1 and result.stdout == ""
        assert result.stderr.startswith("TORCH must ") and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("extras", "got"), [("labb", "labb"), ("lab,dat, x", "dat, x"), ("", "none")]
)
def test_an_unknown_extra_is_refused_before_anything_is_installed(extras, got, capsys):
    with pytest.raises(InstallError, match=f"^extras must be some of data, .*dev, got {got}$"):
        install(extras, "", ROOT / "nowhere")
    assert capsys.readouterr().out == "" and known_extras("lab, data") == ["lab", "data"]


def test_a_chosen_pytorch_replaces_the_tested_one_and_nothing_else():
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    before, after = tested.splitlines(), constraints(tested, "torch==2.12.0+cpu").splitlines()
    assert [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]] == [
        ("torch==2.13.0", "torch==2.12.0+cpu")
    ]


@pytest.mark.parametrize(
    "kept", [b"", b"torch==2.", b"\xff\xfe\0", rb"torch==2.13.0\g<1>", b"numpy==2"]
)
def test_a_damaged_choice_is_named_before_anything_is_installed(tmp_path, capsys, kept):
    file = tmp_path / "chosen-torch.txt"
    file.write_bytes(kept)
    with pytest.raises(InstallError, match=f"^{file} must hold torch== and a version: choose it"):
        install("lab", "", tmp_path)
    assert capsys.readouterr().out == "" and file.read_bytes() == kept


def test_a_choice_that_an_editor_has_saved_is_read(tmp_path):
    (tmp_path / "chosen-torch.txt").write_bytes(b"torch==2.13.0+cpu\r\n")
    assert remembered_torch(tmp_path / "chosen-torch.txt") == "torch==2.13.0+cpu"
    assert remembered_torch(tmp_path / "nothing.txt") == ""


def test_no_network_is_said_in_one_sentence_before_anything_is_installed():
    unreachable = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
        "PIP_INDEX_URL": "http://127.0.0.1:1/simple",
        "TORCH": "",
    }
    command = [sys.executable, "-m", "tools.install", "lab,data"]
    environment = {**os.environ, **unreachable}
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 1
    assert result.stderr.startswith("No network: pip cannot reach its package index, so")
    assert result.stderr.count("\n") == 1
    assert "GB on disk" in result.stdout and "Collecting" not in result.stdout


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "constraints.txt"), "constraints.txt"),
        (OSError(errno.EACCES, "Permission denied"), "the output"),
    ],
)
def test_what_cannot_be_written_is_said_in_one_sentence(monkeypatch, capsys, error, said):
    def refused(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(tools.install, "install", refused)
    assert tools.install.main(["lab"]) == 1
    assert capsys.readouterr().err == f"The install stopped: Permission denied, {said}.\n"


def test_a_full_disk_forgets_no_choice_and_names_the_file(tmp_path, monkeypatch):
    file = tmp_path / "chosen-torch.txt"
    tools.install.write_whole(file, "torch==2.12.0+cpu")

    def fill(path: Path, text: str, encoding: str) -> None:
        with path.open("w", encoding=encoding):  # which empties it
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill)
    with pytest.raises(OSError, match="No space left") as refused:
        tools.install.write_whole(file, "torch==2.13.0")
    assert refused.value.filename == str(file)
    assert file.read_text() == "torch==2.12.0+cpu"
    assert [*tmp_path.iterdir()] == [file]
