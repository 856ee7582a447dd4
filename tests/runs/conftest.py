"""A run of the training command, small enough to be made for tests."""

from pathlib import Path

import pytest

from transformer_edu.data.number_words import english_words, german_words
from transformer_edu.runs.command import main

SMALL = (
    "--d-model 16 --heads 2 --layers 1 --d-ff 24 --vocabulary 300 --batch-tokens 300 "
    "--steps 7 --evaluate-every 2 --evaluate-on 5 --keep 3 --warmup 3 --precision float32"
)


@pytest.fixture(scope="session")
def text_files(tmp_path_factory) -> tuple[Path, Path]:
    """Two files, line by line each other's translation."""
    folder = tmp_path_factory.mktemp("texts")
    files = folder / "numbers.en", folder / "numbers.de"
    for file, words in zip(files, (english_words, german_words), strict=True):
        lines = [" ".join(words(number)) for number in range(1, 1500, 11)]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


@pytest.fixture(scope="session")
def small_options(text_files) -> list[str]:
    """What makes a small run on those files."""
    source, target = map(str, text_files)
    return ["--task", "files", "--source", source, "--target", target, *SMALL.split()]


@pytest.fixture(scope="session")
def text_run(tmp_path_factory, small_options) -> Path:
    """The folder of such a run, at its end."""
    folder = tmp_path_factory.mktemp("runs") / "x"
    assert main([*small_options, "--out", str(folder)]) == 0
    return folder
