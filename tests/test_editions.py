"""What the editions refuse, and that an edition that fails leaves the one that was there."""

import json
import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import handout, site, slides, student
from tools.editions import WRITTEN
from tools.notebooks import ROOT, lesson_paths

COMMANDS = {module.__name__.split(".")[1]: module for module in (site, slides, student, handout)}
DAMAGED = {
    "cut": b'{"cells": [',
    "empty": b"",
    "list": b"[]",
    "binary": bytes(range(256)),
    "nested": b"[" * 100_000,
}
UNDRAWN = {
    "no cells": new_notebook(),
    "no title": new_notebook(cells=[new_code_cell("x = 1")]),
    "a formula": new_notebook(cells=[new_markdown_cell("# T"), new_markdown_cell("$\\frac{$")]),
}


@pytest.fixture
def quick_site(monkeypatch):
    """A site without Sphinx: one page, and the live page."""

    def write_pages(to, lessons, shown, *, partial):
        (to / "notebooks").mkdir()
        (to / "notebooks" / f"{lessons[0].stem}.html").write_text("a lesson")
        (to / "index.html").write_text("new")

    monkeypatch.setattr(site, "_write_pages", write_pages)
    monkeypatch.setattr(site, "write_live_page", lambda to: to.mkdir())


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_notebook_is_told_in_one_sentence(command, name, tmp_path, capsys):
    path = tmp_path / "02_attention.ipynb"
    path.write_bytes(DAMAGED[name])
    assert COMMANDS[command].main([str(path), "--to", str(tmp_path / "to")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"a lesson must be a notebook, got the file {path} (")
    assert said.count("\n") == 1 and not (tmp_path / "to").exists()


@pytest.mark.parametrize("name", UNDRAWN)
def test_what_cannot_be_a_slide_is_told_and_the_decks_stay(name, tmp_path, capsys):
    path, to = tmp_path / "own.ipynb", tmp_path / "slides"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Mine")]), path)
    assert slides.main([str(path), "--to", str(to)]) == 0
    deck = (to / "own.html").read_bytes()
    nbformat.write(UNDRAWN[name], path)
    assert slides.main([str(path), "--to", str(to)]) == 1
    said = capsys.readouterr().err
    assert "a lesson must have a title, and formulas that can be drawn" in said
    assert said.count("\n") == 1 and (to / "own.html").read_bytes() == deck


def test_half_a_character_is_a_question_mark_on_a_slide(tmp_path):
    path = tmp_path / "own.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Mine HALF")]), path)
    path.write_text(path.read_text().replace("HALF", "\\ud83d"))
    assert slides.main([str(path), "--to", str(tmp_path / "to")]) == 0
    assert "<title>Mine ?</title>" in (tmp_path / "to" / "own.html").read_text()


@pytest.mark.parametrize("content", [b"<!DOCTYPE", b"\xff\xfe\x00", b""])
def test_half_a_deck_in_the_folder_stops_nobody(content, tmp_path):
    to = tmp_path / "to"
    assert slides.main(["03", "--to", str(to)]) == 0
    (to / "03_masks.html").write_bytes(content)
    assert slides.main(["02", "--to", str(to)]) == 0
    assert ">03_masks</a>" in (to / "index.html").read_text()


def test_a_full_disk_leaves_the_deck_that_was_there(tmp_path, capsys, monkeypatch):
    assert slides.main(["02", "--to", str(tmp_path)]) == 0
    deck = (tmp_path / "02_attention.html").read_bytes()

    def refuse(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    (tmp_path / "02_attention.ipynb").write_bytes(
        (ROOT / "notebooks" / "02_attention.ipynb").read_bytes().replace(b"Attention", b"Other")
    )
    monkeypatch.setattr(slides, "claim", lambda folder, names: [])
    assert slides.main([str(tmp_path / "02_attention.ipynb"), "--to", str(tmp_path)]) == 1
    assert (tmp_path / "02_attention.html").read_bytes() == deck
    assert "02_attention.html" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_two_notebooks_of_one_name_are_refused(command, tmp_path, capsys):
    paths = [tmp_path / folder / "02_attention.ipynb" for folder in "ab"]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(lesson_paths()[2].read_bytes())
    assert COMMANDS[command].main([*map(str, paths), "--to", str(tmp_path / "to")]) == 1
    assert "lessons must have different names, got" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["site", "slides", "student"])
def test_an_interrupt_is_told_in_one_word(command, tmp_path, capsys, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(COMMANDS[command], "read", interrupt)
    assert COMMANDS[command].main(["02", "--to", str(tmp_path / "to")]) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def build(to):
    return site.main(["02", "--to", str(to)])


def test_a_site_takes_the_place_of_a_site_and_nothing_else_is_left(tmp_path, quick_site):
    to = tmp_path / "ü site"
    assert build(to) == 0
    (to / "index.html").write_text("old")
    (to / WRITTEN).write_text(json.dumps([*json.loads((to / WRITTEN).read_text()), "gone.html"]))
    (to / "gone.html").write_text("of a lesson that is no more")
    assert build(to) == 0
    assert (to / "index.html").read_text() == "new" and not (to / "gone.html").exists()
    assert list(tmp_path.iterdir()) == [to]


def test_a_link_to_a_site_stays_a_link_and_no_old_page_stays(tmp_path, quick_site):
    to, link = tmp_path / "site", tmp_path / "link"
    assert build(to) == 0
    link.symlink_to(to)
    (to / "index.html").write_text("old")
    assert build(link) == 0
    assert link.is_symlink() and (to / "index.html").read_text() == "new"


@pytest.mark.parametrize("name", ["CNAME", "notebooks/mine.txt", ".buildinfo"])
def test_files_of_others_stay(name, tmp_path, quick_site, capsys):
    if name != ".buildinfo":  # Sphinx writes one into every site
        assert build(tmp_path) == 0
    (tmp_path / name).write_text("mine")
    assert build(tmp_path) == 1
    assert f"got {name}: write elsewhere with --to\n" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("error", [OSError(28, "No space"), KeyboardInterrupt()])
def test_a_site_that_could_not_be_built_leaves_the_old_one(
    error, tmp_path, quick_site, monkeypatch
):
    to = tmp_path / "site"
    assert build(to) == 0
    (to / "index.html").write_text("old")

    def fail(live):
        raise error

    monkeypatch.setattr(site, "write_live_page", fail)
    assert build(to) in (1, 130)
    assert (to / "index.html").read_text() == "old" and list(tmp_path.iterdir()) == [to]


@pytest.mark.parametrize("name", ["glossary.ipynb", "02_mine.ipynb", "my.ipynb"])
def test_a_site_is_of_lessons(name, tmp_path, capsys):
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Mine")]), tmp_path / name)
    assert site.main([str(tmp_path / name), "--to", str(tmp_path / "to")]) == 1
    assert capsys.readouterr().err.startswith("The site must be of lessons, got")


def test_a_lesson_that_lacks_a_part_has_no_page(tmp_path, capsys):
    path = tmp_path / "02_attention.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Mine")]), path)
    assert site.main([str(path), "--to", str(tmp_path / "to")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Lessons must have what their pages need") and said.count("\n") == 1
