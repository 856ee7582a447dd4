"""Two files become pairs, line by line, and pairs become three parts without common sources."""

import gzip
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
import torch

from tests.small_model import small_transformer
from transformer_edu.data.parallel_text import (
    ParallelText,
    TranslationTask,
    read_lines,
    read_parallel,
    split_pairs,
    translation_task,
    unpack,
)
from transformer_edu.data.tokenizer import Tokenizer, train_tokenizer
from transformer_edu.data.toy_tasks import Task
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.loop import fit
from transformer_edu.training.state import TrainingState

PAIRS = [(f"source {i % 37}", f"target {i}") for i in range(90)]  # some sources come often
PARTS = ("train", "validation", "test")


@pytest.fixture
def write(tmp_path) -> Callable[[str, bytes | str], Path]:
    """Write a file: texts in UTF-8, packed where the name says so."""

    def write_file(name: str, content: bytes | str) -> Path:
        content = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    return write_file


def test_lines_of_two_files_are_pairs(write):
    source, target = write("a.en", "a man\na dog\n"), write("a.de", "ein Mann\nein Hund\n")
    expected = [("a man", "ein Mann"), ("a dog", "ein Hund")]
    assert read_parallel(source, target) == expected
    assert read_parallel(write("a.en.gz", "a man\na dog\n"), target) == expected
    assert read_parallel(str(source), str(target)) == expected


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("\ufeffa\nb\n", ["a", "b"]),
        ("  a \n\tb\n", ["a", "b"]),
        ("a\n\nb\n", ["a", "", "b"]),
        ("a\u2028b\x0bc\x85d\re\n", ["a\u2028b\x0bc\x85d\re"]),
        ("<b>a</b> &amp; </s>\n", ["<b>a</b> &amp; </s>"]),
        ("", []),
    ],
    ids=["no last end", "windows", "mark", "spaces", "empty", "other ends", "html", "nothing"],
)
def test_only_a_line_feed_ends_a_line(write, content, lines):
    assert read_lines(write("text", content)) == lines


def test_a_pair_with_an_empty_side_is_left_out_and_counted(write):
    source, target = write("a.en", "a\n \nc\n\n"), write("a.de", "A\nB\n\n\n")
    with pytest.warns(UserWarning, match="^3 of 4 pairs are left out: a side is empty$"):
        assert read_parallel(source, target) == [("a", "A")]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\nb\n", "A\n", r"^\S*a.de must have as many lines as \S*a.en, got 1 and 2$"),
        ("a\n\n", "\nB\n", "a.de must hold a pair with two sides, got none"),
        ("", "", "a.de must hold a pair with two sides, got none"),
        (b"a\nb\xffc\n", "A\nB\n", "a.en must be text in UTF-8, got the byte 0xff in line 2"),
        ("a\nb\n", b"\xe4\nB\n", "a.de must be text in UTF-8, got the byte 0xe4 in line 1"),
        (b"a\0\n\0", "A\n", "a.en must be text in UTF-8, got the byte 0x00 in line 1"),
        ("a\n", b"\xed\xa0\x80\n", "a.de must be text in UTF-8, got the byte 0xed in line 1"),
    ],
    ids=[
        "counts",
        "no pair",
        "empty files",
        "bytes",
        "latin-1",
        "UTF-16 without its mark",
        "surrogate",
    ],
)
def test_files_that_do_not_belong_together_are_refused(write, source, target, message):
    with pytest.raises(ValueError, match=message):
        read_parallel(write("a.en", source), write("a.de", target))


def test_a_file_that_cannot_be_read_is_an_os_error(write, tmp_path):
    whole = write("a.en", "a\n")
    with pytest.raises(FileNotFoundError, match="missing"):
        read_parallel(whole, tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        read_parallel(whole, tmp_path)
    with pytest.raises(TypeError, match="path must be a path, got None"):
        read_parallel(whole, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
@pytest.mark.parametrize("endless", ["/dev/full", "/dev/zero", "pipe", "link"])
def test_a_device_or_a_pipe_is_not_read_without_end(endless, tmp_path):
    path = tmp_path / endless if endless in ("pipe", "link") else Path(endless)
    if endless == "pipe":
        os.mkfifo(path)
    elif endless == "link":
        path.symlink_to("/dev/zero")
    with pytest.raises(OSError, match=f"{path.name} must be a file, got a device or a pipe"):
        read_lines(path)


def test_a_damaged_archive_is_refused(tmp_path):
    packed = gzip.compress(b"a line of text\n" * 50)
    path = tmp_path / "a.en.gz"
    flipped = bytes([*packed[:20], packed[20] ^ 8, *packed[21:]])
    for content in (b"", b"no archive", packed[:-1], packed[:30], packed[:12], flipped):
        path.write_bytes(content)
        with pytest.raises(OSError, match="^.*a.en.gz must be a whole gzip archive, got something"):
            read_lines(path)


def test_an_archive_is_not_unpacked_without_end():
    bomb = gzip.compress(bytes(10_000_000))
    assert len(bomb) < 20_000
    with pytest.raises(OSError, match="bomb must hold at most 1,000 bytes, got more"):
        unpack("bomb", bomb, largest=1000)
    assert unpack("fits", gzip.compress(b"a" * 1000), largest=1000) == b"a" * 1000


def test_no_source_is_in_two_parts_and_the_sizes_count_sources():
    parts = split_pairs(PAIRS)
    assert sorted(parts.train + parts.validation + parts.test) == sorted(PAIRS)
    sources = [{source for source, _ in getattr(parts, part)} for part in PARTS]
    assert min(map(len, sources)) >= 1
    assert len(set.union(*sources)) == 37


def test_what_was_trained_on_is_never_tested_when_there_are_more_pairs_or_fewer():
    pairs = [(str(i), "x") for i in range(45_000)]
    parts = [split_pairs(pairs[:count]) for count in (60, 61, 300, 9_999, 25_000, 45_000)]
    parts.append(split_pairs(pairs[::3]))
    for before, after in permutations(parts, 2):
        assert not {*before.train} & {*after.test, *after.validation}


def test_about_a_twentieth_is_held_out_and_a_thousand_at_the_most():
    for count, held_out in ((400, 20), (9_000, 450), (45_000, 1000)):
        parts = split_pairs([(str(i), "x") for i in range(count)])
        for part in (parts.validation, parts.test):
            assert abs(len(part) - held_out) < 4 * held_out**0.5
    for count in (4, 5, 6):
        parts = split_pairs([(str(i), "x") for i in range(count)])
        assert min(map(len, (parts.train, parts.validation, parts.test))) >= 1


@pytest.mark.parametrize("count", [0, 2])
def test_what_cannot_be_cut_is_refused(count):
    wanted = "pairs must have more different sources than the 2 for validation and test, got"
    with pytest.raises(ValueError, match=f"{wanted} {count}"):
        split_pairs([(str(i), other) for i in range(count) for other in ("x", "y")])


pytest.importorskip("tokenizers")

WORDS = {"a": "ein", "man": "Mann", "dog": "Hund", "sees": "sieht", "runs": "läuft"}
SOURCES = [f"a {one} {verb}." for one in ("man", "dog") for verb in ("sees", "runs")]
SOURCES += [f"a {one} sees a {other}." for one in ("man", "dog") for other in ("man", "dog")]


def in_german(source: str) -> str:
    for english, german in WORDS.items():
        source = source.replace(english, german) if len(english) > 1 else source
    return source.replace("a ", "ein ")


TRANSLATION_TASK_PAIRS = [(source, in_german(source)) for source in SOURCES]
PARALLEL = ParallelText(
    TRANSLATION_TASK_PAIRS[:4], TRANSLATION_TASK_PAIRS[4:6], TRANSLATION_TASK_PAIRS[6:]
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(
        [text for pair in TRANSLATION_TASK_PAIRS for text in pair] * 3, vocabulary_size=290
    )


@pytest.fixture
def task(tokenizer) -> TranslationTask:
    return translation_task(PARALLEL, tokenizer)


def test_every_pair_is_the_ids_of_its_texts(task, tokenizer):
    for part in PARTS:
        texts = getattr(task.texts, part)
        assert texts == getattr(PARALLEL, part)
        for ids, pair in zip(getattr(task, part), texts, strict=True):
            assert ids == tuple(map(tokenizer.encode, pair))
            assert tuple(map(tokenizer.decode, ids)) == pair


def test_the_vocabulary_shows_the_tokenizers_pieces(task, tokenizer):
    assert len(task.vocabulary) == len(tokenizer) == 290
    ids = range(290)
    assert task.vocabulary.decode(ids) == tokenizer.tokens(ids)
    assert isinstance(task, Task)


def test_texts_and_tokenizer_in_the_wrong_order_are_refused(tokenizer):
    with pytest.raises(TypeError, match="a ParallelText and a Tokenizer, got Tokenizer and Parall"):
        translation_task(tokenizer, PARALLEL)
    with pytest.raises(TypeError, match="got list and Tokenizer"):
        translation_task(PARALLEL.train, tokenizer)


def test_pairs_that_are_too_long_or_empty_are_left_out(tokenizer):
    long = "dog " * 100
    parallel = replace(
        PARALLEL,
        train=[
            (long, "Hund"),
            *TRANSLATION_TASK_PAIRS[:2],
            ("dog", long),
            ("", "Hund"),
            ("dog", ""),
            TRANSLATION_TASK_PAIRS[2],
        ],
        test=[TRANSLATION_TASK_PAIRS[6], (long, long)],
    )
    task = translation_task(parallel, tokenizer, max_length=64)
    assert task.texts == replace(
        PARALLEL, train=TRANSLATION_TASK_PAIRS[:3], test=TRANSLATION_TASK_PAIRS[6:7]
    )
    assert [tokenizer.decode(source) for source, _ in task.train] == SOURCES[:3]


def test_the_longest_pair_that_is_kept_fits_a_model_of_that_length(tokenizer):
    parallel = replace(
        PARALLEL,
        train=[*TRANSLATION_TASK_PAIRS, ("a man sees", "ein Mann sieht nicht, aber läuft")],
    )
    longest = len(tokenizer.encode(parallel.train[-1][1]))
    shorter = translation_task(parallel, tokenizer, max_length=longest)
    assert shorter.texts.train == parallel.train[:-1]
    fitting = translation_task(parallel, tokenizer, max_length=longest + 1)
    assert fitting.texts.train == parallel.train
    model = small_transformer(290, max_length=longest + 1)
    assert len(fit(model, fitting, TrainingConfig(steps=2)).steps) == 2


def test_the_same_texts_are_the_same_task_for_a_checkpoint(task, tokenizer):
    def fingerprint(task: TranslationTask) -> str:
        model = torch.nn.Linear(1, 1)
        return TrainingState(model, task, TrainingConfig(), None).task_fingerprint

    again = translation_task(PARALLEL, Tokenizer(tokenizer.merges))
    other = translation_task(PARALLEL, Tokenizer(tokenizer.merges[:-1]))
    assert fingerprint(again) == fingerprint(task)
    assert fingerprint(other) != fingerprint(task)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"max_length": 1}, ValueError, "max_length must be at least 2, got 1"),
        ({"max_length": 2}, ValueError, "train must hold a pair of at most 2 tokens a side, got"),
        (
            {"parallel": ParallelText(TRANSLATION_TASK_PAIRS, TRANSLATION_TASK_PAIRS, [])},
            ValueError,
            "test must hold a pair of at",
        ),
    ],
    ids=range(3),
)
def test_what_is_no_translation_is_refused(tokenizer, changes, error, message):
    with pytest.raises(error, match=message):
        translation_task(**{"parallel": PARALLEL, "tokenizer": tokenizer} | changes)
