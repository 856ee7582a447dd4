"""One position at a time gives what the decoder gives for all positions at once."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from transformer_course.breaking.faults import (
    SoftmaxOverQueries,
    WithoutCausalMask,
    WithoutResidual,
)
from transformer_edu.generation import continuation
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.sampling import sample
from transformer_edu.generation.stepwise import INITIAL_CAPACITY, StepwiseDecoder, can_step
from transformer_edu.model.embeddings import PositionalEncoding, TokenEmbedding
from transformer_edu.model.transformer import Transformer, TransformerConfig

CONFIG = TransformerConfig(
    vocabulary_size=13, d_model=12, num_heads=3, num_layers=2, d_ff=20, max_length=40
)
SOURCES = torch.tensor([[5, 9, 7, 12, 4], [8, 6, 3, 0, 0], [4, 0, 0, 0, 0]])
LENGTH = INITIAL_CAPACITY + 3
each_kind = pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm_first": True, "bias": True},
        {"final_norm": True, "tie_embeddings": False},
        {"target_vocabulary_size": 17},
        {"activation": "silu", "position_order": "halves", "num_decoder_layers": 1},
    ],
)
each_precision = pytest.mark.parametrize(
    ("dtype", "error"), [(torch.float32, 1e-6), (torch.float64, 1e-12)]
)


def build(dtype: torch.dtype = torch.float32, **changes: object) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(replace(CONFIG, **changes)).to(dtype).eval()
    with torch.no_grad():
        for weight in model.parameters():  # no norm is trivial, no bias zero
            weight += 0.1 * torch.randn_like(weight)
    return model


def draw_targets(rows: int, *, padding: bool = False) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    target_ids = torch.randint(3, 13, (rows, LENGTH), generator=generator)
    if padding:
        target_ids[1, 2], target_ids[0, 7:9] = 0, 0
    return target_ids


def assert_steps_agree(
    model: Transformer, stepwise: StepwiseDecoder, sources: Tensor, targets: Tensor, error: float
) -> None:
    """Every position not read yet, against the whole targets read at once.

    The error is relative to the largest number of a position: beside it, another order of the
    same float32 sums, which is another processor's, may move a number near zero by 1e-6.
    """
    mask = model.source_mask(sources)
    expected = model.decode(targets, model.encode(sources), source_mask=mask)
    found = [stepwise(targets[:, place]) for place in range(stepwise.length, targets.size(1))]
    found = torch.stack(found, dim=1)
    expected = expected[:, -found.size(1) :]
    largest = expected.abs().amax(dim=-1, keepdim=True)
    assert found.dtype == expected.dtype
    assert ((found - expected).abs() <= error * largest).all()


@torch.no_grad()
@each_kind
@each_precision
@pytest.mark.parametrize("padding", [False, True], ids=["", "padding"])
def test_every_position_is_the_decoder_s(changes, dtype, error, padding):
    model = build(dtype, **changes)
    sources = SOURCES if padding else SOURCES[:, :1]
    stepwise = StepwiseDecoder(model, model.encode(sources), model.source_mask(sources))
    assert_steps_agree(model, stepwise, sources, draw_targets(3, padding=padding), error)


@torch.no_grad()
def test_the_start_token_may_be_padding():
    model, targets = build(torch.float64, start_id=0), draw_targets(3, padding=True)
    targets[:, 0] = 0
    stepwise = StepwiseDecoder(model, model.encode(SOURCES), model.source_mask(SOURCES))
    assert_steps_agree(model, stepwise, SOURCES, targets, 1e-12)


@torch.no_grad()
def test_the_factor_of_the_embedding_is_the_models_own():
    model = build()
    model.target_embedding.d_model = 1  # as lesson 1 does, to leave the factor out
    stepwise = StepwiseDecoder(model, model.encode(SOURCES), model.source_mask(SOURCES))
    assert_steps_agree(model, stepwise, SOURCES, draw_targets(3), 1e-6)


@torch.no_grad()
@each_precision
@pytest.mark.parametrize(
    "rows",
    [[0, 0, 1, 1, 2, 2], [2, 0], [1, 1, 0], [2, 1, 2]],
    ids=["beams", "fewer", "odd", "twice"],
)
def test_rows_can_be_multiplied_left_and_exchanged(dtype, error, rows):
    model, targets = build(dtype), draw_targets(3, padding=True)
    stepwise = StepwiseDecoder(model, model.encode(SOURCES), model.source_mask(SOURCES))
    assert_steps_agree(model, stepwise, SOURCES, targets[:, :5], error)
    stepwise.keep(torch.tensor(rows))
    further = torch.cat([targets[rows, :5], draw_targets(len(rows))[:, :6]], dim=1)
    assert_steps_agree(model, stepwise, SOURCES[rows], further, error)
    # Hypotheses of one source change places: the first two rows of the beams, if any.
    order = [1, 0, *range(2, len(rows))] if rows[0] == rows[1] else list(range(len(rows)))
    stepwise.keep(torch.tensor(order), same_sources=True)
    further = torch.cat([further[order], draw_targets(len(rows))[:, 6:]], dim=1)
    assert_steps_agree(model, stepwise, SOURCES[rows][order], further, error)
    # And a source is left: its hypotheses go, the others stay together.
    rest = [number for number, row in enumerate(rows) if row != rows[0]]
    stepwise.keep(torch.tensor(rest))
    further = torch.cat([further[order][rest], draw_targets(len(rest))[:, :4]], dim=1)
    left = SOURCES[rows][order][rest]
    assert_steps_agree(model, stepwise, left, further, error)


SEARCHES = {
    "greedy": lambda model: greedy_search(model, SOURCES, max_length=25),
    "beam": lambda model: [
        [(each.token_ids, round(each.score, 9)) for each in hypotheses]
        for hypotheses in beam_search(model, SOURCES, width=4, num_best=3, max_length=25)
    ],
    "sampling": lambda model: sample(model, SOURCES, generator=3, max_length=25),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("ends", [False, True], ids=["to the limit", "early"])
def test_every_search_writes_the_same(search, ends, monkeypatch):
    model = build(torch.float64)
    with torch.no_grad():
        model.output_projection.bias[2] = 0.5 if ends else -50.0
    found = search(model)
    monkeypatch.setattr(continuation, "can_step", lambda _: False)
    assert search(model) == found
    assert ends or len(set(map(str, found))) > 1


def test_a_search_steps_and_without_a_cache_it_does_not(monkeypatch):
    model, made = build(), []

    def make(*given: object) -> StepwiseDecoder:
        made.append(given)
        return StepwiseDecoder(*given)

    monkeypatch.setattr(continuation, "StepwiseDecoder", make)
    greedy_search(model, SOURCES, max_length=3, cached=False)
    assert not made
    greedy_search(model, SOURCES, max_length=3)
    assert len(made) == 1


def hooked(model: Transformer) -> Transformer:
    model.decoder.layers[1].cross_attention.register_forward_hook(lambda *call: None)
    return model


def patched(model: Transformer) -> Transformer:
    layer = model.decoder.layers[0].feed_forward
    layer.forward = copy.copy(layer.forward)
    return model


def exchanged(model: Transformer) -> Transformer:
    class Norm(nn.LayerNorm):
        pass

    model.decoder.layers[0].around_feed_forward.norm = Norm(12)
    return model


def with_another_dropout(model: Transformer) -> Transformer:
    model.embedding_dropout = nn.Identity()
    return model


def hooked_before(model: Transformer) -> Transformer:
    model.decoder.layers[1].feed_forward.register_forward_pre_hook(lambda *call: None)
    return model


def with_another_table(model: Transformer) -> Transformer:
    class Table(nn.Embedding):
        pass

    model.target_embedding.table = Table(13, 12)
    return model


def with_another_embedding(model: Transformer) -> Transformer:
    class Embedding(TokenEmbedding):
        pass

    model.target_embedding = Embedding(vocabulary_size=13, d_model=12)
    return model


def with_other_positions(model: Transformer) -> Transformer:
    class Positions(PositionalEncoding):
        pass

    model.positions = Positions(d_model=12, max_length=40)
    return model


def with_another_method(model: Transformer) -> Transformer:
    model.decode = copy.copy(model.decode)
    return model


CHANGES = [
    hooked,
    hooked_before,
    patched,
    exchanged,
    with_another_dropout,
    with_another_table,
    with_another_embedding,
    with_other_positions,
    with_another_method,
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_part_is_called_as_a_module(change):
    assert can_step(build())
    assert not can_step(change(build()))


@pytest.mark.parametrize("kind", [WithoutCausalMask, SoftmaxOverQueries, WithoutResidual])
def test_another_model_is_not_stepped(kind):
    assert not can_step(kind(CONFIG))
    assert not can_step(nn.Linear(2, 3))


@pytest.mark.parametrize("name", ["decode", "_embed", "_target_mask"])
def test_a_subclass_with_another_method_is_not_stepped(name):
    kind = type("Kind", (Transformer,), {name: lambda *given, **named: None})
    assert not can_step(kind(CONFIG))


def test_autocast_is_the_modules_matter():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert not can_step(build())
