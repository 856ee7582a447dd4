"""Every command says what it does, and refuses what it does not know, before it does anything."""

import importlib
import os
import re

import pytest

from tools.notebooks import ROOT

FOLDERS = ("corpora", "experiments", "tools", "transformer_course")


def commands():
    """The modules with the main of every command outside the library."""
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        if re.search(r'(?m)^if __name__ == "__main__":', source := path.read_text("utf-8")):
            named = re.search(r'run_command\("([\w.]+)"\)', source)
            yield named[1] if named else ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.fixture(params=commands())
def command(request, monkeypatch):
    def refuse(*paths: object) -> None:
        raise AssertionError(f"{request.param} does its work")

    monkeypatch.setattr(os, "replace", refuse)
    return importlib.import_module(request.param).main


def test_help_says_what_a_command_does(command, capsys):
    with pytest.raises(SystemExit) as ended:
        command(["--help"])
    said = capsys.readouterr()
    usage, about, *_ = re.split(r"\n\n", said.out)
    assert ended.value.code == 0 and not said.err
    assert usage.startswith("usage: ") and re.match(r"(?s)[A-Z].*[.]$", about)


def test_an_unknown_option_is_refused(command, capsys):
    with pytest.raises(SystemExit) as ended:
        command(["--unknown"])
    said = capsys.readouterr()
    assert ended.value.code == 2 and not said.out and said.err.startswith("usage: ")
