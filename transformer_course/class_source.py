"""The source of a class: find it, see what it lacks and needs, put another in its place."""

import ast
import builtins
import inspect
import linecache
import re
import symtable
from collections.abc import Sequence
from types import CodeType

from IPython import get_ipython

# Above a class, and not the reader's: of an exercise, and of what a lesson wrote into a file.
COURSES = ("# Your answer:", "# ==== ", "# Checksum of what a lesson wrote last: ")
PLAIN = {"property", "staticmethod", "classmethod"}  # decorators behind which a function stands


def source_of(cls: type) -> str:
    """A class's source; inspect.getsource does not find it where a notebook's cell defines it.

    The comments directly above it, and those that end it, belong to it.

    Raises:
        LookupError: If it was not found, such as that of a class without methods, or if something
            was put into the class from elsewhere.
    """
    parts = {name: getattr(each, "fget", each) for name, each in vars(cls).items()}  # of properties
    parts = {name: getattr(each, "__func__", each) for name, each in parts.items()}
    functions = {name: each for name, each in parts.items() if inspect.isfunction(each)}
    if not functions:  # of the class itself: what it inherits is of another file
        raise LookupError("it defines no method, and without one its source is not found")
    codes = {name: inspect.unwrap(each).__code__ for name, each in functions.items()}
    for code in codes.values():
        text = _text_of(code.co_filename)
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.ClassDef)
                and node.name == cls.__name__
                and node.lineno <= code.co_firstlineno <= node.end_lineno
            ):
                _refuse_parts_from_elsewhere(cls, node, code.co_filename, codes)
                lines = re.split("\r\n?|\n", text)
                first, last = extent(lines, node)
                above = [line[node.col_offset :] for line in lines[first : node.lineno - 1]]
                rest = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
                whole = f"{ast.get_source_segment(text, node)}{rest}"
                return "\n".join([*above, whole, *lines[node.end_lineno : last]])
    if any(code.co_filename == "<timed exec>" for code in codes.values()):  # IPython's name
        raise LookupError("%%time hides its source: run its cell without %%time")
    raise LookupError("its source was not found")


def extent(lines: Sequence[str], node: ast.ClassDef, *, above: bool = True) -> tuple[int, int]:
    """The lines of a class as a slice, with the comments that end it, and those directly above."""
    first = min(each.lineno for each in [node, *node.decorator_list]) - 1
    while above and first and re.match(rf"\s{{{node.col_offset}}}#", lines[first - 1]):
        if lines[first - 1].lstrip().startswith(COURSES):
            break
        first -= 1
    last = node.end_lineno
    for number, line in enumerate(lines[last:], start=last + 1):
        if re.match(rf"\s{{{node.col_offset + 1},}}#", line):
            last = number
        elif line.strip():
            break
    return first, last


def _marks(node: ast.stmt) -> set[str]:
    """The names of a function's decorators."""
    return {ast.unparse(each) for each in getattr(node, "decorator_list", [])}


def _text_of(file: str) -> str:
    """What a file or a cell holds. IPython cuts a cell where Python does not, as at a form feed."""
    lines = linecache.getlines(file)
    history = getattr(get_ipython(), "history_manager", None)
    cells = getattr(history, "input_hist_parsed", [])
    whole = (cell for cell in reversed(cells) if [f"{it}\n" for it in cell.splitlines()] == lines)
    return next(whole, "".join(lines))


def _refuse_parts_from_elsewhere(
    cls: type, node: ast.ClassDef, file: str, codes: dict[str, CodeType]
) -> None:
    """Refuse a class with a method or another part that its source does not show."""
    tables = symtable.symtable(ast.unparse(node), "<class>", "exec").get_children()
    names = {name for table in tables for name in table.get_identifiers()}
    hidden = ("__", f"_{cls.__name__}__", "_abc_", "written_by")  # Python's, and my_parts'
    given = [name for name in vars(cls) if name not in names and not name.startswith(hidden)]
    given += [
        target.id
        for each in node.body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)
        for target in each.targets
        if isinstance(target, ast.Name) and vars(cls).get(target.id) != each.value.value
    ]
    if given and not node.decorator_list:
        raise LookupError(f"its {given[0]} was written outside of it: write it in the class")
    plain = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    plain -= {each.name for each in node.body if not _marks(each) <= PLAIN}
    for name, code in codes.items():
        inside = code.co_filename == file and node.lineno <= code.co_firstlineno <= node.end_lineno
        if name in plain and not inside:
            raise LookupError(f"its {name} was written in another cell: write it in the class")


def with_class(text: str, name: str, source: str) -> str:
    """A text with another class in place of its own of that name, or at its end if it has none.

    Comments above its own class stay if the other one brings none.

    Args:
        text: Of a module, or a part of it.
        name: Of the class.
        source: Of the other class.
    """
    node = _class_in(text, name)
    if node is None:
        return f"{text.rstrip()}\n\n\n{source}\n\n\n".lstrip()
    lines = text.split("\n")
    first, last = extent(lines, node, above=source.startswith("#"))
    return "\n".join([*lines[:first], source, *lines[last:]])


def missing_part(text: str, name: str, expected: str) -> str:
    """What a class in a text lacks for the classes that build on it; empty if it lacks nothing.

    The checks require all else. Arguments may have any names: they are counted.

    Args:
        text: Of a module, or a part of it.
        name: Of the class.
        expected: A class of that name that has all.
    """
    node = _class_in(text, name)
    if node is None:
        return "is not in its section"
    if name != "Attention":  # the only class that a lesson keeps before it is finished
        return ""
    have, wanted = (
        _arguments(each).get("forward", []) for each in (node, _class_in(expected, name))
    )
    return "" if "*" in have or len(have) >= len(wanted) else f"does not take {wanted[-1]}"


def needed_names(source: str) -> set[str]:
    """The names that a class takes from its module, apart from Python's own."""
    tables = [symtable.symtable(source, "<class>", "exec")]
    used = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used |= {
            each.get_name()
            for each in table.get_symbols()
            if each.is_global() and each.is_referenced()
        }
    return used - (vars(builtins).keys() - {"display", "get_ipython"})  # IPython adds these


def needed_at_once(source: str) -> set[str]:
    """The names that a class needs when it is defined: of its bases, decorators and own body."""
    node = ast.parse(source).body[0]
    later = {
        inner
        for each in ast.walk(node)
        if isinstance(each, ast.FunctionDef | ast.Lambda)
        for part in (each.body if isinstance(each.body, list) else [each.body])
        for inner in ast.walk(part)
    }
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name) and each not in later)
    return {each.id for each in names if isinstance(each.ctx, ast.Load)}


def bound_names(text: str) -> set[str]:
    """The names that a module binds: what it imports, defines and assigns."""
    names = symtable.symtable(text, "<module>", "exec").get_symbols()
    return {each.get_name() for each in names if each.is_assigned() or each.is_imported()}


def _class_in(text: str, name: str) -> ast.ClassDef | None:
    """The last class of that name."""
    classes = [each for each in ast.parse(text).body if isinstance(each, ast.ClassDef)]
    return next((each for each in reversed(classes) if each.name == name), None)


def _arguments(node: ast.ClassDef) -> dict[str, list[str]]:
    """The names of the arguments of every method; a star for those that it takes in any number."""
    methods = [each for each in ast.walk(node) if isinstance(each, ast.FunctionDef)]
    return {
        each.name: [argument.arg for argument in (*each.args.args, *each.args.kwonlyargs)]
        + ["*"] * bool(each.args.vararg or each.args.kwarg)
        for each in methods
    }
