"""Standard input is translated line by line, each line before the next is read."""

import io
import subprocess
import sys

import pytest

from tests.small_model import small_transformer
from tools.notebooks import ROOT
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.generation import __main__ as module
from transformer_edu.generation.__main__ import main, read_lines, translate_lines
from transformer_edu.generation.translator import Translator
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.training.checkpoint import save_model
from transformer_edu.training.machine.atomic_files import write_json
from transformer_edu.training.saved_translator import load_translator

COMMAND = [sys.executable, "-m", "transformer_edu.generation"]
SECONDS = 600  # ends what hangs; a quiet machine takes a tenth of it


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> RunFolder:
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "words")
    folder.path.mkdir(parents=True)
    vocabulary = Vocabulary(["one", "two", "three", "four", "five"])
    save_model(folder.model, small_transformer(len(vocabulary), max_length=9))
    write_json(folder.words_file, list(vocabulary.tokens))
    return folder


@pytest.fixture
def translator(run) -> Translator:
    return load_translator(run.path)


def typed(monkeypatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_a_line_for_a_line(run, translator, monkeypatch, capsys):
    typed(monkeypatch, b"one two\n\n  \nthree\r\nfive")
    assert main([str(run.path), "--beam", "2", "--alpha", "0.3"]) == 0
    texts = ["one two", "", "", "three", "five"]
    expected = [translator.translate(text, width=2, alpha=0.3) for text in texts]
    assert capsys.readouterr().out.split("\n") == [*expected, ""]
    assert expected[0]


def test_loops_can_be_asked_for(run, translator, monkeypatch, capsys):
    asked = []

    def translate_all(self, texts, **given):
        asked.append(given["end_loops"])
        return ["" for _ in texts]

    monkeypatch.setattr(Translator, "translate_all", translate_all)
    for options in ([], ["--loops"]):
        typed(monkeypatch, b"one\n")
        assert main([str(run.path), *options]) == 0
    assert asked == [True, False]


def test_a_line_is_translated_before_the_next_is_read(translator):
    read = []

    def lines():
        for text in ("one", "two"):
            read.append(text)
            yield text

    written = translate_lines(translator, lines(), width=1)
    next(written)
    assert read == ["one"]


def test_blocks_are_translated_together_and_errors_name_their_line(translator):
    lines = ["one two", "five", "two " * 10, "", "three", "two " * 10, "one"]
    one_by_one = list(translate_lines(translator, lines, width=1))
    for block in (2, 3, len(lines), 1000):
        assert list(translate_lines(translator, lines, block=block, width=1)) == one_by_one
    assert [number for number, (_, error) in enumerate(one_by_one, 1) if error] == [3, 6]
    assert "(line 6)" in one_by_one[5][1]


@pytest.mark.parametrize("options", [[], ["--compute-type", "float32"], ["--compute-type", "int8"]])
def test_another_engine_can_be_asked_for(run, translator, monkeypatch, capsys, options):
    pytest.importorskip("ctranslate2")
    content, chosen = b"one two\n\nthree\r\nfive\n" + b"two " * 10, [str(run.path), "--beam", "1"]
    typed(monkeypatch, content)
    assert main(chosen) == 1
    expected = capsys.readouterr()
    typed(monkeypatch, content)
    assert main([*chosen, "--engine", "ctranslate2", *options]) == 1
    written = capsys.readouterr()
    assert written.err == expected.err
    if options[1:] == ["int8"]:
        assert written.out.count("\n") == expected.out.count("\n")
    else:
        assert written.out == expected.out


def test_without_a_run_it_is_the_translator_in_the_package(translator, monkeypatch, capsys):
    monkeypatch.setattr(module, "load_pretrained", lambda: translator)
    typed(monkeypatch, b"four\n")
    assert main(["--beam", "1"]) == 0
    assert capsys.readouterr().out == translator.translate("four") + "\n"


@pytest.mark.parametrize(
    ("options", "content", "message"),
    [
        (["RUN"], b"one\n\xff\n", "standard input must be text in UTF-8, got the byte 0xff in l"),
        (["RUN", "--beam", "0"], b"one\n", "beam must be at least 1, got 0"),
        (["RUN", "--beam", "100000"], b"", "beam must be at most 1,000, got 100,000"),
        (["RUN", "--alpha", "-1"], b"one\n", "alpha must be a finite number of at least 0, got"),
        (["nowhere"], b"one\n", "run must be a folder with model.safetensors, got nowhere"),
        (
            ["RUN", "--compute-type", "int8"],
            b"",
            "engine must be ctranslate2 for a compute type, g",
        ),
    ],
    ids=["no text", "no beam", "wide beam", "alpha", "no run", "no engine"],
)
def test_errors_are_told_in_one_line(run, monkeypatch, capsys, options, content, message):
    typed(monkeypatch, content)
    assert main([str(run.path) if option == "RUN" else option for option in options]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}")
    assert error.count("\n") == 1


def test_a_line_that_is_too_long_is_named_and_the_others_are_translated(
    run, translator, monkeypatch, capsys
):
    too_long = b"two " * 10
    typed(monkeypatch, b"one\n" + too_long + b"\nfive\n" + too_long)
    assert main([str(run.path), "--beam", "1"]) == 1
    written = capsys.readouterr()
    assert written.out.split("\n") == [
        translator.translate("one", width=1),
        "",
        translator.translate("five", width=1),
        "",
        "",
    ]
    assert written.err.splitlines() == [
        f"error: text must have at most 9 tokens, got 10 in '{('two ' * 10)[:30]}' (line {number})"
        for number in (2, 4)
    ]


def test_a_byte_order_mark_at_the_beginning_is_no_text():
    marked = "\ufeffone\n\ufefftwo".encode()
    assert list(read_lines(io.BytesIO(marked))) == ["one", "\ufefftwo"]


def test_a_closed_input_is_refused_and_a_closed_error_stream_is_not(run, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert main([str(run.path)]) == 1
    message = "error: standard input must be open to be translated, got a closed one\n"
    assert capsys.readouterr().err == message
    monkeypatch.setattr(sys, "stderr", None)
    typed(monkeypatch, b"one\n")
    assert main([str(run.path)]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_lines_end_at_line_feeds_only():
    assert list(read_lines(io.BytesIO("a\u2028b\nc\rd".encode()))) == ["a\u2028b", "c\rd"]


def test_the_command_starts_without_importing_the_compiler(run):
    program = (
        "import sys\nfrom transformer_edu.generation.__main__ import main\n"
        "main(sys.argv[1:])\nprint('torch._dynamo' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(run.path)]
    answer = subprocess.run(command, cwd=ROOT, input="one\n", capture_output=True, text=True)
    assert answer.stdout.endswith("\nFalse\n"), answer.stderr


@pytest.mark.slow
def test_the_command_answers_while_its_input_is_open(run, translator):
    process = subprocess.Popen(
        [*COMMAND, str(run.path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for text in ("one two", "five"):
            process.stdin.write(text + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == translator.translate(text, width=4) + "\n"
        _, errors = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert (process.returncode, errors) == (0, "")
