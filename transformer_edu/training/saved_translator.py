"""A trained translator in a folder: its weights, and beside them its tokenizer or its words."""

import os
from pathlib import Path

from transformer_edu.data.tokenizer import load_tokenizer
from transformer_edu.data.vocabulary import Vocabulary, Words
from transformer_edu.generation.translator import TextCoder, Translator
from transformer_edu.model.special_ids import SPECIAL_TOKENS
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.checkpoint_file import CheckpointError
from transformer_edu.training.machine.atomic_files import read_json, require_path
from transformer_edu.training.machine.failures import report

MODEL, BEST = "model.safetensors", "best.safetensors"  # a run in progress has only its best so far
TOKENIZER, WORDS = "tokenizer.json", "words.json"  # words: of tasks that bring their own


def load_translator(path: str | os.PathLike) -> Translator:
    """Load the result of a run; before the run ends its best weights so far, and say so.

    Args:
        path: The folder of a run, or any folder with model.safetensors and tokenizer.json.

    Returns:
        A translator on the CPU.

    Raises:
        TypeError, OSError: If path is not a path, or a file is missing or cannot be read.
        ValueError: If a file is damaged, or model and tokenizer differ in their number of tokens.
    """
    require_path("path", path)
    folder = Path(path)
    file = next((folder / name for name in (MODEL, BEST) if (folder / name).exists()), None)
    if file is None:
        raise FileNotFoundError(f"run must be a folder with {MODEL}, got {path}")
    if file.name == BEST:
        report(f"{folder} has no {MODEL}, so {BEST} is read: its best weights so far")
    model, tokens = load_model(file), load_tokens(folder)
    if model.config.vocabulary_size != len(tokens):
        got = f"{model.config.vocabulary_size} and {len(tokens)}"
        raise CheckpointError(f"{file} must have as many tokens as its tokenizer, got {got}")
    return Translator(model, tokens)


def load_tokens(folder: Path) -> TextCoder:
    """The tokenizer in a folder, or its words.

    Raises:
        OSError: If there is neither, or it cannot be read.
        ValueError: If it is damaged.
    """
    if not (file := folder / WORDS).exists():
        if not (folder / TOKENIZER).exists():
            raise FileNotFoundError(f"{folder} must hold {TOKENIZER} or {WORDS}, got neither")
        return load_tokenizer(folder / TOKENIZER)
    try:
        if tuple((tokens := read_json(file))[: len(SPECIAL_TOKENS)]) == SPECIAL_TOKENS:
            return Words(Vocabulary(tokens[len(SPECIAL_TOKENS) :]))
    except (ValueError, TypeError, KeyError):
        pass
    raise ValueError(f"{file} must hold a run's words, got something else")
