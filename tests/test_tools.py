"""Running, tidying and addressing lessons."""

import errno
import os
import re

import nbformat
import pytest

from tests.sample_lesson import sample_notebook
from tools import colab, exercises, notebooks

ADDRESS = "https://github.com/owner/name"
README = """# Course
<!-- badges -->
<!-- /badges -->
[outside](notebooks/00_start.ipynb)
<!-- notebooks -->
| 00 | [What is it?](notebooks/00_start.ipynb) | 20 minutes |
<!-- /notebooks -->
"""


def notebook_of(*sources: str) -> nbformat.NotebookNode:
    """A notebook of code cells."""
    cells = [nbformat.v4.new_code_cell(source, id=f"code-{i}") for i, source in enumerate(sources)]
    return nbformat.v4.new_notebook(cells=cells)


def written(folder, *sources):
    """The path of a new notebook of code cells."""
    path = folder / "00_start.ipynb"
    nbformat.write(notebook_of(*sources), path)
    return path


# Running and tidying


def test_a_second_run_writes_the_same_bytes(tmp_path):
    path = written(
        tmp_path,
        "import sys\nprint('10%\\r', file=sys.stderr)\nprint('one')\nprint(file=sys.stderr)",
        "import ipywidgets\nipywidgets.IntSlider()",
        "sorted({'b', 'a'}), {'b', 'a'}",
        "import os\n[os.environ[n] for n in ('OMP_NUM_THREADS', 'PYTHONHASHSEED')]",
    )
    notebooks.run_in_place(path)
    first = path.read_bytes()
    notebooks.run_in_place(path)
    assert path.read_bytes() == first
    notebook = notebooks.read(path)
    assert [cell.execution_count for cell in notebook.cells] == [1, 2, 3, 4]
    assert notebook.cells[3].outputs[0].data["text/plain"] == "['1', '0']"  # threads, hash seed
    assert [output.text for output in notebook.cells[0].outputs] == ["one\n"]
    assert "widgets" not in notebook.metadata
    assert notebooks.WIDGET_VIEW not in first.decode()


def test_on_a_full_disk_a_lesson_stays_whole(tmp_path, monkeypatch):
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = written(tmp_path, "one = 1")
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        notebooks.write(notebook_of("two = 2"), path)
    with pytest.raises(OSError, match="No space left"):
        colab.write_if_changed(path, "{}")
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]


def test_a_warning_is_an_error(tmp_path):
    path = written(tmp_path, "import warnings\nwarnings.warn('careful')")
    with pytest.raises(notebooks.LessonError, match=r"cell 1 .* warns: .*careful"):
        notebooks.run_in_place(path)


def test_the_command_names_the_cell_that_failed_and_leaves_the_file_alone(tmp_path, capsys):
    path = written(tmp_path, "one = 1", "two = one + zero")
    before = path.read_bytes()
    assert notebooks.main([str(path)]) == 1
    shown = capsys.readouterr()
    assert "FAILED    notebooks/00_start.ipynb: cell 2 ('two = one + zero') failed" in shown.err
    assert "NameError" in shown.err and "run: make lesson LESSON=00" in shown.err
    assert path.read_bytes() == before
    assert notebooks.main([str(written(tmp_path, "1 / 1"))]) == 0
    assert re.fullmatch(r" +\d+\.\d s  00_start.ipynb\n", capsys.readouterr().out)


def test_tidying_keeps_tags_and_slides_and_drops_the_rest():
    notebook = sample_notebook()
    cell = notebook.cells[1]
    cell.metadata.update(slideshow={"slide_type": "skip"}, execution={"started": "now"})
    notebook.metadata.update(colab={"gpuType": "T4", "provenance": []}, accelerator="GPU", x=1)
    notebooks.tidy(notebook)
    folded = {"source_hidden": True}
    slide = {"slide_type": "skip"}
    assert cell.metadata == {"tags": ["setup"], "jupyter": folded, "slideshow": slide}
    assert notebook.metadata.colab == {"gpuType": "T4"}
    assert set(notebook.metadata) == {
        *("accelerator", "colab", "kernelspec", "language_info", "source_hash")
    }


def test_tidying_keeps_the_picture_beside_a_widget():
    data = {notebooks.WIDGET_VIEW: {}, "image/png": "iVBORw0KGgo="}
    kept = notebooks.tidy_outputs([nbformat.v4.new_output("display_data", data=data)])
    assert [set(output.data) for output in kept] == [{"image/png"}]


# The repository's address


def test_the_address_is_stored_in_one_place_and_replaced():
    bare = '[project]\nname = "x"\n\n[project.urls]\n\n[tool.y]\n'
    once = colab.with_repository_address(bare, ADDRESS)
    assert colab.repository_address(bare) is None
    assert colab.repository_address(once) == ADDRESS
    assert colab.with_repository_address(once, ADDRESS) == once
    other = colab.with_repository_address(once, "https://github.com/a/b")
    assert other == once.replace("owner/name", "a/b")
    own = (notebooks.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert colab.repository_address(colab.with_repository_address(own, ADDRESS)) == ADDRESS


def test_without_a_place_for_the_address_the_command_says_so(tmp_path, monkeypatch, capsys):
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('[project]\nname = "x"\n')
    monkeypatch.setattr(colab, "ROOT", tmp_path)
    assert colab.main(["owner/name"]) == 1
    said = "error: pyproject.toml must have a line [project.urls], got none\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("address", [None, ADDRESS])
def test_the_setup_cell_does_nothing_where_the_package_is(address, capsys):
    exec(colab.setup_cell_source(address), {})
    assert capsys.readouterr() == ("", "")


def test_without_an_address_the_setup_cell_stops_with_one_sentence(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"^The package .* run `make lab` [^.]*\.$"):
        exec(colab.setup_cell_source(None), {})


def test_with_an_address_the_setup_cell_hands_it_to_pip(monkeypatch):
    commands = []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("subprocess.run", lambda command, check: commands.append(command[1:]))
    exec(colab.setup_cell_source(ADDRESS), {})
    assert commands == [["-m", "pip", "install", "-q", f"transformer-edu[course] @ git+{ADDRESS}"]]


def test_lessons_on_real_text_fetch_what_reads_it_too():
    plain, with_text = (
        colab.setup_cell_source(ADDRESS, name) for name in ("02_a.ipynb", "15_translation.ipynb")
    )
    assert f'"transformer-edu[course] @ git+{ADDRESS}"' in plain
    assert f'"transformer-edu[course,data] @ git+{ADDRESS}"' in with_text
    assert colab.setup_cell_source(None, "15_translation.ipynb") == colab.setup_cell_source(None)


def test_the_lessons_that_need_the_extra_are_those_that_load_or_score_real_text():
    for path in notebooks.lesson_paths():
        code = "\n".join(cell.source for cell in notebooks.read(path).cells)
        needs = re.search(r"\b(corpus_bleu|load_multi30k|(load|fetch|save)_marian)\(", code)
        assert bool(needs) == path.name.startswith(colab.LESSONS_WITH_TEXT), path.name


def test_a_lesson_gets_its_links_and_loses_them_again():
    title = "# 0 · What?"
    linked = colab.with_links(f"{title}\n\nWords.", ADDRESS, "notebooks/0")
    links = (
        f"[Open in Colab]({colab.COLAB}/owner/name/blob/main/notebooks/0) · "
        f"[Open in Binder]({colab.BINDER}/owner/name/main?labpath=work%2F0)"
    )
    assert linked == f"{title}\n\n{links}\n\nWords."
    assert colab.with_links(linked, ADDRESS, "notebooks/0") == linked
    assert colab.with_links(linked, None, "notebooks/0") == f"{title}\n\nWords."


def test_readme_gets_badges_and_a_link_to_the_website_and_loses_them_again():
    badged = colab.with_badges(README, ADDRESS)
    assert f"[{colab.LIVE}](https://owner.github.io/name/)" in badged
    places = colab.places_to_open(ADDRESS, "notebooks/00_start.ipynb")
    for name, place in places.items():
        assert f"[![Open in {name}]({colab.BADGES[name]})]({place})\n" in badged
    assert badged.index("Binder") < badged.index("[outside]")
    assert colab.with_badges(badged, ADDRESS) == badged
    assert colab.with_badges(badged, None) == README


def test_readme_links_the_lessons_of_its_list_only():
    linked = colab.with_colab_links(README, ADDRESS)
    target = f"{colab.COLAB}/owner/name/blob/main/notebooks/00_start.ipynb"
    assert linked.count("[Colab]") == 1
    assert f"(notebooks/00_start.ipynb) · [Colab]({target}) | 20" in linked
    assert colab.with_colab_links(linked, ADDRESS) == linked
    assert colab.with_colab_links(linked, None) == README


def test_a_new_address_leaves_fresh_outputs_fresh_and_stale_ones_stale():
    fresh, stale = sample_notebook(), sample_notebook()
    stale.cells[-1].source += " edited"
    for notebook in (fresh, stale):
        colab.address_lesson(notebook, ADDRESS, "notebooks/02_attention.ipynb")
        assert colab.setup_cell(notebook).source == colab.setup_cell_source(ADDRESS)
    assert fresh.metadata.source_hash == notebooks.source_hash(fresh)
    assert stale.metadata.source_hash != notebooks.source_hash(stale)


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("Owner/name", "https://owner.github.io/name/"),
        ("Owner/Owner.github.io", "https://owner.github.io/"),
    ],
)
def test_the_website_is_where_github_publishes_it(repository, address):
    assert colab.live_page(f"https://github.com/{repository}") == address


ALL_NOTEBOOKS = sorted((notebooks.ROOT / "notebooks").glob("*.ipynb"))
LINK_OF_ANY_KIND = re.compile(r"\]\(([^)\s]+)|\b(?:href|src)=[\"']?([^\"'\s>]+)")


def links_of(notebook: nbformat.NotebookNode) -> list[str]:
    """Where the words of a notebook link to."""
    words = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return ["".join(each) for each in LINK_OF_ANY_KIND.findall("\n".join(words))]


def test_with_an_address_no_relative_link_is_left_in_any_notebook(tmp_path):
    names, found = {path.name for path in ALL_NOTEBOOKS}, []
    for path in ALL_NOTEBOOKS:
        notebook = notebooks.read(path)
        text = notebooks.stored(notebook, ADDRESS)
        before, after = links_of(notebook), links_of(nbformat.reads(text, 4))
        assert [link for link in after if not link.startswith("http")] == []
        found += [link for link in before if not link.startswith("http")]
        place = f"{colab.COLAB}/owner/name/blob/main/notebooks/"
        assert after == [link if link[:4] == "http" else f"{place}{link}" for link in before]
        (tmp_path / path.name).write_text(text, encoding="utf-8")
        again = notebooks.read(tmp_path / path.name)
        assert [cell.source for cell in again.cells] == [cell.source for cell in notebook.cells]
    assert len(found) > 400 and {link.partition("#")[0] for link in found} <= names


def test_a_title_keeps_its_own_link_to_colab_when_links_become_relative(tmp_path):
    source = colab.with_links("# 0 · What?\n\n[On](01_on.ipynb#a)", ADDRESS, "notebooks/00.ipynb")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(source, id="a")])
    path = tmp_path / "00.ipynb"
    path.write_text(notebooks.stored(notebook, ADDRESS), encoding="utf-8")
    assert f"[On]({colab.COLAB}/owner/name/blob/main/notebooks/01_on.ipynb#a)" in path.read_text()
    assert notebooks.read(path).cells[0].source == source
    assert notebooks.stored(notebooks.read(path), None) == notebooks.stored(notebook, None)


def test_the_setup_cell_is_folded_on_colab_and_stays_so_when_a_lesson_is_stored():
    notebook = sample_notebook()
    colab.address_lesson(notebook, ADDRESS, "notebooks/02_attention.ipynb")
    notebooks.tidy(notebook)
    cell = colab.setup_cell(notebook)
    assert cell.source.startswith("# @title Set-up")
    assert cell.metadata["cellView"] == "form" and cell.metadata["jupyter"]["source_hidden"]
    colab.address_lesson(notebook, None, "notebooks/02_attention.ipynb")
    assert "cellView" not in colab.setup_cell(notebook).metadata


@pytest.mark.parametrize(
    "given",
    ["name", "https://github.com/owner/name", "owner/name; rm", "owner/name.git", "../.."],
)
def test_an_address_of_another_form_is_refused(given, capsys):
    assert colab.main([given]) == 1
    assert f"REPO must be owner/name, as on GitHub, got {given!r}" in capsys.readouterr().err


def test_a_damaged_lesson_and_a_readme_without_lessons_are_named(tmp_path):
    (tmp_path / "02.ipynb").write_text("<<<<<<< HEAD", encoding="utf-8")
    with pytest.raises(ValueError, match="02.ipynb is damaged: Notebook does not appear to be"):
        notebooks.read(tmp_path / "02.ipynb")
    with pytest.raises(ValueError, match="README.md must hold the list of lessons"):
        colab.with_badges("# A fork", ADDRESS)


# Exercises


@pytest.mark.parametrize("printed", ["", "print(sheet(mask))\n"])
def test_a_solution_replaces_the_stub_and_nothing_else(printed):
    cell = f"import x\n\n# Your answer: the mask\nmask = ...\n\n{printed}check_mask(\n    mask\n)"
    answered = exercises.with_answer(cell, "def mask():\n\n    return 1\n")
    assert answered == cell.replace("mask = ...", "def mask():\n\n    return 1")


def test_solving_a_lesson_answers_every_exercise():
    answered = exercises.solved(sample_notebook())
    sources = [answered.cells[index].source for index in exercises.exercise_indices(answered)]
    assert ["mask = [True, False]" in sources[0], "rows = 3" in sources[1]] == [True, True]
    assert "..." not in "".join(sources)


def test_an_exercise_without_a_solution_is_refused():
    notebook = sample_notebook()
    notebook.cells[exercises.exercise_indices(notebook)[1] + 1].source = "Try it."
    with pytest.raises(ValueError, match=r"exercise 2\.2 must be followed by a solution"):
        exercises.solved(notebook)
