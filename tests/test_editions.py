"""What the editions refuse, and that an edition that fails leaves the one that was there."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import editions, handout, site, slides, student
from tools.editions import EditionError, put, require_no_loss
from tools.notebooks import ROOT, lesson_paths
from tools.site import WRITTEN

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
    assert said.startswith("a lesson must be a notebook") and f"got the file {path} (" in said
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
    assert "formulas that can be drawn, for slides" in said
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

    def refuse(path, before, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(editions, "replace_unchanged", refuse)
    (tmp_path / "02_attention.ipynb").write_bytes(
        (ROOT / "notebooks" / "02_attention.ipynb").read_bytes().replace(b"Attention", b"Other")
    )
    assert slides.main([str(tmp_path / "02_attention.ipynb"), "--to", str(tmp_path)]) == 1
    assert (tmp_path / "02_attention.html").read_bytes() == deck
    assert "02_attention.html" in capsys.readouterr().err


def test_a_deck_or_a_handout_that_somebody_has_changed_stays(tmp_path, capsys):
    assert slides.main(["02", "03", "--to", str(tmp_path)]) == 0
    assert slides.main(["02", "03", "--to", str(tmp_path)]) == 0
    deck = tmp_path / "03_masks.html"
    deck.write_text("with notes of mine")
    assert slides.main(["02", "--to", str(tmp_path)]) == 0
    assert slides.main(["03", "--to", str(tmp_path)]) == 1
    wanted = f"{tmp_path} must hold no file of others that would be lost, got {deck.name}"
    assert capsys.readouterr().err.startswith(wanted) and deck.read_text() == "with notes of mine"
    put(tmp_path / "02_attention.pdf", b"printed")
    require_no_loss(tmp_path, ["02_attention.pdf"])
    (tmp_path / "02_attention.pdf").write_bytes(b"printed, with notes")
    with pytest.raises(EditionError, match="got 02_attention.pdf: move it elsewhere"):
        require_no_loss(tmp_path, ["02_attention.pdf"])
    with pytest.raises(EditionError, match="got 02_attention.pdf: move it elsewhere"):
        put(tmp_path / "02_attention.pdf", b"printed again")


@pytest.mark.parametrize("change", ["CRLF", "an earlier version"])
def test_a_deck_of_an_earlier_version_or_with_other_line_ends_is_named_with_what_to_do(
    change, tmp_path, capsys
):
    assert slides.main(["02", "--to", str(tmp_path)]) == 0
    deck = tmp_path / "02_attention.html"
    lines = deck.read_bytes().split(b"\n")
    deck.write_bytes(b"\r\n".join(lines) if change == "CRLF" else b"\n".join(lines[:-2]))
    assert slides.main(["02", "--to", str(tmp_path)]) == 1
    told = f"got {deck.name}: move it elsewhere, or delete it if it is but an older edition"
    assert told in capsys.readouterr().err
    deck.unlink()
    assert slides.main(["02", "--to", str(tmp_path)]) == 0


@pytest.mark.parametrize("name", ["02_attention.html", "index.html", "02_attention.ipynb"])
def test_a_file_of_the_readers_own_stays(name, tmp_path, capsys):
    (tmp_path / name).write_text("mine")
    assert slides.main(["02", "--to", str(tmp_path)]) == int(name.endswith(".html"))
    assert slides.main(["03", "--to", str(tmp_path)]) == int(name == "index.html")
    assert (tmp_path / name).read_text() == "mine"


def test_a_deck_has_another_name_than_the_page_of_all(tmp_path, capsys):
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Mine")]), tmp_path / "index.ipynb")
    assert slides.main([str(tmp_path / "index.ipynb"), "--to", str(tmp_path / "to")]) == 1
    assert "another name than the page of all" in capsys.readouterr().err


def test_odd_names_of_decks_are_links(tmp_path):
    path = tmp_path / "50% <i>#1.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Mine")]), path)
    assert slides.main([str(path), "--to", str(tmp_path / "to")]) == 0
    index = (tmp_path / "to" / "index.html").read_text()
    assert '<a href="50%25%20%3Ci%3E%231.html">Mine</a>' in index


def test_slides_that_were_killed_are_written_again(tmp_path, monkeypatch):
    def killed(*given):
        raise KeyboardInterrupt

    for lessons in (["02"], ["02", "03"]):
        with monkeypatch.context() as patch:
            patch.setattr(editions, "replace_unchanged", killed)
            assert slides.main([*lessons, "--to", str(tmp_path)]) == 130
        assert slides.main([*lessons, "--to", str(tmp_path)]) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signal")
@pytest.mark.parametrize("name", [*COMMANDS, "reset", "working_copies"])
def test_an_interrupt_while_a_command_is_imported_is_one_word(name):
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", f"tools.{name}", "--help"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    for line in process.stderr:
        if line.rstrip().endswith("transformer_edu.training.machine.failures"):
            break
    process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    said = [line for line in errors.splitlines() if not line.startswith("import time:")]
    assert process.returncode == 130 and said[-1] == "Interrupted."
    assert "Traceback" not in errors


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


def put_page(site_folder, name, text):
    """Put a page into a site, as an earlier build wrote it."""
    (site_folder / name).write_text(text)
    (site_folder / WRITTEN).write_text(json.dumps(site._digests(site_folder)))


@pytest.fixture(params=[True, False])
def at_once(request, monkeypatch):
    """Whether the system lets two folders change names at once."""
    if not request.param:
        monkeypatch.setattr(site, "exchange", lambda one, other: False)


@pytest.mark.parametrize("name", ["index.html", "notebooks/02_attention.html"])
def test_a_page_that_somebody_has_changed_stays(name, tmp_path, quick_site, capsys):
    assert build(tmp_path / "site") == 0
    (tmp_path / "site" / name).write_text("with notes of mine")
    assert build(tmp_path / "site") == 1
    assert f"a site that nobody has changed, got {name}: write elsewhere" in capsys.readouterr().err
    assert (tmp_path / "site" / name).read_text() == "with notes of mine"


@pytest.mark.parametrize("name", ["CNAME", "index.html", ""])
def test_what_comes_into_the_site_at_the_last_moment_stays(
    name, at_once, tmp_path, quick_site, monkeypatch, capsys
):
    to, whole = tmp_path / "site", site._change_names
    place = to / name
    assert build(to) == 0
    page = (to / "index.html").read_text()

    def put_meanwhile(one, other):
        monkeypatch.setattr(site, "_change_names", whole)
        if not name:
            site.shutil.rmtree(to)
        place.write_text("mine")
        whole(one, other)

    monkeypatch.setattr(site, "_change_names", put_meanwhile)
    assert build(to) == 1
    assert "write elsewhere with --to" in capsys.readouterr().err
    assert place.read_text() == "mine" and list(tmp_path.iterdir()) == [to]
    assert name != "CNAME" or (to / "index.html").read_text() == page


@pytest.mark.parametrize("error", [OSError(16, "Device or resource busy"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", [0, 1, 2])
def test_there_is_always_a_site(step, error, tmp_path, quick_site, monkeypatch, capsys):
    to, steps, whole = tmp_path / "site", iter(range(9)), Path.rename
    assert build(to) == 0
    put_page(to, "index.html", "old")

    def fail_once(path, target):
        if next(steps) == step:
            raise error
        return whole(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(site, "exchange", lambda one, other: False)
        patch.setattr(Path, "rename", fail_once)
        assert build(to) in (1, 130)
    assert (to / "index.html").read_text() in ("old", "new")
    capsys.readouterr()
    assert build(to) == 0
    left = sorted(set(tmp_path.iterdir()) - {to})
    said = capsys.readouterr().out
    assert (to / "index.html").read_text() == "new" and all(f"{path} is" in said for path in left)


def test_a_site_takes_the_place_of_a_site_and_nothing_else_is_left(tmp_path, quick_site):
    to = tmp_path / "ü site"
    assert build(to) == 0
    put_page(to, "index.html", "old")
    put_page(to, "gone.html", "of a lesson that is no more")
    assert build(to) == 0
    assert (to / "index.html").read_text() == "new" and not (to / "gone.html").exists()
    assert list(tmp_path.iterdir()) == [to]


def test_a_link_to_a_site_stays_a_link_and_no_old_page_stays(tmp_path, quick_site):
    to, link = tmp_path / "site", tmp_path / "link"
    assert build(to) == 0
    link.symlink_to(to)
    put_page(to, "index.html", "old")
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
    put_page(to, "index.html", "old")

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
    assert (
        said.startswith(f"A lesson must have what its page needs, got {path}: ")
        and said.count("\n") == 1
    )
