"""Public names that nobody uses: ``python -m tools.unused_names`` lists them.

A class or function of the package is used when a lesson, the README, an experiment, or a table or
other code of the package names it. What only its own tests name is deleted.
"""

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.notebooks import ROOT, lesson_paths, read
from tools.syntax import definitions

PACKAGES = ("transformer_edu", "transformer_course")
WORD = re.compile(r"\w+")


def names_in(tree: ast.AST) -> Iterator[str]:
    """Every name and attribute in a piece of code, imported ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


def unused_names(modules: dict[str, ast.Module], words: set[str]) -> list[str]:
    """The public classes and functions that nothing outside their own definition names.

    Args:
        modules: The source of each module, by its name.
        words: What lessons, experiments and the README name.

    Returns:
        ``module: name`` for each, in order.
    """
    uses = Counter(name for tree in modules.values() for name in names_in(tree))
    return [
        f"{module}: {each.name}"
        for module, tree in modules.items()
        for each in definitions(tree)
        if not each.name.startswith("_")
        and each.name not in words
        and uses[each.name] == list(names_in(each)).count(each.name)
    ]


def unused_in(root: Path) -> list[str]:
    """The unused public names of the package in a checkout."""
    paths = sorted(path for name in PACKAGES for path in (root / name).rglob("*.py"))
    modules = {
        str(path.relative_to(root)): ast.parse(path.read_text(encoding="utf-8")) for path in paths
    }
    texts = [(root / "README.md").read_text(encoding="utf-8")]
    texts += [cell.source for path in lesson_paths(root) for cell in read(path).cells]
    others = [*(root / "experiments").rglob("*.py"), *(root / PACKAGES[0]).rglob("*.tsv")]
    texts += [path.read_text(encoding="utf-8") for path in others]
    return unused_names(modules, {word for text in texts for word in WORD.findall(text)})


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the unused names; the exit status is 1 if there are any."""
    about = "List the public names that nobody uses."
    parser = argparse.ArgumentParser(prog="python -m tools.unused_names", description=about)
    parser.parse_args(arguments)  # only --help
    unused = unused_in(ROOT)
    print("\n".join(unused) or "Every public name is used.")
    return 1 if unused else 0


if __name__ == "__main__":
    sys.exit(main())
