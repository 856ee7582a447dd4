"""The translator in a run's folder, or in the package: a model, and what made its token ids."""

import os
from collections.abc import Sequence
from pathlib import Path

from transformer_edu.generation.translator import TextCoder, Translator
from transformer_edu.model.vocabulary import SPECIAL_TOKENS
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.data.tokenizer import load_tokenizer
from transformer_edu.training.data.vocabulary import Vocabulary
from transformer_edu.training.machine.whole_file import CheckpointError
from transformer_edu.training.runs.run_folder import RunFolder, read_json


class Words:
    """Texts whose tokens stand between spaces: what a tokenizer is to sentences.

    Args:
        vocabulary: The words and their ids.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def __len__(self) -> int:
        """Number of ids."""
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """The id of every word; a word never seen is UNKNOWN_ID."""
        return self.vocabulary.encode(text.split())

    def decode(self, token_ids: Sequence[int]) -> str:
        """The words of ids, with spaces between them."""
        return " ".join(self.vocabulary.decode(token_ids))


def load_translator(path: str | os.PathLike) -> Translator:
    """What a run has come to: its average, or before the end its best weights so far.

    Args:
        path: The folder of a run, or one with model.safetensors and tokenizer.json.

    Returns:
        A translator on the CPU.

    Raises:
        TypeError: If path is no path.
        OSError: If a file is missing or cannot be read.
        ValueError: If a file is damaged, or model and tokenizer do not belong together.
    """
    folder = RunFolder(path)
    file = next((each for each in (folder.model, folder.best) if each.exists()), None)
    if file is None:
        raise FileNotFoundError(f"run must be a folder with {folder.model.name}, got {path}")
    model, tokens = load_model(file), load_tokens(folder)
    if model.config.vocabulary_size != len(tokens):
        raise CheckpointError(
            f"{file} must have as many tokens as what stands beside it, "
            f"got {model.config.vocabulary_size} and {len(tokens)}"
        )
    return Translator(model, tokens)


def load_tokens(folder: RunFolder) -> TextCoder:
    """The tokenizer of a folder, or its words.

    Raises:
        OSError: If there is neither, or it cannot be read.
        ValueError: If it is damaged.
    """
    if not folder.words_file.exists():
        return load_tokenizer(folder.tokenizer_file)
    return Words(_read_words(folder.words_file))


def _read_words(path: Path) -> Vocabulary:
    try:
        return Vocabulary(read_json(path)[len(SPECIAL_TOKENS) :])
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} must hold a list of words, got something else") from error
