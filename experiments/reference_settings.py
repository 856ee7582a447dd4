"""What the stored runs were trained with: every choice of every variant in one place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import nn

from transformer_course.breaking.faults import FAULTS, StandardNormalEmbeddings
from transformer_edu.data.toy_tasks import Task, copy_task, number_words_task, reverse_task
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.config import TrainingConfig, linear_decay

SEEDS = (0, 1, 2)
TASKS: dict[str, Callable[..., Task]] = {
    "copy": copy_task,
    "reverse": reverse_task,
    "number words": number_words_task,
}
SMALL = {"d_model": 64, "num_heads": 4, "num_layers": 2, "d_ff": 128, "dropout": 0.0}
DEEP = SMALL | {"num_layers": 6}
SEPARATE = {"target_vocabulary_size": 20, "tie_embeddings": False, "bias": True}
SECONDS_PER_LAYER = 1.7e-4  # of one pair's step, on one thread, evaluations included


class SmallerProjections(Transformer):
    """Queries, keys and values start smaller by √2, as in torch.nn and fairseq.

    There the three matrices are drawn by Xavier's rule as one, three times as high. A deep
    post-norm stack then survives larger learning rates: the warm-up runs need it.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        for module in self.modules():
            if isinstance(module, MultiHeadAttention):
                for name in ("query_projection", "key_projection", "value_projection"):
                    nn.init.xavier_uniform_(getattr(module, name).weight, gain=0.5**0.5)


@dataclass(frozen=True, kw_only=True)
class ReferenceSettings:
    """One variant: a model, a task and a way to train.

    Args:
        variant: Its name in figures; it also names the file.
        kind: The model's class, perhaps a faulty one.
        sizes: What its TransformerConfig is given, the vocabulary's size apart.
        task: A name in TASKS.
        task_sizes: What the task is given.
        steps: Weight updates.
        batch_size: Pairs per update.
        learning_rate: Adam's, at its highest.
        warmup_steps: Steps of rising to it; 1 is no warm-up. Then it falls evenly to zero,
            unless it stays.
        stays: Whether the rate stays at its highest.
        as_published: Whether the published loop trains, its faults included, instead of fit.
        evaluate_every: Steps between two evaluations.
        evaluate_on: Held-out pairs used each time.
    """

    variant: str
    kind: type[Transformer] = Transformer
    sizes: Mapping[str, int | float | bool] = field(default_factory=lambda: SMALL)
    task: str = "reverse"
    task_sizes: Mapping[str, int] = field(default_factory=dict)
    steps: int = 300
    batch_size: int = 64
    learning_rate: float = 1e-3
    warmup_steps: int = 1
    stays: bool = False
    as_published: bool = False
    evaluate_every: int = 20
    evaluate_on: int = 200

    def build_task(self) -> Task:
        """The task, the same for every seed."""
        return TASKS[self.task](**self.task_sizes)

    def build_model(self, task: Task, seed: int) -> Transformer:
        """A fresh model; the global random state stays as it was."""
        size = len(task.vocabulary)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self.kind(TransformerConfig(vocabulary_size=size, max_length=512, **self.sizes))

    def training(self, seed: int, *, stop_after: int | None = None) -> TrainingConfig:
        """How to train; stop_after ends the run early and changes nothing before."""
        fall = partial(linear_decay, warmup_steps=self.warmup_steps, steps=self.steps)
        return TrainingConfig(
            steps=stop_after or self.steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            schedule=(lambda step: 1.0) if self.stays else fall,
            evaluate_every=self.evaluate_every,
            evaluate_on=self.evaluate_on,
            seed=seed,
        )

    def record(self) -> dict[str, object]:
        """Everything but the variant's name, as JSON can hold it."""
        values = {name: value for name, value in vars(self).items() if name != "variant"}
        plain = {name: dict(values[name]) for name in ("sizes", "task_sizes")}
        return values | plain | {"kind": self.kind.__name__}

    @property
    def seconds(self) -> float:
        """About how many CPU-seconds one seed takes on one thread."""
        return SECONDS_PER_LAYER * self.steps * self.batch_size * self.sizes["num_layers"]


UNTIED = SMALL | {"tie_embeddings": False}
FAULTY = (  # the faults whose curves a lesson draws
    "no causal mask",
    "target not shifted",
    "softmax over queries",
    "no positions",
    "positions along the batch",
    "no residual",
    "heads merged by view",
    "layers in a plain list",
    "softmax in the model",
)
TABLE = [
    ReferenceSettings(variant="correct", sizes=UNTIED),
    ReferenceSettings(variant="correct, pre-norm", sizes=UNTIED | {"norm_first": True}),
    *(ReferenceSettings(variant=name, kind=FAULTS[name], sizes=UNTIED) for name in FAULTY),
]
WARM_UP = [
    ReferenceSettings(
        variant=variant,
        kind=kind,
        sizes=DEEP | {"norm_first": norm_first},
        learning_rate=learning_rate,
        warmup_steps=warmup_steps,
    )
    for variant, kind, norm_first, learning_rate, warmup_steps in (
        ("6+6 layers, no warm-up", SmallerProjections, False, 4e-3, 1),
        ("6+6 layers, warm-up 100", SmallerProjections, False, 4e-3, 100),
        ("6+6 layers, pre-norm, no warm-up", SmallerProjections, True, 4e-3, 1),
        ("6+6 layers, warm-up 100, larger start", Transformer, False, 4e-3, 100),
    )
]
PUBLISHED_SIZES = SMALL | SEPARATE | {"dropout": 0.1}
COPY = [
    ReferenceSettings(
        variant=variant,
        kind=kind,
        sizes=PUBLISHED_SIZES,
        task="copy",
        steps=400,
        batch_size=32,
        stays=True,
        as_published=as_published,
        evaluate_every=25,
    )
    for variant, kind, as_published in (
        ("copy, as published", StandardNormalEmbeddings, True),
        ("copy, end token trained", StandardNormalEmbeddings, False),
        ("copy, repaired", Transformer, False),
    )
]
REFERENCES = {each.variant: each for each in (*TABLE, *WARM_UP, *COPY)}
