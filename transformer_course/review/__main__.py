"""Write the Predicts as a deck of cards for Anki: ``python -m transformer_course.review``."""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("transformer_course.review.__main__")

import argparse
import html
from collections.abc import Iterable, Sequence
from pathlib import Path

from transformer_course.kept_files import content_of, name_from, replace_unchanged
from transformer_course.review.questions import Question, course_questions
from transformer_edu.training.machine.atomic_files import require_writable
from transformer_edu.training.machine.failures import one_line_errors

ABOUT = "Write every Predict of the course as a deck of cards for Anki (File, Import)."
HEAD = """\
#separator:tab
#html:true
#notetype:Basic
#deck:The Transformer, built by you
#tags column:3
"""


def anki_deck(questions: Iterable[Question]) -> str:
    """A text that Anki imports: a line for each card, with its front, its back and a tag."""
    lines = []
    for each in questions:
        answers = "".join(f"<li>{_cell(answer)}</li>" for answer in each.answers)
        front = f"{_cell(each.question)}<ul>{answers}</ul>"
        back = f"<b>{_cell(each.right)}</b><br>{_cell(each.place)}"
        tag = each.place.partition(",")[0].replace(" ", "-").lower()
        lines.append(f"{front}\t{back}\t{tag}\n")
    return HEAD + "".join(lines)


def _cell(text: str) -> str:
    """A text as HTML on one line."""
    return html.escape(" ".join(text.split()), quote=False)


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and write the deck.

    Returns:
        The exit status: 0, or 1 after an error, which is told in one line.
    """
    parser = argparse.ArgumentParser(prog="python -m transformer_course.review", description=ABOUT)
    parser.add_argument("--to", type=Path, default=Path("predicts.txt"), help="(predicts.txt)")
    to, questions = parser.parse_args(arguments).to, course_questions()
    require_writable("to", to)
    deck, before = anki_deck(questions).encode(), content_of(to)
    if before is not None and not before.startswith(HEAD.encode()):
        raise FileExistsError(f"to must be a new file, or a deck of this command's, got {to}")
    if copy := replace_unchanged(to, before, deck, keep=before not in (None, deck)):
        # it may hold cards of the reader's
        print(f"The deck that was there is kept as {name_from(to.parent, copy)}")
    print(f"{len(questions)} cards in {to}: import the file into Anki")
    return 0
