"""What a reader needs: short lessons, Predicts that can be committed to, claims out of the way."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from tools.cell_rules import trees, words_in
from tools.lesson import SEEN, Lesson, blocks_of_predict, has_tag, is_folded, start
from tools.skeleton_rules import front
from tools.syntax import dotted

CELLS, CODE_CELLS, LESSON_WORDS = 50, 24, 2200
PREDICT = re.compile(r"\*\*Predict\b")
PREDICTS = range(3, 7)


def lesson_is_short(lesson: Lesson) -> Iterator[str]:
    """At most 50 cells, 24 code cells and 2,200 words of prose, solutions apart."""
    words = sum(words_in(cell.source) for cell in lesson.markdown_cells)
    for what, count, most in (
        ("cells", len(lesson.cells), CELLS),
        ("code cells", len(lesson.code_cells), CODE_CELLS),
        ("words", words, LESSON_WORDS),
    ):
        if count > most:
            yield f"{count} {what}, at most {most}"


def predicts_can_be_committed_to(lesson: Lesson) -> Iterator[str]:
    """Three to six code cells say ``with predict(…):``; *What you see* follows each, folded."""
    asking = [id(cell) for cell, tree in trees(lesson) if blocks_of_predict(tree)]
    if len(asking) not in PREDICTS:
        yield f"{len(asking)} cells say with predict(…), three to six"
    for cell in lesson.markdown_cells:
        if PREDICT.search(cell.source):
            yield f"{start(cell)} asks in words: use with predict(…)"
    places = [index for index, cell in enumerate(lesson.cells) if id(cell) in asking]
    for place, end in pairwise([*places, len(lesson.cells)]):
        after = [cell.source for cell in lesson.cells[place:end] if cell.cell_type == "markdown"]
        before, _, _ = "\n".join(after).partition("**What you see")
        if not SEEN.search(before):
            yield f"{start(lesson.cells[place])} asks, but no folded What you see answers"


def nothing_gives_a_prediction_away(lesson: Lesson) -> Iterator[str]:
    """In a cell with predict there is no assert, and no title or alternative text is typed in."""
    for cell, tree in trees(lesson):
        if not blocks_of_predict(tree):
            continue
        for node in ast.walk(tree):
            if is_assertion(node):
                yield f"{start(cell)} asserts what it asks: move it to a claim cell"
            if isinstance(node, ast.keyword) and node.arg in ("title", "alt"):
                computed = isinstance(node.value, ast.Name | ast.Call) or any(
                    isinstance(part, ast.FormattedValue) for part in ast.walk(node.value)
                )
                if not computed:
                    yield f"{start(cell)} has its {node.arg} typed in, where it can be read"


def claims_stand_apart(lesson: Lesson) -> Iterator[str]:
    """Assertions are in folded cells tagged claim and hide-cell, and each has a message."""
    for cell, tree in trees(lesson):
        found = [node for node in ast.walk(tree) if is_assertion(node)]
        is_claim = has_tag(cell, "claim")
        if found and not is_claim:
            yield f"{start(cell)} asserts something: move it to a cell tagged claim"
        if is_claim and not found:
            yield f"{start(cell)} is tagged claim and asserts nothing"
        if is_claim and not (has_tag(cell, "hide-cell") and is_folded(cell)):
            yield f"{start(cell)} is a claim: fold it (hide-cell, jupyter.source_hidden)"
        for node in found:
            said = node.msg if isinstance(node, ast.Assert) else node.keywords
            if not said:
                yield f"{start(cell)} asserts without a message: {ast.unparse(node)[:40]}"


def setup_is_folded(lesson: Lesson) -> Iterator[str]:
    """The set-up cell's source is hidden, so that a lesson begins with its point."""
    for cell in lesson.code_cells:
        if has_tag(cell, "setup") and not is_folded(cell):
            yield f"{start(cell)} is the set-up: fold it (jupyter.source_hidden)"


def front_says_what_is_needed(lesson: Lesson) -> Iterator[str]:
    """Before any code: what a reader needs to know."""
    if "you need" not in front(lesson).lower():
        yield "the front does not say what you need to know"


def is_assertion(node: ast.AST) -> bool:
    """Whether it is an assert statement or a call of torch.testing.assert_close."""
    is_call = isinstance(node, ast.Call) and dotted(node.func).endswith("assert_close")
    return isinstance(node, ast.Assert) or is_call


READER_RULES = [
    lesson_is_short,
    predicts_can_be_committed_to,
    nothing_gives_a_prediction_away,
    claims_stand_apart,
    setup_is_folded,
    front_says_what_is_needed,
]
