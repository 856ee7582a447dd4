"""The command line measures what is asked for, and nothing else."""

import pytest
import torch

from experiments.benchmark import command


@pytest.fixture(autouse=True)
def threads_as_before():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize(("name", "sizes"), [("train", 3), ("precision", 3), ("decode", 4)])
def test_what_is_asked_for_is_measured(monkeypatch, capsys, name, sizes):
    for each in ("train", "precision", "decoding"):
        monkeypatch.setattr(
            command,
            f"report_{each}",
            lambda workloads, each=each: [f"{each} {[w.rounds for w in workloads]}"],
        )
    monkeypatch.setattr(command, "report_memory", lambda: ["memory"])
    command.main([name, "--rounds", "7"])
    told = {"decode": "decoding"}.get(name, name)
    rest = ["", "memory"] if name == "train" else []
    assert capsys.readouterr().out.splitlines() == [f"{told} {[7] * sizes}", *rest]


def test_redrawing_is_measured_as_often_as_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(command, "report_redraw", lambda rounds: [f"redraw {rounds}"])
    command.main(["redraw", "--rounds", "2"])
    command.main(["redraw"])
    assert capsys.readouterr().out.splitlines() == ["redraw 2", "redraw None"]


def test_the_command_line_lists_its_commands(capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(["--help"])
    assert stopped.value.code == 0
    told = capsys.readouterr().out
    assert all(name in told for name in ("train", "precision", "decode", "redraw"))
    with pytest.raises(SystemExit) as stopped:
        command.main(["swim"])
    assert stopped.value.code == 2


def test_rounds_below_one_are_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(["decode", "--rounds", "0"])
    assert stopped.value.code == 2
    assert "--rounds must be at least 1, got 0" in capsys.readouterr().err
