"""All rules for lessons: ``python -m tools.rules [files…]`` says what is broken."""

import argparse
import ast
import sys
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from tools.cell_rules import CELL_RULES
from tools.lesson import Lesson, Rule, load
from tools.notebooks import ROOT, lesson_paths, refusal, repository_address
from tools.output_rules import OUTPUT_RULES
from tools.reader_rules import READER_RULES
from tools.skeleton_rules import SKELETON_RULES
from tools.syntax import constants, definitions

PACKAGES = ("transformer_edu", "transformer_course")
RULES: list[Rule] = [*CELL_RULES, *OUTPUT_RULES, *SKELETON_RULES, *READER_RULES]


def broken_rules(lesson: Lesson, rules: Sequence[Rule] = RULES) -> list[str]:
    """What is wrong with a lesson: a line each, with the rule's name and how to go on."""
    return [
        refusal(lesson.name, f"{rule.__name__}: {complaint}")
        for rule in rules
        for complaint in rule(lesson)
    ]


def package_names(packages: Sequence[Path]) -> frozenset[str]:
    """Every public class and function that the packages define at the top of a module."""
    return frozenset(
        definition.name
        for package in packages
        for path in package.rglob("*.py")
        for definition in definitions(ast.parse(path.read_text(encoding="utf-8")))
        if not definition.name.startswith("_")
    )


def package_constants(packages: Sequence[Path]) -> frozenset[str]:
    """Every public constant that a module of the packages sets, as ``NAME = value``."""
    return frozenset(
        constant
        for package in packages
        for path in package.rglob("*.py")
        for constant in constants(ast.parse(path.read_text(encoding="utf-8")))
    )


def all_lessons(root: Path = ROOT) -> list[Lesson]:
    """Every lesson of the course, in order."""
    paths = lesson_paths(root)
    address = repository_address((root / "pyproject.toml").read_text(encoding="utf-8"))
    packages = [root / name for name in PACKAGES]
    names, values = package_names(packages), package_constants(packages)
    return [
        load(path, following=following, address=address, names=names, constants=values)
        for path, following in zip_longest(paths, paths[1:])
    ]


def main(arguments: list[str]) -> int:
    """The command: print what is broken in the named lessons, or in all."""
    about = "Say which rules for lessons are broken."
    parser = argparse.ArgumentParser(prog="python -m tools.rules", description=about)
    parser.add_argument("files", nargs="*", help="lessons; all of them when none")
    files = parser.parse_args(arguments).files
    names, lessons = [Path(each).name for each in files], {x.name: x for x in all_lessons()}
    if unknown := [each or "an empty text" for each in files if Path(each).name not in lessons]:
        wanted = f"a lesson must be a notebook such as {min(lessons)}"
        print(f"{wanted}, got {', '.join(unknown)}", file=sys.stderr)
        return 2
    complaints = [each for name in names or lessons for each in broken_rules(lessons[name])]
    print("\n".join(complaints) or "Every rule is kept.")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
