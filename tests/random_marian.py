"""Small Marian models of Hugging Face's library, for tests: random ones, and twins of ours.

Nothing is downloaded. Without the library, the tests that import this are skipped.
"""

import pytest
import torch
from torch import Tensor, nn

from transformer_edu.model.embeddings import sinusoidal_positions
from transformer_edu.model.transformer import Transformer
from transformer_edu.variants.marian_weights import POSITIONS, SHARED, TABLES, to_marian

transformers = pytest.importorskip("transformers")

VOCABULARY, LENGTH = 17, 12
PADDING = VOCABULARY - 1  # the last token, and the start of every target, as in published models
# The text ends with token 0; one source is full, one short, one has a single word.
SOURCE_IDS = torch.tensor(
    [
        [4, 5, 6, 7, 8, 0],
        [5, 4, 0, PADDING, PADDING, PADDING],
        [12, 0, PADDING, PADDING, PADDING, PADDING],
    ]
)
TARGET_IDS = torch.tensor([[PADDING, 5, 8, 10], [PADDING, 6, 0, PADDING], [PADDING, 11, 12, 0]])


def random_marian(seed: int, **changes: object) -> nn.Module:
    """A Marian model whose every weight and bias is random; changes are its settings'."""
    settings = {
        "vocab_size": VOCABULARY,
        "d_model": 12,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 3,
        "decoder_attention_heads": 3,
        "encoder_ffn_dim": 20,
        "decoder_ffn_dim": 20,
        "max_position_embeddings": LENGTH,
        "activation_function": "swish",
        "scale_embedding": True,
        "dropout": 0.0,
        "pad_token_id": PADDING,
        "decoder_start_token_id": PADDING,
        "eos_token_id": 0,
        "forced_eos_token_id": None,
        "attn_implementation": "eager",  # written out: other arithmetic than ours
    }
    torch.manual_seed(seed)
    model = transformers.MarianMTModel(transformers.MarianConfig(**settings | changes)).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "embed_positions" not in name:
                nn.init.normal_(weight, mean=float(name.endswith("norm.weight")), std=0.5)
        nn.init.normal_(model.final_logits_bias, std=0.3)
    return model


def with_exact_positions(marian: nn.Module) -> nn.Module:
    """The model in float64, its positions too: the library rounds them to float32."""
    marian = marian.double()
    for stack in (marian.model.encoder, marian.model.decoder):
        rounded = stack.embed_positions.weight
        exact = sinusoidal_positions(*rounded.shape, order="halves", dtype=torch.float64)
        torch.testing.assert_close(rounded.data, exact, rtol=0, atol=1e-7)
        rounded.data.copy_(exact)
    return marian


def as_marian(model: Transformer) -> nn.Module:
    """The library's model that computes what ours does, in float64."""
    settings, tensors = to_marian(model)
    marian = (
        transformers.MarianMTModel(transformers.MarianConfig(**settings))
        .eval()
        .to(model.output_projection.weight)
    )
    unread = marian.load_state_dict(tensors, strict=False)
    assert not unread.unexpected_keys
    assert set(unread.missing_keys) <= {*POSITIONS, *TABLES.values(), SHARED}
    marian.tie_weights()
    return with_exact_positions(marian)


def logits_of(marian: nn.Module, **changes: Tensor) -> Tensor:
    """The library's logits of the targets above; it is told which positions are padding."""
    is_real = TARGET_IDS != PADDING
    is_real[:, 0] = True  # the start token
    given = {
        "input_ids": SOURCE_IDS,
        "attention_mask": (SOURCE_IDS != PADDING).long(),
        "decoder_input_ids": TARGET_IDS,
        "decoder_attention_mask": is_real.long(),
    }
    return marian(**given | changes).logits


def generate(marian: nn.Module, source_ids: Tensor, **choices: object) -> list[list[int]]:
    """What the library writes, without start, end and padding."""
    settings = marian.config
    asked = {
        "attention_mask": (source_ids != settings.pad_token_id).long(),
        "do_sample": False,
        "forced_eos_token_id": None,
        "bad_words_ids": [[settings.pad_token_id]],
        "renormalize_logits": True,
    }
    written = []
    for _, *row in marian.generate(source_ids, **asked | choices).tolist():
        row = row[: row.index(settings.eos_token_id)] if settings.eos_token_id in row else row
        written.append([token_id for token_id in row if token_id != settings.pad_token_id])
    return written
