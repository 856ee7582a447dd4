"""Colab, as far as it can be had without Colab: its versions, our set-up cell, the first lesson.

The environment is kept in .venv-colab and made anew when a version changes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.fresh_clone import clone_into
from tools.colab import setup_cell_source
from tools.notebooks import ROOT, lesson_paths

ENVIRONMENT = ROOT / ".venv-colab"
PYTHON = ENVIRONMENT / "bin" / "python"
STAMP = ENVIRONMENT / ".ready"
PINS = ROOT / "tests" / "colab-pins.txt"
NEWEST_PYTHON = (3, 13)  # Colab's; newer ones find no wheels of its old versions
NO_NETWORK = ("connection", "name resolution", "timed out", "No matching distribution")

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="Colab runs on Linux"),
    pytest.mark.skipif(sys.version_info[:2] > NEWEST_PYTHON, reason="Colab's Python is older"),
]


def run(*command: str | Path, folder: Path) -> str:
    """Run a command and return all it prints; its failure is the test's.

    Without a network the test cannot be made: it is skipped then, except in continuous integration.
    """
    result = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "PYTHONPATH": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode:
        offline = any(sign in result.stdout for sign in NO_NETWORK)
        if offline and os.environ.get("CI") != "true":
            pytest.skip(f"no network: {result.stdout.strip().splitlines()[-1]}")
        pytest.fail(f"{command} failed:\n{result.stdout[-4000:]}")
    return result.stdout


def freeze(folder: Path) -> set[str]:
    """Every installed distribution with its version."""
    return set(run(PYTHON, "-m", "pip", "freeze", folder=folder).splitlines())


@pytest.fixture(scope="module")
def colab(tmp_path_factory) -> Path:
    """Colab's environment without our package; the fixture's value is an empty working folder."""
    folder = tmp_path_factory.mktemp("content")
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    torch = next(line for line in constraints if line.startswith("torch=="))
    wanted = f"{sys.version} {torch} {PINS.read_text(encoding='utf-8')}"
    fingerprint = hashlib.sha256(wanted.encode()).hexdigest()
    if not STAMP.exists() or STAMP.read_text() != fingerprint:
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        pip = [PYTHON, "-m", "pip", "install", "-q", "--only-binary=:all:"]
        run(*pip, torch, "-r", PINS, folder=folder)
        STAMP.write_text(fingerprint)
    run(PYTHON, "-m", "pip", "uninstall", "-q", "-y", "transformer-edu", folder=folder)
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """The working tree as a repository of its own, with everything committed."""
    clone = clone_into(tmp_path_factory.mktemp("repository"))
    author = ("-c", "user.name=reader", "-c", "user.email=reader@example.org")
    run("git", "init", "-q", "-b", "main", folder=clone)
    run("git", "add", "--all", folder=clone)
    run("git", *author, "commit", "-q", "-m", "The working tree", folder=clone)
    return clone


def test_the_setup_cell_adds_our_package_alone_and_the_first_lesson_runs(colab, repository):
    before = freeze(colab)
    cell = colab / "setup_cell.py"
    cell.write_text(setup_cell_source(f"file://localhost{repository.as_posix()}"), encoding="utf-8")
    run(PYTHON, cell, folder=colab)
    after = freeze(colab)
    assert [line.split()[0] for line in after - before] == ["transformer-edu"]
    assert before <= after, "a version of Colab's was replaced"

    first, *_ = lesson_paths()
    for path in (ROOT / "conftest.py", first):
        shutil.copy(path, colab)
    nbval = (
        "--nbval",
        "--nbval-current-env",
        "--nbval-cell-timeout=1200",
        "-p",
        "no:cacheprovider",
    )
    run(PYTHON, "-m", "pytest", *nbval, first.name, folder=colab)
