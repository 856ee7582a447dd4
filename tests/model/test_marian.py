"""The whole model agrees with Hugging Face's MarianMTModel, another hand's Transformer.

Marian is the paper's model with biases in attention; its positions hold all sines, then all
cosines. Nothing is downloaded: the model is built from a configuration.
"""

import pytest
import torch
from torch import Tensor, nn

from transformer_edu.model.transformer import Transformer, TransformerConfig

transformers = pytest.importorskip("transformers")

VOCABULARY, SOURCE, TARGET, HEADS, D_MODEL, D_FF, LAYERS = 13, 6, 4, 3, 12, 20, 2
MAX_LENGTH = 9
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12}
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8, 9], [5, 4, 7, 0, 0, 0], [12, 9, 9, 4, 0, 0]])
TARGET_IDS = torch.tensor([[1, 5, 8, 10], [1, 6, 0, 0], [1, 11, 12, 0]])

ATTENTION_NAMES = {
    "query_projection": "q_proj",
    "key_projection": "k_proj",
    "value_projection": "v_proj",
    "output_projection": "out_proj",
}
LAYER_NAMES = {
    "feed_forward.widen": "fc1",
    "feed_forward.narrow": "fc2",
    "around_self_attention.norm": "self_attn_layer_norm",
    "around_cross_attention.norm": "encoder_attn_layer_norm",
    "around_feed_forward.norm": "final_layer_norm",
}


def build(dtype: torch.dtype) -> tuple[Transformer, nn.Module]:
    """Our model and Marian, of the same random weights."""
    sizes = {"d_model": D_MODEL, "dropout": 0.0}
    config = TransformerConfig(
        vocabulary_size=VOCABULARY,
        num_heads=HEADS,
        num_layers=LAYERS,
        d_ff=D_FF,
        max_length=MAX_LENGTH,
        bias=True,
        **sizes,
    )
    ours = Transformer(config)
    for name, parameter in ours.named_parameters():
        mean = 1.0 if name.endswith("norm.weight") else 0.0
        nn.init.normal_(parameter, mean=mean, std=0.3)
    marian = transformers.MarianMTModel(
        transformers.MarianConfig(
            vocab_size=VOCABULARY,
            encoder_layers=LAYERS,
            decoder_layers=LAYERS,
            encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=D_FF,
            decoder_ffn_dim=D_FF,
            max_position_embeddings=MAX_LENGTH,
            activation_function="relu",
            scale_embedding=True,
            pad_token_id=0,
            eos_token_id=2,
            decoder_start_token_id=1,
            **sizes,
        )
    )
    ours.to(dtype)
    marian.to(dtype)
    carry(ours, marian)
    return ours, marian


def interleave(table: Tensor) -> Tensor:
    """Marian's positions, sines before cosines, in the paper's order."""
    return table.unflatten(-1, (2, -1)).transpose(-2, -1).flatten(-2)


@torch.no_grad()
def carry(ours: Transformer, marian: nn.Module) -> None:
    """Copy every weight of ours into Marian, and count that none was forgotten."""
    pairs = [(ours.source_embedding.table, marian.model.shared)]
    for stack, theirs in (
        (ours.encoder, marian.model.encoder),
        (ours.decoder, marian.model.decoder),
    ):
        for layer, their_layer in zip(stack.layers, theirs.layers, strict=True):
            names = {"self_attention": "self_attn", "cross_attention": "encoder_attn"}
            for attention, their_attention in names.items():
                for name, theirs_too in ATTENTION_NAMES.items():
                    if hasattr(layer, attention):
                        pair = (f"{attention}.{name}", f"{their_attention}.{theirs_too}")
                        pairs.append(submodules(layer, their_layer, *pair))
            for name, their_name in LAYER_NAMES.items():
                if "cross" not in name or hasattr(layer, "cross_attention"):
                    pairs.append(submodules(layer, their_layer, name, their_name))
    for module, their_module in pairs:
        assert module.state_dict().keys() == their_module.state_dict().keys()
        their_module.load_state_dict(module.state_dict())
    marian.final_logits_bias.copy_(ours.output_projection.bias)
    for stack in (marian.model.encoder, marian.model.decoder):
        weight = stack.embed_positions.weight
        torch.testing.assert_close(
            interleave(weight), ours.positions.table[:MAX_LENGTH], rtol=0, atol=1e-6
        )
        # The same formula, rounded otherwise; ours is the more exact one.
        weight.copy_(ours.positions.table)
    counted = sum(p.numel() for module, _ in pairs for p in module.parameters())
    assert counted + VOCABULARY == sum(p.numel() for p in ours.parameters())


def submodules(
    ours: nn.Module, theirs: nn.Module, name: str, their_name: str
) -> tuple[nn.Module, nn.Module]:
    return ours.get_submodule(name), theirs.get_submodule(their_name)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_our_logits_are_marians(dtype, training):
    ours, marian = build(dtype)
    ours.train(training)
    marian.train(training)
    logits = ours(SOURCE_IDS, TARGET_IDS)
    theirs = marian(
        input_ids=SOURCE_IDS,
        attention_mask=(SOURCE_IDS != 0).long(),
        decoder_input_ids=TARGET_IDS,
        decoder_attention_mask=(TARGET_IDS != 0).long(),
    ).logits
    torch.testing.assert_close(logits, theirs, rtol=0, atol=TOLERANCES[dtype])


def test_one_changed_weight_would_be_noticed():
    ours, marian = build(torch.float64)
    with torch.no_grad():
        marian.model.decoder.layers[1].encoder_attn.k_proj.weight[0, 0] += 0.01
    theirs = marian(
        input_ids=SOURCE_IDS,
        attention_mask=(SOURCE_IDS != 0).long(),
        decoder_input_ids=TARGET_IDS,
        decoder_attention_mask=(TARGET_IDS != 0).long(),
    ).logits
    assert (ours(SOURCE_IDS, TARGET_IDS) - theirs).abs().max() > 1e-8
