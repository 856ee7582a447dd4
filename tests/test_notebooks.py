"""Every lesson keeps the rules of the course, and every rule notices when it is broken."""

import re
from collections.abc import Callable

import pytest
from nbformat import NotebookNode

from tests.sample_lesson import sample_lesson, sample_notebook
from tools.lesson import Lesson
from tools.notebooks import ROOT, WIDGET_VIEW, source_hash
from tools.rules import RULES, all_lessons, broken_rules
from tools.skeleton_rules import title

LESSONS = all_lessons()
ROW = re.compile(r"(?m)^\|.*\]\(notebooks/(?P<name>[^)]+\.ipynb)\).*$")
MAP_ROW = re.compile(r"(?m)^\|[^|]*\|[^|]*\]\((\w+\.ipynb)\) \| (.*) \|$")
HOME = "/" + "home/somebody/lesson"


def listed_lessons() -> list[re.Match[str]]:
    """The rows of README's table of lessons, between its two markers."""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    table = re.search(r"<!-- notebooks -->(.*?)<!-- /notebooks -->", text, re.DOTALL)
    return list(ROW.finditer(table[1])) if table else []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_keeps_every_rule(lesson):
    complaints = broken_rules(lesson)
    assert not complaints, "\n" + "\n".join(complaints)


def test_readme_lists_exactly_the_lessons_that_there_are():
    assert [row["name"] for row in listed_lessons()] == [lesson.name for lesson in LESSONS]


def test_readme_calls_every_lesson_by_its_title():
    for row, lesson in zip(listed_lessons(), LESSONS, strict=True):
        assert title(lesson) in row[0], f"{lesson.name}: {title(lesson)!r} is not in {row[0]!r}"


def minutes(lesson: Lesson) -> str:
    """What the lesson says of its time: its minutes, and those of what may be left out."""
    (line,) = re.findall(r"(?m)^- \*\*Time:\*\* (.*?)\.", lesson.cells[0].source)
    return " + ".join(re.findall(r"\d+(?= minutes| more)", line))


def test_readme_tells_the_minutes_that_the_lessons_tell():
    for row, lesson in zip(listed_lessons(), LESSONS, strict=True):
        assert f"| {minutes(lesson)} |" in row[0], f"{lesson.name} says {minutes(lesson)}: {row[0]}"


def test_lesson_0_maps_the_others_by_their_titles():
    start, *others = LESSONS
    text = "\n".join(cell.source for cell in start.notebook.cells)
    assert MAP_ROW.findall(text) == [(each.name, title(each)) for each in others]


def test_lessons_are_numbered_without_a_gap():
    assert [lesson.number for lesson in LESSONS] == list(range(len(LESSONS)))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_link_to_a_file_leads_somewhere(lesson):
    for cell in lesson.markdown_cells:
        for target in re.findall(r"\]\((?!https?:|#|attachment:)([^)#\s]+)", cell.source):
            assert (ROOT / "notebooks" / target).exists(), f"{lesson.name} links to {target}"


# Below: the rules themselves. Each is broken once, in a lesson that keeps all the others.

Change = Callable[[NotebookNode], object]


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


def show(output: dict[str, object]) -> Change:
    """A change that adds an output to a cell."""
    return lambda notebook: cell_with(notebook, "max(scores)").outputs.append(NotebookNode(output))


def display(data: dict[str, str]) -> Change:
    """A change that adds displayed data to a cell."""
    return show(
        {"output_type": "display_data", "data": NotebookNode(data), "metadata": NotebookNode()}
    )


def remove(words: str) -> Change:
    """A change that removes a cell."""
    return lambda notebook: notebook.cells.remove(cell_with(notebook, words))


def printed(text: str, name: str = "stdout") -> dict[str, object]:
    """An output that prints this text."""
    return {"output_type": "stream", "name": name, "text": text}


def unfold(words: str) -> Change:
    """A change that shows a cell's source."""
    return lambda notebook: cell_with(notebook, words).metadata.pop("jupyter")


FAILURE = {"output_type": "error", "ename": "NameError", "evalue": "", "traceback": []}

BROKEN: dict[str, list[Change]] = {
    "code_is_plain_python": [append("%matplotlib inline"), replace("max(scores)", " ")],
    "code_cells_are_short": [
        append("print()\n" * 15),
        replace("mask = ...", "class Mask:\n" + "    size = 1\n" * 24 + "\n\nmask = ..."),
    ],
    "most_code_cells_are_very_short": [
        lambda notebook: [
            setattr(cell, "source", cell.source + "\n" + "scores\n" * 9)
            for cell in notebook.cells
            if cell.cell_type == "code" and "tags" not in cell.metadata
        ]
    ],
    "a_cell_defines_one_thing": [append("def one(): ...\nif scores:\n    class Two: ...")],
    "nothing_is_defined_that_the_package_has": [
        append("def attend(): ..."),
        append('ROLES = (\n    "same",\n    "next",\n)'),
        append('ROLES: tuple = ("same", "next")'),
    ],
    "prose_stands_before_code": [remove("**What you see.** The last.")],
    "prose_is_short": [replace("Three scores.", "word " * 121)],
    "one_title_and_no_skipped_level": [
        replace("## 1 · Scores", "# 1 · Scores"),
        replace("## 1 · Scores", "### 1 · Scores"),
    ],
    "pictures_in_prose_have_words": [
        replace("Three scores.", "![](scores.png)"),
        replace("Three scores.", '<img src="scores.png">'),
    ],
    "nothing_in_the_cells_is_remote": [
        replace("Three scores.", "![a bar](https://example.org/bar.png)"),
        replace("Three scores.", '<img alt="a bar" src="https://example.org/bar.png">'),
        replace("Three scores.", "<script>alert()</script>"),
    ],
    "no_cell_names_a_machine": [append(f"path = {HOME!r}")],
    "code_is_safe": [
        append("eval('1')"),
        append("import pickle"),
        append("import warnings\nwarnings.filterwarnings('ignore')"),
        append("try:\n    scores\nexcept:\n    scores"),
    ],
    "widgets_are_the_ones_that_work": [
        append("from ipywidgets import interact"),
        append("import ipywidgets\nipywidgets.Output()"),
    ],
    "every_cell_has_its_own_id": [
        lambda notebook: notebook.cells[3].update(id=notebook.cells[1].id),
        lambda notebook: notebook.cells[3].pop("id"),
    ],
    "models_go_to_the_picked_device": [
        replace("device = pick_device()\n", ""),
        replace("device = pick_device()", 'device = torch.device("cuda")'),
        replace("load_pretrained(device=device)", "load_pretrained()"),
        replace("Transformer(config).to(device)", "Transformer(config)"),
        replace('print("computed on", describe_device(device))', "model"),
    ],
    "tags_are_known": [
        lambda notebook: cell_with(notebook, "max(scores)").metadata.update(tags=["exersise"])
    ],
    "cells_ran_from_top_to_bottom": [
        lambda notebook: cell_with(notebook, "max(scores)").update(execution_count=None),
        lambda notebook: cell_with(notebook, "max(scores)").update(execution_count=3),
    ],
    "outputs_belong_to_the_sources": [
        append("print(scores)"),
        lambda notebook: notebook.metadata.pop("source_hash"),
    ],
    "no_cell_failed": [show(FAILURE)],
    "no_cell_warned": [show(printed("careful", "stderr")), show(printed("10%\r20%"))],
    "no_output_names_a_machine": [
        show(printed(HOME)),
        display({"text/plain": "<torch.Generator at 0x7f3e>"}),
    ],
    "nothing_in_the_outputs_is_remote": [
        display({"application/javascript": "alert()"}),
        display({"text/html": '<img alt="a" src="https://example.org/a.png">'}),
        display({"text/html": "<script>alert()</script>"}),
    ],
    "no_widget_is_stored": [
        display({WIDGET_VIEW: "{}"}),
        lambda notebook: notebook.metadata.update(widgets={}),
    ],
    "pictures_have_words": [
        display({"image/png": "iVBORw0KGgo="}),
        display({"text/html": '<img src="data:image/png;base64,iVBORw0KGgo=">'}),
    ],
    "metadata_is_the_same_everywhere": [
        lambda notebook: notebook.metadata.update(language_version="3.11.7"),
        lambda notebook: notebook.metadata["kernelspec"].update(name="my-kernel"),
        lambda notebook: notebook.cells[1].metadata.update(execution={"started": "now"}),
    ],
    "the_title_is_a_question": [
        replace("How does a word listen?", "Attention"),
        replace("# 2 · ", "# 3 · "),
    ],
    "the_front_says_what_to_expect": [
        replace("**You will build** attention.", ""),
        replace("§3.2.1", "somewhere"),
        replace("40 minutes", "long"),
        replace("5 seconds", "parts"),
    ],
    "the_setup_comes_first": [
        replace("import sys", "import sys, os"),
        remove("find_spec"),
        lambda notebook: notebook.cells.insert(0, notebook.cells.pop(3)),
        lambda notebook: cell_with(notebook, "find_spec").metadata.pop("tags"),
    ],
    "the_links_to_open_it_are_current": [
        replace(
            "listen?",
            "listen?\n\n[Open in Colab](https://colab.research.google.com/github/a/b/blob/main/c)",
        )
    ],
    "the_map_is_shown": [remove("plot_architecture")],
    "the_package_is_met": [
        replace("Meet the package", "Meet somebody"),
        replace("assert attend(scores) == 3", "attend(scores)"),
        replace("from transformer_edu.model.attention import attend\n\n", ""),
    ],
    "something_is_broken": [
        replace("3 · Break it", "3 · Rest"),
        replace("assert share > 0.9", "share"),
    ],
    "exercises_are_numbered": [
        replace("Exercise 2.2", "Exercise 2.3"),
        replace("(1 minute)", "(soon)"),
        replace("### Exercise 2.1 · Build (3 minutes)", ""),
    ],
    "exercises_can_be_solved": [
        replace("mask = [True, False]\n```", "mask = [True, False]"),
        replace("# Your answer:\nmask", "mask"),
        replace("mask = ...", "mask = None"),
        lambda notebook: cell_with(notebook, "check_mask").metadata.pop("tags"),
        lambda notebook: cell_with(notebook, "check_mask").outputs.clear(),
    ],
    "the_end_says_what_was_learned": [
        replace("- Values flow.", ""),
        replace("You can now say", "The end"),
    ],
    "the_end_leads_on": [replace("03_masks.ipynb", "04_heads.ipynb")],
    "the_parts_stand_in_order": [
        lambda notebook: notebook.cells.insert(3, notebook.cells.pop()),
    ],
    "lesson_is_short": [
        replace("Each pair has", "word " * 2200 + "has"),
        lambda notebook: notebook.cells.extend(notebook.cells[2:3] * 30),
        lambda notebook: notebook.cells.extend(notebook.cells[3:4] * 20),
    ],
    "predicts_can_be_committed_to": [
        replace('with predict("The largest?", "1", "3"):', "if True:"),
        replace("Each pair has a score.", "**Predict.** How many scores?"),
        replace("**What you see.** The last.", "The last."),
    ],
    "nothing_gives_a_prediction_away": [
        replace("    max(scores)", '    max(scores)\n    assert 3 > 2, "the largest is 3"'),
        replace("    max(scores)", '    show(figure, alt="the largest is 3")'),
        replace("    max(scores)", '    plot(scores, title="The largest is 3")'),
    ],
    "claims_stand_apart": [
        replace("share = 0.94", "share = 0.94\nassert share > 0.9, 'most'"),
        replace("share = 0.94", "share = 0.94\ntorch.testing.assert_close(share, 1)"),
        replace('assert share > 0.9, "most"', "assert share > 0.9"),
        replace('assert share > 0.9, "most"', "share"),
        unfold("assert share"),
        lambda notebook: cell_with(notebook, "assert share").metadata.update(tags=["claim"]),
    ],
    "setup_is_folded": [unfold("find_spec")],
    "front_says_what_is_needed": [replace("You need to know", "Bring")],
}
CHANGES = [(rule, change) for rule, changes in BROKEN.items() for change in changes]
CHANGED_SURROUNDINGS = {
    "the_file_is_small": {"size": 550_001},
    "the_links_to_open_it_are_current": {"address": "https://github.com/owner/name"},
    "the_setup_comes_first": {"address": "https://github.com/owner/name"},
}


def complaints_about(rule: str, lesson: Lesson) -> list[str]:
    return [each for each in broken_rules(lesson) if each.startswith(f"{rule}:")]


def test_the_sample_keeps_every_rule():
    assert broken_rules(sample_lesson()) == []


@pytest.mark.parametrize(("rule", "change"), CHANGES, ids=[rule for rule, _ in CHANGES])
def test_a_broken_rule_is_noticed(rule, change):
    notebook = sample_notebook()
    change(notebook)
    if rule != "outputs_belong_to_the_sources" and "source_hash" in notebook.metadata:
        notebook.metadata["source_hash"] = source_hash(notebook)
    assert complaints_about(rule, sample_lesson(notebook))


def test_a_class_to_build_may_be_longer_and_have_a_name_of_the_package():
    notebook = sample_notebook()
    lines = "class MultiHeadAttention:\n" + "    size = 1\n" * 18 + "\n\nmask = ..."
    replace("mask = ...", lines)(notebook)
    lesson = sample_lesson(notebook)
    assert not complaints_about("code_cells_are_short", lesson)
    assert not complaints_about("nothing_is_defined_that_the_package_has", lesson)


def test_a_title_that_is_computed_gives_nothing_away():
    notebook = sample_notebook()
    replace("    max(scores)", '    plot(scores, title=f"The largest is {max(scores)}")')(notebook)
    assert not complaints_about("nothing_gives_a_prediction_away", sample_lesson(notebook))


@pytest.mark.parametrize("rule", CHANGED_SURROUNDINGS)
def test_a_rule_about_the_surroundings_notices_too(rule):
    assert complaints_about(rule, sample_lesson(**CHANGED_SURROUNDINGS[rule]))


def test_every_rule_is_broken_by_one_of_these_tests():
    assert {rule.__name__ for rule in RULES} == {*BROKEN, *CHANGED_SURROUNDINGS}


def test_a_constant_of_its_own_is_allowed_under_a_name_of_the_package():
    notebook = sample_notebook()
    append('ROLES = ("first", "last")')(notebook)
    notebook.metadata["source_hash"] = source_hash(notebook)
    assert broken_rules(sample_lesson(notebook)) == []


def test_an_announced_error_is_allowed():
    notebook = sample_notebook()
    cell = cell_with(notebook, "max(scores)")
    cell.outputs.append(NotebookNode(FAILURE))
    cell.metadata["tags"] = ["raises-exception"]
    assert broken_rules(sample_lesson(notebook)) == []


def test_code_formulae_tables_and_solutions_are_not_counted_as_prose():
    silent = (
        "```python\n" + "word " * 200 + "\n```\n| " + "word " * 200 + "|\n$$" + "x " * 200 + "$$"
    )
    notebook = sample_notebook()
    cell_with(notebook, "Three scores.").source += f"\n{silent}\n<details>{'word ' * 200}</details>"
    assert not complaints_about("prose_is_short", sample_lesson(notebook))
