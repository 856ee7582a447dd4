"""The review: the Predicts that a reader got wrong come again, in a box of cards over days.

A page keeps the answers that are chosen in the storage of the browser, which belongs to the address
of the page: to the website, or to a JupyterLab. With a kernel, ``my_answers.json`` next to
``my_transformer.py`` keeps them, too. Nothing is sent anywhere.
"""

import json
import os
from contextlib import suppress
from datetime import date
from pathlib import Path

import ipywidgets
from IPython import get_ipython
from IPython.display import display

from transformer_course.my_transformer import SWITCH, back_up, one_at_a_time
from transformer_course.review.questions import course_questions
from transformer_edu.training.machine.atomic_files import read_json, write_json

FILE = "my_answers.json"
SCRIPT = Path(__file__).with_name("review.js")
PARTS = ("answers", "cards")  # what was chosen in the lessons; each card's box, day and last day
PAGE = """\
<div class="transformer-review" style="max-width: 45em">
<p>The review runs in JupyterLab and on the course's website, where a page keeps your answers.</p>
</div>
<script>
(() => {{
const DATA = {data};
{script}
}})();
</script>
"""


def review() -> None:
    """Show the review, and keep it in FILE if a kernel runs and the reader's classes are kept."""
    keeps = os.environ.get(SWITCH) != "0"
    kept, problem = read_answers() if keeps else ({}, "")
    if problem:
        print(problem)
    questions = [
        {"group": q.group, "place": q.place, "question": q.question, "answers": q.answers}
        | {"right": q.right}
        for q in course_questions()
    ]
    data = {"file": FILE if keeps else "", "kept": kept, "questions": questions}
    text = json.dumps(data, ensure_ascii=False).replace("<", r"\u003c")
    text = text.encode(errors="backslashreplace").decode()  # half a character is no text
    page = PAGE.format(data=text, script=SCRIPT.read_text(encoding="utf-8"))
    plain = f"A review of the {len(questions)} Predicts of the course"
    display({"text/html": page, "text/plain": plain}, metadata={}, raw=True)
    if keeps and get_ipython() is not None:
        letter = ipywidgets.Textarea(layout={"display": "none"})  # the page writes into it
        letter.observe(lambda change: keep_answers(change["new"]), names="value")
        display(letter)


def read_answers() -> tuple[dict[str, dict], str]:
    """What the file keeps; and what to say if it could not be read."""
    try:
        return _read_or_copied()
    except OSError as error:
        return {}, f"{FILE} could be neither read nor copied ({error.strerror}), so it stays."


def _read_or_copied() -> tuple[dict[str, dict], str]:
    """What the file keeps; and what to say if it holds something else, and so was copied.

    Raises:
        OSError: If it can be neither read nor copied.
    """
    try:
        return _checked(read_json(Path(FILE))), ""
    except FileNotFoundError:
        return {}, ""
    except ValueError as error:
        problem = f"{FILE} could not be read ({type(error).__name__})"
        return {}, f"{problem} and is kept as {back_up(Path(FILE))}."


def keep_answers(text: str) -> None:
    """Write what the page says into the file, joined with what other pages have written there.

    Args:
        text: JSON with PARTS. Anything else is not written; and what cannot be copied stays.
    """
    with suppress(ValueError, RecursionError, OSError):
        new = _checked(json.loads(text))
        with one_at_a_time():
            old = _read_or_copied()[0]
            for part in PARTS:
                new[part] = old.get(part, {}) | new[part]
            tomorrow = (date.today() - date(1970, 1, 1)).days + 1  # a page may be further east
            for group, card in old.get("cards", {}).items():
                if new["cards"][group][2] < card[2] <= tomorrow:  # another page has asked it since
                    new["cards"][group] = card
            write_json(Path(os.path.realpath(FILE)), old | new)  # a link stays a link


def _checked(found: object) -> dict[str, dict]:
    """The parts of what JSON holds. Raises ValueError if it has another form."""
    if not isinstance(found, dict) or not all(isinstance(found.get(p), dict) for p in PARTS):
        raise ValueError("it must hold answers and cards")
    answers, cards = (found[part] for part in PARTS)
    if not all(isinstance(each, str) for each in answers.values()) or not all(
        isinstance(each, list) and [type(number) for number in each] == [int] * 3
        for each in cards.values()
    ):
        raise ValueError("an answer must be a text, and a card three whole numbers")
    return found
