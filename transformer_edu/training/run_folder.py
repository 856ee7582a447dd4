"""The folder of a run: what was chosen, what happened, and what came of it.

settings.json          every choice, and the versions that it was made with
tokenizer.json         or words.json, for tasks whose tokens are words
history.jsonl          a line for every evaluation
last.safetensors       the checkpoint to resume from
best.safetensors       the weights with the best score so far
weights/000500.safetensors …  those of the last evaluations, to be averaged
model.safetensors      their average: the result
result.json            its scores on validation pairs, beside those of the best

What ``export`` writes is a smaller folder: the model, the tokenizer, CARD and HISTORY.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

from transformer_edu.model.transformer import Transformer
from transformer_edu.training.checkpoint import save_model
from transformer_edu.training.checkpoint_file import replace_file, require_path
from transformer_edu.training.presets import RunSettings
from transformer_edu.training.vocabulary import Vocabulary

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
        self.result_file = self.path / "result.json"
        self.weights = self.path / "weights"

    def make(self) -> None:
        """Make the folder, if it is not there.

        Raises:
            OSError: If it cannot be made.
        """
        self.weights.mkdir(parents=True, exist_ok=True)

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
            record = json.loads(self.settings_file.read_text("utf-8"))
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

    def read_history(self) -> list[dict[str, object]]:
        """The records so far; a last line that was cut off by a crash does not count."""
        if not self.history_file.exists():
            return []
        records = []
        for line in self.history_file.read_text("utf-8").splitlines():
            try:
                records.append(json.loads(line))
            except ValueError:
                break
        return records

    def write_history(self, records: Iterable[Mapping[str, object]]) -> None:
        """Put these records in the place of the history."""
        text = "".join(json.dumps(dict(record)) + "\n" for record in records)
        replace_file(self.history_file, [text.encode()])

    def keep_weights(self, model: Transformer, step: int, *, count: int) -> None:
        """Keep the weights at a step, and no others but those of the count - 1 steps before."""
        save_model(self.weights / f"{step:06d}{ENDING}", model)
        for path in [path for at, path in self.kept_weights().items() if at <= step][:-count]:
            path.unlink()

    def kept_weights(self) -> dict[int, Path]:
        """The files there are, by step, the earliest first."""
        found = sorted(self.weights.glob(f"[0-9]*{ENDING}"), key=lambda path: int(path.stem))
        return {int(path.stem): path for path in found}


def write_json(path: Path, content: object) -> None:
    """Write a JSON file whole or not at all."""
    replace_file(path, [(json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()])
