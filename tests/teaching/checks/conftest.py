"""For every test of a check: a folder of its own, into which no class is written."""

import pytest

from transformer_edu.teaching.my_transformer import SWITCH


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder, and keep nothing there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(SWITCH, "0")
