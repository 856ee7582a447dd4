"""The inventory: its items, its sheets without a key, what can be guessed, and the comparison."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tools.notebooks import lesson_paths
from transformer_course.examination import gain
from transformer_course.examination.inventory import (
    FORMS,
    LETTERS,
    RIGHT,
    concepts_of,
    key,
    key_table,
    read_concepts,
    sheets,
)

ABSOLUTE = re.compile(r"\b(all|every|each|no|none|never|only|always|any|nothing|both)\b", re.I)
Texts = list[str]


def likeness(texts: Texts, place: int) -> float:
    """How many words an answer shares with the others."""
    own, *others = (set(re.findall(r"\w+", text.lower())) for text in [texts[place], *texts])
    del others[place]
    return sum(len(own & other) / len(own | other) for other in others)


def number_in(text: str) -> float:
    found = re.search(r"\d[\d,.]*\d|\d", text)
    return float(found[0].replace(",", "")) if found else 0.0


# Ways to choose without the question: the answer with the largest value.
STRATEGIES = {
    "longest": lambda texts, place: len(texts[place]),
    "shortest": lambda texts, place: -len(texts[place]),
    "most like the others": likeness,
    "least like the others": lambda texts, place: -likeness(texts, place),
    "absolute words": lambda texts, place: len(ABSOLUTE.findall(texts[place])),
    "no absolute words": lambda texts, place: -len(ABSOLUTE.findall(texts[place])),
    "most detail": lambda texts, place: len(re.findall(r"[,:]|\d", texts[place])),
    "largest number": lambda texts, place: number_in(texts[place]),
    "smallest number": lambda texts, place: -number_in(texts[place]),
} | {letter: lambda texts, place, n=n: n == place for n, letter in enumerate(LETTERS)}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("form", FORMS)
def test_nobody_gets_more_than_40_percent_from_the_answers_alone(form, strategy):
    expected = 0.0
    for concept in concepts_of(form):
        names, texts = zip(*concept.items[form][1], strict=True)
        values = [STRATEGIES[strategy](list(texts), place) for place in range(len(texts))]
        best = [name for name, value in zip(names, values, strict=True) if value == max(values)]
        expected += best.count(RIGHT) / len(best)  # a tie is guessed
    assert expected / len(concepts_of(form)) <= 0.4


def test_every_item_has_one_right_answer_and_a_misconception_behind_each_other():
    lessons = {int(path.name[:2]) for path in lesson_paths()}
    for concept in read_concepts():
        assert concept.lesson in lessons
        used = Counter(name for _, answers in concept.items.values() for name, _ in answers)
        assert set(used) == {RIGHT, *concept.misconceptions}
        for _, answers in concept.items.values():
            names, texts = zip(*answers, strict=True)
            assert len(answers) in (3, 4) and len(set(names)) == len(set(texts)) == len(answers)
            assert names.count(RIGHT) == 1


def test_two_forms_are_parallel_and_the_third_is_short():
    first, second, third = ([concept.name for concept in concepts_of(form)] for form in FORMS)
    assert first == second and len(first) == len(set(first)) == 24
    assert set(third) < set(first) and len(third) == 8
    questions = [question for each in read_concepts() for question, _ in each.items.values()]
    assert len(set(questions)) == 24 + 24 + 8


@pytest.mark.parametrize("form", FORMS)
def test_sheets_show_every_answer_in_its_place_and_no_key(form):
    files = sheets(form)
    page = files[f"inventory-{form}.html"]
    notebook = json.loads(files[f"inventory-{form}.ipynb"])
    table = list(csv.DictReader(io.StringIO(files[f"inventory-{form}.csv"])))
    assert page.count('class="choice"') == sum(len(c.items[form][1]) for c in concepts_of(form))
    for number, (concept, row) in enumerate(zip(concepts_of(form), table, strict=True), 1):
        cell = notebook["cells"][2 * number]
        texts = [text for _, text in concept.items[form][1]]
        assert [row[letter] for letter in LETTERS[: len(texts)]] == texts
        for letter, text in zip(LETTERS, texts, strict=False):
            assert f"({letter}) {text}" in "".join(cell["source"])
    for name, text in files.items():
        assert "misconception" not in text and RIGHT not in re.findall(r'"(\w+)"', text), name
        for concept in concepts_of(form):
            assert concept.name not in text
            assert not any(why in text for why in concept.misconceptions.values())


def test_the_key_names_letter_concept_lesson_and_misconceptions():
    rows = list(csv.DictReader(io.StringIO(key_table("A"))))
    assert [row["right"] for row in rows] == key("A")
    assert all(row[row["right"]].startswith("right: ") for row in rows)
    assert rows[0]["lesson"] == "01" and rows[0]["a"].startswith("Every occurrence")


def collection(form: str, *students: str) -> gain.Collection:
    """Students by how they answer: r for right, w for wrong, then nothing."""
    letters = key(form)
    wrong = {letter: "b" if letter == "a" else "a" for letter in LETTERS}
    choices = {
        f"student {number}": [
            {"r": letter, "w": wrong[letter]}.get(how, "")
            for how, letter in zip(pattern.ljust(len(letters)), letters, strict=True)
        ]
        for number, pattern in enumerate(students)
    }
    return gain.Collection(form, choices, Path(f"{form} & co.csv"))


def test_the_gain_is_the_part_of_what_was_missing():
    before, after = np.array([0.2, 0.4]), np.array([0.6, 0.5])
    assert gain.gain(before, after) == pytest.approx((0.55 - 0.3) / 0.7)
    assert np.isnan(gain.gain(np.ones(2), np.ones(2)))
    low, high = gain.interval(before, after)
    assert low < gain.gain(before, after) < high
    assert gain.interval(np.array([0.2, 0.2]), np.array([0.6, 0.6])) == pytest.approx((0.5, 0.5))


def test_discrimination_is_the_correlation_with_the_other_items():
    right = np.array([[1, 1, 0, 1], [1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    apart = gain.discrimination(right)
    assert apart[0] == pytest.approx(np.corrcoef(right[:, 0], right[:, 1:].sum(1))[0, 1])
    assert apart[0] > apart[2] == pytest.approx(0)
    assert np.isnan(apart[3])


def test_the_report_says_what_to_teach_again_and_which_mistake_is_usual():
    before, after = (
        collection("A", "r" * 6, "r" * 12),
        collection("B", "r" * 23 + "w", "r" * 23 + "w"),
    )
    files = gain.report(before, after, collection("C", "r" * 8, "r" * 4))
    rows = list(csv.DictReader(io.StringIO(files["inventory-items.csv"])))
    assert [row["after"] for row in rows] == ["100%"] * 23 + ["0%"]
    assert rows[0]["usual mistake after"] == "" and rows[23]["chosen by"] == "100%"
    last = concepts_of("B")[23]
    assert rows[23]["usual mistake after"] in last.misconceptions.values()
    page = files["inventory.html"]
    again = page.split("What to teach again")[1].split("<img")[0]
    assert last.name in again and concepts_of("B")[0].name not in again
    assert "100% after the course, 75% later" in page
    assert "INVENTED" not in page and page.count("<img") == 3


def test_the_page_names_what_was_taken_for_before_and_after():
    before, after = (collection(form, "r", "rw") for form in "BA")
    later = collection("C", "r")
    page = gain.report(before, after, None)["inventory.html"]
    assert "Before: B &amp; co.csv (form B), after: A &amp; co.csv (form A). 2 students" in page
    page = gain.report(before, after, later)["inventory.html"]
    assert "after: A &amp; co.csv (form A), later: C &amp; co.csv (form C). 2 students" in page


@pytest.mark.parametrize(
    ("apart", "title"),
    [
        ([0.1, 0.5, 0.6], "1 items hardly tell students apart (below the line)"),
        (
            [0.1, 0.5, np.nan],
            "1 items hardly tell students apart (below the line)\n"
            "1 of 3 items tell nothing: they or the rest have no spread",
        ),
        ([np.nan] * 3, "3 of 3 items tell nothing: they or the rest have no spread"),
    ],
)
def test_items_without_discrimination_are_not_counted_as_fine(apart, title):
    assert gain.plot_items(np.eye(3), apart).axes[0].get_title(loc="left") == title


def test_invented_answers_are_marked_in_the_report(tmp_path):
    read = []
    for form, known in (("A", 0.2), ("B", 0.6)):
        path = tmp_path / f"{form}.csv"
        path.write_text(gain.invented_class(form, known), encoding="utf-8")
        read.append(gain.read_collection(path))
    page = gain.report(*read, None)["inventory.html"]
    assert "INVENTED DATA" in page
    assert "30 students answered both" in page


ITEMS = ",".join(str(number) for number in range(1, 25))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("sheet,student,1\nA,x,a\nB,y,a\n", "one form"),
        ("sheet,student,1\nD,x,a\n", "one form"),
        ("sheet,student,1\nA,x,a\nA,x,b\n", "each student once"),
        ("sheet,student,1\nA,x,a\nA,,b\n", "answers.csv: A sheet has no student"),
        ("form,name\nA,x\n", "columns sheet and student"),
        ("sheet;student;1\nA;x;a\n", "sheet and student, with commas between cells, got"),
        ("sheet,student,Q1\nA,x,a\n", "no other columns than sheet, student, 1, 2.*, got Q1"),
        ("sheet,student,1,1\nA,x,a,b\n", "no other columns .* got 1, 1"),
        ("sheet,student,1\nA,x,a,b\n", "a cell for each column.* in row 2"),
        ("sheet,student,1\nA,x,ab\n", "a letter from a to d as answer 1 of x, got ab"),
        ("sheet,student,1\nA,x,1\n", "a letter from a to d as answer 1 of x, got 1"),
        ("sheet,student,1\nA,x,a\n", "answers.csv: The table has no column 2, 3, .*, 24: nobody"),
        (f"sheet,student,{ITEMS}\nA,x,a,b\n", "Row 2 ends after 4 of 26 cells: no answer in the"),
        ("sheet,student,1\nA,x," + "a" * 200_000, "must be a table, got one with an error"),
    ],
)
def test_a_table_that_is_no_collection_is_refused(table, message, tmp_path: Path):
    path = tmp_path / "answers.csv"
    path.write_text(table, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        gain.read_collection(path)


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        ("(a)", ""),
        ("A.", ""),
        (None, ""),
        ("None", ""),
        ("d", "d"),
        ("ab", "ab"),
        (["a"], r"\['a'\]"),
        (1, "1"),
    ],
)
def test_a_student_answers_with_a_letter_of_the_item_or_is_named(answer, got, tmp_path: Path):
    numbers = [str(number) for number in range(1, len(key("A")) + 1)]
    content = {"sheet": "A", "student": "x", "answers": dict.fromkeys(numbers, "b") | {"7": answer}}
    (tmp_path / "x.json").write_text(json.dumps(content), encoding="utf-8")
    if not got:
        assert gain.read_collection(tmp_path).choices["x"][6] == (
            "a" if answer in ("(a)", "A.") else ""
        )
        return
    message = f"x.json must hold a letter from a to c as answer 7 of x, got {got}$"
    with pytest.raises(ValueError, match=message):
        gain.read_collection(tmp_path)


def test_a_table_of_another_encoding_is_refused_with_its_name_and_line(tmp_path: Path):
    path = tmp_path / "answers.csv"
    path.write_bytes("sheet,student,1\nA,Jürgen,a\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"answers.csv must be text in UTF-8, got .* in line 2"):
        gain.read_collection(path)


def test_students_who_did_not_answer_twice_do_not_count():
    one, two = collection("A", "r", "r"), collection("B", "r", "r", "r")
    page = gain.report(one, two, None)["inventory.html"]
    assert "2 students answered both, 0 only before, 1 only after" in page
    with pytest.raises(ValueError, match="two students or more"):
        gain.report(collection("A", "r"), two, None)
    with pytest.raises(ValueError, match="form C comes third"):
        gain.report(one, collection("C", "r", "r"), None)
    with pytest.raises(ValueError, match="form C"):
        gain.report(one, two, two)
