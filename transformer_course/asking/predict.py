"""Predict: a question with answers to choose from, above an outcome that stays closed.

Everything is plain HTML that needs no script, so it works on GitHub, in Colab, in exported pages
and in JupyterLab without a kernel. Where a page removes the buttons, question and outcome remain.
Where it may, the browser keeps the answer that was chosen before the outcome was opened: the review
asks again what was wrong.

right_answers.json has the right answer to each question of the course. tools/tables.py writes it
from TEACHING.md, so that no lesson shows the answer beside its question. Where the answer is an
observation, which no reader can be sure of by reasoning alone, a row asks how sure the reader is.
The outcome takes that up, the browser keeps it, and the review begins with what was certain and
wrong. Nobody has to say it.
"""

import hashlib
import html
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from IPython.display import display
from IPython.utils.capture import RichOutput, capture_output

from transformer_course.drawing.display import IN_THE_DARK, image_tag
from transformer_edu.model.refusals import require_text, require_texts

OPEN = "I have chosen: show what happens"
# Front-ends ignore this media type. `pytest --nbval` compares it: the printed text of the outcome.
OUTCOME = "text/vnd.transformer-edu.outcome"
# Arrow keys go from answer to answer; without this JupyterLab would go to the next cell.
LAB_LEAVES_KEYS = 'data-lm-suppress-shortcuts="true"'
# docs/_static/remember.js does the same on the website, and chooses the kept answer again.
KEEP = (
    "if (!this.querySelector('details').open) "
    "try { localStorage[event.target.name] = event.target.parentNode.textContent } catch {}"
)
RIGHT_ANSWERS = Path(__file__).with_name("right_answers.json")
OBSERVED = " †"  # in this file, it follows an answer that comes from trained weights
SURE = "-sure"  # follows the name of a question's buttons, here and in review.js
SAID = {  # how sure, and what the outcome says if the answer is right, and if it is wrong
    "a guess": (
        "You guessed right. Find a reason before you read on.",
        "It was a guess. The explanation is below, and the review asks it again.",
    ),
    "fairly sure": (
        "You were fairly sure. What would have made you certain?",
        "You were fairly sure. Which of your reasons does not hold here?",
    ),
    "certain": (
        "You were certain, and right.",
        "You were certain. Write down what made you certain before you read on. The review asks "
        "this question first.",
    ),
}


@contextmanager
def predict(question: str, *answers: str) -> Iterator[None]:
    """Ask before showing what the block prints and shows.

    The outcome says what the reader has chosen and, for a question of the course, what is right.
    A block that fails is not asked about: what it printed and showed is seen above the error.

    ::

        with predict("What is the largest weight?", "0.2", "0.9"):
            print(weights.max())

    Args:
        question: What the reader should predict.
        answers: Two to four to choose from, one of them right. They are shown in another order.

    Raises:
        TypeError: If the question or an answer is not a text.
        ValueError: If the question is empty, or there are not two to four different answers.
    """
    require_text("question", question)
    require_texts("answers", answers)
    if not question.strip():
        raise ValueError(f"question must be a sentence, got {question!r}")
    if not 2 <= len(set(answers)) == len(answers) <= 4:
        raise ValueError(f"answers must be two to four different texts, got {answers}")
    try:
        with capture_output() as captured:
            yield
    except BaseException:  # an interrupt, too
        captured.show()  # without a question: there is no outcome
        raise
    answers = shuffled(question, answers)
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


def shuffled(question: str, answers: Sequence[str]) -> tuple[str, ...]:
    """The answers in an order that depends on nothing but these texts: each run has the same.

    Args:
        question: Of a Predict.
        answers: To it, in any order.
    """
    return tuple(sorted(answers, key=lambda answer: _digest(f"{question} {answer}")))


@cache
def _noted() -> dict[str, str]:
    return json.loads(RIGHT_ANSWERS.read_text(encoding="utf-8"))


def right_answers() -> dict[str, str]:
    """The right answer to each question of the course."""
    return {question: noted.removesuffix(OBSERVED) for question, noted in _noted().items()}


def is_observed(question: str, answers: Sequence[str]) -> bool:
    """Whether the right answer to a question of the course is an observation.

    Args:
        question: Of a Predict.
        answers: To it, in any order.
    """
    noted = _noted().get(question, "")
    return noted.endswith(OBSERVED) and noted.removesuffix(OBSERVED) in answers


def group_of(question: str, answers: Sequence[str]) -> str:
    """The name of a question's buttons, under which a browser keeps the answer.

    Args:
        question: Of a Predict.
        answers: To it, in any order.
    """
    return "predict-" + _digest("\n".join([question, *shuffled(question, answers)]))[:12]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _as_html(question: str, answers: tuple[str, ...], printed: str, shown: list[RichOutput]) -> str:
    """The question, its answers as radio buttons, and the outcome behind a summary."""
    group = group_of(question, answers)
    buttons = _buttons(group, answers, "display: block; padding: 0.2em 0")
    if is_observed(question, answers):
        in_a_row = "display: inline-block; padding: 0.2em 0.6em 0.2em 0"
        how_sure = _buttons(group + SURE, SAID, in_a_row)
        buttons += (
            '<div role="radiogroup" aria-label="How sure are you?" style="margin-top: 0.5em">'
            f"<i>How sure are you?</i> {how_sure}</div>"
        )
    outcome = f"<pre>{html.escape(printed)}</pre>" if printed else ""
    outcome += "".join(_shown_as_html(each) for each in shown)
    return (
        f'<fieldset onchange="{KEEP}" '
        f'style="border: 1px solid; border-radius: 4px; padding: 0.5em 1em">'
        f"<legend><b>Predict</b></legend><p><b>{html.escape(question)}</b></p>{buttons}"
        f'<details style="margin-top: 0.5em"><summary style="cursor: pointer">{OPEN}</summary>'
        f"{_verdict(group, question, answers)}{outcome}</details></fieldset>"
    )


def _buttons(name: str, words: Iterable[str], style: str) -> str:
    return "".join(
        f'<label style="{style}">'
        f'<input type="radio" name="{name}" value="{place}" {LAB_LEAVES_KEYS}> '
        f"{html.escape(each)}</label>"
        for place, each in enumerate(words)
    )


def _verdict(group: str, question: str, answers: tuple[str, ...]) -> str:
    """What was chosen and how surely, which a style writes, and what is right."""
    chosen = "".join(
        f'fieldset:has([name={group}][value="{place}"]:checked) .{group}::before '
        f'{{ content: "You chose: {_in_css(answer)}\\a"; white-space: pre-wrap }}\n'
        for place, answer in enumerate(answers)
    )
    right = right_answers().get(question)
    known = f"It is: <b>{html.escape(right)}</b>" if right in answers else ""
    if is_observed(question, answers):
        is_right = f'[value="{answers.index(right)}"]'
        chosen += "".join(
            f"fieldset:has([name={group}]{which}:checked):has([name={group}{SURE}]"
            f'[value="{place}"]:checked) .{group}::after '
            f'{{ content: "\\a {_in_css(words)}"; white-space: pre-wrap }}\n'
            for place, said in enumerate(SAID.values())
            for which, words in zip((is_right, f":not({is_right})"), said, strict=True)
        )
    return f'<style>{chosen}{IN_THE_DARK}</style><p class="{group}">{known}</p>'


def _in_css(text: str) -> str:
    """A text inside quotation marks of a style: what could end it is written by its number."""
    return re.sub(r"[^\w ,.:;-]", lambda sign: f"\\{ord(sign[0]):x} ", text)


def _shown_as_html(output: RichOutput) -> str:
    """One captured output: a picture with its alternative text, HTML, or else plain text."""
    words = output.data.get("text/plain", "")
    if "image/png" in output.data:
        return image_tag(output.data["image/png"], words)
    return output.data.get("text/html") or f"<pre>{html.escape(words)}</pre>"
