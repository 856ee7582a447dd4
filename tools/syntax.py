"""What stands in a piece of source: definitions, constants, the names that it binds and reads."""

import ast
import re
from collections.abc import Iterator

PUBLIC_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def dotted(node: ast.AST) -> str:
    """A name as it is written: ``os.system``; empty for anything that is not a plain name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := dotted(node.value)):
        return f"{before}.{node.attr}"
    return ""


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """The absolute name of every imported module; a relative import begins with a dot."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def definitions(tree: ast.Module) -> list[Definition]:
    """The classes and functions at the top of a module or cell, inside if, with and try too."""
    found: list[Definition] = []
    waiting: list[ast.AST] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Definition):
            found.append(node)
        else:
            waiting.extend(ast.iter_child_nodes(node))
    return found


def constants(tree: ast.Module) -> Iterator[str]:
    """What is set at the top of a module or cell under a name in capitals, as ``NAME = value``."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and PUBLIC_CONSTANT.fullmatch(target.id):
                    yield f"{target.id} = {ast.unparse(node.value)}"


def bound_names(tree: ast.AST) -> Iterator[str]:
    """The names that are assigned, imported or defined, whole or in part."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (each.asname or each.name.split(".")[0] for each in names)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()):
                yield name
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                yield name


def read_names(tree: ast.AST) -> set[str]:
    """The names that must have come from before: loops and parameters bring their own."""
    own, read = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.For(target=target) | ast.comprehension(target=target):
                own |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
            case ast.arg(arg=name):
                own.add(name)
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
    return read - own
