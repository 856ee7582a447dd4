"""Two files become pairs, line by line, and pairs become three parts without common sources."""

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from transformer_edu.training.parallel_text import (
    ParallelText,
    read_lines,
    read_parallel,
    split_pairs,
    unpack,
)

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
    assert read_parallel(str(source), str(target)) == expected


def test_a_packed_file_is_read_like_a_plain_one(write):
    source, target = write("a.en.gz", "a man\na dog\n"), write("a.de", "ein Mann\nein Hund\n")
    assert read_parallel(source, target)[1] == ("a dog", "ein Hund")


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


def test_a_line_may_be_very_long(write):
    long = "ä" * 100_000
    pairs = read_parallel(write("a.en", f"{long}\nb\n"), write("a.de", "c\nd\n"))
    assert pairs == [(long, "c"), ("b", "d")]


def test_a_pair_with_an_empty_side_is_left_out_and_counted(write):
    source, target = write("a.en", "a\n \nc\n\n"), write("a.de", "A\nB\n\n\n")
    with pytest.warns(UserWarning, match="^3 of 4 pairs are left out: a side is empty$"):
        assert read_parallel(source, target) == [("a", "A")]


def test_whole_files_are_read_without_a_warning(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_parallel(write("a.en", "a\n"), write("a.de", "b\n"))


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\nb\n", "A\n", r"^\S*a.de must have as many lines as \S*a.en, got 1 and 2$"),
        ("a\n\n", "\nB\n", "a.de must hold a pair with two sides, got none"),
        ("", "", "a.de must hold a pair with two sides, got none"),
        (b"a\nb\xffc\n", "A\nB\n", "a.en must be text in UTF-8, got the byte 0xff in line 2"),
        ("a\nb\n", b"\xe4\nB\n", "a.de must be text in UTF-8, got the byte 0xe4 in line 1"),
        ("a\n", b"\xed\xa0\x80\n", "a.de must be text in UTF-8, got the byte 0xed in line 1"),
    ],
    ids=["counts", "no pair", "empty files", "bytes", "latin-1", "surrogate"],
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


def test_the_parts_hold_every_pair_once():
    parts = split_pairs(PAIRS, validation_size=5, test_size=7)
    assert isinstance(parts, ParallelText)
    assert sorted(parts.train + parts.validation + parts.test) == sorted(PAIRS)


def test_no_source_is_in_two_parts_and_the_sizes_count_sources():
    parts = split_pairs(PAIRS, validation_size=5, test_size=7)
    sources = [{source for source, _ in getattr(parts, part)} for part in PARTS]
    assert [len(part) for part in sources] == [37 - 12, 5, 7]
    assert len(set.union(*sources)) == 37


def test_the_seed_decides_the_parts():
    sizes = {"validation_size": 5, "test_size": 7}
    assert split_pairs(PAIRS, **sizes, seed=1) == split_pairs(PAIRS, **sizes, seed=1)
    assert split_pairs(PAIRS, **sizes, seed=1) != split_pairs(PAIRS, **sizes, seed=2)


def test_a_tenth_is_held_out_and_a_thousand_at_the_most():
    for count, held_out in ((3, 1), (40, 4), (25_000, 1000)):
        parts = split_pairs([(str(i), "x") for i in range(count)])
        assert (len(parts.validation), len(parts.test)) == (held_out, held_out)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"validation_size": 0}, ValueError, "validation_size must be at least 1, got 0"),
        ({"test_size": 2.5}, TypeError, "test_size must be a whole number, got 2.5"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        (
            {"validation_size": 30, "test_size": 7},
            ValueError,
            "pairs must have more different sources than the 37 for validation and test, got 37",
        ),
        ({"pairs": []}, ValueError, "sources than the 2 for validation and test, got 0"),
    ],
    ids=range(5),
)
def test_what_cannot_be_cut_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        split_pairs(**{"pairs": PAIRS} | changes)
