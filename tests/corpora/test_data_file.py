"""The data file of the library is what the tables and the grammar make, bit for bit."""

import errno
import lzma

import pytest

from corpora.everyday import __main__ as command
from transformer_edu.data.everyday import FILE
from transformer_edu.training.machine import atomic_files


@pytest.mark.slow
def test_the_command_makes_the_data_file_again_bit_for_bit(tmp_path, monkeypatch, capsys):
    made = tmp_path / FILE.name
    monkeypatch.setattr(command, "FILE", made)
    command.main([])
    assert lzma.decompress(made.read_bytes()) == lzma.decompress(FILE.read_bytes()), (
        "run: python -m corpora.everyday"
    )
    assert made.read_bytes() == FILE.read_bytes(), "this liblzma packs the same text differently"
    assert "CHECKSUM" not in capsys.readouterr().out


def test_a_changed_text_needs_another_checksum(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "FILE", tmp_path / FILE.name)
    monkeypatch.setattr(command, "make_text", lambda: b"word\ttrain\tyes\tJa\n")
    command.main([])
    assert 'write CHECKSUM = "' in capsys.readouterr().out


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch, capsys):
    made = tmp_path / FILE.name
    made.write_bytes(b"the file of before")
    monkeypatch.setattr(command, "FILE", made)
    monkeypatch.setattr(command, "make_text", lambda: b"word\ttrain\tyes\tJa\n")

    def fill(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic_files.os, "fsync", fill)
    assert command.main([]) == 1
    assert capsys.readouterr().err == f"error: [Errno 28] No space left on device: '{made}'\n"
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"the file of before"]
