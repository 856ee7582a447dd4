"""What ``python -m transformer_edu.training`` trains with: every number of a run by its name."""

import math
from dataclasses import asdict, dataclass, fields, replace

from transformer_edu.model.refusals import require_whole
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.training.config import TrainingConfig, inverse_square_root

EVERYDAY = "everyday"  # the corpus of our own
TEXT_TASKS = (
    "multi30k",
    EVERYDAY,
    f"multi30k+{EVERYDAY}",
    "files",
)  # judged by BLEU; all others by exact match
TOY_TASKS = ("numbers", "copy", "reverse")
TASKS = (*TEXT_TASKS, *TOY_TASKS)
SCHEDULES = ("inverse-square-root", "linear")
LONGEST_TEXT = 1024  # positions of a translator; the table of positions is computed, not learned


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Every choice of a run from the command line, kept in its folder.

    Args:
        task: One of TASKS.
        source: File of source sentences, for the task files.
        target: File of their translations, line by line.
        preset: The name of the settings that these began as.
        begin_with: Folder of a trained translator to go on from; None begins at random.
        steps: Weight updates.
        seed: Decides the first weights, the order of the pairs and what dropout drops.
        vocabulary_size: The most tokens of the joint vocabulary; toy tasks bring their own.
        d_model, num_heads, num_layers, d_ff, dropout, norm_first: As for TransformerConfig.
        learning_rate: The highest that the schedule reaches.
        warmup_steps: The step at which it does.
        schedule: One of SCHEDULES: what follows the warm-up.
        batch_tokens: Padded target tokens in a batch; None takes batch_size pairs instead.
        batch_size: Pairs in a batch, unless batch_tokens is given.
        bpe_dropout: How likely a merge is left out in half of the training sentences.
        copies: How often an epoch reads each caption, each time in another form.
        longest: Pairs with more tokens on a side are left out of training.
        label_smoothing, largest_gradient, accumulate, precision: As for TrainingConfig.
        evaluate_every: Steps between two evaluations, each of which keeps the weights.
        evaluate_on: Validation sentences that are written each time.
        keep: How many of the last evaluations' weights the final model is the average of.
        patience: Evaluations without a better score after which the run ends; None never.

    Raises:
        TypeError: If a value is of another type.
        ValueError: If a value is out of its range.
    """

    task: str = "multi30k"
    source: str | None = None
    target: str | None = None
    preset: str = "tiny"
    begin_with: str | None = None
    steps: int = 8000
    seed: int = 0
    vocabulary_size: int = 10_000
    d_model: int = 128
    num_heads: int = 4
    num_layers: int = 4
    d_ff: int = 256
    dropout: float = 0.3
    norm_first: bool = False
    learning_rate: float = 5e-3
    warmup_steps: int = 2000
    schedule: str = "inverse-square-root"
    batch_tokens: int | None = 4096
    batch_size: int = 64
    bpe_dropout: float = 0.0
    copies: int = 1
    longest: int = 256
    label_smoothing: float = 0.1
    largest_gradient: float | None = 1.0
    accumulate: int = 1
    precision: str = "auto"
    evaluate_every: int = 500
    evaluate_on: int = 300
    keep: int = 10
    patience: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be trained; the two configs check the numbers that are theirs."""
        if self.task not in TASKS:
            raise ValueError(f"task must be one of {', '.join(TASKS)}, got {self.task!r}")
        if self.begin_with is not None and not self.is_text:
            raise ValueError(
                f"begin_with must be left out for the task {self.task}, got {self.begin_with!r}"
            )
        if self.schedule not in SCHEDULES:
            known = ", ".join(SCHEDULES)
            raise ValueError(f"schedule must be one of {known}, got {self.schedule!r}")
        for name in ("source", "target"):
            if (self.task == "files") != (getattr(self, name) is not None):
                wanted = "be given" if self.task == "files" else "be left out"
                got = getattr(self, name)
                raise ValueError(f"{name} must {wanted} for the task {self.task}, got {got!r}")
        for name in ("vocabulary_size", "keep", "copies"):
            require_whole(name, getattr(self, name))
        require_whole("longest", self.longest, minimum=2)
        if not 0 <= self.bpe_dropout < 1:
            raise ValueError(f"bpe_dropout must be from 0 to below 1, got {self.bpe_dropout}")
        if self.patience is not None:
            require_whole("patience", self.patience)
        self.model_config(self.vocabulary_size)
        self.training_config()

    @property
    def is_text(self) -> bool:
        """Whether sentences are translated, judged by BLEU."""
        return self.task in TEXT_TASKS

    def model_config(self, vocabulary_size: int) -> TransformerConfig:
        """The model's sizes and switches.

        Args:
            vocabulary_size: What the vocabulary really has.
        """
        names = ("d_model", "num_heads", "num_layers", "d_ff", "dropout", "norm_first")
        sizes = {name: getattr(self, name) for name in names}
        return TransformerConfig(vocabulary_size=vocabulary_size, max_length=LONGEST_TEXT, **sizes)

    def training_config(self) -> TrainingConfig:
        """The choices of fit."""
        shared = {field.name for field in fields(TrainingConfig)} & {f.name for f in fields(self)}
        chosen = {name: getattr(self, name) for name in shared - {"schedule"}}
        return TrainingConfig(schedule=self._factor(), **chosen)

    def _factor(self):
        """The schedule as a function of the step, 1 at its highest."""
        if self.schedule == "linear":
            return None
        warmup = self.warmup_steps
        require_whole("warmup_steps", warmup)
        peak = math.sqrt(warmup)
        return lambda step: peak * inverse_square_root(step, d_model=1, warmup_steps=warmup)


TOY = RunSettings(
    task="numbers",
    preset="toy",
    steps=500,
    d_model=64,
    num_layers=2,
    d_ff=128,
    dropout=0.0,
    learning_rate=3e-3,
    warmup_steps=50,
    schedule="linear",
    batch_tokens=None,
    label_smoothing=0.0,
    evaluate_every=100,
    evaluate_on=200,
    keep=1,
)
TINY = RunSettings()  # Wu et al. 2021, Transformer-Tiny: Multi30k on a laptop
BASE = RunSettings(  # the paper's base model (table 3): for a GPU and a large corpus
    preset="base",
    steps=100_000,
    vocabulary_size=37_000,
    d_model=512,
    num_heads=8,
    num_layers=6,
    d_ff=2048,
    dropout=0.1,
    learning_rate=512**-0.5 * 4000**-0.5,
    warmup_steps=4000,
    batch_tokens=25_000,
    evaluate_every=1000,
)
PRESETS = {"toy": TOY, "tiny": TINY, "base": BASE}


def choose_settings(preset: str | None = None, **given: object) -> RunSettings:
    """The settings of a preset, with what was given in their place.

    Args:
        preset: A name in PRESETS; None is toy for toy tasks and tiny for text.
        given: Settings by name; None leaves the preset's.

    Raises:
        TypeError, ValueError: If the preset is unknown, or a setting cannot be trained with.
    """
    given = {name: value for name, value in given.items() if value is not None}
    if preset is None:
        preset = "toy" if given.get("task") in TOY_TASKS else "tiny"
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}")
    if "batch_size" in given:  # who counts pairs does not count tokens
        given = {"batch_tokens": None} | given
    return replace(PRESETS[preset], **({"task": "multi30k"} | given))


def settings_record(settings: RunSettings) -> dict[str, object]:
    """The settings as JSON has them."""
    return asdict(settings)
