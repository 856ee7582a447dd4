"""The Makefile, with a stand-in for Python that says how it was called."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from tools.notebooks import ROOT

STAND_IN = """#!/bin/sh
echo "ran: $* [${ATEN_CPU_CAPABILITY-} ${MKL_ENABLE_INSTRUCTIONS-} ${ONEDNN_MAX_CPU_ISA-}]" \
  "on ${TRANSFORMER_EDU_DEVICE-}"
case "$*" in *"$BREAKS"*) exit 1;; esac
"""
OWN, AVX2, PLAINEST = "[  ]", "[avx2 AVX2 AVX2]", "[default  ]"
NOTHING = "no command has this in it"

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script"),
    pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here"),
]


@pytest.fixture
def make(tmp_path):
    """Run a target whose commands fail if they contain a text; the status and what was run."""
    python = tmp_path / "python"
    python.write_text(STAND_IN)
    python.chmod(0o755)

    def run(target: str, breaks: str = NOTHING, **given: str) -> tuple[int, list[str], str]:
        places = [f"BIN={tmp_path}", "READY=", "READY_FOR_TESTS="]
        places += [f"{name}={value}" for name, value in given.items()]
        path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "BREAKS": breaks}
        command = ["make", target, *places]
        result = subprocess.run(command, cwd=ROOT, env=path, capture_output=True, text=True)
        lines = result.stdout.splitlines()
        return result.returncode, [line for line in lines if line.startswith("ran:")], lines[-1]

    return run


def runs_of_lessons(ran: list[str]) -> list[str]:
    """The settings under which the lessons were compared."""
    return ["[" + line.split(" [")[1] for line in ran if "--nbval " in line]


def test_every_part_runs_after_one_that_failed_and_the_last_line_names_what_failed(make):
    status, ran, last = make("test", breaks="ruff check")
    assert status != 0
    for part in ("ruff check", "ruff format", "pytest tests", "--nbval "):
        assert sum(part in line for line in ran) == 1
    assert last == "make test: FAILED: lint (of: lint unit lessons)"
    assert (
        make("test", breaks="pytest")[2]
        == "make test: FAILED: unit lessons (of: lint unit lessons)"
    )
    assert make("test")[::2] == (0, "make test: passed: lint unit lessons")


def test_the_lessons_run_under_three_instruction_sets_on_the_cpu(make):
    status, ran, last = make("portable")
    settings = [f"{each} on cpu" for each in (OWN, AVX2, PLAINEST)]
    if "avx2" not in last:  # no x86 processor
        del settings[1]
    assert status == 0
    assert runs_of_lessons(ran) == settings
    assert make("portable", breaks="loadfile")[0] != 0


def test_ci_runs_the_parts_of_all_three_and_none_twice(make):
    parts = {line for target in ("test", "portable", "site") for line in make(target)[1]}
    _, ran, _ = make("ci")
    assert len(ran) == len(set(ran))
    assert set(ran) == parts
    assert "make ci" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_one_lesson_can_be_printed_or_all(make):
    assert "-m tools.handout 02 " in make("handout", LESSON="02")[1][-1]
    assert "-m tools.handout [" in make("handout")[1][-1]


def test_the_editions_for_a_class_are_written_without_running_a_lesson(make):
    for target in ("slides", "student"):
        _, (only,), _ = make(target)
        assert only.startswith(f"ran: -m tools.{target} ")
        assert "make slides student" in (ROOT / ".github/workflows/ci.yml").read_text()


def test_a_reader_gets_the_copies_on_whatever_device_there_is(make):
    _, (copy, lab), _ = make("lab")
    assert "tools.working_copies" in copy
    assert "/lab/tree/work/00_" in lab
    assert lab.endswith("on ")


def test_jupyterlab_is_told_not_to_ask_about_news(make):
    lab = make("lab")[1][-1]
    folder = re.search(r"--LabApp.app_settings_dir=(\S+)", lab)[1]
    settings = json.loads((ROOT / folder / "overrides.json").read_text(encoding="utf-8"))
    # "none" would ask.
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
