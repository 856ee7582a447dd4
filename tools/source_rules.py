"""What Python source must be like, in the package and, where it applies, in lessons.

Each rule takes the syntax tree of one file or cell and yields what it finds wrong.
"""

import ast
import re
from collections.abc import Iterator

MODULE_LINES, FUNCTION_LINES, PARAMETERS, LINE_LENGTH = 400, 50, 7, 100
LONGER = {
    "beam_search": 11,
    "greedy_search": 8,
    "sample": 11,
    "fit": 8,
}  # parameters, written out for Shift-Tab
FORBIDDEN_NAMES = {"utils", "helpers", "common", "core", "base", "misc"}
RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
RUNS_A_SHELL = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
SILENCES = {"warnings.filterwarnings", "warnings.simplefilter", "np.seterr", "numpy.seterr"}
UNSAFE_MODULES = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib", "cloudpickle"}
UNSAFE_DOWNLOADS = {"urllib.request.urlretrieve", "torch.hub.load", "hub.load"}

PUBLIC_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


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


def unsafe_code(tree: ast.AST) -> Iterator[str]:
    """Code that runs text, opens a shell, unpickles, silences warnings or hides errors."""
    for module in imported_modules(tree):
        if module.split(".")[0] in UNSAFE_MODULES:
            yield f"imports {module}"
    locally_silent = set(_inside_catch_warnings(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield f"line {node.lineno}: a bare except hides every error"
        if isinstance(node, ast.Call) and node not in locally_silent:
            yield from (f"line {node.lineno}: {fault}" for fault in _unsafe_call(node))


def _inside_catch_warnings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.With) and "catch_warnings" in ast.unparse(node.items[0]):
            yield from (
                call
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and dotted(call.func) in SILENCES
            )


def _unsafe_call(call: ast.Call) -> Iterator[str]:
    name = dotted(call.func)
    keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    if name in RUNS_TEXT:
        yield f"{name} runs text as a program"
    if name in RUNS_A_SHELL or keywords.get("shell", "False") != "False":
        yield f"{name} opens a shell"
    if name in SILENCES:
        yield f"{name} silences warnings for everybody"
    if name in UNSAFE_DOWNLOADS:
        yield f"{name} trusts whatever it downloads"
    if name == "torch.load" and keywords.get("weights_only") != "True":
        yield "torch.load must say weights_only=True"


def assertions(tree: ast.AST) -> Iterator[str]:
    """Assert statements, which ``python -O`` removes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield f"line {node.lineno}: assert is no check, raise an error"


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


def models_left_behind(tree: ast.Module) -> Iterator[str]:
    """Every call of load_pretrained or …Transformer whose result does not go to ``device``.

    It goes there as ``Transformer(…).to(device)``, or under its name: ``model.to(device)``, also
    as ``for model in (…, …): model.to(device)``. What ``torch.device("meta")`` holds has no
    numbers and stays there.
    """
    moved, fine = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node).endswith(".to(device)"):
            moved |= _names(node.func.value)
            fine |= set(ast.walk(node.func.value))
        if isinstance(node, ast.With) and ast.unparse(node.items[0]) == "torch.device('meta')":
            fine |= set(ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and _names(node.target) & moved:
            moved |= _names(node.iter)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(_names(target) & moved for target in node.targets):
            fine |= set(ast.walk(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func).endswith(("Transformer", "pretrained")):
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if node not in fine and keywords.get("device") not in ("device", "'meta'"):
                yield ast.unparse(node)


def _names(tree: ast.AST) -> set[str]:
    """The variables that are read or set there, but for the functions that are called."""
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in called}


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


def oversize(text: str) -> Iterator[str]:
    """Modules, functions, parameter lists and lines that are too long."""
    lines = text.splitlines()
    if len(lines) > MODULE_LINES:
        yield f"{len(lines)} lines, at most {MODULE_LINES}"
    for number, line in enumerate(lines, start=1):
        if len(line) > LINE_LENGTH:
            yield f"line {number}: {len(line)} characters, at most {LINE_LENGTH}"
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, Function):
            continue
        length = node.end_lineno - node.lineno + 1
        if length > FUNCTION_LINES:
            yield f"{node.name}: {length} lines, at most {FUNCTION_LINES}"
        taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        parameters = [each.arg for each in taken if each.arg not in ("self", "cls")]
        most = LONGER.get(node.name, PARAMETERS)
        if len(parameters) > most:
            yield f"{node.name}: {len(parameters)} parameters, at most {most}"


def without_docstring(tree: ast.Module) -> Iterator[str]:
    """The module, public classes, functions and methods that have no docstring."""
    if not ast.get_docstring(tree):
        yield "the module has no docstring"
    for definition in definitions(tree):
        if definition.name.startswith("_"):
            continue
        members = definition.body if isinstance(definition, ast.ClassDef) else []
        methods = [each for each in members if isinstance(each, Function)]
        for node in [definition, *methods]:
            if not node.name.startswith("_") and not ast.get_docstring(node):
                yield f"{node.name} has no docstring"


def more_than_a_docstring(tree: ast.Module) -> Iterator[str]:
    """What an ``__init__`` file holds besides its docstring and the version."""
    for number, node in enumerate(tree.body):
        is_docstring = number == 0 and ast.get_docstring(tree)
        is_version = isinstance(node, ast.Assign) and dotted(node.targets[0]) == "__version__"
        if not is_docstring and not is_version:
            yield f"line {node.lineno}: {ast.unparse(node)}"
