"""An exercise goes back to its dots, and nothing that a reader has written is lost."""

import json
import random
import warnings

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tools import reset as module
from tools.exercises import exercise_indices, number_of
from tools.notebooks import ROOT, read
from tools.reset import ResetError, main, reset
from tools.working_copies import is_trusted, sign, update

LESSON = "02_attention.ipynb"


@pytest.fixture(autouse=True)
def jupyter_folders(tmp_path, monkeypatch):
    """Folders of Jupyter for this test alone."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter" / "data"))


@pytest.fixture
def copies(tmp_path):
    """A folder with a copy of the lesson."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / LESSON).write_bytes((ROOT / "notebooks" / LESSON).read_bytes())
    return folder


def cell_of(notebook, number):
    (index,) = [i for i in exercise_indices(notebook) if number_of(notebook, i) == number]
    return notebook.cells[index]


def answer(path, number, text="mine = 1\n# ß 🎸"):
    """Write an answer of a reader's into a copy."""
    notebook = read(path)
    cell = cell_of(notebook, number)
    cell.source, cell.execution_count = cell.source.replace("...", text), 7
    cell.outputs = [new_output("stream", text="printed")]
    nbformat.write(notebook, path)


def backups(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix == ".bak")


def test_an_exercise_gets_its_dots_and_the_copy_as_it_was_is_kept(copies):
    path = copies / LESSON
    answer(path, "2.1")
    answer(path, "2.2")
    before = path.read_bytes()
    said = reset("2.1", copies)
    assert "Exercise 2.1 in work/02_attention.ipynb waits again" in said
    assert "kept as 02_attention.bak" in said
    assert (copies / "02_attention.bak").read_bytes() == before
    original, now = read(ROOT / "notebooks" / LESSON), read(path)
    assert cell_of(now, "2.1").source == cell_of(original, "2.1").source
    assert cell_of(now, "2.1").outputs == [] and cell_of(now, "2.1").execution_count is None
    assert "mine = 1\n# ß 🎸" in cell_of(now, "2.2").source
    assert cell_of(now, "2.2").outputs[0].text == "printed"


def test_each_reset_keeps_another_copy_and_one_without_a_change_keeps_none(copies):
    for number in range(3):
        answer(copies / LESSON, "2.1", f"mine = {number}")
        reset("2.1", copies)
        assert "has the lesson's own text already" in reset("2.1", copies)
    assert backups(copies) == ["02_attention.1.bak", "02_attention.2.bak", "02_attention.bak"]
    kept = [(copies / name).read_text(encoding="utf-8") for name in backups(copies)]
    assert [f"mine = {number}" in text for number, text in zip((1, 2, 0), kept, strict=True)] == [
        True
    ] * 3


def test_of_two_resets_at_once_the_slower_one_finds_nothing_to_do(copies, monkeypatch):
    answer(copies / LESSON, "2.1")
    quicker = []

    def meanwhile(before):
        monkeypatch.setattr(module, "is_trusted", is_trusted)
        quicker.append(reset("2.1", copies))
        return is_trusted(before)

    monkeypatch.setattr(module, "is_trusted", meanwhile)
    assert "has the lesson's own text already" in reset("2.1", copies)
    assert "waits again" in quicker[0] and backups(copies) == ["02_attention.bak"]


def test_a_copy_that_is_reset_whole_follows_its_lesson_again(copies, tmp_path):
    lessons = tmp_path / "notebooks"
    lessons.mkdir()
    (lessons / LESSON).write_bytes((ROOT / "notebooks" / LESSON).read_bytes())
    update(lessons, copies)
    answer(copies / LESSON, "2.1")
    newer = read(lessons / LESSON)
    newer.cells.append(new_markdown_cell("new", id="new"))
    nbformat.write(newer, lessons / LESSON)
    assert update(lessons, copies).newer == [LESSON]
    reset("2.1", copies)
    assert update(lessons, copies).copied == [LESSON]


def test_a_copy_that_is_a_link_says_where_the_copy_as_it_was_is(copies, tmp_path):
    disk = tmp_path / "disk" / "mine.ipynb"
    disk.parent.mkdir()
    (copies / LESSON).rename(disk)
    (copies / LESSON).symlink_to(disk)
    answer(disk, "2.1")
    before = disk.read_bytes()
    assert f"kept as {disk.with_suffix('.bak')}. " in reset("2.1", copies)
    assert disk.with_suffix(".bak").read_bytes() == before and (copies / LESSON).is_symlink()


def test_two_cells_with_one_id_are_no_warning(copies):
    stored = json.loads((copies / LESSON).read_bytes())
    stored["cells"][-1]["id"] = stored["cells"][0]["id"]
    (copies / LESSON).write_text(json.dumps(stored))
    answered = (copies / LESSON).read_text().replace("check_", "mine = 1; check_", 1)
    (copies / LESSON).write_text(answered)
    with warnings.catch_warnings(action="error"):
        reset("2.1", copies)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_copy_is_trusted_afterwards_if_it_was_trusted_before(copies, trusted):
    path = copies / LESSON
    answer(path, "2.1")
    assert not trusted or sign(path.read_bytes())
    reset("2.1", copies)
    assert is_trusted(path.read_bytes()) == trusted


def spoil(notebook, luck):
    """What a reader might do to a notebook, or an accident."""
    place = luck.randrange(len(notebook.cells))
    match luck.randrange(7):
        case 0:
            del notebook.cells[place]
        case 1:
            notebook.cells.insert(place, new_code_cell("mine = 2", id=f"r{luck.getrandbits(40)}"))
        case 2:
            notebook.cells.insert(place, new_markdown_cell("### Exercise 9.9 · Build (1 minute)"))
        case 3:
            notebook.cells[place].source += "\n# mine 🎸 \u2028"
        case 4:
            notebook.cells[place].metadata["tags"] = ["exercise"]
        case 5:
            luck.shuffle(notebook.cells)
        case 6:
            notebook.metadata["mine"] = {"kept": [luck.random(), None, "ß"]}


def test_a_copy_with_half_an_emoji_can_still_be_opened_after_a_reset(copies):
    path = copies / LESSON
    answer(path, "2.1")
    answer(path, "2.2", "mine = '\\\\' + 'HALF'")
    path.write_text(path.read_text(encoding="utf-8").replace("HALF", "\\ud83d"), encoding="utf-8")
    before = cell_of(read(path), "2.2").source
    reset("2.1", copies)
    assert cell_of(read(path), "2.2").source == before and "\ud83d" in before


@pytest.mark.parametrize("kind", ["markdown", "raw"])
@pytest.mark.parametrize("text", [None, "my notes"])
def test_an_exercise_that_was_made_markdown_is_code_again(copies, kind, text):
    path = copies / LESSON
    content = json.loads(path.read_bytes())
    (index,) = [i for i in exercise_indices(read(path)) if number_of(read(path), i) == "2.1"]
    cell = content["cells"][index]
    source = cell["source"] if text is None else text
    kept = {name: cell[name] for name in ("id", "metadata")}
    content["cells"][index] = kept | {"cell_type": kind, "source": source, "attachments": {}}
    path.write_text(json.dumps(content))
    assert "waits again" in reset("2.1", copies)
    now = read(path)
    nbformat.validate(now)
    assert now.cells[index].source == cell_of(read(ROOT / "notebooks" / LESSON), "2.1").source


def test_a_cell_without_a_source_is_a_damaged_copy(copies):
    notebook = read(copies / LESSON)
    stored = json.loads(nbformat.writes(notebook))
    for index in exercise_indices(notebook):
        del stored["cells"][index]["source"]
    (copies / LESSON).write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(ResetError, match="is damaged"):
        reset("2.1", copies)


@pytest.mark.parametrize("seed", range(60))
def test_whatever_a_reader_has_changed_a_reset_loses_nothing(copies, seed):
    luck, path = random.Random(seed), copies / LESSON
    number = luck.choice(["2.1", "2.2"])
    answer(path, number)
    notebook = read(path)
    for _ in range(luck.randrange(5)):
        spoil(notebook, luck)
    text = json.dumps(notebook, ensure_ascii=luck.random() < 0.5, indent=luck.choice([None, 1, 2]))
    before = text.encode()
    if luck.random() < 0.1:
        before = before[: luck.randrange(len(before))]
    path.write_bytes(before)
    mine = {"02_attention.bak": b"an older copy of mine"} if luck.random() < 0.5 else {}
    for name, content in mine.items():
        (copies / name).write_bytes(content)
    try:
        reset(number, copies)
    except ResetError:
        assert path.read_bytes() == before and len(backups(copies)) == len(mine)
        return
    kept = {name: (copies / name).read_bytes() for name in backups(copies)}
    assert all(kept[name] == content for name, content in mine.items())
    if path.read_bytes() == before:  # there was nothing to reset
        assert kept == mine
        return
    assert before in kept.values() and len(kept) == len(mine) + 1
    old, new = json.loads(before), json.loads(path.read_bytes())
    changed = [a["id"] for a, b in zip(old["cells"], new["cells"], strict=True) if a != b]
    assert len(changed) == 1
    assert {**old, "cells": None} == {**new, "cells": None}
    assert cell_of(read(path), number).outputs == []


def test_a_copy_that_is_saved_meanwhile_is_not_replaced(copies, monkeypatch):
    path = copies / LESSON
    answer(path, "2.1")

    def save_meanwhile(content):
        answer(path, "2.2")

    monkeypatch.setattr(module, "is_trusted", save_meanwhile)
    with pytest.raises(ResetError, match="was saved at this very moment"):
        reset("2.1", copies)
    assert "mine = 1" in cell_of(read(path), "2.1").source
    assert "mine = 1" in cell_of(read(path), "2.2").source


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("2.99", "02_attention.ipynb has no exercise 2.99"),
        ("2", "exercise must be the number of one, as in `make reset EXERCISE=2.1`, got '2'"),
        ("99.1", "notebooks/ has no lesson 99, got exercise 99.1"),
        ("3.2", "there is no work/03_masks.ipynb: `make lab` makes it"),
    ],
)
def test_what_is_no_exercise_is_refused(number, words, copies):
    with pytest.raises(ResetError) as refused:
        reset(number, copies)
    assert words in str(refused.value)


def test_a_folder_in_the_place_of_a_copy_is_named(copies):
    (copies / LESSON).unlink()
    (copies / LESSON).mkdir()
    with pytest.raises(ResetError, match=f"/{LESSON} must be a notebook, got a folder"):
        reset("2.1", copies)


def test_the_command_says_what_it_did_or_why_it_did_nothing(copies, monkeypatch, capsys):
    monkeypatch.setattr(module, "ROOT", copies.parent)
    monkeypatch.setattr(module, "lesson_paths", lambda root: [ROOT / "notebooks" / LESSON])
    answer(copies / LESSON, "2.1")
    assert main(["02.1 "]) == 0 and main(["2"]) == 1
    shown = capsys.readouterr()
    assert "waits again" in shown.out and shown.err.startswith("error: exercise must be the number")
