"""The reader's classes are kept in a file that always runs alone, and nothing of theirs is lost."""

import errno
import linecache
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread

import pytest
import torch

from tools.exercises import exercise_indices, solution_of
from tools.notebooks import lesson_paths, read
from transformer_course import my_transformer, our_transformer
from transformer_course.my_transformer import (
    ABANDONED,
    CHECKSUM,
    FILE,
    LOCK,
    OURS,
    SWITCH,
    keep,
    my_parts,
    show_my_transformer,
)
from transformer_course.our_transformer import FeedForward, TokenEmbedding

OWN = OURS["Attention"].replace('"""Scaled', '"""My scaled')
WITHOUT_MASK = OWN.replace(", mask=None", "").replace(
    """        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
""",
    "",
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


def edit(before: str, after: str) -> str:
    """Let the reader change the file; its whole text, without the checksum."""
    assert before in kept()
    Path(FILE).write_text(kept().replace(before, after, 1), encoding="utf-8")
    return CHECKSUM.sub("", kept())


def folder_as_it_is() -> dict[str, tuple[int, bytes]]:
    """Every file here, with its content and the moment in which it was written."""
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in Path().iterdir()
    }


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
    assert set(whose.values()) == {"yours"}
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
    assert int(re.search(r"(\d+) lines", words)[1]) <= 170
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
    assert f"The Attention in {FILE} does not take mask yet" in capsys.readouterr().out
    assert "mask" in parts.Attention.forward.__code__.co_varnames
    assert WITHOUT_MASK in kept()


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


@pytest.mark.parametrize("wrong", [None, FeedForward(2, 3), "Attention", keep])
def test_what_is_no_class_is_not_kept_and_its_giver_told_so(wrong, capsys):
    keep(wrong)
    said = f"{FILE} keeps classes, not a {type(wrong).__name__}: give keep a class itself.\n"
    assert capsys.readouterr().out == said
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
        ("return scores", "return scale(scores)", "scale"),
    ],
)
def test_a_class_that_needs_more_than_the_file_has_is_not_kept(before, after, unknown, capsys):
    source = OWN.replace(before, after)
    assert source != OWN
    setup = "from math import sqrt\n\nBase = nn.Module\n"
    keep(written_in_a_cell(f"{setup}\n{source}"))
    said = capsys.readouterr().out
    wanted = f"it uses {unknown}, which the file does not have (import or define it inside the "
    wanted += "method that uses it)."
    assert wanted in said
    assert not Path(FILE).exists()


def test_a_class_renamed_in_the_file_gives_way_with_one_sentence(capsys):
    keep(written_in_a_cell(OWN))
    keep(FeedForward)
    edit("class FeedForward", "class Renamed")
    capsys.readouterr()
    parts = my_parts()
    said = capsys.readouterr().out
    assert f"The FeedForward in {FILE} is not in its section yet" in said and said.count("\n") == 1
    assert "Yours: Attention." in said and parts.Attention.__doc__.startswith("My scaled")
    assert parts.FeedForward.__doc__ == our_transformer.FeedForward.__doc__


OTHER = "class Other:\n    pass  # an idea of mine\n\n\n"
NOTE = "# ==== TokenEmbedding: the course's ====\n"


def test_a_lesson_replaces_only_the_class_it_asks_for(capsys):
    keep(written_in_a_cell(OWN))
    keep(FeedForward)
    edit("import math\n", "import math\n\n\ndef helper(x):\n    return x\n")
    edit("# ==== MultiHeadAttention", f"{OTHER}# ==== MultiHeadAttention")
    edit('"""Two linear layers', '"""My own two layers')
    edited = edit("One learned vector", "My vector")
    as_it_was = kept()
    capsys.readouterr()
    second = OWN.replace("My scaled", "My second")
    keep(written_in_a_cell(second))
    assert capsys.readouterr().out == (
        f"{FILE} had changed since a lesson wrote it, so a copy is kept as my_transformer.bak. "
        f"Your Attention is in {FILE}, next to this lesson.\n"
    )
    expected = edited.replace(OWN, second).replace(NOTE, NOTE.replace("the course's", "yours"))
    assert CHECKSUM.sub("", kept()) == expected
    assert Path("my_transformer.bak").read_text(encoding="utf-8") == as_it_was
    run_alone()


def test_a_file_that_only_lessons_have_written_is_not_copied(capsys):
    for cls in (written_in_a_cell(OWN), FeedForward, written_in_a_cell(WITHOUT_MASK), FeedForward):
        keep(cls)
        assert capsys.readouterr().out.startswith("Your ")
    as_it_was = folder_as_it_is()
    keep(FeedForward)
    assert folder_as_it_is().keys() == as_it_was.keys() == {FILE, LOCK}
    assert folder_as_it_is()[FILE] == as_it_was[FILE]


def test_every_edit_is_copied_to_a_name_of_its_own():
    keep(written_in_a_cell(OWN))
    edits = []
    for number in range(3):
        edit("import math\n", f"import math  # edit {number}\n")
        edits.append(kept())
        keep(written_in_a_cell(OWN.replace("My scaled", f"My number {number}")))
        Path(FILE).write_text(kept().replace(f"  # edit {number}", ""), encoding="utf-8")
        edits.append(kept())
        keep(FeedForward)
    copies = [path.read_text(encoding="utf-8") for path in Path().glob("*.bak")]
    assert sorted(copies) == sorted(edits)


@pytest.mark.parametrize(
    "edited",
    [
        lambda text: text.replace("One learned vector", "My vector"),
        lambda text: text.replace(OWN, WITHOUT_MASK),
        lambda text: text.replace("class Attention", "1 / 0\nclass Attention"),
        lambda text: f"{text}class Broken(:",
        lambda text: "my notes",
    ],
    ids=["a class of the course's", "unfinished", "fails", "broken", "foreign"],
)
def test_my_parts_only_reads(edited, capsys):
    keep(written_in_a_cell(OWN))
    Path(FILE).write_text(edited(kept()), encoding="utf-8")
    as_it_was = folder_as_it_is()
    my_parts()
    show_my_transformer()
    assert folder_as_it_is() == as_it_was


def test_a_class_of_the_courses_that_the_reader_edits_is_the_readers(capsys):
    keep(written_in_a_cell(OWN))
    edit("One learned vector", "My vector")
    assert my_parts().TokenEmbedding.__doc__.startswith("My vector")
    keep(FeedForward)
    assert my_parts().TokenEmbedding.__doc__.startswith("My vector")
    assert "Yours: TokenEmbedding, Attention, FeedForward." in capsys.readouterr().out


def test_a_helper_between_sections_makes_no_class_of_the_courses_the_readers(capsys):
    keep(FeedForward)
    edited = edit("# ==== FeedForward", f"{OTHER}# ==== FeedForward")
    capsys.readouterr()
    my_parts()
    assert capsys.readouterr().out.startswith("Yours: FeedForward. The course's: TokenEmb")
    keep(FeedForward)
    assert CHECKSUM.sub("", kept()) == edited


def test_a_class_that_has_lost_its_heading_is_found(capsys):
    keep(written_in_a_cell(OWN))
    second = written_in_a_cell(OURS["FeedForward"].replace("Two linear", "My two linear"))
    keep(second)
    as_it_was = kept()
    edit("# ==== FeedForward: yours ====\n", "")
    capsys.readouterr()
    assert my_parts().FeedForward.__doc__.startswith("My two linear")
    assert capsys.readouterr().out.startswith("Yours: Attention, FeedForward. The course's: Tok")
    keep(second)
    assert kept() == as_it_was


def test_a_class_of_the_courses_that_nobody_has_edited_is_todays(monkeypatch):
    newer = OURS["TokenEmbedding"].replace("One learned vector", "One newer vector")
    keep(written_in_a_cell(OWN))
    monkeypatch.setitem(OURS, "TokenEmbedding", newer)
    assert my_parts().TokenEmbedding.__doc__.startswith("One newer vector")
    keep(FeedForward)
    assert newer in kept() and not list(Path().glob("*.bak"))


def test_a_class_may_use_what_the_reader_has_added_to_the_file(capsys):
    keep(written_in_a_cell(OWN))
    edit("import math\n", "import math\nfrom math import sqrt\n")
    capsys.readouterr()
    keep(written_in_a_cell(f"sqrt = math.sqrt\n\n\n{OWN.replace('math.sqrt(', 'sqrt(')}"))
    assert f"Your Attention is in {FILE}" in capsys.readouterr().out
    assert "/ sqrt(" in kept()
    run_alone()


def test_a_class_pasted_elsewhere_does_not_hide_the_one_that_is_kept(capsys):
    keep(written_in_a_cell(OWN))
    keep(FeedForward)
    pasted = OWN.replace("My scaled", "Pasted, scaled")
    Path(FILE).write_text(f"{kept()}\n\n{pasted}\n")
    assert my_parts().Attention.__doc__.startswith("Pasted")
    keep(written_in_a_cell(OWN.replace("My scaled", "Mended, scaled")))
    assert my_parts().Attention.__doc__.startswith("Mended")
    assert "Pasted" in Path("my_transformer.bak").read_text()
    run_alone()


def test_the_page_counts_no_class_that_my_parts_cannot_use(capsys):
    keep(written_in_a_cell(OWN))
    edit("class Attention", "class Atention")
    capsys.readouterr()
    show_my_transformer()
    assert "in 11 classes, 0 of them yours" in capsys.readouterr().out


def test_imports_that_an_editor_removed_as_unused_are_there_again(capsys):
    keep(written_in_a_cell(OWN))
    edit("import math\n\nimport torch\nimport torch.nn.functional as F\n", "")
    edit("from torch import Tensor, nn", "from torch import nn")
    assert my_parts().PositionalEncoding(8)(torch.zeros(1, 2, 8)).shape == (1, 2, 8)
    assert "Yours: Attention." in capsys.readouterr().out
    keep(FeedForward)
    assert f"Your FeedForward is in {FILE}" in capsys.readouterr().out
    run_alone()


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_another_editor_may_have_written_the_file(ending):
    keep(written_in_a_cell(OWN))
    Path(FILE).write_text(kept(), encoding="utf-8-sig", newline=ending)
    keep(FeedForward)
    assert "Attention: yours" in kept() and "FeedForward: yours" in kept()


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_file_on_another_disk_stays_there(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    Path(FILE).symlink_to(disk / "mine.py")
    for cls in (FeedForward, written_in_a_cell(OWN)):
        keep(cls)
        assert Path(FILE).is_symlink() and f"class {cls.__name__}" in (disk / "mine.py").read_text()


def test_kernels_that_keep_at_the_same_time_lose_nothing(capsys):
    classes = [written_in_a_cell(OURS[name]) for name in OURS]
    together = Barrier(len(classes))

    def kernel(cls: type) -> None:
        together.wait()
        keep(cls)

    threads = [Thread(target=kernel, args=(cls,)) for cls in classes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whose = re.findall(r"(?m)^# ==== (\w+): (yours|the course's) ====$", kept())
    assert whose == [(name, "yours") for name in OURS]
    assert capsys.readouterr().out.count("next to this lesson") == len(OURS)


def test_a_kernel_waits_for_another_and_not_for_one_that_was_killed(monkeypatch, capsys):
    monkeypatch.setattr(my_transformer, "PATIENCE", 0)
    locks = (
        "import sys\n"
        "from transformer_edu.training.machine.atomic_files import lock\n"
        f"file = open({LOCK!r}, 'ab')\n"
        "lock(file.fileno())\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    kernel = subprocess.Popen(
        [sys.executable, "-c", locks],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert kernel.stdout.readline().strip() == b"locked"
    keep(FeedForward)
    said = capsys.readouterr().out
    assert "could not be written" in said and "another kernel" in said and not Path(FILE).exists()
    kernel.kill()
    kernel.communicate()
    keep(FeedForward)
    assert "FeedForward: yours" in kept()


def test_a_disk_without_locks_lets_kernels_take_turns_too(monkeypatch, capsys):
    def refuse(file: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(my_transformer, "lock", refuse)
    monkeypatch.setattr(my_transformer, "PATIENCE", 0)
    keep(written_in_a_cell(OWN))
    mark = Path(f"{LOCK}ed")
    assert not mark.exists()
    mark.touch()
    keep(FeedForward)
    assert "another kernel" in capsys.readouterr().out and "FeedForward" not in kept()
    os.utime(mark, (mark.stat().st_mtime - 2 * ABANDONED,) * 2)
    keep(FeedForward)
    assert "FeedForward: yours" in kept() and not mark.exists()


def test_a_file_that_another_editor_has_coded_otherwise_is_said_to_be_so(capsys):
    Path(FILE).write_text("class Attention: pass", encoding="utf-16")
    assert my_parts().Attention is our_transformer.Attention
    assert capsys.readouterr().out.startswith(f"{FILE} could not be read (it is not in UTF-8)")


DEEP = f"x = {'-' * 100_000}1\n"


@pytest.mark.parametrize("content", [DEEP, f"{DEEP}# ==== Attention: yours ====\n", "x = 1\0"])
def test_a_file_that_python_cannot_read_stops_nothing(content, capsys):
    Path(FILE).write_text(content, encoding="utf-8")
    assert my_parts().Attention is our_transformer.Attention
    said = capsys.readouterr().out
    assert said.startswith(f"{FILE} could not be read (") and said.count("\n") == 1
    keep(written_in_a_cell(OWN))
    assert Path("my_transformer.bak").read_text(encoding="utf-8") == content
    assert "Attention: yours" in kept()


def test_a_folder_in_place_of_the_file_stops_nothing(capsys):
    Path(FILE).mkdir()
    assert my_parts().Attention is our_transformer.Attention
    assert capsys.readouterr().out.startswith(
        f"{FILE} could not be read (it is a folder and not a file). The"
    )
    assert list(Path().iterdir()) == [Path(FILE)]


UNSPEAKABLE = "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})"


HALVED = r"raise ValueError('half an emoji \ud83d')"  # no stream can hold it


@pytest.mark.parametrize("ends", ["sys.exit(3)", "raise BaseException('no')", UNSPEAKABLE, HALVED])
def test_a_class_that_ends_the_program_stops_nothing(ends, capsys):
    keep(written_in_a_cell(OWN))
    edit(
        "class Attention(nn.Module):\n",
        f"class Attention(nn.Module):\n    import sys\n    {ends}\n",
    )
    capsys.readouterr()
    assert my_parts().Attention is our_transformer.Attention
    said = capsys.readouterr().out
    assert f"{FILE} does not run (" in said and said.count("\n") == 1
    said.encode()


def test_a_name_that_is_no_class_any_more_gives_way_with_one_sentence(capsys):
    keep(FeedForward)
    Path(FILE).write_text(f"{kept()}FeedForward = 5\n", encoding="utf-8")
    capsys.readouterr()
    assert my_parts().FeedForward is our_transformer.FeedForward
    assert "does not run (TypeError: FeedForward is not a class)." in capsys.readouterr().out


@pytest.mark.parametrize("place", ["My scaled", "    def forward"])
def test_a_line_like_a_heading_inside_a_class_is_not_a_heading(place, capsys):
    source = OWN.replace(place, f"\n# ==== FeedForward: yours ====\n{place}", 1)
    keep(written_in_a_cell(source))
    keep(FeedForward)
    assert source in kept() and kept().count("class FeedForward") == 1
    keep(written_in_a_cell(OWN))
    assert OWN in kept() and source not in kept()
    assert "could not" not in capsys.readouterr().out


def test_a_class_with_a_method_of_another_is_not_kept_as_the_courses(capsys):
    keep(type("FeedForward", (), {"forward": our_transformer.Encoder.forward}))
    said = capsys.readouterr().out
    assert said == f"Your FeedForward could not be written to {FILE}: its source was not found.\n"
    assert not Path(FILE).exists()


IN_A_SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in sys.stdin.read().split("# ---"):
    shell.run_cell(cell, store_history=True).raise_error()
"""


IMPORTS_OF_A_CELL = "from torch import nn\nfrom transformer_course.my_transformer import keep\n"


def in_a_shell(folder, cells):
    """Run cells as a notebook does, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", IN_A_SHELL],
        input="# ---".join(cells),
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"IPYTHONDIR": str(folder / "ipython"), "PYTHONUTF8": "1"},
    )


@pytest.mark.parametrize("end", ["\f", "\u2028"])
def test_a_comment_with_what_ends_a_line_elsewhere_is_kept(folder, end):
    """IPython cuts its copy of a cell there, so that the copy is not Python any more."""
    own = OURS["FeedForward"].replace('"""', f'"""pasted from{end}a page ', 1)
    own = own.replace("    def", f"    # from{end}a page\n    def", 1)
    again = own.replace("page", "book")
    shell = in_a_shell(
        folder, [IMPORTS_OF_A_CELL, own, "keep(FeedForward)", again, "keep(FeedForward)"]
    )
    said = f"Your FeedForward is in {FILE}, next to this lesson."
    assert shell.stdout.splitlines() == [said, said], shell.stdout + shell.stderr
    assert own.replace("page", "book") in Path(FILE).read_bytes().decode()
    assert my_parts().FeedForward.written_by == my_transformer.YOURS


def test_a_class_under_time_is_not_kept_and_the_sentence_says_what_to_do(folder):
    """IPython compiles such a cell under a name that leads to no source."""
    timed = f"%%time\n{OURS['FeedForward']}\nkeep(FeedForward)\n"
    shell = in_a_shell(folder, [IMPORTS_OF_A_CELL, timed])
    said = f"Your FeedForward could not be written to {FILE}: "
    assert f"{said}%%time hides its source: run its cell without %%time.\n" in shell.stdout
    assert not Path(FILE).exists()


ABOVE = "# Why: weights.\n# Where: §3.2.1.\n"
BELOW = "  # the average\n\n    # An idea for later:\n        # another softmax"
COURSES_OWN = ("# Your answer:\n", "# ==== Attention: yours ====\n", "\n")


@pytest.mark.parametrize("courses_own", COURSES_OWN)
def test_comments_directly_above_a_class_and_at_its_end_are_kept(courses_own, capsys):
    cell = f"# of the cell\n{courses_own}{ABOVE}{OWN}{BELOW}\n# below\n"
    keep(written_in_a_cell(cell))
    first = kept()
    assert f"# ==== Attention: yours ====\n{ABOVE}{OWN}{BELOW}\n" in first
    assert "of the cell" not in first and "# below" not in first and "Your answer" not in first
    keep(written_in_a_cell(cell))
    assert kept() == first
    keep(written_in_a_cell(cell.replace("§3.2.1", "page 4").replace("another", "no")))
    assert CHECKSUM.sub("", kept()) == CHECKSUM.sub("", first).replace("§3.2.1", "page 4").replace(
        "another", "no"
    )
    keep(written_in_a_cell(OWN))  # as from a cell of the course's: what stands above stays
    assert f"page 4.\n{OWN}\n\n" in kept() and "idea for later" not in kept()
    run_alone()
    assert not list(Path().glob("*.bak")) and "could not" not in capsys.readouterr().out
    assert my_parts().Attention.written_by == my_transformer.YOURS


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_comments_are_kept_however_their_lines_end(ending):
    cell = f"{ABOVE}@(lambda cls: cls)  # the same\n{OWN}{BELOW}\n".replace("\n", ending)
    keep(written_in_a_cell(cell))
    assert f"{ABOVE}@(lambda cls: cls)  # the same\nclass Attention" in kept()
    assert f"{BELOW}\n" in kept()
    run_alone()


def test_half_a_character_is_not_written_and_said_in_one_sentence(capsys):
    cls = written_in_a_cell(OWN)
    keep(FeedForward)
    before = kept()
    capsys.readouterr()
    size, when, lines, name = linecache.cache[cls.forward.__code__.co_filename]
    halves = [line.replace("My scaled", "My \ud83d") for line in lines]
    linecache.cache[name] = (size, when, halves, name)
    keep(cls)
    said = capsys.readouterr().out
    assert said == (
        f"Your Attention could not be written to {FILE}: "
        "it holds half a character, which no file can hold.\n"
    )
    assert kept() == before


@pytest.mark.parametrize(
    "source",
    [
        "class FeedForward(FeedForward):\n    def more(self):\n        return 1",
        "class FeedForward(Transformer):\n    def more(self):\n        return 1",
        "class FeedForward(nn.Module):\n    kind = Encoder\n\n    def f(self):\n        return 1",
        "class FeedForward(nn.Module):\n    def forward(self, x, kind=Encoder):\n        return x",
    ],
)
def test_a_class_that_needs_itself_or_a_later_one_at_once_is_not_written(folder, capsys, source):
    keep(written_in_a_cell(OURS["FeedForward"]))
    before = (folder / FILE).read_bytes()
    keep(written_in_a_cell(source))
    said = r"could not be written to my_transformer.py: it needs \w+ before the file has it"
    assert re.search(said, capsys.readouterr().out)
    assert (folder / FILE).read_bytes() == before and my_parts().FeedForward.written_by == "yours"


@pytest.mark.parametrize("part", [abs, property(abs), staticmethod(abs), 3])
def test_a_part_that_is_put_into_a_class_later_is_not_lost_in_silence(folder, capsys, part):
    extended = written_in_a_cell(OURS["FeedForward"])
    keep(extended)
    before = (folder / FILE).read_bytes()
    extended.act = part
    keep(extended)
    assert "its act was written outside of it: write it in the class" in capsys.readouterr().out
    assert (folder / FILE).read_bytes() == before


@pytest.mark.parametrize(("name", "part"), [("SCALE", 3.0), ("twice", staticmethod(abs))])
def test_a_part_that_is_replaced_later_is_not_lost_in_silence(folder, capsys, name, part):
    source = OURS["FeedForward"] + "\n    SCALE = 2.0\n\n    @staticmethod\n    def twice(x):\n"
    changed = written_in_a_cell(f"{source}        return 2 * x")
    keep(changed)
    assert (before := (folder / FILE).read_bytes()) and "is in" in capsys.readouterr().out
    own = written_in_a_cell(OURS["TokenEmbedding"]).forward
    setattr(changed, name, staticmethod(own) if name == "twice" else part)
    keep(changed)
    assert f"its {name} was written" in capsys.readouterr().out
    assert (folder / FILE).read_bytes() == before


def test_a_name_that_only_a_notebook_knows_is_needed(folder, capsys, monkeypatch):
    monkeypatch.setattr("builtins.display", print, raising=False)
    keep(written_in_a_cell(OURS["FeedForward"].replace("return", "display(x)\n        return", 1)))
    assert "display" in capsys.readouterr().out and not (folder / FILE).exists()


def test_a_method_of_another_cell_is_not_kept_in_silence(folder, capsys):
    patched = written_in_a_cell(OURS["FeedForward"])
    patched.forward = written_in_a_cell(OURS["TokenEmbedding"]).forward
    keep(patched)
    said = "its forward was written in another cell: write it in the class"
    assert said in capsys.readouterr().out and not (folder / FILE).exists()
