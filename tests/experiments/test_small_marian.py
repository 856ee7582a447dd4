"""The command writes a folder that translates the sentences it was trained on."""

import pytest

from experiments.small_marian import main
from transformer_course.a_published_model.small_marian import PAIRS
from transformer_edu.pretrained.marian_folder import load_marian

pytest.importorskip("sentencepiece")


def test_the_folder_knows_its_sentences_by_heart(tmp_path, capsys):
    assert main([str(tmp_path / "small")]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[1:] == [f"{source} → {target}" for source, target in PAIRS]
    translator = load_marian(tmp_path / "small")
    assert translator.translate_all([source for source, _ in PAIRS]) == [t for _, t in PAIRS]
