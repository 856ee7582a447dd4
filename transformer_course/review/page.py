"""The review: the Predicts that a reader got wrong come again, in a box of cards over days.

A page keeps the answers that are chosen in the storage of the browser, which belongs to the address
of the page: to the website, or to a JupyterLab. With a kernel, ``my_answers.json`` next to
``my_transformer.py`` keeps them, too. Nothing is sent anywhere.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

import ipywidgets
from IPython import get_ipython
from IPython.display import display

from transformer_course.my_transformer import SWITCH, back_up
from transformer_course.review.questions import course_questions
from transformer_edu.training.machine.atomic_files import replace_file

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
    page = PAGE.format(data=text, script=SCRIPT.read_text(encoding="utf-8"))
    plain = f"A review of the {len(questions)} Predicts of the course"
    display({"text/html": page, "text/plain": plain}, metadata={}, raw=True)
    if keeps and get_ipython() is not None:
        letter = ipywidgets.Textarea(layout={"display": "none"})  # the page writes into it
        letter.observe(lambda change: keep_answers(change["new"]), names="value")
        display(letter)


def read_answers() -> tuple[dict[str, dict], str]:
    """What the file keeps; and what to say if it could not be read, and so was copied."""
    try:
        return _checked(Path(FILE).read_text(encoding="utf-8")), ""
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError) as error:
        problem = f"{FILE} could not be read ({type(error).__name__})"
        with suppress(OSError):
            return {}, f"{problem} and is kept as {back_up(Path(FILE))}."
        return {}, f"{problem}."


def keep_answers(text: str) -> None:
    """Write what the page says into the file, joined with what other pages have written there.

    Args:
        text: JSON with PARTS. Anything else is not written.
    """
    with suppress(ValueError, OSError):
        new, old = _checked(text), read_answers()[0]
        for part in PARTS:
            new[part] = old.get(part, {}) | new[part]
        for group, card in old.get("cards", {}).items():
            if card[2] > new["cards"][group][2]:  # another page has asked it since
                new["cards"][group] = card
        replace_file(Path(FILE), [json.dumps(new, ensure_ascii=False, indent=1).encode()])


def _checked(text: str) -> dict[str, dict]:
    """The parts of a JSON text. Raises ValueError if it has another form."""
    found = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(found.get(p), dict) for p in PARTS):
        raise ValueError("it must hold answers and cards")
    answers, cards = (found[part] for part in PARTS)
    if not all(isinstance(each, str) for each in answers.values()) or not all(
        isinstance(each, list) and [type(number) for number in each] == [int] * 3
        for each in cards.values()
    ):
        raise ValueError("an answer must be a text, and a card three whole numbers")
    return {"answers": answers, "cards": cards}
