"""What a reader chose is kept in a file next to the classes, and no page can spoil it."""

import errno
import json
import re
import subprocess
import sys

import pytest

from tests.published import caught_bundles
from transformer_course.my_transformer import SWITCH
from transformer_course.review import page as module
from transformer_course.review.page import FILE, keep_answers, read_answers, review
from transformer_course.review.questions import course_questions


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder, in which a reader's classes would be kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setattr(module, "get_ipython", lambda: None)  # no field for a kernel
    return tmp_path


def said(answers, cards):
    return json.dumps({"answers": answers, "cards": cards})


def test_what_one_page_says_is_joined_with_what_another_has_said():
    keep_answers(said({"a": "1", "b": "2"}, {"a": [1, 11, 10], "b": [2, 14, 11]}))
    keep_answers(said({"b": "3", "c": "4"}, {"b": [1, 10, 9], "c": [0, 12, 0]}))
    kept, problem = read_answers()
    assert kept["answers"] == {"a": "1", "b": "3", "c": "4"} and problem == ""
    assert kept["cards"] == {"a": [1, 11, 10], "b": [2, 14, 11], "c": [0, 12, 0]}  # asked last


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "{}", said([], {}), said({"a": 1}, {}), said({}, {"a": [1, 2]})]
    + [said({}, {"a": [1, 2, "3"]}), said({}, {"a": [True, 2, 3]}), "[" * 100_000],
)
def test_what_is_no_answer_is_not_written(text, folder):
    keep_answers(text)
    assert list(folder.iterdir()) == []


def test_a_damaged_file_is_kept_under_another_name_before_it_is_written(folder):
    (folder / FILE).write_text("damaged")
    assert read_answers() == (
        {},
        f"{FILE} could not be read (JSONDecodeError) and is kept as my_answers.bak.",
    )
    keep_answers(said({"a": "1"}, {}))
    assert (folder / "my_answers.bak").read_text() == "damaged"
    assert read_answers()[0]["answers"] == {"a": "1"}


def test_a_file_that_is_nested_too_deeply_is_kept_too(folder):
    (folder / FILE).write_text("[" * 100_000)
    keep_answers(said({"a": "1"}, {}))
    assert (folder / "my_answers.bak").read_text() == "[" * 100_000
    assert read_answers() == ({"answers": {"a": "1"}, "cards": {}}, "")


def test_half_an_emoji_stops_no_later_answer():
    keep_answers(said({"a": "\ud83d"}, {}))
    keep_answers(said({"b": "1"}, {}))
    assert read_answers() == ({"answers": {"a": "\ud83d", "b": "1"}, "cards": {}}, "")


def test_what_else_the_file_holds_stays(folder):
    (folder / FILE).write_text('{"answers": {}, "cards": {}, "notes": "mine"}')
    keep_answers(said({"a": "1"}, {}))
    assert read_answers()[0] == {"answers": {"a": "1"}, "cards": {}, "notes": "mine"}


def test_a_day_that_has_not_come_does_not_stay(folder):
    (folder / FILE).write_text(said({}, {"a": [1, 40_001, 40_000]}))  # a clock was ahead
    keep_answers(said({}, {"a": [2, 20_003, 20_000]}))
    assert read_answers()[0]["cards"] == {"a": [2, 20_003, 20_000]}


def test_what_cannot_be_copied_is_not_replaced(folder, monkeypatch):
    def refuse(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    (folder / FILE).write_text("damaged")
    monkeypatch.setattr(module, "back_up", refuse)
    keep_answers(said({"a": "1"}, {}))
    assert (folder / FILE).read_text() == "damaged"
    said_of_it = f"{FILE} could be neither read nor copied (No space left on device), so it stays."
    assert read_answers() == ({}, said_of_it)


def test_two_kernels_at_once_keep_the_answers_of_both():
    code = "import sys; from transformer_course.review.page import keep_answers as keep\n"
    code += 'for n in range(20): keep(\'{"answers": {"%s-%d": "x"}, "cards": {}}\' '
    code += "% (sys.argv[1], n))"
    kernels = [subprocess.Popen([sys.executable, "-c", code, name]) for name in "ab"]
    assert [kernel.wait() for kernel in kernels] == [0, 0]
    assert len(read_answers()[0]["answers"]) == 40


def test_the_page_has_every_question_and_what_the_file_keeps(monkeypatch):
    published = caught_bundles(monkeypatch, module)
    keep_answers(said({"a": "</script><b>", "b": "\ud800"}, {}))
    review()
    shown = published[0]["data"]["text/html"]
    assert shown.encode()
    data = json.loads(re.search(r"const DATA = (.*);\n", shown)[1])
    assert shown.count("</script>") == 1
    assert data["file"] == FILE and data["kept"]["answers"] == {"a": "</script><b>", "b": "\ud800"}
    assert [each["question"] for each in data["questions"]] == [
        each.question for each in course_questions()
    ]


def test_nothing_is_read_or_written_where_classes_are_not_kept(monkeypatch, folder):
    published = caught_bundles(monkeypatch, module)
    (folder / FILE).write_text("damaged")
    monkeypatch.setenv(SWITCH, "0")
    review()
    data = json.loads(re.search(r"const DATA = (.*);\n", published[0]["data"]["text/html"])[1])
    assert (data["file"], data["kept"]) == ("", {})
    assert [path.name for path in folder.iterdir()] == [FILE]
