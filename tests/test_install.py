"""Installing: which PyTorch comes, and what is said without a network."""

import os
import subprocess
import sys

import pytest

from tools.install import ROOT, InstallError, constraints, torch_arguments


@pytest.mark.parametrize(
    ("torch", "arguments"),
    [
        ("2.13.0+cpu", ["torch==2.13.0+cpu"]),
        ("torch>=2.12,<3", ["torch>=2.12,<3"]),
        ("torch --index-url https://example.org/cpu", ["torch", "--index-url", "https://example.org/cpu"]),
        ("https://example.org/torch.whl", ["https://example.org/torch.whl"]),
    ],
)  # fmt: skip
def test_a_pytorch_is_chosen_by_version_or_as_for_pip(torch, arguments):
    assert torch_arguments(torch) == arguments


def test_a_pytorch_is_chosen_by_the_path_of_a_wheel_which_must_exist(tmp_path):
    wheel = tmp_path / "my downloads" / "torch-2.13.0.whl"
    wheel.parent.mkdir()
    wheel.touch()
    assert torch_arguments(str(wheel)) == [str(wheel)]
    with pytest.raises(InstallError, match="must name a wheel that exists, .* got missing.whl"):
        torch_arguments("missing.whl")


def test_a_chosen_pytorch_replaces_the_tested_one_and_nothing_else():
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    before, after = tested.splitlines(), constraints(tested, "torch==2.12.0+cpu").splitlines()
    assert [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]] == [
        ("torch==2.13.0", "torch==2.12.0+cpu")
    ]


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
