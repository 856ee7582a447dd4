"""A Marian model's weights in our Transformer compute what Hugging Face's library computes."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from transformers.activations import ACT2FN

from tests.random_marian import (
    LENGTH,
    PADDING,
    SOURCE_IDS,
    TARGET_IDS,
    VOCABULARY,
    as_marian,
    logits_of,
    random_marian,
    with_exact_positions,
)
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.transformer import Transformer
from transformer_edu.variants.marian_weights import (
    DEFAULTS,
    config_from_marian,
    from_marian,
    to_marian,
)

DEPTHS = [(2, 2), (3, 1), (1, 2)]
each_depth = pytest.mark.parametrize(
    ("seed", "encoder_layers", "decoder_layers"),
    [(seed, *depth) for seed, depth in enumerate(DEPTHS)],
)
REAL = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1]]).bool()


def twin(marian: nn.Module) -> Transformer:
    return from_marian(marian.config.to_dict(), marian.state_dict())


@torch.no_grad()
@each_depth
def test_our_logits_are_marians_in_float32(seed, encoder_layers, decoder_layers):
    marian = random_marian(seed, encoder_layers=encoder_layers, decoder_layers=decoder_layers)
    ours = twin(marian)
    assert (len(ours.encoder.layers), len(ours.decoder.layers)) == (encoder_layers, decoder_layers)
    logits = ours(SOURCE_IDS, TARGET_IDS)
    assert logits.dtype == torch.float32
    torch.testing.assert_close(logits, logits_of(marian), rtol=0, atol=1e-4)


@torch.no_grad()
@each_depth
@pytest.mark.parametrize("activation", ["swish", "relu", "gelu"])
def test_our_logits_are_marians_in_float64(seed, encoder_layers, decoder_layers, activation):
    depth = {"encoder_layers": encoder_layers, "decoder_layers": decoder_layers}
    marian = random_marian(seed, **depth, activation_function=activation)
    logits = twin(marian.double())(SOURCE_IDS, TARGET_IDS)
    theirs = logits_of(with_exact_positions(marian))
    assert logits.dtype == torch.float64
    torch.testing.assert_close(logits, theirs, rtol=0, atol=1e-10)


@each_depth
def test_every_gradient_is_marians(seed, encoder_layers, decoder_layers):
    marian = random_marian(seed, encoder_layers=encoder_layers, decoder_layers=decoder_layers)
    ours = twin(marian.double()).train()
    probe = torch.randn(*TARGET_IDS.shape, VOCABULARY, dtype=torch.float64) * REAL.unsqueeze(-1)
    (ours(SOURCE_IDS, TARGET_IDS) * probe).sum().backward()
    for module in with_exact_positions(marian).train().modules():
        if isinstance(module, nn.Embedding):  # otherwise it keeps back what the start token learns
            module.padding_idx = None
    (logits_of(marian) * probe).sum().backward()
    # A model whose weights are the gradients is carried over like any other.
    gradients = copy.deepcopy(ours)
    for parameter, own in zip(gradients.parameters(), ours.parameters(), strict=True):
        parameter.data.copy_(own.grad)
    found, compared = to_marian(gradients)[1], 0
    for name, parameter in marian.named_parameters():
        if "embed_positions" in name:
            continue
        torch.testing.assert_close(found[name], parameter.grad, rtol=0, atol=1e-10)
        assert parameter.grad.abs().max() > 0 or name.endswith("k_proj.bias"), name
        compared += 1
    assert compared == 1 + 16 * encoder_layers + 26 * decoder_layers


@torch.no_grad()
@pytest.mark.parametrize("cached", [True, False])
def test_one_position_at_a_time_gives_marians_logits_with_and_without_a_cache(cached):
    marian = with_exact_positions(random_marian(3, decoder_layers=1))
    ours = twin(marian)
    memory, mask = ours.encode(SOURCE_IDS), ours.source_mask(SOURCE_IDS)
    cache = DecoderCache(num_layers=1) if cached else None
    kept = None
    for place in range(TARGET_IDS.size(1)):
        newest = TARGET_IDS[:, place : place + 1] if cached else TARGET_IDS[:, : place + 1]
        decoded = ours.decode(newest, memory, source_mask=mask, cache=cache)
        theirs = marian(
            input_ids=SOURCE_IDS,
            attention_mask=(SOURCE_IDS != PADDING).long(),
            decoder_input_ids=newest,
            past_key_values=kept,
            use_cache=cached,
        )
        kept = theirs.past_key_values
        real = REAL[:, place]  # after its end the library shows a row its padding, ours does not
        logits = ours.project(decoded)[real, -1]
        torch.testing.assert_close(logits, theirs.logits[real, -1], rtol=0, atol=1e-10)


BROKEN = [
    {"position_order": "interleaved"},
    {"activation": "relu"},
    {"activation": "gelu"},
    {"norm_first": True, "final_norm": False},
    {"final_norm": True},
    {"start_id": 1},
]


@torch.no_grad()
@pytest.mark.parametrize("broken", BROKEN, ids=str)
def test_without_any_one_of_the_switches_the_logits_are_different(broken):
    marian = random_marian(0)
    ours = twin(marian)
    changed = Transformer(replace(ours.config, **broken)).eval()
    unread = changed.load_state_dict(ours.state_dict(), strict=False)
    assert all("final_norm" in name for name in unread.missing_keys)
    assert not unread.unexpected_keys
    difference = (changed(SOURCE_IDS, TARGET_IDS) - logits_of(marian)).abs().max()
    assert difference > 0.01


@torch.no_grad()
@pytest.mark.parametrize(
    "name",
    [
        "final_logits_bias",
        "model.decoder.layers.1.encoder_attn.v_proj.bias",
        "model.encoder.layers.0.self_attn.q_proj.bias",
        "model.decoder.layers.0.fc1.weight",
        "model.decoder.layers.1.encoder_attn_layer_norm.weight",
    ],
)
def test_one_changed_weight_is_noticed(name):
    marian = random_marian(0)
    ours = twin(marian)
    marian.state_dict()[name].view(-1)[5] += 0.1
    assert (ours(SOURCE_IDS, TARGET_IDS) - logits_of(marian)).abs().max() > 1e-4


def test_the_way_there_and_back_changes_nothing():
    marian = random_marian(1, encoder_layers=1, decoder_layers=3)
    ours = twin(marian)
    settings, tensors = to_marian(ours)
    theirs = marian.state_dict()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in tensors.items())
    named = marian.config.to_dict()
    named |= {"architectures": ["MarianMTModel"], "forced_eos_token_id": 0}
    assert {name: named[name] for name in settings} == settings
    again = from_marian(settings, tensors)
    assert again.config == ours.config
    torch.testing.assert_close(
        as_marian(ours).state_dict()["lm_head.weight"], theirs["lm_head.weight"].double()
    )


def test_a_file_may_hold_the_table_under_any_name_and_the_positions():
    marian = random_marian(1)
    expected = twin(marian)(SOURCE_IDS, TARGET_IDS)
    tensors = dict(marian.state_dict())
    assert "model.encoder.embed_positions.weight" in tensors
    tables = ["model.shared", "model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"]
    for kept in tables:
        held = {
            name: t for name, t in tensors.items() if name.removesuffix(".weight") not in tables
        }
        held[f"{kept}.weight"] = tensors[f"{kept}.weight"]
        ours = from_marian(marian.config.to_dict(), held)
        assert torch.equal(ours(SOURCE_IDS, TARGET_IDS), expected)


def test_without_a_bias_of_the_logits_it_is_zero():
    marian = random_marian(1)
    tensors = marian.state_dict()
    del tensors["final_logits_bias"]
    ours = from_marian(marian.config.to_dict(), tensors)
    marian.final_logits_bias.zero_()
    torch.testing.assert_close(ours(SOURCE_IDS, TARGET_IDS), logits_of(marian), rtol=0, atol=1e-4)


def test_the_model_is_a_copy_with_one_table_and_draws_no_random_number():
    marian = random_marian(0)
    before = torch.get_rng_state()
    ours = twin(marian)
    assert torch.equal(torch.get_rng_state(), before)
    logits = ours(SOURCE_IDS, TARGET_IDS)
    for parameter in marian.parameters():
        parameter.data.zero_()
    assert torch.equal(ours(SOURCE_IDS, TARGET_IDS), logits)
    assert ours.output_projection.weight is ours.source_embedding.table.weight
    assert all(parameter.requires_grad for parameter in ours.parameters())
    assert not ours.training


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_becomes_float32(dtype):
    marian = random_marian(0).to(dtype)
    ours = twin(marian)
    assert {tensor.dtype for tensor in ours.state_dict().values()} == {torch.float32}
    assert ours.positions.table.dtype == torch.float32
    torch.testing.assert_close(
        ours(SOURCE_IDS, TARGET_IDS), logits_of(marian.float()), rtol=0, atol=0.05
    )


def test_weights_of_two_types_become_float32():
    marian = random_marian(0)
    tensors = dict(marian.state_dict())
    tensors[FC1] = tensors[FC1].double()
    ours = from_marian(marian.config.to_dict(), tensors)
    assert {tensor.dtype for tensor in ours.state_dict().values()} == {torch.float32}


def test_a_missing_flag_is_what_the_library_takes_for_it():
    settings = random_marian(0).config.to_dict()
    for name, default in DEFAULTS.items():
        del settings[name]
        assert getattr(type(random_marian(0).config)(**settings), name) is default
    assert config_from_marian(settings) == config_from_marian(settings | DEFAULTS)


# What MarianConfig can say beyond the sizes above, each with what it changes.
APART, UNTIED = {"share_encoder_decoder_embeddings": False}, {"tie_word_embeddings": False}
SUPPORTED = {
    "embeddings that are not scaled": {"scale_embedding": False},
    "two tables": APART,
    "two tables, an output of its own": APART | UNTIED,
    "two vocabularies": APART | {"decoder_vocab_size": VOCABULARY + 2},
    "two vocabularies, an output of its own": APART | UNTIED | {"decoder_vocab_size": 19},
    "nothing tied": UNTIED,
    "other heads in the decoder": {"decoder_attention_heads": 4},
    "another d_ff in the decoder": {"decoder_ffn_dim": 28},
    "an odd d_model": {"d_model": 15, "decoder_attention_heads": 5},
    "all at once": APART
    | UNTIED
    | {"d_model": 15, "encoder_layers": 1, "decoder_layers": 3, "decoder_attention_heads": 1}
    | {"decoder_ffn_dim": 9, "activation_function": "gelu_new", "decoder_vocab_size": 18}
    | {"scale_embedding": False},
    "what decides about training alone": {"encoder_layerdrop": 0.5, "attention_dropout": 0.5}
    | {"activation_dropout": 0.5, "decoder_layerdrop": 0.5, "init_std": 3.0},
}
LEARNED = {"prelu", "xielu"}  # activations with weights of their own
SUPPORTED |= {name: {"activation_function": name} for name in sorted({*ACT2FN} - LEARNED)}


@torch.no_grad()
@pytest.mark.parametrize("name", SUPPORTED)
def test_every_setting_of_the_library_is_computed_as_it_computes_it(name):
    changes = SUPPORTED[name]
    for seed in range(1 if name in ACT2FN else 3):
        marian = random_marian(seed, **changes)
        ours, theirs = twin(marian), logits_of(marian)
        assert theirs.shape[-1] == ours.config.output_size
        torch.testing.assert_close(ours(SOURCE_IDS, TARGET_IDS), theirs, rtol=1e-5, atol=1e-5)
        # Back in the library it computes the same: what we write says all that it must.
        settings, _ = to_marian(ours)
        ours.double()
        back = logits_of(as_marian(ours))
        torch.testing.assert_close(ours(SOURCE_IDS, TARGET_IDS), back, rtol=0, atol=1e-10)
        assert from_marian(*to_marian(ours)).config == config_from_marian(settings)


SETTINGS = [
    ({"model_type": "bart"}, "model_type must be marian, got bart"),
    ({"model_type": "mbart"}, "model_type must be marian, got mbart"),
    ({"model_type": None}, "model_type must be marian, got None"),
    ({"scale_embedding": 1}, "scale_embeddings must be True or False, got 1"),
    ({"share_encoder_decoder_embeddings": "no"}, "embeddings must be True or False, got 'no'"),
    ({"activation_function": "prelu"}, "activation must be one of relu, gelu, gelu_tanh, silu, "),
    ({"activation_function": "xielu"}, "laplace, got 'xielu'"),
    ({"activation_function": ["relu"]}, "laplace, got ['relu']"),
    ({"pad_token_id": None}, "padding_id must be a whole number, got None"),
    ({"decoder_attention_heads": 5}, "num_decoder_heads must divide d_model, got 5 and 12"),
    ({"encoder_ffn_dim": 24}, "encoder.layers.0.fc1.weight must be floats of shape (24, 12), got"),
    ({"eos_token_id": [0, 3]}, "end_id must be a whole number, got [0, 3]"),
    ({"d_model": 16}, "num_heads must divide d_model, got 3 and 16"),
    ({"encoder_layers": 10**12}, "layers must have more tensors, got"),
]


@pytest.mark.parametrize(("changes", "message"), SETTINGS, ids=str)
def test_settings_of_another_model_are_refused(changes, message):
    marian = random_marian(0)
    with pytest.raises((TypeError, ValueError)) as caught:
        from_marian(marian.config.to_dict() | changes, marian.state_dict())
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["vocab_size", "decoder_layers", "pad_token_id"])
def test_a_missing_setting_is_refused(name):
    settings = random_marian(0).config.to_dict()
    del settings[name]
    with pytest.raises(ValueError, match=f"^{name} must be among the settings, got none$"):
        config_from_marian(settings)


def without(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    return {each: tensor for each, tensor in tensors.items() if each != name}


FC1 = "model.encoder.layers.0.fc1.weight"
CHANGES = [
    (lambda t: without(t, FC1), f"the tensors must include {FC1}, got none of that name"),
    (
        lambda t: t | {"model.encoder.layers.7.fc1.weight": t[FC1]},
        "the tensors must be those of the settings, got model.encoder.layers.7.fc1.weight too",
    ),
    (
        lambda t: t | {FC1: t[FC1].T},
        f"{FC1} must be floats of shape (20, 12), got torch.float32 (12, 20)",
    ),
    (
        lambda t: t | {FC1: t[FC1].to(torch.int8)},
        f"{FC1} must be floats of shape (20, 12), got torch.int8 (20, 12)",
    ),
    (
        lambda t: t | {"lm_head.weight": t["lm_head.weight"] + 1},
        "lm_head.weight must be equal, got different tables",
    ),
    (lambda t: dict.fromkeys(t, torch.ones(())), "got torch.float32 ()"),
    (lambda t: {}, "a model of 4 layers must have more tensors, got 0"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[message for _, message in CHANGES])
def test_tensors_of_another_model_are_refused(change, message):
    marian = random_marian(0)
    with pytest.raises((TypeError, ValueError)) as caught:
        from_marian(marian.config.to_dict(), change(dict(marian.state_dict())))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"position_order": "interleaved"}, "position_order must be halves in a Marian model, got"),
        ({"bias": False}, "bias must be True in a Marian model, got False"),
        ({"norm_first": True}, "norm_first must be False in a Marian model, got True"),
        ({"final_norm": True}, "has_final_norm must be False in a Marian model, got True"),
    ],
)
def test_a_model_that_no_marian_is_like_is_not_written(changes, message):
    config = replace(twin(random_marian(0)).config, **changes)
    with pytest.raises(ValueError, match=message):
        to_marian(Transformer(config))


def test_the_greatest_length_is_the_settings():
    ours = twin(random_marian(0))
    assert ours.config.max_length == LENGTH
    with pytest.raises(ValueError, match=f"at most {LENGTH} positions"):
        ours.encode(torch.ones(1, LENGTH + 1, dtype=torch.long))
