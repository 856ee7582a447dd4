"""A rule of the lessons notices when it is broken; `make lint` checks the lessons themselves."""

import ast
from collections.abc import Callable

import pytest
from nbformat import NotebookNode

from tests.sample_lesson import SEEN, sample_lesson, sample_notebook
from tools.cell_rules import words_in
from tools.exercises import exercise_indices, solved
from tools.notebooks import WIDGET_VIEW, lesson_paths, read, source_hash
from tools.rules import RULES, broken_rules, main

Change = Callable[[NotebookNode], object]
HOME = "/" + "home/somebody/lesson"


def cell_with(notebook: NotebookNode, words: str) -> NotebookNode:
    """The first cell whose source holds these words."""
    return next(cell for cell in notebook.cells if words in cell.source)


def replace(words: str, by: str) -> Change:
    """A change of some words in the first cell that has them."""

    def change(notebook: NotebookNode) -> None:
        cell = cell_with(notebook, words)
        cell.source = cell.source.replace(words, by)

    return change


def append(line: str) -> Change:
    """A change that adds a line of code to a cell."""
    return replace("max(scores)", f"max(scores)\n{line}")


def show(**output: object) -> Change:
    """A change that adds an output to a cell."""
    output = {"metadata": NotebookNode()} | output
    return lambda notebook: cell_with(notebook, "max(scores)").outputs.append(NotebookNode(output))


def display(**data: str) -> Change:
    """A change that adds displayed data to a cell."""
    kinds = {kind.replace("_", "/"): text for kind, text in data.items()}
    return show(output_type="display_data", data=NotebookNode(kinds))


def lengthen(notebook: NotebookNode) -> None:
    """Add nine lines to every open cell."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and "tags" not in cell.metadata:
            cell.source += "\n" + "scores\n" * 9


BROKEN: dict[str, Change] = {
    "code_is_plain_python": append("%matplotlib inline"),
    "code_cells_are_short": append("print()\n" * 15),
    "most_code_cells_are_very_short": lengthen,
    "a_cell_defines_one_thing": append("def one(): ...\nif scores:\n    class Two: ..."),
    "nothing_is_defined_that_the_package_has": append("def attend(): ..."),
    "prose_stands_before_code": lambda notebook: notebook.cells.pop(8),
    "prose_is_short": replace("Three scores.", "word " * 121),
    "one_title_and_no_skipped_level": replace("## 1 · Scores", "### 1 · Scores"),
    "pictures_in_prose_have_words": replace("Three scores.", "![](scores.png)"),
    "nothing_in_the_cells_is_remote": replace("Three scores.", "<script>alert()</script>"),
    "no_cell_names_a_machine": append(f"path = {HOME!r}"),
    "every_link_leads_somewhere": replace("Three scores.", "[all](99_missing.ipynb)"),
    "every_cell_has_its_own_id": lambda notebook: notebook.cells[3].update(id="code-1"),
    "models_go_to_the_picked_device": replace("(config).to(device)", "(config)"),
    "tags_are_known": lambda notebook: cell_with(notebook, "max(").metadata.update(
        tags=["exersise"]
    ),
    "cells_ran_from_top_to_bottom": lambda notebook: notebook.cells[3].update(execution_count=3),
    "outputs_belong_to_the_sources": append("print(scores)"),
    "no_cell_failed": show(output_type="error", ename="NameError", evalue="", traceback=[]),
    "no_cell_warned": show(output_type="stream", name="stderr", text="careful"),
    "no_output_names_a_machine": show(output_type="stream", name="stdout", text=HOME),
    "nothing_in_the_outputs_is_remote": display(text_html="<script>alert()</script>"),
    "no_widget_is_stored": show(output_type="display_data", data={WIDGET_VIEW: "{}"}),
    "pictures_have_words": display(image_png="iVBORw0KGgo="),
    "metadata_is_the_same_everywhere": lambda notebook: notebook.metadata.update(version="3.11"),
    "the_title_is_a_question": replace("How does a word listen?", "Attention"),
    "the_front_says_what_to_expect": replace("40 minutes", "long"),
    "the_setup_comes_first": replace("import sys", "import sys, os"),
    "the_links_to_open_it_are_current": replace("listen?", "listen?\n\n[Open in Colab](a/b)"),
    "the_map_is_shown": replace("show_map()", "scores"),
    "the_package_is_met": replace("assert attend(scores) == 3", "attend(scores)"),
    "something_is_broken": replace("3 · Break it", "3 · Rest"),
    "exercises_are_numbered": replace("Exercise 2.2", "Exercise 2.3"),
    "exercises_can_be_solved": replace("mask = [True, False]\n```", "mask = [True, False]"),
    "exercises_wait": lambda notebook: cell_with(notebook, "check_mask").outputs.clear(),
    "the_end_says_what_was_learned": replace("- Values flow.", ""),
    "the_end_leads_on": replace("03_masks.ipynb", "glossary.ipynb"),
    "the_parts_stand_in_order": lambda n: n.cells.insert(3, n.cells.pop()),
    "lesson_is_short": replace("Each pair has", "word " * 2200 + "has"),
    "predicts_can_be_committed_to": replace(
        f"{SEEN}The last.\n</details>", "**What you see.** The last."
    ),
    "nothing_gives_a_prediction_away": append('    show(figure, alt="the largest is 3")'),
    "claims_stand_apart": replace("share = 0.94", "share = 0.94\nassert share > 0.9, 'most'"),
    "setup_is_folded": lambda notebook: cell_with(notebook, "find_spec").metadata.pop("jupyter"),
    "front_says_what_is_needed": replace("You need to know", "Bring"),
}


def complaints_about(rule: str, notebook: NotebookNode, **surroundings: object) -> list[str]:
    """What the rule says about a sample lesson."""
    found = broken_rules(sample_lesson(notebook, **surroundings))
    return [each for each in found if f": {rule}: " in each]


def test_the_sample_keeps_every_rule():
    assert broken_rules(sample_lesson()) == []


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_noticed_and_says_which_file_to_open_and_what_to_run(rule):
    notebook = sample_notebook()
    BROKEN[rule](notebook)
    if rule != "outputs_belong_to_the_sources":
        notebook.metadata["source_hash"] = source_hash(notebook)
    found = complaints_about(rule, notebook)
    assert found
    assert found[0].startswith("notebooks/02_sample.ipynb: ")
    assert found[0].endswith("; then run: make lesson LESSON=02")


def test_a_file_that_is_too_large_is_noticed():
    assert complaints_about("the_file_is_small", sample_notebook(), size=550_001)


def test_every_rule_is_broken_by_one_of_these_tests():
    assert {rule.__name__ for rule in RULES} == {*BROKEN, "the_file_is_small"}


def test_a_folded_what_you_see_counts_as_words_and_other_folds_do_not():
    folds = "{}<summary>{}</summary>\n\none two three\n\n</details>"
    assert words_in(folds.format("<details>", "What you see")) == 6
    assert words_in(folds.format("<details>", "Solution")) == 0
    assert words_in(folds.format("<details>", "For engineers")) == 0


@pytest.mark.parametrize(
    "change",
    [
        replace(
            "mask = ...", "class MultiHeadAttention:\n" + "    size = 1\n" * 18 + "\nmask = ..."
        ),
        replace("    max(", '    plot(scores, title=f"The largest is {max(scores)}")\n    max('),
        append('ROLES = ("first", "last")'),
        replace("Three scores.", f"Three.\n```python\n{'word ' * 200}\n```\n$$ {'x ' * 200}$$"),
    ],
    ids=["a class to build", "a computed title", "a constant of its own", "code and formulas"],
)
def test_what_a_lesson_may_do_is_no_fault(change):
    notebook = sample_notebook()
    change(notebook)
    notebook.metadata["source_hash"] = source_hash(notebook)
    assert broken_rules(sample_lesson(notebook)) == []


@pytest.mark.parametrize(
    ("name", "got"), [("02_atention.ipynb", "02_atention.ipynb"), ("", "an empty text"), ("/", "/")]
)
def test_a_lesson_that_is_not_there_keeps_no_rule(name, got, capsys):
    assert main([name]) == 2
    wanted = f"a lesson must be a notebook such as 00_start_here.ipynb, got {got}\n"
    assert capsys.readouterr() == ("", wanted)


@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.stem)
def test_no_exercise_needs_what_only_another_one_imports(path):
    """An answer that does not parse costs no other one its points."""
    notebook = solved(read(path))
    exercises = exercise_indices(notebook)
    imported, used = {}, {}
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            nodes = [*ast.walk(ast.parse(cell.source))]
            names = [each.names for each in nodes if isinstance(each, ast.Import | ast.ImportFrom)]
            imported[index] = {each.asname or each.name for group in names for each in group}
            used[index] = {each.id for each in nodes if isinstance(each, ast.Name)}
    everywhere = set().union(*(imported[index] for index in imported if index not in exercises))
    for index in exercises:
        others = set().union(*(imported[other] for other in exercises if other != index))
        assert not (used[index] & others) - everywhere - imported[index], f"cell {index}"
    # The reader's own classes reach an exercise through the cells before it, too.
    without = [index for index in used if "my_parts" in used[index] - imported[index]]
    assert "my_parts" in everywhere or not without, f"cells {without}"
