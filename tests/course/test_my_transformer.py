"""The reader's classes are kept in a file that always runs alone, and nothing of theirs is lost."""

import linecache
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tools.exercises import exercise_indices, solution_of
from tools.notebooks import lesson_paths, read
from transformer_course import my_transformer, our_transformer
from transformer_course.my_transformer import (
    FILE,
    OURS,
    SWITCH,
    keep,
    my_parts,
    show_my_transformer,
)
from transformer_course.our_transformer import FeedForward, TokenEmbedding

OWN = OURS["Attention"].replace('"""Scaled', '"""My scaled')
WITHOUT_MASK = (
    OWN.replace(", mask=None", "")
    .replace(", mask)", ")")
    .replace(
        """        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
""",
        "",
    )
)
LESSONS = range(1, 10)  # they build the classes
SIZES = {"vocabulary_size": 9, "d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 12}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SWITCH, raising=False)
    return tmp_path


def written_in_a_cell(source: str) -> type:
    """The class that a notebook's cell defines, with its source where IPython puts it."""
    file = f"<cell {len(linecache.cache)}>"
    text = f"import math\nimport torch\nfrom torch import nn\n\n\n{source}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, object] = {"__name__": "__main__"}
    names |= {name: getattr(our_transformer, name) for name in OURS}  # what a class builds on
    exec(compile(text, file, "exec"), names)
    return next(
        each for each in names.values() if getattr(each, "__module__", "") == names["__name__"]
    )


def kept() -> str:
    return Path(FILE).read_text(encoding="utf-8")


def run_alone() -> None:
    subprocess.run([sys.executable, "-I", FILE], check=True, capture_output=True, timeout=300)


def test_a_class_of_a_cell_is_kept_and_the_file_runs_alone(capsys):
    keep(written_in_a_cell(OWN))
    assert capsys.readouterr().out == f"Your Attention is in {FILE}, next to this lesson.\n"
    assert f"# ==== Attention: yours ====\n{OWN}\n" in kept()
    assert "# ==== TokenEmbedding: the course's ====" in kept()
    assert "MultiHeadAttention" not in kept()
    run_alone()


def solutions_of_the_lessons() -> list[str]:
    """Every folded solution of the lessons that is one of the classes, in the order of reading."""
    found = []
    for path in lesson_paths():
        notebook = read(path)
        for index in exercise_indices(notebook):
            solution = (solution_of(notebook, index) or "").strip()
            if re.match(rf"class ({'|'.join(OURS)})\b", solution):
                found.append(solution)
    return found


def test_a_reader_of_the_folded_solutions_holds_the_whole_model_and_it_runs_alone(tmp_path):
    solutions = solutions_of_the_lessons()
    for solution in solutions:
        keep(written_in_a_cell(solution))
    whose = dict(re.findall(r"(?m)^# ==== (\w+): (yours|the course's) ====$", kept()))
    assert list(whose) == list(OURS), "the file does not hold every class"
    theirs = {re.match(r"class (\w+)", solution)[1] for solution in solutions}
    assert theirs == set(OURS), "a class is never asked for"
    my_parts()  # replaces what lacks an argument of later lessons
    whose = dict(re.findall(r"(?m)^# ==== (\w+): (yours|the course's) ====$", kept()))
    assert {name for name in whose if whose[name] == "yours"} >= theirs - {"Attention"}
    check = (
        "import runpy, torch\n"
        f"parts = runpy.run_path({str(tmp_path / FILE)!r})\n"
        f"model = parts['Transformer'](**{SIZES}).eval()\n"
        "ids = torch.tensor([[4, 5, 6]])\n"
        "assert model(ids, ids[:, :2]).shape == (1, 2, 9)\n"
        "assert not any(type(part).__module__.startswith('transformer_edu')\n"
        "               for part in model.modules())\n"
        "import sys\n"
        "assert 'transformer_edu' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-I", "-c", check], check=True, timeout=300)


def test_the_whole_model_is_shown_on_one_page(monkeypatch):
    keep(written_in_a_cell(OWN))
    shown = []
    monkeypatch.setattr(my_transformer, "display", lambda data, **_: shown.append(data))
    show_my_transformer()
    ((page, words),) = ((data["text/html"], data["text/plain"]) for data in shown)
    assert "in 11 classes, 1 of them yours." in words
    assert int(re.search(r"(\d+) lines", words)[1]) <= 160
    assert "My scaled dot-product" in page and all(f"class {name}(" in page for name in OURS)


def test_classes_stand_in_the_order_of_the_lessons_and_a_new_version_replaces_the_old():
    keep(FeedForward)
    keep(written_in_a_cell(OWN))
    keep(TokenEmbedding)
    keep(written_in_a_cell(OWN.replace("My scaled", "My second")))
    assert kept().count("class Attention") == 1
    assert "My second" in kept() and "My scaled" not in kept()
    names = [line.split()[2] for line in kept().splitlines() if line.startswith("# ====")]
    assert names == [f"{name}:" for name in list(OURS)[: len(names)]]


def test_the_parts_are_the_readers_where_kept_and_work_together(capsys):
    keep(written_in_a_cell(OWN))
    capsys.readouterr()
    parts = my_parts()
    said = capsys.readouterr().out
    assert said.startswith("Yours: Attention. The course's: TokenEmbedding, MultiHeadAttention,")
    assert parts.Attention.__doc__.startswith("My scaled")
    assert issubclass(parts.MultiHeadAttention, parts.Attention)
    model = parts.Transformer(**SIZES).eval()
    theirs = our_transformer.Transformer(**SIZES).eval()
    theirs.load_state_dict(model.state_dict())
    ids = torch.tensor([[4, 5, 6]])
    torch.testing.assert_close(model(ids, ids), theirs(ids, ids))


def test_without_a_file_the_parts_are_the_courses_and_none_is_written(capsys):
    parts = my_parts()
    assert vars(parts) == {name: getattr(our_transformer, name) for name in OURS}
    assert capsys.readouterr().out.startswith("The course's: TokenEmbedding, Attention,")
    assert not Path(FILE).exists()


def test_an_unfinished_class_gives_way_when_later_ones_build_on_it(capsys):
    keep(written_in_a_cell(WITHOUT_MASK))
    assert "Attention: yours" in kept()
    parts = my_parts()
    assert "Your Attention does not take mask yet" in capsys.readouterr().out
    assert "mask" in parts.Attention.attend.__code__.co_varnames
    assert WITHOUT_MASK in Path("my_transformer.bak").read_text(encoding="utf-8")


@pytest.mark.parametrize("content", ["class Attention(:", "print('my own notes')\n", ""])
def test_a_file_that_is_broken_or_foreign_is_kept_under_another_name(content, capsys):
    Path(FILE).write_text(content, encoding="utf-8")
    Path("my_transformer.bak").write_text("an older one", encoding="utf-8")
    keep(written_in_a_cell(OWN))
    said = capsys.readouterr().out
    assert said.startswith(f"{FILE} could not be read (") and said.count("\n") == 1
    assert Path("my_transformer.1.bak").read_text(encoding="utf-8") == content
    assert Path("my_transformer.bak").read_text(encoding="utf-8") == "an older one"
    assert "Attention: yours" in kept()


def test_a_file_that_fails_when_it_runs_gives_way_with_one_sentence(capsys):
    keep(written_in_a_cell(OWN))
    Path(FILE).write_text(kept().replace("class Attention", "1 / 0\nclass Attention"))
    capsys.readouterr()
    parts = my_parts()
    said = capsys.readouterr().out
    assert "does not run" in said and said.count("\n") == 1
    assert parts.Attention is our_transformer.Attention


def test_what_the_reader_edits_in_the_file_stays():
    keep(written_in_a_cell(OWN))
    Path(FILE).write_text(kept().replace("My scaled", "Edited"), encoding="utf-8")
    keep(FeedForward)
    assert "Edited" in kept()


def test_it_can_be_switched_off(monkeypatch, capsys):
    keep(written_in_a_cell(OWN))
    before = kept()
    monkeypatch.setenv(SWITCH, "0")
    keep(FeedForward)
    assert kept() == before
    assert my_parts().Attention is our_transformer.Attention


def test_a_class_without_source_or_a_folder_without_room_is_said_in_one_sentence(capsys):
    keep(type("Attention", (TokenEmbedding,), {"__init__": lambda self: None}))
    assert "could not be written to my_transformer.py: its source" in capsys.readouterr().out
    Path(FILE).mkdir()
    keep(FeedForward)
    said = capsys.readouterr().out
    assert said.startswith("Your FeedForward could not be written") and said.count("\n") == 1


def test_a_class_with_written_out_arguments_stays_where_the_course_takes_any_number(capsys):
    written_out = OURS["Encoder"].replace("*sizes)", "d_model, num_heads, d_ff, dropout)", 1)
    written_out = written_out.replace("*sizes", "d_model, num_heads, d_ff, dropout")
    keep(written_in_a_cell(written_out))
    parts = my_parts()
    assert "Yours: Encoder." in capsys.readouterr().out
    assert parts.Transformer(**SIZES).encoder.layers[0].feed_forward.widen.out_features == 12


def test_a_class_that_lacks_a_method_is_said_to_lack_it(capsys):
    keep(written_in_a_cell(OWN.replace("attend(", "mix(")))
    my_parts()
    said = capsys.readouterr().out
    assert "Your Attention has no method attend yet, so the course's class is used instead." in said


def test_an_unfinished_class_is_kept_when_a_later_one_is_there_already(capsys):
    keep(FeedForward)
    capsys.readouterr()
    keep(written_in_a_cell(WITHOUT_MASK))
    assert capsys.readouterr().out == f"Your Attention is in {FILE}, next to this lesson.\n"
    assert WITHOUT_MASK in kept() and "FeedForward: yours" in kept()
    runpy.run_path(FILE)


def test_a_class_under_another_name_is_not_kept_and_its_reader_told_why(capsys):
    keep(written_in_a_cell(OWN.replace("class Attention", "class MyAttention")))
    said = capsys.readouterr().out
    assert said.startswith(f"{FILE} keeps classes by their name") and "MyAttention" in said
    assert not Path(FILE).exists()


def test_a_class_without_init_is_kept_with_its_own_source():
    source = '''class FeedForward(nn.Sequential):
    """Mine, with the __init__ of PyTorch."""

    def forward(self, x):
        """The same shape."""
        return super().forward(x)'''
    keep(written_in_a_cell(source))
    assert f"# ==== FeedForward: yours ====\n{source}\n" in kept()


def test_a_class_without_methods_is_not_kept_as_its_parent(capsys):
    keep(type("FeedForward", (FeedForward,), {}))
    said = capsys.readouterr().out
    assert said.startswith("Your FeedForward could not be written") and said.count("\n") == 1
    assert not Path(FILE).exists()


@pytest.mark.parametrize(
    ("before", "after", "unknown"),
    [
        ("math.sqrt(", "sqrt(", "sqrt"),
        ("nn.Module", "Base", "Base"),
        ("weights @ value", "[scale(w) for w in weights] @ value", "scale"),
    ],
)
def test_a_class_that_needs_more_than_the_file_has_is_not_kept(before, after, unknown, capsys):
    source = OWN.replace(before, after)
    assert source != OWN
    setup = "from math import sqrt\n\nBase = nn.Module\n"
    keep(written_in_a_cell(f"{setup}\n{source}"))
    said = capsys.readouterr().out
    assert f"it uses {unknown}, which the file does not import." in said
    assert not Path(FILE).exists()


def test_a_class_renamed_in_the_file_gives_way_with_one_sentence(capsys):
    keep(FeedForward)
    Path(FILE).write_text(kept().replace("class FeedForward", "class Renamed"), encoding="utf-8")
    capsys.readouterr()
    parts = my_parts()
    said = capsys.readouterr().out
    assert "does not run" in said and said.count("\n") == 1
    assert vars(parts) == {name: getattr(our_transformer, name) for name in OURS}
