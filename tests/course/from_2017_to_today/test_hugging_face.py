"""Hugging Face's Llama and GPT-2 give our logits, with padding and with a cache of their own."""

import sys

import pytest
import torch
import torch.nn.functional as F

from tests.variants.test_language_model import GPT2, IDS, REAL, SO_FAR, random_model
from transformer_course.from_2017_to_today.hugging_face import as_gpt2, as_llama, logit_gap
from transformer_course.looking.recording import record_attention

pytest.importorskip("transformers")

LLAMA = SO_FAR["up to no biases"]
KINDS = {
    "Llama": (LLAMA, as_llama),
    "Llama with two tables": (LLAMA | {"tie_embeddings": False}, as_llama),
    "Llama without groups": (LLAMA | {"num_key_value_heads": None}, as_llama),
    "Llama with biases": (LLAMA | {"feed_forward_bias": True, "attention_bias": True}, as_llama),
    "GPT-2": (GPT2, as_gpt2),
}
every_kind = pytest.mark.parametrize(("change", "theirs"), KINDS.values(), ids=KINDS)


@every_kind
def test_both_give_the_same_logits(change, theirs):
    gap = logit_gap(random_model(change), theirs, IDS)
    assert 0 <= gap <= 1e-5


@every_kind
def test_both_have_the_same_attention_weights(change, theirs):
    model = random_model(change)
    other = theirs(model)
    other.set_attn_implementation("eager")  # the fused one returns no weights
    with record_attention(model) as attention, torch.no_grad():
        model(IDS)
        found = other(IDS, output_attentions=True).attentions
    torch.testing.assert_close(tuple(attention.values()), found, atol=1e-5, rtol=0)


@every_kind
def test_a_padded_batch_gives_the_same_logits_where_the_tokens_are_real(change, theirs):
    model = random_model(change)
    other = theirs(model)(IDS, attention_mask=REAL.long()).logits
    torch.testing.assert_close(model(IDS)[REAL], other[REAL], atol=1e-4, rtol=0)


@every_kind
def test_both_give_the_same_gradients(change, theirs):
    model = random_model(change)
    other = theirs(model).train(False)
    ours = [model.embedding.weight, model.layers[1].self_attention.query_projection.weight]
    wte = other.get_input_embeddings().weight
    first, *_ = torch.autograd.grad(model(IDS)[REAL].sin().sum(), ours)
    (second,) = torch.autograd.grad(other(IDS).logits[REAL].sin().sum(), [wte])
    torch.testing.assert_close(first, second, atol=1e-4, rtol=1e-4)


def test_in_float64_both_agree_to_ten_digits_with_exact_angles_and_norms(monkeypatch):
    from transformers.models.llama import modeling_llama

    torch.set_default_dtype(torch.float64)
    try:
        model = random_model(LLAMA)
        llama = as_llama(model)

        def angles(self, x, position_ids):
            frequency = 10_000.0 ** (-torch.arange(0, 4, 2) / 4)
            angle = (position_ids[..., None] * frequency).repeat(1, 1, 2)
            return angle.cos(), angle.sin()

        def norm(self, x):
            return self.weight * x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()

        monkeypatch.setattr(modeling_llama.LlamaRotaryEmbedding, "forward", angles)
        monkeypatch.setattr(modeling_llama.LlamaRMSNorm, "forward", norm)
        ours, theirs = model(IDS), llama(IDS).logits
        torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0)
        (mine,) = torch.autograd.grad(ours.sin().sum(), [model.embedding.weight])
        (other,) = torch.autograd.grad(theirs.sin().sum(), [llama.model.embed_tokens.weight])
        torch.testing.assert_close(mine, other, atol=1e-10, rtol=0)
    finally:
        torch.set_default_dtype(torch.float32)


def test_gpt2_is_configured_as_the_library_has_it_but_for_sizes():
    from transformers import GPT2Config

    theirs, usual = as_gpt2(random_model(GPT2)).config.to_dict(), GPT2Config().to_dict()
    sizes = {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head", "n_inner"}
    sizes |= {"bos_token_id", "eos_token_id"}  # they depend on the vocabulary
    other = {name for name, value in theirs.items() if value != usual.get(name)}
    assert other - {"architectures"} <= sizes


def test_with_the_exact_gelu_the_logits_would_differ_by_more():
    model = random_model(GPT2)
    gpt2 = as_gpt2(model)
    for layer in model.layers:
        layer.feed_forward.activation = F.gelu
    assert (gpt2(IDS).logits - model(IDS)).abs().max() > 1e-4


def test_in_float64_gpt2_agrees_to_ten_digits():
    torch.set_default_dtype(torch.float64)
    try:
        assert logit_gap(random_model(GPT2), as_gpt2, IDS) <= 1e-10
    finally:
        torch.set_default_dtype(torch.float32)


def test_without_the_library_the_comparison_is_skipped_in_a_sentence(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert logit_gap(random_model(LLAMA), as_llama, IDS) is None
    assert "transformers is not installed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("theirs", "change", "refusal"),
    [
        (as_llama, {"norm_first": False}, "norm_first must be True in Llama, got False"),
        (as_llama, {"norm": "layer"}, "norm must be rms in Llama, got layer"),
        (as_llama, {"positions": "learned"}, "positions must be rotary in Llama, got learned"),
        (as_llama, {"feed_forward": "gelu"}, "feed_forward must be swiglu in Llama, got gelu"),
        (as_gpt2, {"norm_first": False}, "norm_first must be True in GPT-2, got False"),
        (as_gpt2, {"norm": "rms"}, "norm must be layer in GPT-2, got rms"),
        (as_gpt2, {"positions": "rotary"}, "positions must be learned in GPT-2, got rotary"),
        (as_gpt2, {"feed_forward": "relu"}, "feed_forward must be gelu_tanh in GPT-2, got relu"),
        (as_gpt2, {"tie_embeddings": False}, "tie_embeddings must be True in GPT-2, got False"),
        (
            as_gpt2,
            {"feed_forward_bias": False},
            "feed_forward_bias must be True in GPT-2, got False",
        ),
        (as_gpt2, {"attention_bias": False}, "attention_bias must be True in GPT-2, got False"),
        (as_gpt2, {"num_key_value_heads": 2}, "num_key_value_heads must be 6 in GPT-2, got 2"),
    ],
)
def test_a_model_with_another_switch_is_refused(theirs, change, refusal):
    model = random_model((LLAMA if theirs is as_llama else GPT2) | change)
    with pytest.raises(ValueError, match=f"^{refusal}$"):
        theirs(model)
