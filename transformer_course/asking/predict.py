"""Predict: a question with answers to choose from, above an outcome that stays closed.

Everything is plain HTML without a script, so it works on GitHub, in Colab, in exported pages and
in JupyterLab without a kernel. Where a page removes the buttons, question and outcome remain.
"""

import hashlib
import html
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from IPython.display import display
from IPython.utils.capture import RichOutput, capture_output

from transformer_course.drawing.display import image_tag

OPEN = "I have chosen: show what happens"
# Front-ends ignore this media type. `pytest --nbval` compares it: the printed text of the outcome.
OUTCOME = "text/vnd.transformer-edu.outcome"
# Arrow keys go from answer to answer; without this JupyterLab would go to the next cell.
LAB_LEAVES_KEYS = 'data-lm-suppress-shortcuts="true"'


@contextmanager
def predict(question: str, *answers: str) -> Iterator[None]:
    """Ask before showing what the block prints and shows.

    ::

        with predict("What is the largest weight?", "0.2", "0.9"):
            print(weights.max())

    Args:
        question: What the reader should predict.
        answers: Two to four to choose from, one of them right.

    Raises:
        ValueError: If the question is empty, or there are not two to four different answers.
    """
    if not question.strip():
        raise ValueError(f"question must be a sentence, got {question!r}")
    if not 2 <= len(set(answers)) == len(answers) <= 4:
        raise ValueError(f"answers must be two to four different texts, got {answers}")
    with capture_output() as captured:
        yield
    sys.stderr.write(captured.stderr)  # a warning is not an outcome
    display(
        {
            "text/html": _as_html(question, answers, captured.stdout, captured.outputs),
            "text/plain": "\n".join([question, *(f"( ) {answer}" for answer in answers)]),
            OUTCOME: captured.stdout,
        },
        metadata={},
        raw=True,
    )


def _as_html(question: str, answers: tuple[str, ...], printed: str, shown: list[RichOutput]) -> str:
    """The question, its answers as radio buttons, and the outcome behind a summary."""
    group = hashlib.sha256("\n".join([question, *answers]).encode()).hexdigest()[:12]
    buttons = "".join(
        f'<label style="display: block; padding: 0.2em 0">'
        f'<input type="radio" name="predict-{group}" {LAB_LEAVES_KEYS}> '
        f"{html.escape(answer)}</label>"
        for answer in answers
    )
    outcome = f"<pre>{html.escape(printed)}</pre>" if printed else ""
    outcome += "".join(_shown_as_html(each) for each in shown)
    return (
        f'<fieldset style="border: 1px solid; border-radius: 4px; padding: 0.5em 1em">'
        f"<legend><b>Predict</b></legend><p><b>{html.escape(question)}</b></p>{buttons}"
        f'<details style="margin-top: 0.5em"><summary style="cursor: pointer">{OPEN}</summary>'
        f"{outcome}</details></fieldset>"
    )


def _shown_as_html(output: RichOutput) -> str:
    """One captured output: a picture with its alternative text, HTML, or else plain text."""
    words = output.data.get("text/plain", "")
    if "image/png" in output.data:
        return image_tag(output.data["image/png"], words)
    return output.data.get("text/html") or f"<pre>{html.escape(words)}</pre>"
