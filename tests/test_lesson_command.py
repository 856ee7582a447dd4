"""What `make lesson` is made of: the list of a room, and the refusal; and the count of code."""

import nbformat
import pytest

from tools import lesson_command, rooms
from tools.notebooks import LessonError
from tools.share import Share, share_of


def notebook_of(*sources: str, **metadata: object) -> nbformat.NotebookNode:
    """A notebook of code cells; the metadata is that of the last one."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[-1].metadata.update(metadata)
    return nbformat.v4.new_notebook(cells=cells)


def test_a_name_that_is_new_in_a_cell_is_found_in_the_room_or_in_a_shared_one(tmp_path):
    path = tmp_path / "02_attention.ipynb"
    names = "check_attention, plot_heads"
    nbformat.write(notebook_of(f"from transformer_course.attention import {names}"), path)
    assert rooms.is_stale(path)
    lines = rooms.room_list(path).splitlines()
    assert lines[0].startswith('"""') and lines[2:] == [
        "from transformer_course.attention.checks import check_attention",
        "from transformer_course.drawing.attention_grid import plot_heads",
    ]
    nbformat.write(notebook_of("from transformer_course.attention import nonesuch"), path)
    words = r"notebooks/02_attention.ipynb: no module .* defines nonesuch.*make lesson LESSON=02"
    with pytest.raises(rooms.RoomError, match=words):
        rooms.room_list(path)


def test_a_lesson_that_breaks_a_rule_is_refused_with_the_file_and_the_command():
    def complain(lesson):
        yield "too long"

    words = "^notebooks/02_attention.ipynb: complain: too long; then run: make lesson LESSON=02$"
    with pytest.raises(LessonError, match=words):
        lesson_command.refuse_if_broken("02_attention.ipynb", [complain])


@pytest.mark.parametrize(("given", "words"), [([], "make lesson LESSON=02"), (["x"], "got x")])
def test_the_command_says_which_lessons_there_are(given, words, capsys):
    assert lesson_command.main(given) == 1
    assert words in capsys.readouterr().err


def test_lines_about_the_model_are_those_that_neither_show_nor_ask():
    seen = notebook_of(
        "from transformer_edu import Transformer\nfrom transformer_course.attention import show\n",
        'with predict(\n    "How many?",\n    "1", "2",\n):\n    # the loss\n    loss = model(ids)',
        'for each in (1, 2):\n    print(f"{each:>4}")\n\nshow(plot(\n    weights, title="A"))',
        "folded = 1",
        jupyter={"source_hidden": True},
    )
    counted = {"visible": 11, "about_the_model": 2, "import_lines": 2, "most_places": 2}
    assert share_of(seen) == Share(**counted, minutes=11 / 3)


def test_the_minutes_are_those_of_words_lines_and_exercises_but_not_of_an_exercises_lines():
    lesson = notebook_of("x = 1\ny = 2\nz = 3", "answer = ...\ncheck_it(answer)")
    lesson.cells[-1].metadata["tags"] = ["exercise"]
    heading = "### Exercise 2.1 · Build (7 minutes)\n\n"  # 6 words
    lesson.cells.insert(1, nbformat.v4.new_markdown_cell(heading + "word " * 254))
    assert share_of(lesson).minutes == pytest.approx(2 + 1 + 7)
