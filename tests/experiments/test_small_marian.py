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


@pytest.mark.parametrize("taken", ["file", "model", "link"])
def test_what_is_there_is_not_replaced(tmp_path, capsys, taken):
    folder = tmp_path / "opus"
    if taken == "file":
        folder.write_text("mine", encoding="utf-8")
    elif taken == "link":
        folder.symlink_to("nowhere")
    else:
        folder.mkdir()
        (folder / "config.json").write_text("mine", encoding="utf-8")
    before = [path.name for path in tmp_path.rglob("*")]
    assert main([str(folder)]) == 1
    assert capsys.readouterr().err == f"error: folder must be a new or an empty one, got {folder}\n"
    assert [path.name for path in tmp_path.rglob("*")] == before
    assert all(path.read_text("utf-8") == "mine" for path in tmp_path.rglob("*") if path.is_file())
