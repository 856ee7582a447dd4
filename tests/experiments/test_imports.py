"""Every measurement can be started: its modules import what there is."""

import importlib

import pytest

from tools.notebooks import ROOT

MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "experiments").rglob("[!_]*.py"))
]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_what_there_is(module):
    assert importlib.import_module(module).__doc__
