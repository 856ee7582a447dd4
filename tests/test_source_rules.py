"""The rules for Python source notice what they are for, and nothing else."""

import ast

import pytest

from tools.source_rules import (
    assertions,
    definitions,
    imported_modules,
    more_than_a_docstring,
    oversize,
    unsafe_code,
    without_docstring,
)

UNSAFE = {
    "eval('1')": "eval runs text",
    "exec('1')": "exec runs text",
    "import pickle": "imports pickle",
    "from pickle import loads": "imports pickle",
    "import os\nos.system('ls')": "os.system opens a shell",
    "import subprocess\nsubprocess.run('ls', shell=True)": "subprocess.run opens a shell",
    "import warnings\nwarnings.simplefilter('ignore')": "silences warnings",
    "import torch\ntorch.load('x')": "weights_only=True",
    "import torch\ntorch.load('x', weights_only=False)": "weights_only=True",
    "import torch\ntorch.hub.load('x', 'y')": "trusts whatever",
    "try:\n    x\nexcept:\n    pass": "bare except",
    "assert x": "assert is no check, raise an error",
}
SAFE = [
    "model.eval()",
    "import re\nre.compile('x')",
    "import torch\ntorch.load('x', weights_only=True)",
    "import subprocess\nsubprocess.run(['ls'], check=True)",
    "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('error')",
    "try:\n    x\nexcept ValueError:\n    pass",
]
DOCUMENTED = '"""A module."""\n'


@pytest.mark.parametrize("source", UNSAFE)
def test_unsafe_code_is_noticed(source):
    tree = ast.parse(source)
    assert UNSAFE[source] in "\n".join([*unsafe_code(tree), *assertions(tree)])


@pytest.mark.parametrize("source", SAFE)
def test_safe_code_is_left_alone(source):
    assert not list(unsafe_code(ast.parse(source)))


def test_imports_are_found_wherever_they_stand():
    source = "import a.b\ndef f():\n    from c import d\n    from . import e\n"
    assert list(imported_modules(ast.parse(source))) == ["a.b", "c", "."]


def test_definitions_inside_conditions_count_and_inside_functions_do_not():
    source = "if x:\n    def a():\n        def b(): ...\nclass C:\n    def d(self): ...\n"
    assert [node.name for node in definitions(ast.parse(source))] == ["a", "C"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1\n" * 401, "401 lines, at most 400"),
        ("x = 1\n" * 400, None),
        (f"x = '{'y' * 96}'\n", "line 1: 102 characters, at most 100"),
        ("def f():\n" + "    x\n" * 50, "f: 51 lines, at most 50"),
        ("def f():\n" + "    x\n" * 49, None),
        ("def f(a, b, c, d, *, e, f, g, h): ...\n", "f: 8 parameters, at most 7"),
        ("def f(self, b, c, d, *, e, f, g, h): ...\n", None),
    ],
)
def test_what_is_too_long_is_noticed(text, complaint):
    assert list(oversize(text)) == ([complaint] if complaint else [])


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("x = 1", "the module has no docstring"),
        (DOCUMENTED + "def f(): ...", "f has no docstring"),
        (DOCUMENTED + "class A: ...", "A has no docstring"),
        (DOCUMENTED + 'class A:\n    """A."""\n    def b(self): ...', "b has no docstring"),
        (DOCUMENTED + 'class A:\n    """A."""\n    def __init__(self): ...', None),
        (DOCUMENTED + "def _f(): ...", None),
    ],
)
def test_a_missing_docstring_is_noticed(source, complaint):
    assert list(without_docstring(ast.parse(source))) == ([complaint] if complaint else [])


def test_an_init_file_may_hold_its_docstring_and_the_version_only():
    allowed = DOCUMENTED + '__version__ = "1"\n'
    assert not list(more_than_a_docstring(ast.parse(allowed)))
    found = list(more_than_a_docstring(ast.parse(allowed + "from a import b\n")))
    assert found == ["line 3: from a import b"]
