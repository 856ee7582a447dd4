"""The reader's own Transformer: ``my_transformer.py`` beside the lessons grows class by class.

A class that passes its check is written into the file. The course's own class stands in for every
earlier one that is missing, and a class that needs more than the file imports is not written, so
the file runs alone. Lesson 09 assembles what is there.
"""

import ast
import builtins
import html
import importlib.util
import inspect
import linecache
import os
import re
import shutil
import symtable
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace

from IPython.display import display

from transformer_course import our_transformer
from transformer_edu.training.machine.atomic_files import replace_file

FILE = "my_transformer.py"
SWITCH = "TRANSFORMER_EDU_KEEP"  # "0" neither writes nor reads the file: for tests of the lessons
YOURS, COURSE = "yours", "the course's"
HEADER = '''\
"""My Transformer, as I wrote it in the lessons. A lesson replaces only the class it asks for."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
'''
IMPORTED = {
    alias.asname or alias.name
    for node in ast.parse(HEADER).body
    if isinstance(node, ast.Import | ast.ImportFrom)
    for alias in node.names
}
SECTION = re.compile(rf"(?m)^# ==== (\w+): ({YOURS}|{COURSE}) ====\n")
OURS = {
    node.name: ast.get_source_segment(inspect.getsource(our_transformer), node)
    for node in ast.parse(inspect.getsource(our_transformer)).body
    if isinstance(node, ast.ClassDef)
}


def keep(cls: type) -> None:
    """Write a class of the reader's into ``my_transformer.py``, and say so.

    Args:
        cls: Written in a lesson or a file, under the name of one of the course's classes.
    """
    if os.environ.get(SWITCH) == "0":
        return
    if cls.__name__ not in OURS:
        print(
            f"{FILE} keeps classes by their name: call yours as the exercise does, not "
            f"{cls.__name__}, to keep it."
        )
        return
    try:
        source = _source_of(cls)
        if unknown := _unknown_names(source):
            raise LookupError(f"it uses {', '.join(unknown)}, which the file does not import")
        mine, said = _read()
        mine[cls.__name__] = source
        last = max(list(OURS).index(name) for name in mine)
        said += _write(mine, list(OURS)[: last + 1], kept=cls.__name__)
    except (OSError, LookupError) as error:  # a right answer stays right
        print(f"Your {cls.__name__} could not be written to {FILE}: {error}.")
        return
    print(f"{said}Your {cls.__name__} is in {FILE}, next to this lesson.")


def my_parts() -> SimpleNamespace:
    """The classes of a Transformer: the reader's where they are kept, otherwise the course's.

    Completes the file with the course's classes if it holds a class of the reader's, and prints
    which class is whose.

    Returns:
        Every class of our_transformer, by its name.
    """
    mine, said = ({}, "") if os.environ.get(SWITCH) == "0" else _read()
    parts = _parts_of(our_transformer)
    if mine:
        said += _write(mine, list(OURS), kept=None)
        try:
            spec = importlib.util.spec_from_file_location(Path(FILE).stem, FILE)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            parts = _parts_of(module)
        except Exception as error:  # whatever the reader has written there
            said += f"{FILE} does not run ({type(error).__name__}: {error}). "
            mine = {}
    theirs = [name for name in OURS if name not in mine]
    whose = {
        "Yours": ", ".join(sorted(mine, key=list(OURS).index)),
        "The course's": ", ".join(theirs),
    }
    print(said + " ".join(f"{who}: {names}." for who, names in whose.items() if names))
    return parts


def show_my_transformer() -> None:
    """Show the whole model on one page, folded: the reader's file, or else the course's classes."""
    mine = {} if os.environ.get(SWITCH) == "0" else _read()[0]
    parts = [mine.get(name, OURS[name]) for name in OURS]
    page = "\n\n\n".join([HEADER.rstrip(), *parts])
    lines = sum(bool(line.strip()) for line in page.splitlines())
    said = (
        f"The whole Transformer: {lines} lines in {len(OURS)} classes, {len(mine)} of them yours."
    )
    listing = (
        f"<details><summary><b>{said}</b> Open the page.</summary>"
        f"<pre>{html.escape(page)}</pre></details>"
    )
    display({"text/html": listing, "text/plain": said}, metadata={}, raw=True)


def _parts_of(module: ModuleType) -> SimpleNamespace:
    return SimpleNamespace(**{name: getattr(module, name) for name in OURS})


def _read() -> tuple[dict[str, str], str]:
    """The source of every class of the reader's in the file; and what to say if it is not ours."""
    path = Path(FILE)
    if not path.exists():
        return {}, ""
    try:
        text = path.read_text(encoding="utf-8")
        ast.parse(text)
        _, *found = SECTION.split(text)
        sections = list(zip(found[::3], found[1::3], found[2::3], strict=True))
        if not sections or any(name not in OURS for name, _, _ in sections):
            raise ValueError("it was not written by a lesson")
    except (SyntaxError, ValueError, OSError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else error
        return {}, f"{FILE} could not be read ({reason}) and is kept as {_back_up()}. "
    return {name: source.strip() for name, whose, source in sections if whose == YOURS}, ""


def _write(mine: dict[str, str], names: list[str], kept: str | None) -> str:
    """Replace the file by these classes, in order; unfinished ones of the reader's are left out.

    Args:
        mine: The source of the reader's classes.
        names: The classes that the file will hold.
        kept: The class that stays although unfinished, because the reader has just written it.

    Returns:
        What to say about those that were left out, which mine then lacks.
    """
    said = ""
    for name in [name for name in names[:-1] if name in mine]:  # later classes build on them
        if name != kept and (missing := _missing(mine[name], OURS[name])):
            del mine[name]
            said += f"Your {name} {missing} yet, so the course's class is used instead. "
    if said:
        said += f"Yours is kept in {_back_up()}. "
    parts = [
        f"# ==== {name}: {YOURS if name in mine else COURSE} ====\n{mine.get(name, OURS[name])}\n"
        for name in names
    ]
    replace_file(Path(FILE), ["\n\n".join([HEADER, *parts]).encode()])
    return said


def _back_up() -> str:
    """Copy the file to a name that is free, and return that name."""
    path = Path(FILE)
    names = (path.with_suffix(f".{number}.bak" if number else ".bak") for number in count())
    free = next(name for name in names if not name.exists())
    shutil.copyfile(path, free)
    return free.name


def _missing(source: str, expected: str) -> str:
    """The first method or argument of the expected class that a class lacks; empty if none."""
    have, wanted = _arguments(source), _arguments(expected)
    for method, arguments in wanted.items():
        if method not in have:
            return f"has no method {method}"
        for argument in arguments:
            if argument != "*" and not {argument, "*"} & set(have[method]):
                return f"does not take {argument}"
    return ""


def _arguments(source: str) -> dict[str, list[str]]:
    """The names of the arguments of every method; a star for those that it takes in any number."""
    methods = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef)]
    return {
        each.name: [argument.arg for argument in (*each.args.args, *each.args.kwonlyargs)]
        + ["*"] * bool(each.args.vararg or each.args.kwarg)
        for each in methods
    }


def _unknown_names(source: str) -> list[str]:
    """The names that a class takes from its notebook and the file does not have, sorted."""
    tables = [symtable.symtable(source, FILE, "exec")]
    used = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used |= {
            each.get_name()
            for each in table.get_symbols()
            if each.is_global() and each.is_referenced()
        }
    return sorted(used - IMPORTED - OURS.keys() - vars(builtins).keys())


def _source_of(cls: type) -> str:
    """A class's source; inspect.getsource does not find it where a notebook's cell defines it."""
    functions = filter(inspect.isfunction, vars(cls).values())
    method = next(functions, None)  # of the class itself: what it inherits is of another file
    if method is None:
        raise LookupError("it defines no method, and without one its source is not found")
    text = "".join(linecache.getlines(inspect.unwrap(method).__code__.co_filename))
    classes = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__
    ]
    if not classes:
        raise LookupError("its source was not found")
    return ast.get_source_segment(text, classes[-1])
