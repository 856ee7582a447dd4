"""Every Predict of the course with its answers, and which of them is right.

questions.json has the questions and their answers in the order of the course. tools/tables.py
writes it from the stored lessons; asking/right_answers.json has what is right. A question that was
reworded since is left out until both files know it.
"""

import json
from pathlib import Path
from typing import NamedTuple

from transformer_course.asking.predict import group_of, right_answers

QUESTIONS = Path(__file__).with_name("questions.json")


class Question(NamedTuple):
    """A Predict: where it is asked, its answers, and which of them is right."""

    place: str
    question: str
    answers: list[str]
    right: str

    @property
    def group(self) -> str:
        """The name under which a page keeps the answer that was chosen."""
        return group_of(self.question, self.answers)


def course_questions() -> list[Question]:
    """All questions whose right answer is known, in the order of the course."""
    asked, right = json.loads(QUESTIONS.read_text(encoding="utf-8")), right_answers()
    return [
        Question(place, question, answers, right[question])
        for place, question, answers in asked
        if right.get(question) in answers
    ]
