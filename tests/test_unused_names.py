"""What nothing uses is noticed, and the package holds none of it."""

import ast

from tools.notebooks import ROOT
from tools.unused_names import unused_in, unused_names


def test_everything_public_is_used_outside_its_tests():
    assert not unused_in(ROOT)


def test_what_only_calls_itself_is_unused_and_what_a_lesson_names_is_not():
    source = (
        "def alone():\n    alone()\ndef shown(): ...\ndef called(): ...\ncalled()\ndef _own(): ..."
    )
    assert unused_names({"a": ast.parse(source)}, {"shown"}) == ["a: alone"]


def test_a_name_that_another_module_imports_is_used():
    modules = {"a": ast.parse("class Kept: ..."), "b": ast.parse("from a import Kept")}
    assert unused_names(modules, set()) == []
