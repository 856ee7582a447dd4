"""A training step of this package beside torch.nn's Transformer, and beside its own in bfloat16.

Both sides train on the same padded batches with the same loss and the same Adam.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from experiments.benchmark.timing import LEGEND, Step, compare, machine, markdown_table
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_edu.data.batches import Batch
from transformer_edu.model.special_ids import PADDING_ID, START_ID, UNKNOWN_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.loss import batch_loss
from transformer_edu.training.machine.device import autocast_for, cpu_is_faster_in_bfloat16

if TYPE_CHECKING:
    from transformers import MarianConfig

SIZES, FASTER = "d_model/heads/layers/d_ff", "times as fast"
OURS, PYTORCH, MARIAN = "ours", "nn.Transformer", "Hugging Face Marian"


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A model's sizes and the batches that it is trained on.

    Args:
        config: The model's sizes.
        batch: Sentences in a batch.
        length: Positions of the longest of them.
        rounds: Steps of each model that are counted.
    """

    config: TransformerConfig
    batch: int
    length: int
    rounds: int

    def __str__(self) -> str:
        """Width / heads / layers / inner width, then batch × length."""
        c = self.config
        sizes = f"{c.d_model}/{c.num_heads}/{c.num_layers}+{c.num_layers}/{c.d_ff}"
        return f"{sizes}, batch {self.batch} × {self.length}, vocabulary {c.vocabulary_size:,}"


SMALL = Workload(
    config=TransformerConfig(
        vocabulary_size=8000, d_model=128, num_heads=4, num_layers=3, d_ff=512
    ),
    batch=64,
    length=20,
    rounds=30,
)
TINY = Workload(  # about a batch of the translator in the package
    config=TransformerConfig.tiny(vocabulary_size=8000, norm_first=True),
    batch=128,
    length=16,
    rounds=15,
)
BASE = Workload(config=TransformerConfig.base(vocabulary_size=8000), batch=16, length=30, rounds=15)


def draw_batch(workload: Workload) -> tuple[Tensor, Tensor]:
    """Random sources, (batch, length), and targets, one longer; most rows end in padding."""
    generator = torch.Generator().manual_seed(0)
    size = (workload.batch, workload.length + 1)
    first_word, vocabulary = UNKNOWN_ID + 1, workload.config.vocabulary_size
    source_ids, target_ids = (
        torch.randint(first_word, vocabulary, size, generator=generator) for _ in range(2)
    )
    target_ids[:, 0] = START_ID
    for row in range(workload.batch):
        source_ids[row, workload.length - row % 5 :] = PADDING_ID
        target_ids[row, workload.length + 1 - row % 7 :] = PADDING_ID
    return source_ids[:, :-1], target_ids


def build_marian(config: TransformerConfig) -> nn.Module:
    """Hugging Face's MarianMTModel of the same sizes, called like our model, without download."""
    from transformers import MarianMTModel

    class Marian(MarianMTModel):
        """Takes token ids and returns logits."""

        def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
            """Hide the padding of both, as Transformer does."""
            outputs = super().forward(
                input_ids=source_ids,
                attention_mask=source_ids != PADDING_ID,
                decoder_input_ids=target_ids,
                decoder_attention_mask=target_ids != PADDING_ID,
            )
            return outputs.logits

    return Marian(marian_config(config))


def marian_config(config: TransformerConfig) -> "MarianConfig":
    """The sizes of our model under Hugging Face's names."""
    from transformers import MarianConfig

    sizes = {
        f"{stack}_{name}": value
        for stack in ("encoder", "decoder")
        for name, value in (
            ("layers", config.num_layers),
            ("attention_heads", config.num_heads),
            ("ffn_dim", config.d_ff),
        )
    }
    return MarianConfig(
        vocab_size=config.vocabulary_size,
        d_model=config.d_model,
        dropout=config.dropout,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=PADDING_ID,
        **sizes,
    )


def build_trainer(name: str, workload: Workload, *, precision: str = "float32") -> Step:
    """A function that makes one training step of the named model and returns its loss."""
    torch.manual_seed(0)
    model = {OURS: Transformer, PYTORCH: PytorchTransformer, MARIAN: build_marian}[name](
        workload.config
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    source_ids, target_ids = draw_batch(workload)
    batch = Batch(source_ids, target_ids[:, :-1], target_ids[:, 1:])

    def step() -> float:
        optimiser.zero_grad()
        with autocast_for(model, precision):
            loss = batch_loss(model, batch)
        loss.backward()
        optimiser.step()
        return loss.item()

    return step


def report_train(workloads: Sequence[Workload]) -> Iterator[str]:
    """Measure a training step, and tell line by line."""
    yield f"Training step: forward, backward, Adam. {machine()}.\n"
    rows = []
    for workload in workloads:
        steps = [build_trainer(name, workload) for name in (OURS, PYTORCH)]
        rows.append([str(workload), *compare(*steps, workload.rounds)])
    yield markdown_table([SIZES, f"{OURS}, ms", f"{PYTORCH}, ms", FASTER], rows)
    yield f"\n{LEGEND}"


def report_precision(workloads: Sequence[Workload]) -> Iterator[str]:
    """Measure a training step of ours in half precision beside float32, and tell line by line."""
    if not cpu_is_faster_in_bfloat16():
        yield f"A product in bfloat16 is not faster here, so float32 is chosen. {machine()}."
        return
    yield f"Training step of ours: bfloat16 autocast beside float32. {machine()}.\n"
    rows = []
    for workload in workloads:
        steps = [build_trainer(OURS, workload, precision=name) for name in ("bfloat16", "float32")]
        rows.append([str(workload), *compare(*steps, workload.rounds)])
    yield markdown_table([SIZES, "bfloat16, ms", "float32, ms", FASTER], rows)
    yield f"\n{LEGEND}"
