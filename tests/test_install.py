"""Installing: what is said before it starts, which PyTorch comes, and how it fails."""

import os
import re
import subprocess
import sys

import pytest

from tools.install import ROOT, InstallError, constraints, size_note, torch_arguments

TESTED = (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_the_size_of_cuda_and_the_way_around_it_are_said_on_linux_only():
    assert re.search(
        r"about 5 GB.*CUDA.*pytorch\.org.*make lab TORCH=", size_note("linux", "", False), re.S
    )
    for platform in ("darwin", "win32"):
        assert "about 1.5 GB" in size_note(platform, "", False)
        assert "CUDA" not in size_note(platform, "", False)
    for note in (size_note("linux", "2.13.0", False), size_note("linux", "", True)):
        assert "CUDA" not in note and "0.5 GB" in note  # a PyTorch is there, or was chosen


@pytest.mark.parametrize(
    ("torch", "arguments"),
    [
        ("2.13.0", ["torch==2.13.0"]),
        ("2.13.0+cpu", ["torch==2.13.0+cpu"]),
        ("torch>=2.12,<3", ["torch>=2.12,<3"]),
        ("torch --index-url https://example.org/cpu", ["torch", "--index-url", "https://example.org/cpu"]),
        ("https://example.org/torch.whl", ["https://example.org/torch.whl"]),
    ],
)  # fmt: skip
def test_a_pytorch_is_chosen_by_version_or_as_for_pip(torch, arguments):
    assert torch_arguments(torch) == arguments


def test_a_pytorch_is_chosen_by_the_path_of_a_wheel(tmp_path):
    wheel = tmp_path / "my downloads" / "torch-2.13.0.whl"
    with pytest.raises(
        InstallError, match="TORCH must name a wheel that exists, .* got missing.whl"
    ):
        torch_arguments("missing.whl")
    wheel.parent.mkdir()
    wheel.touch()
    assert torch_arguments(str(wheel)) == [str(wheel)]


def test_a_chosen_pytorch_replaces_the_tested_one_and_nothing_else():
    assert constraints(TESTED, "") == TESTED
    chosen = constraints(TESTED, "torch==2.12.0+cpu").splitlines()
    changed = [pair for pair in zip(TESTED.splitlines(), chosen, strict=True) if pair[0] != pair[1]]
    assert changed == [("torch==2.13.0", "torch==2.12.0+cpu")]


def test_no_network_is_said_in_one_sentence_before_anything_is_installed():
    unreachable = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
        "PIP_INDEX_URL": "http://127.0.0.1:1/simple",
        "TORCH": "",
    }
    result = subprocess.run(
        [sys.executable, "-m", "tools.install", "lab,data"],
        cwd=ROOT,
        env={**os.environ, **unreachable},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 1
    assert result.stderr.startswith("No network: pip cannot reach its package index, so")
    assert result.stderr.count("\n") == 1
    assert "GB on disk" in result.stdout and "Collecting" not in result.stdout
