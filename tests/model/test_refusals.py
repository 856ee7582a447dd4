"""Bad input is refused in one sentence: the name, what it must be, and what it is.

Constructors and Transformer refuse what they can know. A layer called alone refuses what PyTorch
would silently convert or broadcast; PyTorch itself refuses the rest.
"""

import re
from collections.abc import Callable

import pytest
import torch

from transformer_edu.model import add_and_norm, embeddings
from transformer_edu.model import attention as attention_module
from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention, attention_weights
from transformer_edu.model.attention import scaled_dot_product_attention as weigh
from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.embeddings import (
    PositionalEncoding,
    TokenEmbedding,
    sinusoidal_positions,
)
from transformer_edu.model.encoder import Encoder, EncoderLayer
from transformer_edu.model.feed_forward import ACTIVATIONS, FeedForward
from transformer_edu.model.masks import causal_mask, padding_mask, target_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig

BATCH, QUERY, KEY, HEADS, D_MODEL, VOCABULARY, MAX_LENGTH = 2, 4, 5, 3, 12, 11, 7
SIZES = {"d_model": D_MODEL, "num_heads": HEADS, "d_ff": 20}
MODEL = {"vocabulary_size": VOCABULARY, "target_vocabulary_size": 9, "max_length": MAX_LENGTH}

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


CONFIGS = [
    ({"num_heads": 0}, "num_heads must be at least 1, got 0"),
    ({"num_heads": 7}, "num_heads must divide d_model, got 7 and 512"),
    ({"num_heads": 2.5}, "num_heads must be a whole number, got 2.5"),
    ({"num_heads": True}, "num_heads must be a whole number, got True"),
    ({"d_model": 0}, "d_model must be at least 1, got 0"),
    ({"d_model": "512"}, "d_model must be a whole number, got '512'"),
    ({"d_model": None}, "d_model must be a whole number, got None"),
    ({"num_decoder_heads": 7}, "num_decoder_heads must divide d_model, got 7 and 512"),
    ({"decoder_d_ff": 0}, "decoder_d_ff must be at least 1, got 0"),
    ({"scale_embeddings": 1}, "scale_embeddings must be True or False, got 1"),
    ({"d_ff": 0}, "d_ff must be at least 1, got 0"),
    ({"num_layers": -8}, "num_layers must be at least 1, got -8"),
    ({"max_length": 0}, "max_length must be at least 1, got 0"),
    ({"max_length": 3 * 10**6}, "max_length must be at most 131,072, got 3,000,000"),
    ({"vocabulary_size": 0}, "vocabulary_size must be at least 1, got 0"),
    ({"target_vocabulary_size": 0}, "target_vocabulary_size must be at least 1, got 0"),
    ({"padding_id": -1}, "padding_id must be at least 0, got -1"),
    ({"vocabulary_size": 9, "padding_id": 9}, "padding_id must be at most 8, got 9"),
    ({"target_vocabulary_size": 9, "padding_id": 10}, "padding_id must be at most 8, got 10"),
    ({"num_decoder_layers": 0}, "num_decoder_layers must be at least 1, got 0"),
    ({"start_id": -1}, "start_id must be at least 0, got -1"),
    ({"end_id": 2.5}, "end_id must be a whole number, got 2.5"),
    ({"activation": "elu"}, f"activation must be one of {', '.join(ACTIVATIONS)}, got 'elu'"),
    ({"activation": ["relu"]}, f"activation must be one of {', '.join(ACTIVATIONS)}, got ['relu']"),
    ({"position_order": 1}, "position_order must be one of interleaved, halves, got 1"),
    ({"dropout": 1.5}, "dropout must be from 0 to 1, got 1.5"),
    ({"dropout": -0.1}, "dropout must be from 0 to 1, got -0.1"),
    ({"dropout": float("nan")}, "dropout must be from 0 to 1, got nan"),
    ({"norm_first": "false"}, "norm_first must be True or False, got 'false'"),
    ({"final_norm": "no"}, "final_norm must be True or False, got 'no'"),
    ({"bias": 1}, "bias must be True or False, got 1"),
    ({"tie_embeddings": None}, "tie_embeddings must be True or False, got None"),
]
WIDE, SIZED, nan = {"d_model": 16, "num_heads": 3}, {"d_model": 4, "num_heads": 2}, float("nan")
VECTORS = "x must be floats (batch, position, 12), got"
FLOATING = "must be of a floating-point type, got"
AXES = "must have the same leading axes, got"
WIDTH = "must have the same width, got"
LENGTH = "key and value must have the same length, at least 1, got"
BOOLEAN = "must be boolean, True where a query may attend, got"
FULL = "with no empty axis, got"
FIT = "must broadcast to (2, 3, 4,"
NO_IDS = "must be of type torch.int64 or torch.int32, got"
SIZE = "target_ids and memory must have the same batch size, got"
five_axes, three_rows = some.expand(1, 2, 3, QUERY, KEY), some[:3]
# What a constructor, a function or a layer called alone would compute silently, and wrongly.
PARTS = [
    (lambda: MultiHeadAttention(**WIDE), "num_heads must divide d_model, got 3 and 16"),
    (lambda: MultiHeadAttention(**SIZED, bias="no"), "bias must be True or False, got 'no'"),
    (lambda: MultiHeadAttention(**SIZED, dropout=-1), "dropout must be from 0 to 1, got -1"),
    (lambda: AddAndNorm(d_model=4, norm_first="no"), "norm_first must be True or False, got 'no'"),
    (lambda: AddAndNorm(d_model=4, dropout=nan), "dropout must be from 0 to 1, got nan"),
    (lambda: weigh(query, key, key[:, :3]), f"{LENGTH} 5 and 3"),
    (lambda: sinusoidal_positions(True, 4), "length must be a whole number, got True"),
    (lambda: sinusoidal_positions(2.0, 4), "length must be a whole number, got 2.0"),
    (lambda: sinusoidal_positions(0, 4), "length must be at least 1, got 0"),
    (lambda: sinusoidal_positions(4, 0), "d_model must be at least 1, got 0"),
    (lambda: sinusoidal_positions(4, 2.0), "d_model must be a whole number, got 2.0"),
    (lambda: sinusoidal_positions(10**7, 4), "length must be at most 131,072, got 10,000,000"),
    (
        lambda: sinusoidal_positions(4, 2, order="pairs"),
        "order must be one of interleaved, halves, got 'pairs'",
    ),
    (
        lambda: FeedForward(d_model=4, d_ff=6, activation="elu"),
        f"activation must be one of {', '.join(ACTIVATIONS)}, got 'elu'",
    ),
    (lambda: causal_mask(0), "length must be at least 1, got 0"),
    (lambda: causal_mask(3.0), "length must be a whole number, got 3.0"),
    (lambda: causal_mask(200_000), "length must be at most 65,536, got 200,000"),
    (lambda: causal_mask(3, queries=4), "queries must be at most 3, got 4"),
    (lambda: target_mask(ids[0]), f"token_ids must have shape (batch, position) {FULL} (4,)"),
    (lambda: padding_mask(ids.float()), f"token_ids {NO_IDS} torch.float32"),
    (
        lambda: padding_mask(torch.tensor([[]])),  # of an empty sentence
        f"token_ids must have shape (batch, position) {FULL} (1, 0)",
    ),
    (lambda: target_mask(ids, start_id="1"), "start_id must be a whole number, got '1'"),
    (lambda: padding_mask(ids, padding_id=2.5), "padding_id must be a whole number, got 2.5"),
    (lambda: attend(key=key[:1]), f"query and key {AXES} (2, 3) and (1, 3)"),
    (lambda: attend(value=key[:1]), f"query and value {AXES} (2, 3) and (1, 3)"),
    (lambda: attend(query=query[0]), f"query and key {AXES} (3,) and (2, 3)"),
    (lambda: attend(key=key[:, :0], value=key[:, :0]), f"{LENGTH} 0 and 0"),
    (lambda: attend(value=key[:, :3]), f"{LENGTH} 5 and 3"),
    (lambda: attention_weights(query[:1], key), f"query and key {AXES} (1,) and (2,)"),
    (lambda: attention_weights(query.int(), key), f"query {FLOATING} torch.int32"),
    (lambda: weigh(query[0], key[0, 0], key[0]), f"query and key {AXES} () and a vector"),
    (lambda: weigh(query, key[..., :3], key), f"query and key {WIDTH} {query.size(-1)} and 3"),
    (lambda: weigh(query, key, key[:1]), f"query and value {AXES} (2,) and (1,)"),
    (lambda: decoder(query, key[:1]), f"query and key {AXES} (2, 3) and (1, 3)"),
    (lambda: attend(mask=some.float()), f"mask {BOOLEAN} torch.float32"),
    (lambda: attend(mask=some.long()), f"mask {BOOLEAN} torch.int64"),
    (lambda: attend(mask=some.tolist()), f"mask {BOOLEAN} list"),
    (lambda: attend(mask=three_rows), f"mask {FIT} 5), got (3, 5)"),
    (lambda: attend(mask=five_axes), f"mask {FIT} 5), got (1, 2, 3, 4, 5)"),
    (lambda: encoder(query, mask=causal_mask(5)), f"mask {FIT} 4), got (5, 5)"),
    (lambda: decoder(query, key, source_mask=causal_mask(4)), f"mask {FIT} 5), got (4, 4)"),
    (lambda: box(query, lambda x: x[:, :1]), "sublayer must return (2, 4, 12), got (2, 1, 12)"),
    (lambda: positions(query[..., :1]), f"{VECTORS} torch.float32 (2, 4, 1)"),
    (lambda: positions(query.long()), f"{VECTORS} torch.int64 (2, 4, 12)"),
    (lambda: positions(query[:, None]), f"{VECTORS} torch.float32 (2, 1, 4, 12)"),
    (lambda: positions(key.repeat(1, 2, 1)), "sequence length must be at most 7, got 10"),
    (lambda: positions(query, offset=4), "sequence length must be at most 7, got 8"),
    (lambda: positions(query[:, :1], offset=-1), "offset must be at least 0, got -1"),
    (lambda: positions(query[:, :2], offset=-3), "offset must be at least 0, got -3"),
    (lambda: positions(query, offset=True), "offset must be a whole number, got True"),
]
LONGEST = "must have at most 7 positions (max_length), got"
SHAPE = f"must have shape (batch, position) {FULL}"
DOORS = [
    (lambda: Transformer({"d_model": 8}), "config must be a TransformerConfig, got dict"),
    (lambda: model(with_id(11), ids), "source_ids must be from 0 to 10, got 11"),
    (lambda: model(with_id(-1), ids), "source_ids must be from 0 to 10, got -1"),
    (lambda: model(with_id(-100), ids), "source_ids must be from 0 to 10, got -100"),
    (lambda: model(ids, with_id(9)), "target_ids must be from 0 to 8, got 9"),
    (lambda: model(ids[0], ids), f"source_ids {SHAPE} (4,)"),
    (lambda: model(ids[:0], ids[:0]), f"source_ids {SHAPE} (0, 4)"),
    (lambda: model(ids[:, :0], ids), f"source_ids {SHAPE} (2, 0)"),
    (lambda: model(ids, ids[:, :0]), f"target_ids {SHAPE} (2, 0)"),
    (lambda: model(ids, ids[:1]), f"{SIZE} 1 and 2"),
    (lambda: decode(memory=key[:1]), f"{SIZE} 2 and 1"),
    (lambda: model.encode(too_long), f"source_ids {LONGEST} 200000"),
    (lambda: model(ids, too_long[:, :8]), f"target_ids {LONGEST} 8"),
    (lambda: model.encode(ids.to("meta")), "source_ids must be on cpu, got meta"),
    (lambda: model(ids.float(), ids), f"source_ids {NO_IDS} torch.float32"),
    (lambda: model(ids.bool(), ids), f"source_ids {NO_IDS} torch.bool"),
    (lambda: model([[1, 2]], ids), "source_ids must be a tensor of token ids, got list"),
    (lambda: model(ids, "guten Tag"), "target_ids must be a tensor of token ids, got str"),
    (lambda: model(ids, None), "target_ids must be a tensor of token ids, got NoneType"),
    (lambda: model(ids, ids, source_mask=some), f"source_mask {FIT} 4), got (4, 5)"),
    (lambda: model(ids, ids, target_mask=some.float()), f"target_mask {BOOLEAN} torch.float32"),
    (lambda: decode(target_mask=some), f"target_mask {FIT} 4), got (4, 5)"),
    (lambda: decode(source_mask=some[:, :4]), f"source_mask {FIT} 5), got (4, 4)"),
    (lambda: decode(source_mask=some.to("meta")), "source_mask must be on cpu, got meta"),
]
MISTAKES = [(lambda changes=changes: TransformerConfig(**changes), s) for changes, s in CONFIGS]
MISTAKES += PARTS + DOORS
# What is refused with a TypeError:
TYPES = "whole number|True or False|a Transf|boolean|of a floating-point type|of type|a tensor"


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES, ids=[m[1] for m in MISTAKES])
def test_a_mistake_is_refused_in_one_sentence(mistake: Callable[[], object], sentence: str):
    with pytest.raises((TypeError, ValueError)) as caught:
        mistake()
    assert str(caught.value) == sentence
    assert caught.type is (TypeError if re.search(TYPES, sentence) else ValueError)
    assert re.fullmatch(r"[a-z_]+( and | of )?[a-z_ ]* must .+, got \S.*", sentence)
    assert len(sentence) < 180


# A case for each rule of a layer. Without the check PyTorch computes something, and says nothing.
CHECKS = [
    (add_and_norm, "require_same_shape"),
    (attention_module, "require_attention"),
    (embeddings, "require_positions"),
]
last = {"offset": MAX_LENGTH - 1}
SILENT = {
    "a sub-layer's output is broadcast": lambda: box(query, lambda x: x[:, :1]),
    "weights are rounded": lambda: attention_weights(query.int(), key.int()),
    "keys are broadcast": lambda: attend(key=key[:1]),
    "values are broadcast": lambda: attend(value=key[:1]),
    "values are broadcast, written out": lambda: weigh(query, key, key[:1]),
    "keys have no values": lambda: attend(value=key[:, :3]),
    "there is no key": lambda: attend(key=key[:, :0], value=key[:, :0]),
    "a mask is added to the scores": lambda: attend(mask=some.float()),
    "scores are broadcast to a mask": lambda: attention_weights(query[:, :1], key, mask=some),
    "scores get an axis of the mask": lambda: attention_weights(query, key, mask=some[None, None]),
    "vectors are broadcast to positions": lambda: positions(query[..., :1]),
    "positions are rounded": lambda: positions(query.long()),
    "positions are broadcast": lambda: positions(query, **last),
    "positions are cut off": lambda: positions(query[:, :1], offset=-1),
    "positions are those of the end": lambda: positions(query[:, :2], offset=-3),
    "positions are counted from a truth": lambda: positions(query, offset=True),
}


@pytest.mark.parametrize("mistake", SILENT.values(), ids=SILENT)
def test_what_a_layer_refuses_torch_would_compute_in_silence(mistake, monkeypatch):
    with pytest.raises((TypeError, ValueError), match=" must .+, got "):
        mistake()
    for module, check in CHECKS:
        monkeypatch.setattr(module, check, lambda *_: None)
    mistake()


LEFT_TO_TORCH = [
    lambda: Transformer(512),
    lambda: TransformerConfig(dropout="0.1"),
    lambda: TokenEmbedding(vocabulary_size=-5, d_model=4),
    lambda: FeedForward(d_model=4, d_ff=2.5),
    lambda: EncoderLayer(**SIZES, dropout=2),
    lambda: attend(query=query.long()),
    lambda: attend(key=key[..., :7]),
    lambda: attention_weights(query[..., :4], key[..., :5]),
    lambda: attention_weights(query, key.double()),
    lambda: FeedForward(d_model=D_MODEL, d_ff=20)(query[..., 1:]),
    lambda: box(query[..., 1:], lambda x: x),
    lambda: embedding(with_id(VOCABULARY)),
    lambda: embedding(with_id(-1)),
    lambda: embedding(ids.float()),
    lambda: encoder(ids),
    lambda: decoder(query, key[..., :5]),
    lambda: decode(memory=ids),
    lambda: decode(memory=key.double()),
    lambda: decode(memory=key[..., :3]),
    lambda: decode(memory=key[:, 0]),
    lambda: decode(memory=key[:, :0]),
    lambda: model.project(key[..., :5]),
    lambda: weigh(query, key, key[:, :3]),
    lambda: model.source_mask([[1, 2]]),
]


@pytest.mark.parametrize("mistake", LEFT_TO_TORCH)
def test_the_rest_is_refused_too_by_torch_or_a_layer(mistake):
    with pytest.raises((RuntimeError, IndexError, TypeError, ValueError, AttributeError)):
        mistake()


@pytest.mark.parametrize("sizes", [{"d_model": 10**6}, {"d_ff": 10**15}, {"num_layers": 10**9}])
def test_a_model_that_no_memory_holds_is_refused_before_it_is_built(sizes):
    config = TransformerConfig(**{"d_model": 64, "d_ff": 64} | sizes)
    with pytest.raises(ValueError, match=r"model must have at most [\d,]+ numbers, .*, got [\d,]+"):
        Transformer(config)


@pytest.mark.parametrize("changes", [{}, {"target_vocabulary_size": 9}, {"num_decoder_layers": 3}])
def test_the_size_of_a_model_is_known_before_it_is_built(changes):
    config = TransformerConfig(**SIZES | {"vocabulary_size": 500, "max_length": 70} | changes)
    model = Transformer(config)
    tables = [*model.parameters(), model.positions.table]
    built = sum(each.numel() for each in tables)
    assert built / 2 < config.size < 2 * built


def test_the_right_input_passes():
    attend(mask=some)
    positions(query, offset=MAX_LENGTH - QUERY)
    encoder(query, mask=causal_mask(QUERY))
    decoder(query, key, target_mask=causal_mask(QUERY))
    model(with_id(VOCABULARY - 1), with_id(0))
    [TransformerConfig(dropout=dropout, final_norm=None) for dropout in (0, 1)]


def test_autocast_converts_the_memory_itself():
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
