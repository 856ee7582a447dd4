"""A library that is not installed is asked for in one sentence."""

import os
import subprocess
import sys

import pytest

from transformer_edu.training.extra import import_extra

# None in sys.modules is Python's own way to say that a module cannot be imported.
WITHOUT_LIBRARIES = """
import sys
sys.modules |= dict.fromkeys(("tokenizers", "sacrebleu", "pooch"))
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.multi30k import load_multi30k
from transformer_edu.training.tokenizer import Tokenizer, train_tokenizer

own = Tokenizer([(b"a", b"b")])
print(own.decode([own.pieces.index(b"ab")]))
for call in (
    lambda: train_tokenizer(["a b"], vocabulary_size=300),
    lambda: own.encode("ab"),
    lambda: corpus_bleu(["a"], ["a"]),
    lambda: load_multi30k(),
):
    try:
        call()
    except ModuleNotFoundError as error:
        print(error)
"""


def test_an_installed_library_is_imported():
    assert import_extra("json").loads("[1]") == [1]


def test_a_missing_library_is_asked_for():
    with pytest.raises(ModuleNotFoundError, match="^nothing_like_it must be installed .* pip inst"):
        import_extra("nothing_like_it")


def test_without_the_libraries_everything_can_be_imported_and_says_what_it_needs(tmp_path):
    result = subprocess.run(
        [sys.executable, "-O", "-c", WITHOUT_LIBRARIES],
        capture_output=True,
        text=True,
        timeout=600,
        env={
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TRANSFORMER_EDU_CACHE": str(tmp_path / "none"),
        },
    )
    decoded, *sentences = result.stdout.splitlines()
    assert (decoded, result.stderr) == ("ab", "")
    assert [sentence.split()[0] for sentence in sentences] == [
        "tokenizers",
        "tokenizers",
        "sacrebleu",
        "pooch",
    ]
    assert all('pip install "transformer-edu[data]"' in sentence for sentence in sentences)
