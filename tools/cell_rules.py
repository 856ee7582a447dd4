"""What the cells of a lesson must be like: short, explained, plain, self-contained."""

import ast
import re
import statistics
from collections import Counter
from collections.abc import Iterator

from nbformat import NotebookNode

from tools.lesson import (
    Lesson,
    blocks_of_predict,
    has_tag,
    headings,
    is_folded,
    lines_of_code,
    start,
)
from tools.syntax import constants, definitions, dotted

LINES, CLASS_LINES, MEDIAN_LINES, WORDS = 15, 25, 8, 120
TAGS = {
    "setup",
    "exercise",
    "claim",
    "hide-cell",
    "raises-exception",
    "nbval-ignore-output",
    "nbval-check-output",
}
MACHINE_PATH = re.compile(
    r"/(?:home|Users|root|tmp|work|opt|mnt)/\w|/content/\w|\b[A-Z]:\\\\?(?:Users|Windows)|\bfile://"
)
REMOTE = re.compile(
    r"!\[[^\]]*\]\(\s*(?:https?:)?//|<(?:img|script|iframe|link|video)\b[^>]*(?:src|href)="
    r"[\"']?(?:https?:)?//|<script\b",
    re.IGNORECASE,
)
NOT_READ_ALOUD = [
    re.compile(pattern, re.DOTALL | re.MULTILINE)
    for pattern in (
        r"<details>\s*<summary>(?!What you see<).*?</details>",
        r"<!--.*?-->",
        r"^\[Open in Colab\][^\n]*",
        r"^```.*?^```",
        r"\$\$.*?\$\$",
        r"\$[^$\n]+\$",
        r"`[^`\n]+`",
        r"^\s*\|.*$",
        r"\]\([^)]*\)",
        r"<[^>\n]+>",
    )
]
WORD = re.compile(r"\w[\w'’-]*")


def trees(lesson: Lesson) -> Iterator[tuple[NotebookNode, ast.Module]]:
    """Every code cell that Python can read, with its syntax tree."""
    for cell in lesson.code_cells:
        try:
            yield cell, ast.parse(cell.source)
        except SyntaxError:
            continue


def words_in(markdown: str) -> int:
    """The words of prose, a folded *What you see* among them.

    Not counted are code, formulae, tables, comments, solutions and what else is folded.
    """
    for pattern in NOT_READ_ALOUD:
        markdown = pattern.sub(" ", markdown)
    return len(WORD.findall(markdown))


def code_is_plain_python(lesson: Lesson) -> Iterator[str]:
    """Every code cell is Python that any tool can read: no magics, no shell, not empty."""
    readable = [id(cell) for cell, tree in trees(lesson) if tree.body]
    for cell in lesson.code_cells:
        if id(cell) not in readable:
            yield f"{start(cell)} is empty or not plain Python"


def code_cells_are_short(lesson: Lesson) -> Iterator[str]:
    """A code cell has at most 15 lines that are not blank; with a class to build, 25."""
    for cell in lesson.code_cells:
        most = CLASS_LINES if asks_for_a_class(cell) else LINES
        if lines_of_code(cell) > most:
            yield f"{start(cell)} has {lines_of_code(cell)} lines, at most {most}"


def asks_for_a_class(cell: NotebookNode) -> bool:
    """Whether it is an exercise with a class to build."""
    return has_tag(cell, "exercise") and bool(re.search(r"(?m)^class ", cell.source))


def most_code_cells_are_very_short(lesson: Lesson) -> Iterator[str]:
    """Half of the code cells have at most 8 lines; folded cells and questions are not counted."""
    lengths = [
        lines_of_code(cell) - lines_of_questions(tree)
        for cell, tree in trees(lesson)
        if not has_tag(cell, "setup") and not is_folded(cell)
    ]
    if lengths and statistics.median(lengths) > MEDIAN_LINES:
        yield f"the median code cell has {statistics.median(lengths)} lines, at most {MEDIAN_LINES}"


def lines_of_questions(tree: ast.Module) -> int:
    """The lines of every ``with predict(…):`` beyond its first."""
    return sum(block.body[0].lineno - block.lineno - 1 for block in blocks_of_predict(tree))


def a_cell_defines_one_thing(lesson: Lesson) -> Iterator[str]:
    """A code cell defines at most one function or class."""
    for cell, tree in trees(lesson):
        names = [definition.name for definition in definitions(tree)]
        if len(names) > 1:
            yield f"{start(cell)} defines {', '.join(names)}: one at a time"


def nothing_is_defined_that_the_package_has(lesson: Lesson) -> Iterator[str]:
    """No name of the package is defined again, classes to build apart; no constant is copied."""
    for cell, tree in trees(lesson):
        for definition in definitions(tree):
            is_known = definition.name in lesson.package_names
            if is_known and not asks_for_a_class(cell):
                yield f"{start(cell)} defines {definition.name}, which the package has"
        for constant in constants(tree):
            if constant in lesson.package_constants:
                yield f"{start(cell)} sets {constant}, as the package does: import it"


def prose_stands_before_code(lesson: Lesson) -> Iterator[str]:
    """Before every code cell, claims apart, is a Markdown cell."""
    before = None
    for cell in lesson.cells:
        if has_tag(cell, "claim"):
            continue
        if cell.cell_type == "code" and (before is None or before.cell_type != "markdown"):
            yield f"{start(cell)} has no words before it"
        before = cell


def prose_is_short(lesson: Lesson) -> Iterator[str]:
    """A Markdown cell has at most 120 words."""
    for cell in lesson.markdown_cells:
        if words_in(cell.source) > WORDS:
            yield f"{start(cell)} has {words_in(cell.source)} words, at most {WORDS}"


def one_title_and_no_skipped_level(lesson: Lesson) -> Iterator[str]:
    """One heading of the first level, at the top; no level is skipped."""
    levels = [level for cell in lesson.markdown_cells for level, _ in headings(cell)]
    if levels.count(1) != 1 or levels[0] != 1:
        yield f"{levels.count(1)} headings of the first level, exactly one, at the top"
    for above, level in zip(levels, levels[1:], strict=False):
        if level > above + 1:
            yield f"a heading of level {level} below one of level {above}"


def pictures_in_prose_have_words(lesson: Lesson) -> Iterator[str]:
    """Every picture in Markdown has an alternative text."""
    for cell in lesson.markdown_cells:
        silent = re.search(r"!\[\s*\]\(", cell.source)
        images = re.findall(r"<img\b[^>]*>", cell.source)
        if silent or any(not re.search(r"alt=[\"'][^\"']", image) for image in images):
            yield f"{start(cell)} has a picture without alternative text"


def nothing_in_the_cells_is_remote(lesson: Lesson) -> Iterator[str]:
    """No picture, script or frame comes from the network."""
    for cell in lesson.cells:
        if REMOTE.search(cell.source):
            yield f"{start(cell)} loads something from the network"


def no_cell_names_a_machine(lesson: Lesson) -> Iterator[str]:
    """No path of somebody's machine."""
    for cell in lesson.cells:
        if found := MACHINE_PATH.search(cell.source):
            yield f"{start(cell)} names a path of one machine: {found[0]}"


def models_go_to_the_picked_device(lesson: Lesson) -> Iterator[str]:
    """One line picks the device, whole models go there, and the lesson says where it computes."""
    statements = [ast.unparse(node) for _, tree in trees(lesson) for node in tree.body]
    if statements.count("device = pick_device()") != 1:
        yield "one line must be 'device = pick_device()'"
    if not any("describe_device(device)" in statement for statement in statements):
        yield "no cell says where it computes: describe_device(device)"
    for cell, tree in trees(lesson):
        for model in models_left_behind(tree):
            yield f"{start(cell)} does not bring {model} to the device"


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


def every_cell_has_its_own_id(lesson: Lesson) -> Iterator[str]:
    """Cell ids are there and unique."""
    for cell_id, count in Counter(cell.get("id") for cell in lesson.cells).items():
        if not cell_id or count > 1:
            yield f"{count} cells have the id {cell_id!r}"


def tags_are_known(lesson: Lesson) -> Iterator[str]:
    """No tag that nothing understands: it would be a misspelling."""
    for cell in lesson.cells:
        for tag in sorted(set(cell.metadata.get("tags", [])) - TAGS):
            yield f"{start(cell)} has the unknown tag {tag!r}"


CELL_RULES = [
    code_is_plain_python,
    code_cells_are_short,
    most_code_cells_are_very_short,
    a_cell_defines_one_thing,
    nothing_is_defined_that_the_package_has,
    prose_stands_before_code,
    prose_is_short,
    one_title_and_no_skipped_level,
    pictures_in_prose_have_words,
    nothing_in_the_cells_is_remote,
    no_cell_names_a_machine,
    models_go_to_the_picked_device,
    every_cell_has_its_own_id,
    tags_are_known,
]
