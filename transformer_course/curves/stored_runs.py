"""Training runs that are kept: small JSON files, written by reference_runs and read by lessons."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.machine.atomic_files import replace_file

FOLDER = Path(__file__).with_name("stored")
FORMAT = 1  # of the files; changes when an old reader would misread a new file
DIGITS = 4  # of every stored number; no lesson reads more
MEASURES = ("loss", "token_accuracy", "exact_match")


@dataclass(frozen=True, kw_only=True)
class SeedRun:
    """One training run.

    Args:
        seed: Decided the first weights, the order of the pairs and what dropout dropped.
        evaluations: On held-out pairs, in the order of their steps.
        printed: For a loop that judges itself: step, loss and token accuracy of the training
            batch at the same steps, dropout on; empty for all others.
    """

    seed: int
    evaluations: tuple[Evaluation, ...]
    printed: tuple[tuple[int, float, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Glance:
    """One held-out pair in the eyes of a trained model, the first seed's.

    Args:
        source: The source's tokens.
        target: What should be written.
        written: What the model writes alone.
        head: The head, from 0, of the last cross-attention that is surest where to look.
        weights: How much each position of the decoder's input (start token, then the target)
            looks at each source token, (query, key).
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    written: tuple[str, ...]
    head: int
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class StoredRuns:
    """Several seeds of one variant.

    Args:
        variant: What distinguishes these runs from the others.
        settings: Everything else that was chosen, by name.
        runs: One for each seed.
        glance: A look at one of the trained models.
    """

    variant: str
    settings: dict[str, object]
    runs: tuple[SeedRun, ...]
    glance: Glance

    @property
    def steps(self) -> list[int]:
        """The steps at which every run was evaluated."""
        return [each.step for each in self.runs[0].evaluations]

    @property
    def last(self) -> list[Evaluation]:
        """The last evaluation of every run."""
        return [run.evaluations[-1] for run in self.runs]

    def curves(self, measure: str) -> list[list[float]]:
        """One curve for each seed of "loss", "token_accuracy" or "exact_match".

        Raises:
            ValueError: If measure is another one.
        """
        if measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
        return [[getattr(each, measure) for each in run.evaluations] for run in self.runs]


def load_runs(variant: str, *, folder: Path = FOLDER) -> StoredRuns:
    """Read the stored runs of a variant.

    Args:
        variant: Its name, such as "no causal mask".
        folder: Where the files are; the package's own by default.

    Raises:
        TypeError: If variant is no text.
        ValueError: If there is no such variant, or its file has another form.
    """
    if not isinstance(variant, str):
        raise TypeError(f"variant must be a text, got {type(variant).__name__}")
    path = folder / file_name(variant)
    if not path.is_file():
        known = "; ".join(stored_variants(folder=folder)) or "(none is stored)"
        raise ValueError(f"variant must be one of {known}, got {variant!r}")
    return _read(path)


def load_deep_runs(*names: str) -> dict[str, StoredRuns]:
    """The stored runs of a deep model, 6 + 6 layers, by what distinguishes them.

    Args:
        names: Such as "warm-up 100".

    Raises:
        ValueError: If there are no such runs, or no name is given.
    """
    if not names:
        raise ValueError("names must be at least one, such as 'warm-up 100', got none")
    return {name: load_runs(f"6+6 layers, {name}") for name in names}


def stored_variants(*, folder: Path = FOLDER) -> list[str]:
    """The names of all variants that are stored in a folder."""
    return [_read(path).variant for path in sorted(folder.glob("*.json"))]


def save_runs(stored: StoredRuns, *, folder: Path = FOLDER) -> Path:
    """Write runs to their file, numbers rounded; the file is replaced whole.

    Args:
        stored: What to write.
        folder: An existing folder.

    Returns:
        The file.

    Raises:
        OSError: If the folder is missing or cannot be written to.
    """
    runs = [
        {
            "seed": run.seed,
            "evaluations": [_rounded(astuple(each)) for each in run.evaluations],
            "printed": [_rounded(each) for each in run.printed],
        }
        for run in stored.runs
    ]
    glance = asdict(stored.glance)
    glance["weights"] = [_rounded(row, digits=2) for row in stored.glance.weights]
    parts = {
        "format": FORMAT,
        "variant": stored.variant,
        "settings": stored.settings,
        "glance": glance,
        "runs": runs,
    }
    lines = (f"{json.dumps(name)}: {json.dumps(part)}" for name, part in parts.items())
    path = folder / file_name(stored.variant)
    replace_file(path, [("{\n" + ",\n".join(lines) + "\n}\n").encode()])
    return path


def file_name(variant: str) -> str:
    """The file of a variant: its words, joined by underscores."""
    return "_".join(re.findall(r"[a-z0-9]+", variant.lower())) + ".json"


def _read(path: Path) -> StoredRuns:
    """One file's content."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']!r}")
        runs = tuple(
            SeedRun(
                seed=run["seed"],
                evaluations=tuple(Evaluation(*each) for each in run["evaluations"]),
                printed=tuple((step, loss, right) for step, loss, right in run["printed"]),
            )
            for run in content["runs"]
        )
        lists = content["glance"]
        texts = {name: tuple(lists[name]) for name in ("source", "target", "written")}
        weights = tuple(map(tuple, lists["weights"]))
        glance = Glance(**texts, head=lists["head"], weights=weights)
        variant, settings = content["variant"], content["settings"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path.name} must hold stored runs of format {FORMAT}, got {error}"
        ) from None
    return StoredRuns(variant=variant, settings=settings, runs=runs, glance=glance)


def _rounded(numbers: Sequence[float], *, digits: int = DIGITS) -> list[float]:
    """Whole numbers as they are, others with few digits."""
    return [each if isinstance(each, int) else round(each, digits) for each in numbers]
