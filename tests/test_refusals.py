"""Bad input is refused in one sentence: the name, what must be, and what was given.

Constructors and Transformer refuse whatever they can know. A layer called alone refuses what torch
would convert or broadcast in silence; the rest is left to torch.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import (
    MultiHeadAttention,
    attention_weights,
    scaled_dot_product_attention,
)
from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.embeddings import (
    PositionalEncoding,
    TokenEmbedding,
    sinusoidal_positions,
)
from transformer_edu.model.encoder import Encoder, EncoderLayer
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.masks import causal_mask, padding_mask, target_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig

BATCH, QUERY, KEY, HEADS, D_MODEL, VOCABULARY, MAX_LENGTH = 2, 4, 5, 3, 12, 11, 7
SIZES = {"d_model": D_MODEL, "num_heads": HEADS, "d_ff": 20}
MODEL = {"vocabulary_size": VOCABULARY, "target_vocabulary_size": 9, "max_length": MAX_LENGTH}

config = TransformerConfig
attention = MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS)
embedding = TokenEmbedding(vocabulary_size=VOCABULARY, d_model=D_MODEL)
positions = PositionalEncoding(d_model=D_MODEL, max_length=MAX_LENGTH)
box = AddAndNorm(d_model=D_MODEL)
encoder = Encoder([EncoderLayer(**SIZES, norm_first=True)])
decoder = Decoder([DecoderLayer(**SIZES)])
model = Transformer(TransformerConfig(**MODEL, num_layers=1, **SIZES))
query, key = torch.zeros(BATCH, QUERY, D_MODEL), torch.zeros(BATCH, KEY, D_MODEL)
ids = torch.ones(BATCH, QUERY, dtype=torch.long)
too_long = torch.ones(BATCH, 200_000, dtype=torch.long)
some = torch.ones(QUERY, KEY, dtype=torch.bool)


def attend(query=query, key=key, value=None, mask=None):
    return attention(query, key, key if value is None else value, mask=mask)


def decode(target_ids=ids, memory=key, **given):
    return model.decode(target_ids, memory, **({"source_mask": None} | given))


def with_id(token_id: int) -> torch.Tensor:
    """Token ids of which one is this."""
    changed = ids.clone()
    changed[1, 2] = token_id
    return changed


# What the user did, and the sentence.
WRONG_VALUES = [
    # sizes and switches
    (lambda: config(num_heads=0), "num_heads must be at least 1, got 0"),
    (lambda: config(num_heads=-8), "num_heads must be at least 1, got -8"),
    (lambda: config(num_heads=7), "num_heads must divide d_model, got 7 and 512"),
    (lambda: config(d_model=0), "d_model must be at least 1, got 0"),
    (
        lambda: config(d_model=15, num_heads=3),
        "d_model must be even for sinusoidal positions, got 15",
    ),
    (lambda: config(d_ff=0), "d_ff must be at least 1, got 0"),
    (lambda: config(num_layers=0), "num_layers must be at least 1, got 0"),
    (lambda: config(max_length=0), "max_length must be at least 1, got 0"),
    (lambda: config(vocabulary_size=0), "vocabulary_size must be at least 1, got 0"),
    (lambda: config(target_vocabulary_size=0), "target_vocabulary_size must be at least 1, got 0"),
    (lambda: config(padding_id=-1), "padding_id must be at least 0, got -1"),
    (
        lambda: config(vocabulary_size=9, padding_id=9),
        "padding_id must be a token of the vocabulary, got 9",
    ),
    (
        lambda: config(target_vocabulary_size=9, padding_id=10),
        "padding_id must be a token of the vocabulary, got 10",
    ),
    (lambda: config(dropout=1.5), "dropout must be from 0 to 1, got 1.5"),
    (lambda: config(dropout=-0.1), "dropout must be from 0 to 1, got -0.1"),
    (lambda: config(dropout=float("nan")), "dropout must be from 0 to 1, got nan"),
    (
        lambda: MultiHeadAttention(d_model=16, num_heads=3),
        "num_heads must divide d_model, got 3 and 16",
    ),
    (lambda: Encoder([]), "layers must hold at least one layer, got none"),
    (lambda: Decoder([]), "layers must hold at least one layer, got none"),
    (lambda: AddAndNorm(d_model=0), "d_model must be at least 1, got 0"),
    (lambda: EncoderLayer(**SIZES, dropout=2), "dropout must be from 0 to 1, got 2"),
    (lambda: sinusoidal_positions(0, 4), "length must be at least 1, got 0"),
    (
        lambda: PositionalEncoding(d_model=3),
        "d_model must be even for sinusoidal positions, got 3",
    ),
    (
        lambda: TokenEmbedding(vocabulary_size=-5, d_model=4),
        "vocabulary_size must be at least 1, got -5",
    ),
    (lambda: causal_mask(0), "length must be at least 1, got 0"),
    (lambda: causal_mask(200_000), "length must be at most 65,536, got 200,000"),
    (lambda: causal_mask(3, queries=4), "queries must be at most 3, got 4"),
    # what a layer alone would broadcast, or compute from nothing
    (
        lambda: attend(key=key[:1]),
        "query and key must have the same leading axes, got (2, 3) and (1, 3)",
    ),
    (
        lambda: attend(value=key[:1]),
        "query and value must have the same leading axes, got (2, 3) and (1, 3)",
    ),
    (
        lambda: attend(query=query[0]),
        "query and key must have the same leading axes, got (3,) and (2, 3)",
    ),
    (lambda: attend(value=key[:, :3]), "key and value must have the same length, got 5 and 3"),
    (
        lambda: attend(key=key[:, :0]),
        "key must have shape (..., position, width) with no empty axis, got (2, 3, 0, 4)",
    ),
    (
        lambda: attention_weights(query, key[0, 0]),
        "key must have shape (..., position, width) with no empty axis, got (12,)",
    ),
    (
        lambda: attention_weights(query, key.double()),
        "query and key must have the same type, got torch.float32 and torch.float64",
    ),
    (
        lambda: attention_weights(query, key.to("meta")),
        "query and key must have the same device, got cpu and meta",
    ),
    (
        lambda: attention_weights(query[:1], key),
        "query and key must have the same leading axes, got (1,) and (2,)",
    ),
    (
        lambda: scaled_dot_product_attention(query, key, key[:1]),
        "query and value must have the same leading axes, got (2,) and (1,)",
    ),
    (
        lambda: decoder(query, key[:1]),
        "query and key must have the same leading axes, got (2, 3) and (1, 3)",
    ),
    (
        lambda: box(query, lambda x: x[:, :1]),
        "sublayer must return the shape of x, (2, 4, 12), got (2, 1, 12)",
    ),
    (
        lambda: box(query, lambda x: None),
        "sublayer must return the shape of x, (2, 4, 12), got NoneType",
    ),
    (
        lambda: positions(query[..., :1]),
        "x must have shape (batch, position, 12) with no empty axis, got (2, 4, 1)",
    ),
    (
        lambda: positions(torch.zeros(BATCH, MAX_LENGTH + 1, D_MODEL)),
        "sequence length must be at most 7, got 8",
    ),
    (lambda: positions(query, offset=4), "sequence length must be at most 7, got 8"),
    (lambda: positions(query, offset=-1), "offset must be at least 0, got -1"),
    # masks
    (lambda: attend(mask=some[:, :4]), "mask must broadcast to (2, 3, 4, 5), got (4, 4)"),
    (
        lambda: attend(mask=some.expand(1, BATCH, HEADS, QUERY, KEY)),
        "mask must broadcast to (2, 3, 4, 5), got (1, 2, 3, 4, 5)",
    ),
    (
        lambda: attend(mask=some.to("meta")),
        "mask must be on cpu like what it meets, got meta",
    ),
    (
        lambda: attention_weights(query, key, mask=torch.ones(3, 1, 1, dtype=torch.bool)),
        "mask must broadcast to (2, 4, 5), got (3, 1, 1)",
    ),
    (
        lambda: encoder(query, mask=causal_mask(QUERY + 1)),
        "mask must broadcast to (2, 3, 4, 4), got (5, 5)",
    ),
    (
        lambda: decoder(query, key, source_mask=causal_mask(QUERY)),
        "mask must broadcast to (2, 3, 4, 5), got (4, 4)",
    ),
    (
        lambda: model(ids, ids, source_mask=some),
        "source_mask must broadcast to (2, 3, 4, 4), got (4, 5)",
    ),
    (
        lambda: decode(target_mask=some),
        "target_mask must broadcast to (2, 3, 4, 4), got (4, 5)",
    ),
    (
        lambda: decode(source_mask=some[:, :4]),
        "source_mask must broadcast to (2, 3, 4, 5), got (4, 4)",
    ),
    # token ids and memory
    (lambda: model(with_id(11), ids), "source_ids must be from 0 to 10, got 11"),
    (lambda: model(with_id(-1), ids), "source_ids must be from 0 to 10, got -1"),
    (lambda: model(with_id(-100), ids), "source_ids must be from 0 to 10, got -100"),
    (lambda: model(ids, with_id(9)), "target_ids must be from 0 to 8, got 9"),
    (
        lambda: model(ids[0], ids),
        "source_ids must have shape (batch, position) with no empty axis, got (4,)",
    ),
    (
        lambda: model(ids[:0], ids[:0]),
        "source_ids must have shape (batch, position) with no empty axis, got (0, 4)",
    ),
    (
        lambda: model(ids[:, :0], ids),
        "source_ids must have shape (batch, position) with no empty axis, got (2, 0)",
    ),
    (
        lambda: model(ids, ids[:, :0]),
        "target_ids must have shape (batch, position) with no empty axis, got (2, 0)",
    ),
    (
        lambda: model(ids, ids[:1]),
        "target_ids and memory must have the same batch size, got 1 and 2",
    ),
    (
        lambda: model.encode(torch.ones(BATCH, MAX_LENGTH + 1, dtype=torch.long)),
        "source_ids must have at most 7 positions (max_length), got 8",
    ),
    (
        lambda: model(ids, too_long),
        "target_ids must have at most 7 positions (max_length), got 200000",
    ),
    (
        lambda: model.encode(ids.to("meta")),
        "source_ids must be on cpu like what it meets, got meta",
    ),
    (
        lambda: decode(memory=key[..., :3]),
        "memory must have shape (batch, position, 12) with no empty axis, got (2, 5, 3)",
    ),
    (
        lambda: decode(memory=key[0]),
        "memory must have shape (batch, position, 12) with no empty axis, got (5, 12)",
    ),
    (lambda: decode(memory=key.to("meta")), "memory must be on cpu like what it meets, got meta"),
    (
        lambda: target_mask(ids[0]),
        "token_ids must have shape (batch, position) with no empty axis, got (4,)",
    ),
]

WRONG_TYPES = [
    (lambda: config(num_heads=2.5), "num_heads must be a whole number, got 2.5"),
    (lambda: config(num_heads=True), "num_heads must be a whole number, got True"),
    (lambda: config(d_model="512"), "d_model must be a whole number, got '512'"),
    (lambda: config(d_model=None), "d_model must be a whole number, got None"),
    (lambda: config(dropout="0.1"), "dropout must be a number from 0 to 1, got '0.1'"),
    (lambda: config(dropout=True), "dropout must be a number from 0 to 1, got True"),
    (lambda: config(norm_first=1), "norm_first must be True or False, got 1"),
    (lambda: config(final_norm="no"), "final_norm must be True or False, got 'no'"),
    (lambda: config(bias=None), "bias must be True or False, got None"),
    (lambda: config(tie_embeddings=0), "tie_embeddings must be True or False, got 0"),
    (lambda: Transformer(512), "config must be a TransformerConfig, got int"),
    (lambda: FeedForward(d_model=4, d_ff=2.5), "d_ff must be a whole number, got 2.5"),
    (lambda: DecoderLayer(**SIZES, bias="yes"), "bias must be True or False, got 'yes'"),
    (lambda: causal_mask(3.0), "length must be a whole number, got 3.0"),
    (
        lambda: attention_weights(query.int(), key.int()),
        "query must be a tensor of floating-point numbers, got torch.int32",
    ),
    (
        lambda: attention_weights(None, key),
        "query must be a tensor of floating-point numbers, got NoneType",
    ),
    (
        lambda: positions(query.long()),
        "x must be a tensor of floating-point numbers, got torch.int64",
    ),
    (lambda: positions(query, offset=0.5), "offset must be a whole number, got 0.5"),
    (
        lambda: attend(mask=some.float()),
        "mask must be boolean, True where a query may attend, got torch.float32",
    ),
    (
        lambda: attend(mask=some.long()),
        "mask must be boolean, True where a query may attend, got torch.int64",
    ),
    (
        lambda: attend(mask=some.tolist()),
        "mask must be boolean, True where a query may attend, got list",
    ),
    (
        lambda: model(ids, ids, target_mask=causal_mask(QUERY).float()),
        "target_mask must be boolean, True where a query may attend, got torch.float32",
    ),
    (
        lambda: model(ids.float(), ids),
        "source_ids must be of type torch.int64 or torch.int32, got torch.float32",
    ),
    (
        lambda: model(ids.bool(), ids),
        "source_ids must be of type torch.int64 or torch.int32, got torch.bool",
    ),
    (lambda: model([[1, 2]], ids), "source_ids must be a tensor of token ids, got list"),
    (lambda: model(ids, "guten Tag"), "target_ids must be a tensor of token ids, got str"),
    (lambda: model(ids, None), "target_ids must be a tensor of token ids, got NoneType"),
    (
        lambda: decode(memory=ids),
        "memory must be a tensor of floating-point numbers, got torch.int64",
    ),
    (
        lambda: decode(memory=key.double()),
        "memory must be of the model's type, got torch.float64 and torch.float32",
    ),
    (
        lambda: padding_mask(ids.float()),
        "token_ids must be of type torch.int64 or torch.int32, got torch.float32",
    ),
]

REFUSALS = [(ValueError, *wrong) for wrong in WRONG_VALUES]
REFUSALS += [(TypeError, *wrong) for wrong in WRONG_TYPES]
INTERNALS = re.compile(r"aten|mat1|Expected|tensor\(|0x|\n|index out of|Traceback")


@pytest.mark.parametrize(("error", "mistake", "sentence"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_a_mistake_is_refused_in_one_sentence(
    error: type[Exception], mistake: Callable[[], object], sentence: str
):
    with pytest.raises(error) as caught:
        mistake()
    assert type(caught.value) is error
    assert str(caught.value) == sentence


@pytest.mark.parametrize("sentence", [refusal[2] for refusal in REFUSALS])
def test_a_sentence_gives_name_condition_and_value(sentence):
    assert re.fullmatch(r"[a-z_]+( and [a-z_]+| length)? must .+, got \S.*", sentence)
    assert not INTERNALS.search(sentence)
    assert len(sentence) < 120


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: attend(query=query.long()),
        lambda: attend(key=key[..., :7]),
        lambda: attention_weights(query[..., :4], key[..., :5]),
        lambda: FeedForward(d_model=D_MODEL, d_ff=20)(query[..., 1:]),
        lambda: box(query[..., 1:], lambda x: x),
        lambda: embedding(with_id(VOCABULARY)),
        lambda: embedding(with_id(-1)),
        lambda: embedding(ids.float()),
        lambda: encoder(ids),
        lambda: decoder(query, key[..., :5]),
        lambda: model.project(key[..., :5]),
    ],
)
def test_what_a_layer_alone_leaves_to_torch_is_refused_there(mistake):
    with pytest.raises((RuntimeError, IndexError)):
        mistake()


def test_the_right_input_passes():
    attend(mask=some)
    positions(query, offset=MAX_LENGTH - QUERY)
    encoder(query, mask=causal_mask(QUERY))
    decoder(query, key, target_mask=causal_mask(QUERY))
    model(with_id(VOCABULARY - 1), with_id(0))
    config(dropout=0), config(dropout=1), config(final_norm=None)


def test_autocast_sees_to_the_type_itself():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(ids, ids)
        decode(memory=key.bfloat16())
    assert logits.dtype == torch.bfloat16
    assert logits.isfinite().all()


def test_values_are_read_on_the_cpu_alone():
    # On another device reading a value would make the program wait for it.
    on_meta = Transformer(model.config).to("meta")
    logits = on_meta(ids.to("meta"), with_id(10_000).to("meta"))
    assert logits.device.type == "meta"


@pytest.mark.skipif(not __debug__, reason="this is the optimised run")
def test_refusals_do_not_depend_on_assertions():
    command = [sys.executable, "-O", "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=600, env={**os.environ, "CI": ""}
    )
    assert result.returncode == 0, result.stdout
    assert f"{2 * len(REFUSALS) + 14} passed, 1 skipped" in result.stdout
