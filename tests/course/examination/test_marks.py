"""Sheets are written, answered, and marked as data; a class of thirty invented sheets is drawn."""

import codecs
import csv
import errno
import io
import json
import os
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from transformer_course.examination import commands, marks
from transformer_course.examination.answers import LARGEST, read_sheets
from transformer_course.examination.examinations import (
    EXAMINATIONS,
    read_secret,
    tasks_and_keys,
    variant,
)
from transformer_course.examination.question import is_right
from transformer_course.examination.sheets import SAVE, png
from transformer_course.grading.__main__ import main

SECRET = b"only for these tests"
CLASS = [f"invented-{number:02}" for number in range(1, 31)]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """An instructor's folder with a secret and a list of students."""
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "students.txt").write_text("Ada Ä\nBob\n\n", encoding="utf-8")
    return tmp_path


def command(desk: Path, *words: str) -> int:
    files = ["--students", str(desk / "students.txt"), "--secret", str(desk / "secret")]
    return main(["examination", *words, *files, "--to", str(desk / "out")])


def key_of(name: str, student: str) -> dict[str, object]:
    return {part: key for part, _, _, key in tasks_and_keys(variant(name, student, SECRET))}


def hand_in(folder: Path, name: str, student: str, answers: dict[str, object]) -> None:
    folder.mkdir(exist_ok=True)
    content = {"sheet": name, "student": student, "answers": answers}
    name = f"{len(list(folder.iterdir())):02}.json"
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("name", EXAMINATIONS)
def test_sheets_ask_every_part_and_hold_no_key(desk, name):
    assert command(desk, "sheets", name) == 0
    notebook = (desk / "out" / f"{name}-Ada-Ä.ipynb").read_text(encoding="utf-8")
    paper = (desk / "out" / f"{name}-paper.html").read_text(encoding="utf-8")
    code = ["".join(cell["source"]) for cell in json.loads(notebook)["cells"]]
    for part, _, _, key in tasks_and_keys(variant(name, "Ada Ä", SECRET)):
        assert f'answers["{part}"] = ...' in code
        assert f"<strong>{part}</strong>" in paper
        for text in (notebook, paper):
            assert not isinstance(key, float) or f"{key:.4f}" not in text
    assert "key" not in json.loads(notebook)["metadata"]
    assert paper.count("<article>") == 2
    maps = sum(question.drawn.map is not None for question in variant(name, "Bob", SECRET))
    assert paper.count("<img") == 2 * maps and notebook.count("attachment:map.png") == maps


def test_a_notebook_that_is_filled_in_writes_a_file_that_is_marked(desk):
    command(desk, "sheets", "first")
    notebook = json.loads((desk / "out" / "first-Bob.ipynb").read_text(encoding="utf-8"))
    code = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    key = key_of("first", "Bob")
    source = "\n".join(code).replace(
        'answers["1b"] = ...', f"import torch; answers['1b'] = (torch.tensor({key['1b']}))"
    )
    source = source.replace('answers["1a"] = ...', f"answers['1a'] = {key['1a']}")
    (desk / "in").mkdir()
    subprocess.run([sys.executable, "-c", source], cwd=desk / "in", check=True)
    assert command(desk, "mark", "first", str(desk / "in")) == 0
    row, absent = rows_of((desk / "out" / "marks-first.csv").read_text(encoding="utf-8-sig"))
    assert (row["student"], row["points"], row["1a"], row["1b"], row["1c"]) == (
        "Bob", "4", "2", "2", "0"
    )  # fmt: skip
    assert absent["student"] == "Ada Ä" and absent["problem"] == "No sheet was handed in."


def test_the_key_typed_from_paper_gets_all_points(desk):
    command(desk, "key", "graduate")
    text = (desk / "out" / "key-graduate.csv").read_text(encoding="utf-8-sig")
    for row in rows_of(text):
        assert set(row) == {"student", *key_of("graduate", "Bob")}
    lines = text.splitlines()
    typed = [f"sheet,{lines[0]}", *(f"graduate,{line}" for line in lines[1:])]
    (desk / "typed.csv").write_text("\n".join(typed), encoding="utf-8")
    command(desk, "mark", "graduate", str(desk / "typed.csv"))
    marked = rows_of((desk / "out" / "marks-graduate.csv").read_text(encoding="utf-8-sig"))
    most = sum(question.points for question in variant("graduate", "Bob", SECRET))
    assert [row["points"] for row in marked] == [str(most)] * 2


def test_sheets_of_another_secret_are_told_and_not_marked_wrong(desk):
    command(desk, "sheets", "first")
    rows = rows_of((desk / "out" / "first-answers.csv").read_text(encoding="utf-8-sig"))
    typed = desk / "typed.csv"
    for secret, problem in ((SECRET, ""), (b"x" * 32, "This sheet was drawn with another secret.")):
        sheet = f"sheet,student,1a\n{rows[1]['sheet']},Bob,1\n"
        typed.write_text(sheet, encoding="utf-8")
        ((judged, _),) = marks.mark("first", read_sheets([typed]), ["Bob"], secret)
        assert judged.problem == problem


@pytest.mark.parametrize(
    ("typed", "key"),
    [(".5", 0.5), ("−.5", -0.5), ("+0.5", 0.5), ("5.", 5.0), ("True", 1), ("'none'", "none")]
    + [(text, [0.5, 1]) for text in ("[.5, 1.]", ".5, 1", "(0.5, 1)", "[0.5, 1,]", "(.5, True)")]
    + [("(1, 0), (0, 1)", [[1, 0], [0, 1]]), ("[[1, 0], [0, 1]]", [[1, 0], [0, 1]])]
    + [("3,5", 3.5), ("–0,25", -0.25), ("3,5", [3, 5]), ("≈ 0.5", 0.5), ("“none”", "none")]
    + [("8,192", 8192), ("None", "none"), ("D.", "D"), ("(dog)", "dog")]
    + [("[1, –2]", [1, -2]), ("= —.5", -0.5)]
    + [("{[1, 0], [0, 1]}", [[1, 0], [0, 1]]), ("{0.5, 1}", [0.5, 1])]
    + [("A X", "A X"), ("true", 1), ("[0.5, true]", [0.5, 1]), ("NONE", "none")],
)
def test_a_number_or_list_that_python_reads_is_right_on_paper_too(typed, key, tmp_path):
    table = tmp_path / "typed.csv"
    table.write_text(f'sheet,student,1a\nfirst,Bob,"{typed}"\n', encoding="utf-8")
    (sheet,) = read_sheets([table])
    assert is_right(sheet.answers["1a"], key)


def test_what_is_not_read_as_a_number_is_named_for_the_instructor(desk):
    key = key_of("first", "Bob")
    first, second, *_ = (part for part, right in key.items() if isinstance(right, float))
    third = [part for part, right in key.items() if isinstance(right, list | tuple)][-1]
    hand_in(
        desk / "in",
        "first",
        "Bob",
        key | {first: "half", second: "0.5 nats", third: "[0,5, 1,5, 1,5]", "9z": "x"},
    )
    assert command(desk, "mark", "first", str(desk / "in")) == 0
    rows = rows_of((desk / "out" / "marks-first.csv").read_text(encoding="utf-8-sig"))
    said = [part for part in key if part in (first, second, third)]
    assert rows[0]["problem"] == f"Not read as what is asked for, look: {', '.join(said)}."


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "-" * 1999 + "1", "9" * 5000, "f'{1}'", "{{1}: 2}", "\0", "..."]
)
def test_no_text_in_place_of_an_answer_stops_the_reading(text, tmp_path):
    hand_in(tmp_path, "first", "Ada", {"1a": text})
    ((_, points),) = marks.mark("first", read_sheets([tmp_path]), ["Ada"], SECRET)
    assert not sum(points.values())


def test_empty_cells_of_a_spreadsheet_are_no_columns_and_its_rows_are_named(tmp_path):
    table = tmp_path / "TYPED.CSV"
    table.write_text("sheet,student,1a,,\nfirst,Bob,1,,\n,,,,\n", encoding="utf-8")
    assert [(it.student, it.answers) for it in read_sheets([table])] == [("Bob", {"1a": 1})]
    table.write_text("sheet,student,1a\n\n\nfirst,Bob,1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="other ones in row 4"):
        read_sheets([table])


def test_a_file_that_the_disk_does_not_give_stops_no_other(tmp_path, monkeypatch):
    def refuse(path, encoding):
        raise OSError(errno.EACCES, "Permission denied")

    hand_in(tmp_path, "first", "Ada", {})
    monkeypatch.setattr(Path, "read_text", refuse)
    assert [it.problem for it in read_sheets([tmp_path])] == [
        "The file cannot be read (Permission denied)."
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_table_of_any_system_is_read(tmp_path, ending):
    table = ending.join(["sheet,student,1a", "first,Bob,1", "first,Ada,2", ""])
    (tmp_path / "typed.csv").write_bytes(table.encode())
    sheets = read_sheets([tmp_path / "typed.csv"])
    assert [(it.student, it.answers) for it in sheets] == [("Bob", {"1a": 1}), ("Ada", {"1a": 2})]


def test_a_line_without_answers_is_no_sheet(desk):
    command(desk, "sheets", "first")
    assert read_sheets([desk / "out" / "first-answers.csv"]) == []


def test_a_sheet_of_another_examination_is_no_second_one(tmp_path):
    for name in ("first", "second"):
        hand_in(tmp_path, name, "Ada", key_of(name, "Ada"))
    (_, points), (other, _) = marks.mark("first", read_sheets([tmp_path]), ["Ada"], SECRET)
    assert all(points.values()) and other.problem == "This is not the examination first."


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1A\nfirst,Bob,1", "no other columns than sheet, student, 1a, .*, got 1A"),
        ("1a,1b,1c,1d\nfirst,Bob,[1, 0.5],[2, 3]", "a list in quotes, got other ones in row 2"),
        ("1a\nfirst,Bob,[1, 0.5]", "a cell for each column"),
        ("1a,1b,1c,1d\nfirst,Bob,(1, 0.5),(2, 3)", "a list in quotes, got other ones in row 2"),
        ("1a,1b,1c,1d\nfirst,Bob,{1, 0.5},{2, 3}", "a list in quotes, got other ones in row 2"),
        ('1a\nfirst,Bob,"1\nfirst,Eve,2', "must be a table, got one with an error"),
    ],
)
def test_an_answer_in_a_wrong_place_is_refused_and_not_marked_wrong(tmp_path, line, message):
    (tmp_path / "typed.csv").write_text(f"sheet,student,{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_sheets([tmp_path / "typed.csv"])


def test_a_student_whose_name_looks_like_a_formula_is_found_again(desk):
    (desk / "students.txt").write_text("=Bob\n", encoding="utf-8")
    command(desk, "sheets", "first")
    text = (desk / "out" / "first-answers.csv").read_text(encoding="utf-8-sig")
    (desk / "typed.csv").write_text(text.replace("'=Bob,", "'=Bob,1", 1), encoding="utf-8")
    assert [sheet.student for sheet in read_sheets([desk / "typed.csv"])] == ["=Bob"]


@pytest.mark.parametrize("handed_in", ["json", "csv"])
def test_a_name_has_one_sheet_and_one_key_however_its_letters_are_written(desk, handed_in):
    one_sign, two_signs = (unicodedata.normalize(form, "Ada Ä") for form in ("NFC", "NFD"))
    (desk / "students.txt").write_text(f"{two_signs}\nBob\n", encoding="utf-8")
    assert command(desk, "sheets", "first") == 0
    assert (desk / "out" / f"first-Ada-{one_sign[-1]}.ipynb").exists()
    key = key_of("first", one_sign)
    hand_in(desk / "in", "first", two_signs, key)
    answers = desk / "in"
    if handed_in == "csv":
        answers = desk / "in.csv"
        head, row = ["sheet", "student", *key], ["first", two_signs, *map(repr, key.values())]
        with answers.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, row])
    assert command(desk, "mark", "first", str(answers)) == 0
    table = (desk / "out" / "marks-first.csv").read_text(encoding="utf-8-sig")
    worth = sum(points for _, points, *_ in tasks_and_keys(variant("first", "", SECRET)))
    ada = next(row for row in rows_of(table) if row["student"] == one_sign)
    assert (ada["points"], ada["problem"]) == (str(worth), "")


def test_what_a_notebook_cannot_write_leaves_the_file_that_was_written(tmp_path):
    answers = 'sheet, student = "first", "Bob"\nfrom fractions import Fraction\nanswers = {}\n'
    good = (
        f"{answers}answers['1a'], answers['1b'], answers['4b'] = Fraction(1, 2), ..., None\n{SAVE}"
    )
    subprocess.run([sys.executable, "-c", good], cwd=tmp_path, check=True)
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()
    assert json.loads(before)["answers"] == {"1a": "1/2", "1b": None, "4b": "None"}
    bad = f"{answers}answers['1a'] = 1; answers['1b'] = answers\n{SAVE}"
    assert subprocess.run([sys.executable, "-c", bad], cwd=tmp_path, capture_output=True).returncode
    assert path.read_bytes() == before


def test_a_code_that_no_file_can_have_as_its_name_is_handed_in(tmp_path):
    code = f"sheet, student, answers = 'A', 'a:b?\\\\c/' + 300 * 'd', {{}}\n{SAVE}"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    (path,) = tmp_path.iterdir()
    assert path.name == f"answers-A-a-b--c-{'d' * 83}.json"


def test_thirty_invented_sheets_are_marked_and_drawn(tmp_path):
    """Each invented student knows every part with a probability of his or her own."""
    rng, known = random.Random(0), {}
    for number, student in enumerate(CLASS):
        answers = {}
        for part, key in key_of("second", student).items():
            if rng.random() < 0.2 + 0.6 * number / 29:
                answers[part] = key
                known[student] = known.get(student, 0) + 1
            elif rng.random() < 0.5:
                answers[part] = key_of("second", "another")[part] if part[1] == "a" else "?"
        hand_in(tmp_path / "in", "second", student, answers)
    sheets = read_sheets([tmp_path / "in"])
    marked = marks.mark("second", sheets, CLASS, SECRET)
    assert [sheet.student for sheet, _ in marked] == CLASS
    totals = [sum(points.values()) for _, points in marked]
    assert sum(totals[20:]) > 1.5 * sum(totals[:10])
    for (sheet, points), total in zip(marked, totals, strict=True):
        assert sum(worth > 0 for worth in points.values()) >= known.get(sheet.student, 0)
        assert not sheet.problem and total <= 46
    worth = {part: points for part, points, _, _ in tasks_and_keys(variant("second", "x", b""))}
    figure = marks.plot_marks([points for _, points in marked], worth)
    left, right = figure.axes
    assert sum(bar.get_height() for bar in left.patches) == 30
    assert len(right.patches) == len(worth)
    assert left.get_title(loc="left") == f"The mean is {sum(totals) / 30:.1f} points"
    page = marks.report("second", marked, CLASS)["marks-second.html"]
    assert "30 sheets of 30 students" in page and "<img" in page
    if folder := os.environ.get("TRANSFORMER_EDU_SHOW"):  # to look at it
        (Path(folder) / "marks.png").write_bytes(png(figure))
        (Path(folder) / "marks.html").write_text(page, encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "does not hold"),
        ("[]", "does not hold"),
        ('{"sheet": "first", "student": "Bob", "answers": []}', "does not hold"),
        ('{"sheet": ["first"], "student": "Bob", "answers": {}}', "does not hold"),
        ("[" * 100_000, "does not hold"),
        (" " * (LARGEST + 1), "larger than"),
        ('{"sheet": "second", "student": "Bob", "answers": {}}', "not the examination first"),
        ('{"sheet": "first", "student": "Eve", "answers": {}}', "not on the list"),
        ('\ufeff{"sheet": "first", "student": "Eve", "answers": {}}', "not on the list"),
        ("\udcff", "does not hold"),
        ('{"sheet": "first", "student": "\\ud800", "answers": {}}', "not on the list"),
    ],
)
def test_a_file_that_is_no_sheet_gets_no_marks_and_stops_no_other(tmp_path, content, problem):
    hand_in(tmp_path, "first", "Ada", {"1a": key_of("first", "Ada")["1a"]})
    (tmp_path / "bad.json").write_bytes(content.encode(errors="surrogateescape"))
    marked = marks.mark("first", read_sheets([tmp_path]), ["Ada", "Bob"], SECRET)
    (good, points), (bad, nothing) = marked
    assert sum(points.values()) == 2 and not good.problem
    assert problem in bad.problem and not nothing


def test_the_files_of_a_folder_are_those_of_students_and_not_a_table_for_many(desk):
    (desk / "in").mkdir()
    (desk / "in" / "trick.csv").write_text("sheet,student,1a\nfirst,Bob,1\n", encoding="utf-8")
    hand_in(desk / "in", "first", "\ud800", {})
    assert command(desk, "mark", "first", str(desk / "in")) == 0
    rows = rows_of((desk / "out" / "marks-first.csv").read_text(encoding="utf-8-sig"))
    assert [row["problem"] for row in rows] == [
        "The student is not on the list.",
        *["No sheet was handed in."] * 2,
    ]


def test_folders_of_students_are_read_and_a_notebook_that_is_handed_in_is_named(desk, capsys):
    (desk / "in").mkdir()
    hand_in(desk / "in" / "Bob_123_file", "first", "Bob", key_of("first", "Bob"))
    hand_in(desk / "in" / ".hidden", "first", "Ada Ä", {})
    (desk / "in" / "Ada_124_file").mkdir()
    notebook = desk / "in" / "Ada_124_file" / "first-Ada.ipynb"
    notebook.write_text("{}", encoding="utf-8")
    table = desk / "in" / "typed.csv"
    table.write_text("sheet,student\n", encoding="utf-8")
    wanted = f"Not read: {notebook}, {table}. (A student hands"
    (desk / "after").mkdir()
    assert main(["inventory", str(desk / "in"), str(desk / "after")]) == 1
    assert capsys.readouterr().out.startswith(wanted)
    assert command(desk, "mark", "first", str(desk / "in")) == 0
    assert capsys.readouterr().out.startswith(wanted)
    rows = rows_of((desk / "out" / "marks-first.csv").read_text(encoding="utf-8-sig"))
    assert [row["problem"] for row in rows] == ["", "No sheet was handed in."]


@pytest.mark.parametrize("file", ["first-answers.csv", "first-paper.html"])
def test_what_an_instructor_has_written_is_kept_when_a_late_student_gets_a_sheet(
    file, desk, capsys
):
    command(desk, "sheets", "first")
    place = desk / "out" / file
    written = place.read_bytes().replace(b"Bob", b"Bob,1")
    place.write_bytes(written)
    (desk / "students.txt").write_text("Ada Ä\nBob\nEve\n", encoding="utf-8")
    assert command(desk, "sheets", "first", "--overwrite") == 0
    copy = place.with_suffix(".bak")
    assert f"{place} (as it was: {copy.name})" in capsys.readouterr().out
    assert copy.read_bytes() == written
    assert command(desk, "sheets", "first", "--overwrite") == 0
    assert len(list((desk / "out").glob("*.bak*"))) == 2


def test_two_sheets_of_one_student_are_left_to_the_instructor(tmp_path):
    hand_in(tmp_path / "one", "first", "Ada", key_of("first", "Ada"))
    hand_in(tmp_path / "two", "first", "Ada", {})
    marked = marks.mark("first", read_sheets([tmp_path / "one", tmp_path / "two"]), ["Ada"], SECRET)
    assert all("another sheet" in sheet.problem and not points for sheet, points in marked)


def test_a_file_that_is_named_twice_is_one_sheet(desk, capsys):
    folder, key = desk / "in", key_of("first", "Bob")
    hand_in(folder, "first", "Bob", key)
    typed = folder / "typed.csv"
    row = ["first", "Ada Ä", *map(repr, key_of("first", "Ada Ä").values())]
    with typed.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["sheet", "student", *key], row])
    twice = [folder, folder / "00.json", folder / ".." / "in", typed, typed]
    assert command(desk, "mark", "first", *map(str, twice)) == 0
    rows = rows_of((desk / "out" / "marks-first.csv").read_text(encoding="utf-8-sig"))
    assert [(row["student"], row["problem"]) for row in rows] == [("Ada Ä", ""), ("Bob", "")]
    assert "Not read" not in capsys.readouterr().out


def test_a_column_that_a_table_does_not_have_is_named_and_the_rest_is_marked(desk, capsys):
    (desk / "typed.csv").write_text("sheet,student,1a\nfirst,Bob,half\n", encoding="utf-8")
    assert command(desk, "mark", "first", str(desk / "typed.csv")) == 0
    absent = ", ".join(part for part in key_of("first", "Bob") if part != "1a")
    note = f"The table has no column {absent}: nobody has an answer there."
    assert capsys.readouterr().out.startswith(f"{desk / 'typed.csv'}: {note}\n")
    bob, _ = rows_of((desk / "out" / "marks-first.csv").read_text(encoding="utf-8-sig"))
    assert bob["problem"] == f"{note} Not read as what is asked for, look: 1a."


def test_a_row_that_ends_before_the_table_s_last_column_is_named(desk, capsys):
    key = key_of("first", "Bob")
    table = f"sheet,student,{','.join(key)}\nfirst,Bob,1"
    (desk / "typed.csv").write_text(f"{table}{',' * (len(key) - 1)}\n", encoding="utf-8")
    assert [sheet.note for sheet in read_sheets([desk / "typed.csv"])] == [""]
    (desk / "typed.csv").write_text(f"{table}\n", encoding="utf-8")
    assert command(desk, "mark", "first", str(desk / "typed.csv")) == 0
    note = f"Row 2 ends after 3 of {len(key) + 2} cells: no answer in the rest."
    assert capsys.readouterr().out.startswith(f"{desk / 'typed.csv'}: {note}\n")
    bob, _ = rows_of((desk / "out" / "marks-first.csv").read_text(encoding="utf-8-sig"))
    assert bob["problem"].startswith(note)


def test_another_students_answers_are_worth_little(tmp_path):
    hand_in(tmp_path, "first", "Ada", key_of("first", "Bob"))
    ((_, points),) = marks.mark("first", read_sheets([tmp_path]), ["Ada"], SECRET)
    assert sum(points.values()) < 15


def test_code_in_an_answer_is_text(tmp_path):
    code = f"__import__('pathlib').Path({str(tmp_path / 'ran')!r}).touch()"
    hand_in(tmp_path, "first", "Ada", dict.fromkeys(key_of("first", "Ada"), code))
    ((_, points),) = marks.mark("first", read_sheets([tmp_path]), ["Ada"], SECRET)
    assert not sum(points.values()) and not (tmp_path / "ran").exists()


def test_the_secret_is_made_once_and_is_long(desk, capsys):
    (desk / "secret").unlink()
    assert command(desk, "key", "first") == 1  # only sheets makes one
    assert command(desk, "sheets", "first") == 0
    assert len(read_secret(desk / "secret")) == 64
    assert os.name == "nt" or (desk / "secret").stat().st_mode & 0o077 == 0
    assert "secret is a new secret: whoever marks needs it" in capsys.readouterr().out
    assert command(desk, "sheets", "first") == 0  # the same again
    assert "new secret" not in capsys.readouterr().out
    secret = read_secret(desk / "secret")
    (desk / "secret").write_bytes(codecs.BOM_UTF8 + secret + b"\r\n")
    assert read_secret(desk / "secret") == secret
    (desk / "secret").write_text("short", encoding="utf-8")
    assert command(desk, "key", "first") == 1


def test_a_full_disk_leaves_no_half_secret(tmp_path, monkeypatch):
    def refuse(path, text, encoding):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(OSError, match=r"No space left on device: '.*secret'"):
        read_secret(tmp_path / "secret", new=True)
    assert not (tmp_path / "secret").exists()


def test_no_file_is_lost_and_students_have_different_names(desk, capsys):
    command(desk, "sheets", "first")
    (desk / "out" / "first-Bob.ipynb").write_text("mine", encoding="utf-8")
    assert command(desk, "sheets", "first") == 1
    assert "first-Bob.ipynb exists" in capsys.readouterr().err
    assert (desk / "out" / "first-Bob.ipynb").read_text(encoding="utf-8") == "mine"
    assert command(desk, "sheets", "first", "--overwrite") == 0
    (desk / "students.txt").write_text("A b\nA-b\n", encoding="utf-8")
    assert command(desk, "sheets", "first") == 1


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_a_file_that_appears_under_a_sheets_name_stays(desk, overwrite, monkeypatch, capsys):
    whole, place = commands.content_of, desk / "out" / "first-Bob.ipynb"

    def save_meanwhile(path):
        content = whole(path)
        if path == place:
            place.parent.mkdir(exist_ok=True)
            place.write_text("mine", encoding="utf-8")
        return content

    monkeypatch.setattr(commands, "content_of", save_meanwhile)
    assert command(desk, "sheets", "first", *overwrite) == 1
    wanted = f"error: {place} stays as it is, because it was saved at this very moment: try again"
    assert capsys.readouterr().err == f"{wanted}\n"
    assert place.read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_what_is_no_file_is_no_sheet(desk, overwrite, capsys):
    place = desk / "out" / "first-Bob.ipynb"
    place.parent.mkdir()
    os.mkfifo(place)
    assert command(desk, "sheets", "first", *overwrite) == 1
    wanted = f"it is a device or a pipe and not a file: '{place}'"
    assert wanted in capsys.readouterr().err and place.is_fifo()
    place.unlink()
    place.symlink_to(desk / "nowhere")
    assert command(desk, "sheets", "first", *overwrite) == 1
    wanted = f"it is a link that leads nowhere and not a file: '{place}'"
    assert wanted in capsys.readouterr().err and list(place.parent.iterdir()) == [place]


def test_a_secret_that_is_a_link_to_nothing_is_told(desk, capsys):
    (desk / "secret").unlink()
    (desk / "secret").symlink_to(desk / "nowhere")
    assert command(desk, "sheets", "first") == 1
    said = capsys.readouterr().err
    assert "No such file" in said and said.count("\n") == 1 and not (desk / "nowhere").exists()


@pytest.mark.parametrize("text", ["Ada\rBob\rEve\r", "Ada\t1.3\nBob\t2.0\n", "A\1da\n"])
def test_what_is_no_list_of_names_is_no_student(desk, text, capsys):
    (desk / "students.txt").write_bytes(text.encode())
    assert command(desk, "sheets", "first") == 1 and not (desk / "out").exists()
    assert "students must hold a name a line, got 'A" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--students", "--secret", "--to"])
def test_an_empty_path_is_not_the_present_folder(option, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("names").write_text("Anna\n")
    given = {"--students": "names", "--secret": "secret", "--to": "out"} | {option: ""}
    with pytest.raises(SystemExit):
        main(["examination", "sheets", "first", *(word for pair in given.items() for word in pair)])
    wanted = f"error: argument {option}: it must be a path, got an empty text"
    assert wanted in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["names"]


def test_no_answers_make_no_marks(desk, capsys):
    (desk / "in").mkdir()
    assert command(desk, "mark", "first") == command(desk, "mark", "first", str(desk / "in")) == 1
    assert (
        capsys.readouterr().err.count("error: mark takes files or folders with answers, got") == 2
    )
    assert not (desk / "out").exists()


def test_the_inventory_is_written_invented_and_compared_by_commands(tmp_path, capsys):
    for what in ("sheets", "key", "example"):
        assert main(["inventory", what, "--to", str(tmp_path)]) == 0
    tables = [str(tmp_path / f"invented-{name}.csv") for name in ("before-A", "after-B", "later-C")]
    assert main(["inventory", *tables, "--to", str(tmp_path)]) == 0
    assert (tmp_path / "inventory.html").exists()
    assert len(list(tmp_path.glob("inventory-[ABC]*"))) == 3 * 5
    capsys.readouterr()
    assert main(["inventory", "nothing"]) == 1
    assert "inventory takes sheets" in capsys.readouterr().err
    assert main(["inventory", tables[0], tables[0], "--to", str(tmp_path)]) == 1
    assert "inventory takes different files, got" in capsys.readouterr().err
