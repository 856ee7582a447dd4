"""The folder of a run: what was chosen, what happened, and what came of it.

settings.json          every choice, and the versions that it was made with
tokenizer.json         or words.json, for tasks whose tokens are words
history.jsonl          a line for every evaluation
last.safetensors       the checkpoint to resume from
best.safetensors       the weights with the best score so far
weights/000500.safetensors …  those of the last evaluations, to be averaged
model.safetensors      their average: the result
result.json            its scores on validation pairs, beside those of the best
lock                   held by the process that trains here; without one it means nothing

What ``export`` writes is a smaller folder: the model, the tokenizer, CARD and HISTORY.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from transformer_edu.data.tokenizer import load_tokenizer
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.generation.translator import TextCoder, Translator
from transformer_edu.model.transformer import Transformer
from transformer_edu.model.vocabulary import SPECIAL_TOKENS
from transformer_edu.runs.presets import RunSettings
from transformer_edu.training.checkpoint import load_model, save_model
from transformer_edu.training.machine.whole_file import CheckpointError, replace_file, require_path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

ENDING = ".safetensors"
CARD = "README.md"  # of an exported run: how it was made and how well it does
HISTORY = "history.json"  # its choices, and its evaluations


class RunFolder:
    """Where a run keeps its files.

    Args:
        path: A folder; it need not exist.

    Raises:
        TypeError: If path is no path.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        require_path("path", path)
        self.path = Path(path)
        self.settings_file = self.path / "settings.json"
        self.tokenizer_file = self.path / "tokenizer.json"
        self.words_file = self.path / "words.json"
        self.history_file = self.path / "history.jsonl"
        self.checkpoint = self.path / f"last{ENDING}"
        self.best = self.path / f"best{ENDING}"
        self.model = self.path / f"model{ENDING}"
        self.lock_file = self.path / "lock"
        self.result_file = self.path / "result.json"
        self.weights = self.path / "weights"

    def make(self) -> None:
        """Make the folder, if it is not there.

        Raises:
            OSError: If it cannot be made.
        """
        self.weights.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside the block no other process can train here. The lock ends with the process.

        A disk without locks stops nobody.

        Raises:
            BlockingIOError: If another process has the lock.
        """
        self.make()
        with self.lock_file.open("ab") as file:
            try:
                _lock(file.fileno())
            except (BlockingIOError, PermissionError):
                raise BlockingIOError(
                    "out must be a folder in which no other process trains, "
                    f"got {self.path}, in which one is training now"
                ) from None
            except OSError:
                pass
            yield

    def holds_a_run(self) -> bool:
        """Whether a run was begun here."""
        return self.settings_file.exists()

    def write_settings(self, settings: RunSettings, versions: Mapping[str, str]) -> None:
        """Note what was chosen.

        Raises:
            OSError: If the folder cannot be written.
        """
        chosen = {field.name: getattr(settings, field.name) for field in fields(settings)}
        write_json(self.settings_file, {"settings": chosen, "versions": dict(versions)})

    def read_settings(self) -> RunSettings:
        """What was chosen.

        Raises:
            OSError: If there is no run in the folder.
            ValueError: If the file is damaged.
        """
        try:
            return RunSettings(**self._read_record()["settings"])
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(
                f"{self.settings_file} must hold a run's settings, got something else"
            ) from error

    def read_versions(self) -> dict[str, str]:
        """What the run was made with.

        Raises:
            OSError, ValueError: As for read_settings.
        """
        return dict(self._read_record().get("versions", {}))

    def _read_record(self) -> dict:
        """What write_settings wrote."""
        if not self.holds_a_run():
            raise FileNotFoundError(f"run must be the folder of a run, got {self.path}")
        try:
            record = read_json(self.settings_file)
            if isinstance(record, dict):
                return record
        except ValueError:
            pass
        raise ValueError(
            f"{self.settings_file} must hold the settings of a run, got something else"
        )

    def write_words(self, vocabulary: Vocabulary) -> None:
        """Note the tokens of a task that brings its own."""
        write_json(self.words_file, list(vocabulary.tokens))

    def append_record(self, record: Mapping[str, object]) -> None:
        """Add a line to the history."""
        with self.history_file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(record)) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def read_history(self, *names: str) -> list[dict[str, object]]:
        """The records so far; a last line that a crash has damaged does not count.

        Args:
            names: What every record must have besides its step.

        Raises:
            ValueError: If any other line is damaged; its number is said.
        """
        if not self.history_file.exists():
            return []
        records = []
        *whole, torn = self.history_file.read_bytes().split(b"\n")
        for number, line in enumerate(whole, start=1):
            record = _record(line, names)
            if record is not None:
                records.append(record)
            elif number < len(whole) or torn:
                raise ValueError(
                    f"{self.history_file} must hold a record in every line, "
                    f"got something else in line {number}"
                )
        return records

    def cut_history(self, step: int) -> bool:
        """Leave the whole records up to a step, and nothing else; say if there was more.

        Args:
            step: The last that counts.

        Raises:
            ValueError: As for read_history.
        """
        kept = [record for record in self.read_history() if record["step"] <= step]
        content = "".join(json.dumps(record) + "\n" for record in kept).encode()
        if not self.history_file.exists() or self.history_file.read_bytes() == content:
            return False
        replace_file(self.history_file, [content])
        return True

    def keep_weights(self, model: Transformer, step: int, *, count: int) -> None:
        """Keep the weights at a step, and no others but those of the count - 1 steps before."""
        save_model(self.weights / f"{step:06d}{ENDING}", model)
        for path in [path for at, path in self.kept_weights().items() if at <= step][:-count]:
            path.unlink()

    def kept_weights(self) -> dict[int, Path]:
        """The files there are, by step, the earliest first."""
        files = [path for path in self.weights.glob(f"*{ENDING}") if path.stem.isdecimal()]
        return {int(path.stem): path for path in sorted(files, key=lambda path: int(path.stem))}


def write_json(path: Path, content: object) -> None:
    """Write a JSON file whole or not at all."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    # A file name that is no text holds lone surrogates: a backslash is how JSON spells them.
    replace_file(path, [text.encode(errors="backslashreplace")])


def read_json(path: Path) -> object:
    """What a JSON file holds.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is no JSON, or brackets are nested too deeply.
    """
    try:
        return json.loads(path.read_bytes())
    except RecursionError as error:
        raise ValueError(f"{path} must hold JSON of fewer brackets inside each other") from error


def _record(line: bytes, names: tuple[str, ...]) -> dict[str, object] | None:
    """The record in a line of the history; None if it is damaged."""
    try:
        record = json.loads(line)
        has_all = isinstance(record["step"], int) and all(name in record for name in names)
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    return record if has_all else None


def _lock(file: int) -> None:
    """Lock an open file until it is closed or this process ends, or raise an OSError."""
    if fcntl is None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
