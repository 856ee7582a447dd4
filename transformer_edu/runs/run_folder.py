"""The folder of a run: what was chosen, what happened, and what came of it.

settings.json          every choice, and the versions that it was made with
tokenizer.json         or words.json, for tasks whose tokens are words
evaluations.json       the history: a record for every evaluation
last.safetensors       the checkpoint to resume from
best.safetensors       the weights with the best score so far
weights/000500.safetensors …  those of the last evaluations, to be averaged
model.safetensors      their average: the result
result.json            its scores on validation pairs, beside those of the best
lock                   locked, as the folder is, by the process that trains here
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from transformer_edu.model.transformer import Transformer
from transformer_edu.runs.settings import TINY, RunSettings
from transformer_edu.training.checkpoint import save_model
from transformer_edu.training.machine.atomic_files import lock, read_json, require_path, write_json
from transformer_edu.training.machine.failures import report
from transformer_edu.training.saved_translator import BEST, MODEL, TOKENIZER, WORDS


class RunFolder:
    """Where a run keeps its files.

    Args:
        path: A folder; it need not exist.

    Raises:
        TypeError, ValueError: If path is not a path.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        require_path("folder", path)
        self.path = Path(path)
        self.lock_file, self.settings_file = self.path / "lock", self.path / "settings.json"
        self.tokenizer_file, self.words_file = self.path / TOKENIZER, self.path / WORDS
        self.history_file = self.path / "evaluations.json"
        self.checkpoint, self.best = self.path / "last.safetensors", self.path / BEST
        self.model, self.result_file = self.path / MODEL, self.path / "result.json"
        self.weights = self.path / "weights"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside the block no other process can train here. The lock ends with the process.

        The folder itself is locked, so that removing files lets nobody in; and a file, for disks
        and systems that lock files only. A block that begins no run leaves nothing behind.

        Raises:
            BlockingIOError: If another process has the lock. A disk without locks stops nobody.
        """
        for place in (self.path, self.weights):
            if os.path.lexists(place) and not place.is_dir():
                raise NotADirectoryError(f"out must be a folder or a new name, got {place}")
        files = (self.lock_file, self.tokenizer_file, self.words_file)
        new = [each for each in (*files, self.path, *self.path.parents) if not each.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            for place in (self.path, self.lock_file)[os.name != "posix" :]:
                flags = os.O_RDONLY if place == self.path else os.O_RDWR | os.O_CREAT
                descriptor = os.open(place, flags, 0o666)
                opened.callback(os.close, descriptor)
                try:
                    lock(descriptor)
                except (BlockingIOError, PermissionError):
                    wanted = "a folder in which no other process trains"
                    got = f"{self.path}, in which one is training now"
                    raise BlockingIOError(f"out must be {wanted}, got {got}") from None
                except OSError:
                    pass
            try:
                yield
            finally:
                with suppress(OSError):  # what is not empty stays
                    for place in [] if self.holds_a_run() else new:
                        place.rmdir() if place.is_dir() else place.unlink(missing_ok=True)

    def results(self) -> list[str]:
        """The names of what training has left here."""
        files = (self.checkpoint, self.best, self.history_file, self.model, self.result_file)
        names = [file.name for file in files if file.exists()]
        return [*names, self.weights.name] if self.kept_weights() else names

    def holds_a_run(self) -> bool:
        """Whether a run was begun here."""
        return self.settings_file.exists()

    def write_settings(self, settings: RunSettings, versions: Mapping[str, str]) -> None:
        """Write what was chosen, and the versions that the run is made with."""
        write_json(self.settings_file, {"settings": settings.by_name(), "versions": dict(versions)})

    def read_settings(self) -> RunSettings:
        """Read what was chosen.

        Raises:
            OSError: If there is no run in the folder.
            ValueError: If the file is damaged.
        """
        if not self.holds_a_run():
            raise FileNotFoundError(f"run must be the folder of a run, got {self.path}")
        try:
            return TINY.changed(**read_json(self.settings_file)["settings"])
        except (ValueError, TypeError, KeyError) as error:
            wanted = "hold a run's settings, got something else"
            raise ValueError(f"{self.settings_file} must {wanted}") from error

    def write_history(self, records: Sequence[Mapping[str, object]]) -> None:
        """Write the record of every evaluation so far; an earlier end's result becomes a .bak."""
        for file in filter(Path.exists, (self.model, self.result_file)):
            names = (f"{file}.{number}.bak" if number else f"{file}.bak" for number in count())
            os.replace(file, copy := next(name for name in names if not os.path.lexists(name)))
            report(f"An earlier end's {file.name} is kept as {copy}")
        write_json(self.history_file, list(records))

    def read_history(self, *names: str) -> list[dict[str, object]]:
        """Read the records so far.

        Args:
            names: What every record must have besides its step: a number, or None.

        Raises:
            ValueError: If the file is damaged.
        """
        if not self.history_file.exists():
            return []
        try:
            records = list(read_json(self.history_file))
            steps = [record["step"] for record in records]
            numbers = [record[name] or 0 for record in records for name in names]
            is_fine = steps == sorted(steps) and {*map(type, steps)} <= {int}
            if is_fine and all(type(n) in (int, float) and abs(n) < math.inf for n in numbers):
                return records
        except (ValueError, TypeError, KeyError):
            pass
        raise ValueError(f"{self.history_file} must hold a run's records, got something else")

    def keep_weights(self, model: Transformer, step: int, *, count: int) -> None:
        """Keep the weights at a step and at the count - 1 evaluations before; remove older ones."""
        self.weights.mkdir(exist_ok=True)
        save_model(self.weights_at(step), model)
        for path in [path for at, path in self.kept_weights().items() if at <= step][:-count]:
            path.unlink()

    def weights_at(self, step: int) -> Path:
        """The file of the weights at a step."""
        return self.weights / f"{step:06d}.safetensors"

    def kept_weights(self) -> dict[int, Path]:
        """The files of weights by step, the earliest first."""
        files = {*self.weights.glob("*.safetensors")}
        steps = sorted({int(file.stem) for file in files if file.stem.isdecimal()})
        return {step: file for step in steps if (file := self.weights_at(step)) in files}
