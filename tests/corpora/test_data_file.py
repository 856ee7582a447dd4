"""The data file of the library is what the tables and the grammar make, bit for bit."""

import lzma

import pytest

from corpora.everyday import __main__ as command
from transformer_edu.data.everyday import FILE


@pytest.mark.slow
def test_the_command_makes_the_data_file_again_bit_for_bit(tmp_path, monkeypatch, capsys):
    made = tmp_path / FILE.name
    monkeypatch.setattr(command, "FILE", made)
    command.main()
    assert lzma.decompress(made.read_bytes()) == lzma.decompress(FILE.read_bytes()), (
        "run: python -m corpora.everyday"
    )
    assert made.read_bytes() == FILE.read_bytes(), "this liblzma packs the same text differently"
    assert "CHECKSUM" not in capsys.readouterr().out


def test_a_changed_text_needs_another_checksum(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "FILE", tmp_path / FILE.name)
    monkeypatch.setattr(command, "make_text", lambda: b"word\ttrain\tyes\tJa\n")
    command.main()
    assert 'write CHECKSUM = "' in capsys.readouterr().out
