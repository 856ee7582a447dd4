"""Writing translations: this package beside Hugging Face's generate and torch.nn without a cache.

All three write with the same sizes from the same random sources, and exactly as many tokens: the
end token is out of reach.
"""

import importlib.util
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from experiments.benchmark.timing import (
    OwnProcess,
    Step,
    alternate,
    machine,
    markdown_table,
    ratios,
    spread,
)
from experiments.benchmark.training_step import MARIAN, OURS, PYTORCH, marian_config
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID, UNKNOWN_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

OUT_OF_REACH = -1e4  # the end token's bias: nobody stops early
SLOW_ROUNDS = 3  # at the most, for a model that takes many times as long


@dataclass(frozen=True, kw_only=True)
class DecodingWorkload:
    """What is written.

    Args:
        batch: Sources at once.
        width: Hypotheses of the beam; 1 is greedy search.
        rounds: Times that each model writes; torch.nn's at most SLOW_ROUNDS times.
        source_length: Tokens of each source.
        new_tokens: Tokens of each target.
        config: The models' sizes.
    """

    batch: int
    width: int = 1
    rounds: int = 3
    source_length: int = 30
    new_tokens: int = 64
    config: TransformerConfig = TransformerConfig.base(vocabulary_size=10_000)

    def __str__(self) -> str:
        """How, and how many at once."""
        how = "greedy" if self.width == 1 else f"beam {self.width}"
        return f"{how}, batch {self.batch}"


DECODING_WORKLOADS = (
    DecodingWorkload(batch=1, rounds=7),
    DecodingWorkload(batch=32, rounds=15),
    DecodingWorkload(batch=1, width=5, rounds=5),
    DecodingWorkload(batch=8, width=5, rounds=5),
)


def draw_sources(workload: DecodingWorkload) -> Tensor:
    """Random sources, shape (batch, source position)."""
    generator = torch.Generator().manual_seed(0)
    size = (workload.batch, workload.source_length)
    return torch.randint(UNKNOWN_ID + 1, workload.config.vocabulary_size, size, generator=generator)


def build_writer(name: str, workload: DecodingWorkload) -> Step:
    """A function with which the named model writes once, and returns the ids of the best.

    Args:
        name: OURS, PYTORCH (greedy, without a cache) or MARIAN.
        workload: What is written.

    Raises:
        ValueError: If torch.nn's is asked for a beam.
    """
    torch.manual_seed(0)
    source_ids = draw_sources(workload)
    if name == MARIAN:
        return _marian_writer(workload, source_ids)
    if name == PYTORCH and workload.width > 1:
        raise ValueError(f"width must be 1 for {PYTORCH}, got {workload.width}")
    model = {OURS: Transformer, PYTORCH: PytorchTransformer}[name](workload.config)
    _put_out_of_reach(model.output_projection.bias)
    longest = workload.new_tokens
    if workload.width == 1:
        return lambda: greedy_search(model, source_ids, max_length=longest)
    return lambda: [
        best.token_ids
        for best, *_ in beam_search(model, source_ids, width=workload.width, max_length=longest)
    ]


def _marian_writer(workload: DecodingWorkload, source_ids: Tensor) -> Step:
    """The same by Hugging Face's generate, which keeps keys and values too."""
    from transformers import MarianMTModel

    model = MarianMTModel(marian_config(workload.config)).eval()
    _put_out_of_reach(model.final_logits_bias[0])
    asked = {
        "max_new_tokens": workload.new_tokens,
        "num_beams": workload.width,
        "do_sample": False,
        "use_cache": True,
        "decoder_start_token_id": START_ID,
        "eos_token_id": END_ID,
        "pad_token_id": PADDING_ID,
        "forced_eos_token_id": None,
    }

    @torch.no_grad()
    def write() -> list[list[int]]:
        real = torch.ones_like(source_ids)
        return model.generate(source_ids, attention_mask=real, **asked)[:, 1:].tolist()

    return write


def _put_out_of_reach(bias: nn.Parameter | Tensor) -> None:
    """Let no model end."""
    with torch.no_grad():
        bias[END_ID] = OUT_OF_REACH


def report_decoding(workloads: Sequence[DecodingWorkload]) -> Iterator[str]:
    """Measure how long writing takes, all models in turns, and tell line by line."""
    has_marian = importlib.util.find_spec("transformers") is not None
    first = workloads[0]
    c = first.config
    versions = machine()
    if has_marian:
        import transformers

        versions += f", transformers {transformers.__version__}"
    yield f"Writing {first.new_tokens} tokens from {first.source_length}. {versions}."
    yield (
        f"{c.d_model}/{c.num_heads}/{c.num_layers}+{c.num_layers}/{c.d_ff}, "
        f"vocabulary {c.vocabulary_size:,}; each in a process of its own, in turns. CPU seconds, "
        "median of rounds, and of the turns' ratios least / median / most.\n"
    )
    names = [OURS, *([MARIAN] if has_marian else []), PYTORCH]
    heads = ["search", "rounds", *(f"{name}, s" for name in names)]
    heads += [f"ours is × {name}" for name in names[1:]]
    rows = [_measured(workload, names) for workload in workloads]
    yield markdown_table(heads, rows)


def _measured(workload: DecodingWorkload, names: Sequence[str]) -> list[str]:
    """One row: seconds of each model, and how many times as fast ours is than its neighbour."""
    ours, *others = names
    seconds, times = {}, []
    for name in others:
        if name == PYTORCH and workload.width > 1:
            times.append("-")
            continue
        rounds = min(workload.rounds, SLOW_ROUNDS) if name == PYTORCH else workload.rounds
        pairs = _alternate([ours, name], workload, rounds)
        own, seconds[name] = (statistics.median(column) for column in zip(*pairs, strict=True))
        seconds.setdefault(ours, own)
        times.append(spread(ratios(pairs), 2))
    if ours not in seconds:  # nobody to take turns with
        seconds[ours] = statistics.median(
            own for (own,) in _alternate([ours], workload, workload.rounds)
        )
    row = [str(workload), str(workload.rounds)]
    row += [f"{seconds[name]:.2f}" if name in seconds else "-" for name in names]
    return row + times


def _alternate(
    names: Sequence[str], workload: DecodingWorkload, rounds: int
) -> list[tuple[float, ...]]:
    """The CPU seconds of these models in turns, each in a process of its own, as it is used."""
    writers = [OwnProcess(build_writer, name, workload) for name in names]
    try:
        return list(alternate(*writers, rounds=rounds, warm_up=1))
    finally:
        for writer in writers:
            writer.close()
