"""Every Predict of the course is a question of the review, and a card of the deck."""

import html
import re

import pytest

from tests.published import caught_bundles
from tools import facts
from tools.notebooks import BEFORE, NAMES, REVIEW, lesson_paths, read
from transformer_course.asking import predict as module
from transformer_course.asking.predict import SURE, predict
from transformer_course.review.__main__ import HEAD, anki_deck, main
from transformer_course.review.questions import Question, course_questions


def test_every_predict_of_the_course_is_there_once_with_its_right_answer():
    asked = [p for path in (BEFORE, *lesson_paths(), NAMES) for p in facts.predicts(read(path))]
    questions = course_questions()
    assert [(q.question, q.answers) for q in questions] == [(p.question, p.answers) for p in asked]
    assert all(q.right in q.answers for q in questions)
    assert len({q.group for q in questions}) == len(questions) > 100


def test_the_stored_review_asks_what_the_lessons_ask_today():
    outputs = [output for cell in read(REVIEW).cells for output in cell.get("outputs", [])]
    stored = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    assert all(each.group in stored for each in course_questions()), "run notebooks/review.ipynb"


def test_a_question_has_the_name_under_which_a_page_keeps_its_answer(monkeypatch):
    published = caught_bundles(monkeypatch, module)
    for each in course_questions()[:5]:
        with predict(each.question, *reversed(each.answers)):
            pass
        names = re.findall('name="([^"]+)"', published[-1]["data"]["text/html"])
        assert {name.removesuffix(SURE) for name in names} == {each.group}


def test_a_card_has_the_question_in_front_and_the_right_answer_behind():
    cards = [Question("Lesson 2, section 1", "Is 2 < 3\tor\n4?", ["yes", "<b>"], "<b>")]
    head, line = anki_deck(cards)[: len(HEAD)], anki_deck(cards)[len(HEAD) :]
    assert head == HEAD and line.count("\n") == 1 and line.endswith("\n")
    front, back, tag = line.rstrip("\n").split("\t")
    assert front == "Is 2 &lt; 3 or 4?<ul><li>yes</li><li>&lt;b&gt;</li></ul>"
    assert back.startswith("<b>&lt;b&gt;</b>") and back.endswith("Lesson 2, section 1")
    assert tag == "lesson-2"


def test_the_command_writes_a_card_for_each_question_and_replaces_only_a_deck(tmp_path, capsys):
    deck, other = tmp_path / "deck.txt", tmp_path / "other.txt"
    other.write_text("mine")
    assert main(["--to", str(deck)]) == main(["--to", str(deck)]) == 0
    assert list(tmp_path.glob("*.bak")) == []
    mine = f"{deck.read_text(encoding='utf-8')}my front\tmy back\tmine\n"
    deck.write_text(mine, encoding="utf-8")
    assert main(["--to", str(deck)]) == 0
    assert (tmp_path / "deck.bak").read_text(encoding="utf-8") == mine
    lines = deck.read_text(encoding="utf-8").removeprefix(HEAD).splitlines()
    assert [line.count("\t") for line in lines] == [2] * len(course_questions())
    for line, each in zip(lines, course_questions(), strict=True):
        assert f"<b>{html.escape(each.right, quote=False)}</b>" in line
    assert main(["--to", str(other)]) == 1 and other.read_text() == "mine"
    assert "to must be a new file, or a deck of this command's" in capsys.readouterr().err


@pytest.mark.parametrize("change", ["question", "right"])
def test_a_question_that_one_file_does_not_know_is_left_out(change, monkeypatch):
    first = course_questions()[0]
    name = "another question" if change == "question" else first.question
    monkeypatch.setattr(
        "transformer_course.review.questions.right_answers", lambda: {name: "no answer of it"}
    )
    assert course_questions() == []
