"""The Makefile, with a stand-in for Python that says how it was called."""

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
    for name in ("python", "lint-imports"):
        (tmp_path / name).write_text(STAND_IN)
        (tmp_path / name).chmod(0o755)

    def run(target: str, breaks: str = NOTHING, **given: str) -> tuple[int, list[str], str]:
        places = [f"BIN={tmp_path}", "READY=", "READY_FOR_TESTS="]
        places += [f"{name}={value}" for name, value in given.items()]
        path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "BREAKS": breaks}
        command = ["make", target, *places]
        result = subprocess.run(command, cwd=ROOT, env=path, capture_output=True, text=True)
        lines = result.stdout.splitlines()
        return result.returncode, [line for line in lines if line.startswith("ran:")], lines[-1]

    return run


@pytest.mark.parametrize("breaks", ["ruff check", "tools.rules", "--no-logo"])
def test_every_part_runs_after_one_that_failed_and_the_last_line_names_what_failed(make, breaks):
    status, ran, last = make("test", breaks=breaks)
    assert status != 0
    for part in ("ruff check", "ruff format", "tables --check", "--no-logo", "tests", "--nbval "):
        assert sum(part in line for line in ran) == 1, part
    assert last == "make test: FAILED: lint (of: lint unit lessons)"
    assert make("test")[::2] == (0, "make test: passed: lint unit lessons")


@pytest.mark.parametrize(
    ("flags", "sets"), [("avx2 avx512f avx512cd", [OWN, AVX2, PLAINEST]), ("avx2", [OWN, PLAINEST])]
)
def test_continuous_integration_runs_every_test_once_and_the_lessons_under_each_instruction_set(
    make, tmp_path, flags, sets
):
    processor = tmp_path / "cpuinfo"
    processor.write_text(f"flags : fpu {flags}\n" * 2)
    status, ran, _ = make("ci", PROCESSOR=processor)
    assert status == 0 and len(ran) == len(set(ran))
    folders = [line.split(" worksteal ")[1].split(" [")[0] for line in ran if "worksteal" in line]
    elsewhere = "--ignore tests/browser --ignore tests/devices"
    assert folders == [
        f"tests -m not slow {elsewhere}",
        f"tests -m slow {elsewhere}",
        "tests/browser",
        "tests/devices",
    ]
    settings = ["[" + line.split(" [")[1] for line in ran if "--nbval " in line]
    assert settings == [f"{each} on cpu" for each in sets]
    assert "make ci" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_a_reader_gets_copies_on_whatever_device_there_is_and_a_contributor_stores_a_lesson(make):
    _, (copy, lab), _ = make("lab")
    assert "tools.working_copies" in copy
    assert "/lab/tree/work/00_" in lab and lab.endswith("on ")
    assert "tools.lesson_command 02 " in make("lesson", LESSON="02")[2]
