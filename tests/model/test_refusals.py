"""Bad input is refused in one sentence: the name, what must be, and what was given."""

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

attention = MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS)
box = AddAndNorm(d_model=D_MODEL, norm_first=True)
feed_forward = FeedForward(d_model=D_MODEL, d_ff=20)
embedding = TokenEmbedding(vocabulary_size=VOCABULARY, d_model=D_MODEL)
positions = PositionalEncoding(d_model=D_MODEL, max_length=MAX_LENGTH)
encoder = Encoder([EncoderLayer(**SIZES, norm_first=True)])
decoder = Decoder([DecoderLayer(**SIZES)])
model = Transformer(
    TransformerConfig(
        vocabulary_size=VOCABULARY,
        target_vocabulary_size=9,
        num_layers=1,
        max_length=MAX_LENGTH,
        **SIZES,
    )
)
query, key = torch.zeros(BATCH, QUERY, D_MODEL), torch.zeros(BATCH, KEY, D_MODEL)
ids = torch.ones(BATCH, QUERY, dtype=torch.long)


def attend(query=query, key=key, value=None, mask=None):
    return attention(query, key, key if value is None else value, mask=mask)


def config(**changes):
    return TransformerConfig(**changes)


def read(source_ids=ids, target_ids=ids, **masks):
    return model(source_ids, target_ids, **masks)


def with_id(token_id: int) -> torch.Tensor:
    """Token ids of which one is this."""
    changed = ids.clone()
    changed[1, 2] = token_id
    return changed


# One entry: what the user did, the error's type, its sentence.
SIZES_AND_SWITCHES = [
    (lambda: config(num_heads=0), ValueError, "num_heads must be at least 1, got 0"),
    (lambda: config(num_heads=-8), ValueError, "num_heads must be at least 1, got -8"),
    (lambda: config(num_heads=2.5), TypeError, "num_heads must be a whole number, got 2.5"),
    (lambda: config(num_heads=True), TypeError, "num_heads must be a whole number, got True"),
    (
        lambda: config(num_heads=7),
        ValueError,
        "num_heads must divide d_model, got 7 and 512",
    ),
    (
        lambda: MultiHeadAttention(d_model=16, num_heads=3),
        ValueError,
        "num_heads must divide d_model, got 3 and 16",
    ),
    (lambda: config(d_model=0), ValueError, "d_model must be at least 1, got 0"),
    (
        lambda: config(d_model=15, num_heads=3),
        ValueError,
        "d_model must be even for sinusoidal positions, got 15",
    ),
    (lambda: config(d_model="512"), TypeError, "d_model must be a whole number, got '512'"),
    (lambda: config(d_model=None), TypeError, "d_model must be a whole number, got None"),
    (lambda: config(d_ff=0), ValueError, "d_ff must be at least 1, got 0"),
    (lambda: config(num_layers=0), ValueError, "num_layers must be at least 1, got 0"),
    (lambda: config(max_length=0), ValueError, "max_length must be at least 1, got 0"),
    (lambda: config(vocabulary_size=0), ValueError, "vocabulary_size must be at least 1, got 0"),
    (
        lambda: config(target_vocabulary_size=0),
        ValueError,
        "target_vocabulary_size must be at least 1, got 0",
    ),
    (lambda: config(padding_id=-1), ValueError, "padding_id must be at least 0, got -1"),
    (
        lambda: config(vocabulary_size=9, padding_id=9),
        ValueError,
        "padding_id must be a token of the vocabulary, got 9",
    ),
    (
        lambda: config(target_vocabulary_size=9, padding_id=10),
        ValueError,
        "padding_id must be a token of the vocabulary, got 10",
    ),
    (lambda: config(dropout=1.5), ValueError, "dropout must be from 0 to 1, got 1.5"),
    (lambda: config(dropout=-0.1), ValueError, "dropout must be from 0 to 1, got -0.1"),
    (lambda: config(dropout=float("nan")), ValueError, "dropout must be from 0 to 1, got nan"),
    (lambda: config(dropout="0.1"), TypeError, "dropout must be a number from 0 to 1, got '0.1'"),
    (lambda: config(dropout=True), TypeError, "dropout must be a number from 0 to 1, got True"),
    (lambda: config(norm_first=1), TypeError, "norm_first must be True or False, got 1"),
    (lambda: config(final_norm="no"), TypeError, "final_norm must be True or False, got 'no'"),
    (lambda: config(bias=None), TypeError, "bias must be True or False, got None"),
    (lambda: config(tie_embeddings=0), TypeError, "tie_embeddings must be True or False, got 0"),
    (lambda: Transformer(512), TypeError, "config must be a TransformerConfig, got int"),
    (lambda: Encoder([]), ValueError, "layers must hold at least one layer, got none"),
    (lambda: Decoder([]), ValueError, "layers must hold at least one layer, got none"),
    (
        lambda: FeedForward(d_model=4, d_ff=2.5),
        TypeError,
        "d_ff must be a whole number, got 2.5",
    ),
    (
        lambda: AddAndNorm(d_model=0),
        ValueError,
        "d_model must be at least 1, got 0",
    ),
    (
        lambda: EncoderLayer(**SIZES, dropout=2),
        ValueError,
        "dropout must be from 0 to 1, got 2",
    ),
    (
        lambda: DecoderLayer(**SIZES, bias="yes"),
        TypeError,
        "bias must be True or False, got 'yes'",
    ),
    (
        lambda: sinusoidal_positions(0, 4),
        ValueError,
        "length must be at least 1, got 0",
    ),
    (
        lambda: PositionalEncoding(d_model=3),
        ValueError,
        "d_model must be even for sinusoidal positions, got 3",
    ),
    (
        lambda: TokenEmbedding(vocabulary_size=-5, d_model=4),
        ValueError,
        "vocabulary_size must be at least 1, got -5",
    ),
    (lambda: causal_mask(0), ValueError, "length must be at least 1, got 0"),
    (lambda: causal_mask(3.0), TypeError, "length must be a whole number, got 3.0"),
]

VECTORS = [
    (
        lambda: attend(query=query.long()),
        TypeError,
        "query must hold floating-point numbers, got torch.int64",
    ),
    (lambda: attend(query=[[1.0]]), TypeError, "query must be a tensor, got list"),
    (
        lambda: attend(query=query.double()),
        TypeError,
        "query must be of the layer's type, got torch.float64 and torch.float32",
    ),
    (
        lambda: attend(query=query[0]),
        ValueError,
        "query must have shape (batch, position, 12) with no empty axis, got (4, 12)",
    ),
    (
        lambda: attend(query=query[..., :11]),
        ValueError,
        "query must have shape (batch, position, 12) with no empty axis, got (2, 4, 11)",
    ),
    (
        lambda: attend(query=query[:0], key=key[:0]),
        ValueError,
        "query must have shape (batch, position, 12) with no empty axis, got (0, 4, 12)",
    ),
    (
        lambda: attend(key=key[:, :0]),
        ValueError,
        "key must have shape (batch, position, 12) with no empty axis, got (2, 0, 12)",
    ),
    (
        lambda: attend(value=key[..., :7]),
        ValueError,
        "value must have shape (batch, position, 12) with no empty axis, got (2, 5, 7)",
    ),
    (
        lambda: attend(value=key[:, :3]),
        ValueError,
        "key and value must have the same length, got 5 and 3",
    ),
    (
        lambda: attend(key=key[:1]),
        ValueError,
        "query and key must have the same batch size, got 2 and 1",
    ),
    (
        lambda: attend(value=key[:1]),
        ValueError,
        "key and value must have the same batch size, got 2 and 1",
    ),
    (
        lambda: attend(key=key.to("meta")),
        ValueError,
        "key must be on cpu like what it meets, got meta",
    ),
    (
        lambda: attention.attention_weights(query, key[..., :4]),
        ValueError,
        "key must have shape (batch, position, 12) with no empty axis, got (2, 5, 4)",
    ),
    (
        lambda: attention_weights(query[..., :4], key[..., :5]),
        ValueError,
        "query and key must have the same width, got 4 and 5",
    ),
    (
        lambda: attention_weights(query.int(), key.int()),
        TypeError,
        "query must be a tensor of floating-point numbers, got torch.int32",
    ),
    (
        lambda: attention_weights(None, key),
        TypeError,
        "query must be a tensor of floating-point numbers, got NoneType",
    ),
    (
        lambda: attention_weights(query, key[0, 0]),
        ValueError,
        "key must have shape (..., position, width) with no empty axis, got (12,)",
    ),
    (
        lambda: attention_weights(query, key[:, :0]),
        ValueError,
        "key must have shape (..., position, width) with no empty axis, got (2, 0, 12)",
    ),
    (
        lambda: attention_weights(query, key.double()),
        TypeError,
        "query and key must have the same type, got torch.float32 and torch.float64",
    ),
    (
        lambda: attention_weights(query, key.to("meta")),
        ValueError,
        "key must be on cpu like what it meets, got meta",
    ),
    (
        lambda: attention_weights(query[:1], key),
        ValueError,
        "query and key must have the same leading axes, got (1,) and (2,)",
    ),
    (
        lambda: scaled_dot_product_attention(query, key, key[:, :3]),
        ValueError,
        "key and value must have the same length, got 5 and 3",
    ),
    (
        lambda: scaled_dot_product_attention(query, key, key.half()),
        TypeError,
        "key and value must have the same type, got torch.float32 and torch.float16",
    ),
    (
        lambda: feed_forward(query[..., 0]),
        ValueError,
        "x must have shape (batch, position, 12) with no empty axis, got (2, 4)",
    ),
    (lambda: feed_forward("x"), TypeError, "x must be a tensor, got str"),
    (
        lambda: feed_forward(query.bool()),
        TypeError,
        "x must hold floating-point numbers, got torch.bool",
    ),
    (
        lambda: box(query[..., 1:], feed_forward),
        ValueError,
        "x must have shape (batch, position, 12) with no empty axis, got (2, 4, 11)",
    ),
    (
        lambda: box(query.to("meta"), feed_forward),
        ValueError,
        "x must be on cpu like what it meets, got meta",
    ),
    (
        lambda: encoder(query.to("meta")),
        ValueError,
        "x must be on cpu like what it meets, got meta",
    ),
    (
        lambda: encoder(ids),
        TypeError,
        "x must hold floating-point numbers, got torch.int64",
    ),
    (
        lambda: decoder(query, key[:1]),
        ValueError,
        "x and memory must have the same batch size, got 2 and 1",
    ),
    (
        lambda: positions(torch.zeros(BATCH, MAX_LENGTH + 1, D_MODEL)),
        ValueError,
        "sequence length must be at most 7, got 8",
    ),
    (
        lambda: positions(query, offset=4),
        ValueError,
        "sequence length must be at most 7, got 8",
    ),
    (
        lambda: positions(query, offset=-1),
        ValueError,
        "offset must be at least 0, got -1",
    ),
    (
        lambda: positions(query, offset=0.5),
        TypeError,
        "offset must be a whole number, got 0.5",
    ),
    (
        lambda: positions(query.to("meta")),
        ValueError,
        "x must be on cpu like what it meets, got meta",
    ),
    (
        lambda: model.project(key[..., :5]),
        ValueError,
        "decoded must have shape (batch, position, 12) with no empty axis, got (2, 5, 5)",
    ),
]

MASKS = [
    (
        lambda: attend(mask=torch.ones(QUERY, KEY + 1, dtype=torch.bool)),
        ValueError,
        "mask must broadcast to (2, 3, 4, 5), got (4, 6)",
    ),
    (
        lambda: attend(mask=torch.ones(BATCH, KEY, dtype=torch.bool)),
        ValueError,
        "mask must broadcast to (2, 3, 4, 5), got (2, 5)",
    ),
    (
        lambda: attend(mask=torch.ones(1, BATCH, HEADS, QUERY, KEY, dtype=torch.bool)),
        ValueError,
        "mask must broadcast to (2, 3, 4, 5), got (1, 2, 3, 4, 5)",
    ),
    (
        lambda: attend(mask=torch.ones(QUERY, KEY)),
        TypeError,
        "mask must be a boolean tensor, True where a query may attend, got torch.float32",
    ),
    (
        lambda: attend(mask=torch.ones(QUERY, KEY, dtype=torch.int64)),
        TypeError,
        "mask must be a boolean tensor, True where a query may attend, got torch.int64",
    ),
    (
        lambda: attend(mask=[[True] * KEY] * QUERY),
        TypeError,
        "mask must be a boolean tensor, True where a query may attend, got list",
    ),
    (
        lambda: attend(mask=torch.ones(QUERY, KEY, dtype=torch.bool, device="meta")),
        ValueError,
        "mask must be on cpu like what it meets, got meta",
    ),
    (
        lambda: attention_weights(query, key, mask=torch.ones(3, 1, 1, dtype=torch.bool)),
        ValueError,
        "mask must broadcast to (2, 4, 5), got (3, 1, 1)",
    ),
    (
        lambda: encoder(query, mask=causal_mask(QUERY + 1)),
        ValueError,
        "mask must broadcast to (2, 3, 4, 4), got (5, 5)",
    ),
    (
        lambda: decoder(query, key, source_mask=causal_mask(QUERY)),
        ValueError,
        "source_mask must broadcast to (2, 3, 4, 5), got (4, 4)",
    ),
    (
        lambda: read(target_mask=causal_mask(QUERY).float()),
        TypeError,
        "target_mask must be a boolean tensor, True where a query may attend, got torch.float32",
    ),
]

TOKEN_IDS = [
    (lambda: read(with_id(11)), ValueError, "source_ids must be from 0 to 10, got 11"),
    (lambda: read(with_id(-1)), ValueError, "source_ids must be from 0 to 10, got -1"),
    (lambda: read(with_id(-100)), ValueError, "source_ids must be from 0 to 10, got -100"),
    (lambda: read(ids, with_id(9)), ValueError, "target_ids must be from 0 to 8, got 9"),
    (lambda: embedding(with_id(11)), ValueError, "token_ids must be from 0 to 10, got 11"),
    (
        lambda: read(ids.float()),
        TypeError,
        "source_ids must be of type torch.int64 or torch.int32, got torch.float32",
    ),
    (
        lambda: read(ids.bool()),
        TypeError,
        "source_ids must be of type torch.int64 or torch.int32, got torch.bool",
    ),
    (
        lambda: read([[1, 2]]),
        TypeError,
        "source_ids must be a tensor of token ids, got list",
    ),
    (
        lambda: read(ids, "guten Tag"),
        TypeError,
        "target_ids must be a tensor of token ids, got str",
    ),
    (
        lambda: read(ids, None),
        TypeError,
        "target_ids must be a tensor of token ids, got NoneType",
    ),
    (
        lambda: read(ids[0]),
        ValueError,
        "source_ids must have shape (batch, position) with no empty axis, got (4,)",
    ),
    (
        lambda: read(ids[:0], ids[:0]),
        ValueError,
        "source_ids must have shape (batch, position) with no empty axis, got (0, 4)",
    ),
    (
        lambda: read(ids[:, :0]),
        ValueError,
        "source_ids must have shape (batch, position) with no empty axis, got (2, 0)",
    ),
    (
        lambda: read(ids, ids[:, :0]),
        ValueError,
        "target_ids must have shape (batch, position) with no empty axis, got (2, 0)",
    ),
    (
        lambda: read(ids, ids[:1]),
        ValueError,
        "source_ids and target_ids must have the same batch size, got 2 and 1",
    ),
    (
        lambda: read(torch.ones(BATCH, MAX_LENGTH + 1, dtype=torch.long)),
        ValueError,
        "source_ids must have at most 7 positions (max_length), got 8",
    ),
    (
        lambda: read(ids, torch.ones(BATCH, 200_000, dtype=torch.long)),
        ValueError,
        "target_ids must have at most 7 positions (max_length), got 200000",
    ),
    (
        lambda: model.encode(torch.ones(BATCH, 200_000, dtype=torch.long)),
        ValueError,
        "source_ids must have at most 7 positions (max_length), got 200000",
    ),
    (
        lambda: model.decode(ids[:1], key, source_mask=None),
        ValueError,
        "target_ids and memory must have the same batch size, got 1 and 2",
    ),
    (
        lambda: model.decode(ids, key[..., :3], source_mask=None),
        ValueError,
        "memory must have shape (batch, position, 12) with no empty axis, got (2, 5, 3)",
    ),
    (
        lambda: model.decode(ids, key.to("meta"), source_mask=None),
        ValueError,
        "memory must be on cpu like what it meets, got meta",
    ),
    (
        lambda: model.encode(ids.to("meta")),
        ValueError,
        "token_ids must be on cpu like what it meets, got meta",
    ),
    (
        lambda: padding_mask(ids.float()),
        TypeError,
        "token_ids must be of type torch.int64 or torch.int32, got torch.float32",
    ),
    (
        lambda: target_mask(ids[0]),
        ValueError,
        "token_ids must have shape (batch, position) with no empty axis, got (4,)",
    ),
]

REFUSALS = SIZES_AND_SWITCHES + VECTORS + MASKS + TOKEN_IDS
INTERNALS = re.compile(r"aten|mat1|Expected|tensor\(|0x|\n|index out of|Traceback")


@pytest.mark.parametrize(("mistake", "error", "sentence"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_a_mistake_is_refused_in_one_sentence(
    mistake: Callable[[], object], error: type[Exception], sentence: str
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


def test_the_right_input_passes():
    attend(mask=torch.ones(QUERY, KEY, dtype=torch.bool))
    positions(query, offset=MAX_LENGTH - QUERY)
    encoder(query, mask=causal_mask(QUERY))
    decoder(query, key, target_mask=causal_mask(QUERY))
    read(with_id(VOCABULARY - 1), with_id(0))
    config(dropout=0), config(dropout=1), config(final_norm=None)


def test_autocast_sees_to_the_type_itself():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = read()
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
    assert f"{2 * len(REFUSALS) + 3} passed, 1 skipped" in result.stdout
