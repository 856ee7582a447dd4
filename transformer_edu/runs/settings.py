"""Every choice of ``python -m transformer_edu.training``, and three presets."""

from dataclasses import asdict, dataclass, replace

from transformer_edu.model.refusals import require_choice, require_probability, require_whole
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.training.config import SCHEDULES, TrainingConfig
from transformer_edu.training.machine.atomic_files import require_path

EVERYDAY = "everyday"  # the corpus of our own
TEXT_TASKS = ("multi30k", EVERYDAY, f"multi30k+{EVERYDAY}", "files")  # scored by BLEU
TOY_TASKS = ("numbers", "copy", "reverse")  # scored by exact match
TASKS = (*TEXT_TASKS, *TOY_TASKS)
OF_TEXT = ("vocabulary_size", "bpe_dropout", "copies", "longest")  # toy tasks have no use for them
OPTIMIZERS = ("adam", "muon")
LONGEST_TEXT = 1024  # positions of a translator; the table of positions is computed, not learned


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Every choice of a run from the command line; the defaults are the preset tiny.

    Args:
        task: One of TASKS.
        source: File of source sentences, for the task files.
        target: File of their translations, line by line.
        preset: The name of the preset that these settings began as.
        model: The sizes of the model. Its vocabulary_size is the most tokens that texts get; toy
            tasks bring their own.
        training: The choices of fit. Every evaluation keeps the weights.
        optimizer: "adam" as in the paper, or "muon".
        bpe_dropout: How likely a merge is left out in half of the training sentences.
        copies: How often an epoch reads each caption, each time in another form.
        longest: Pairs with more tokens on a side are left out of training.
        keep: How many of the last evaluations' weights the final model is the average of.
        patience: Evaluations without a better score after which the run ends; None never.

    Raises:
        TypeError, ValueError: If a value is of another type or out of its range.
    """

    task: str = "multi30k"
    source: str | None = None
    target: str | None = None
    preset: str = "tiny"
    model: TransformerConfig = TransformerConfig.tiny(  # Wu et al. 2021: Multi30k on a laptop
        vocabulary_size=10_000, max_length=LONGEST_TEXT
    )
    training: TrainingConfig = TrainingConfig(
        steps=8000,
        batch_tokens=4096,
        learning_rate=5e-3,
        warmup_steps=2000,
        schedule="inverse-square-root",
        label_smoothing=0.1,
        precision="auto",
        evaluate_every=500,
        evaluate_on=300,
    )
    optimizer: str = "adam"
    bpe_dropout: float = 0.0
    copies: int = 1
    longest: int = 256
    keep: int = 10
    patience: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be trained; the two configs check the numbers that are theirs."""
        require_choice("task", self.task, TASKS)
        require_choice("optimizer", self.optimizer, OPTIMIZERS)
        for name, got in (("source", self.source), ("target", self.target)):
            if (self.task == "files") != (got is not None):
                wanted = "be given" if self.task == "files" else "be left out"
                raise ValueError(f"{name} must {wanted} for the task {self.task}, got {got!r}")
            if got is not None:
                require_path(name, got)
        for name in ("keep", "copies"):
            require_whole(name, getattr(self, name))
        require_whole("longest", self.longest, minimum=2)
        for name, value in (("bpe_dropout", self.bpe_dropout), ("dropout", self.model.dropout)):
            require_probability(name, value, below_one=True)
        if self.patience is not None:
            require_whole("patience", self.patience)

    @property
    def is_text(self) -> bool:
        """Whether sentences are translated, scored by BLEU."""
        return self.task in TEXT_TASKS

    def by_name(self) -> dict[str, object]:
        """Every choice by its name, the two configs' too: no two share a name."""
        chosen = asdict(self)
        return chosen.pop("model") | chosen.pop("training") | chosen

    def changed(self, **changes: object) -> "RunSettings":
        """The settings with some choices replaced, each by its name, the two configs' too.

        Raises:
            TypeError, ValueError: If a name is unknown, or a choice cannot be trained with.
        """
        for part in ("model", "training"):
            config = changes.pop(part, getattr(self, part))
            own = {name: changes.pop(name) for name in vars(config).keys() & changes.keys()}
            changes[part] = replace(config, **own)
        return replace(self, **changes)


TINY = RunSettings()
TOY = RunSettings(
    task="numbers",
    preset="toy",
    model=replace(TINY.model, d_model=64, num_layers=2, d_ff=128, dropout=0.0),
    training=TrainingConfig(precision="auto"),
    keep=1,
)
BASE = RunSettings(  # the paper's base model (table 3): for a GPU and a large corpus
    preset="base",
    model=TransformerConfig.base(vocabulary_size=37_000, max_length=LONGEST_TEXT),
    training=replace(
        TINY.training,
        steps=100_000,
        batch_tokens=25_000,
        learning_rate=512**-0.5 * 4000**-0.5,
        warmup_steps=4000,
        evaluate_every=1000,
    ),
)
TRANSLATOR = RunSettings(  # the shipped one; each choice was compared on validation text
    task=f"multi30k+{EVERYDAY}",
    preset="translator",
    model=replace(
        TINY.model,
        d_ff=832,  # with the vocabulary, as large as 8 MB of weights allow
        dropout=0.1,  # less than for captions alone: there are five times as many sentences
        norm_first=True,
    ),
    training=replace(
        TINY.training,
        learning_rate=6e-3,
        warmup_steps=300,
        schedule="linear",  # to zero: the last steps settle what the average would
        evaluate_on=500,
    ),
    optimizer="muon",  # half as many steps as Adam for the same loss
    bpe_dropout=0.1,  # rare words are also read in pieces
    copies=3,  # captions are a tenth of the texts, and the longest
    keep=4,
)
PRESETS = {"toy": TOY, "tiny": TINY, "base": BASE, "translator": TRANSLATOR}
CHOICES = {"task": TASKS, "preset": PRESETS, "schedule": SCHEDULES, "optimizer": OPTIMIZERS}


def choose_settings(preset: str | None = None, **given: object) -> RunSettings:
    """The settings of a preset, with what was given in their place.

    Args:
        preset: A name in PRESETS; None is toy for toy tasks and tiny for text.
        given: Choices by name; None leaves the preset's. A source or target means the task files.

    Raises:
        TypeError, ValueError: If the preset is unknown, or a choice cannot be trained with.
    """
    given = {name: value for name, value in given.items() if value is not None}
    if given.keys() & {"source", "target"}:
        given.setdefault("task", "files")
    if preset is None:
        preset = "toy" if given.get("task") in TOY_TASKS else "tiny"
    require_choice("preset", preset, PRESETS)
    counted = {"batch_tokens": None} if "batch_size" in given else {}  # pairs, not tokens
    chosen = PRESETS[preset].changed(**counted | given)
    for name in () if chosen.is_text else sorted(given.keys() & OF_TEXT):
        raise ValueError(f"{name} must be left out for the task {chosen.task}")
    return chosen
