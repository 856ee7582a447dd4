"""Hugging Face's Llama and GPT-2 with the weights of our language model.

Both are the same architecture written by others, so they must give the same logits. Met in
notebooks/19_from_2017_to_today.ipynb.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict

import torch
from torch import Tensor, nn

from transformer_edu.variants.language_model import EPSILON, LanguageModel, LanguageModelConfig

# What each of the two always is, in the terms of our config.
LLAMA = {"norm_first": True, "norm": "rms", "positions": "rotary", "feed_forward": "swiglu"}
GPT2 = {"norm_first": True, "norm": "layer", "positions": "learned", "feed_forward": "gelu_tanh"}
GPT2 |= {"tie_embeddings": True, "feed_forward_bias": True, "attention_bias": True}
PARTS = {  # our names, and Llama's
    "self_attention.query_projection": "self_attn.q_proj",
    "self_attention.key_projection": "self_attn.k_proj",
    "self_attention.value_projection": "self_attn.v_proj",
    "self_attention.output_projection": "self_attn.o_proj",
    "around_self_attention.norm": "input_layernorm",
    "around_feed_forward.norm": "post_attention_layernorm",
    "feed_forward.gate": "mlp.gate_proj",
    "feed_forward.widen": "mlp.up_proj",
    "feed_forward.narrow": "mlp.down_proj",
    "layers.": "model.layers.",
    "embedding.": "model.embed_tokens.",
    "final_norm.": "model.norm.",
    "output_projection.weight": "lm_head.weight",
}


@torch.no_grad()
def logit_gap(
    ours: LanguageModel, theirs: Callable[[LanguageModel], nn.Module], token_ids: Tensor
) -> float | None:
    """The largest difference between the logits of two implementations with the same weights.

    Args:
        ours: A language model.
        theirs: as_llama or as_gpt2, which refuse models with other switches.
        token_ids: Shape (batch, position).

    Returns:
        None, with a sentence, where the library transformers is not installed.
    """
    try:
        other = theirs(ours)
    except ImportError:
        print("The library transformers is not installed, so one comparison is skipped.")
        return None
    return (other(token_ids).logits - ours(token_ids)).abs().max().item()


def as_llama(model: LanguageModel) -> nn.Module:
    """A ``LlamaForCausalLM`` with the weights of a model that has all of today's switches.

    Args:
        model: Pre-norm, with RMSNorm, rotary positions and SwiGLU.

    Returns:
        On the model's device and with its type of numbers, in evaluation mode.

    Raises:
        ValueError: If a switch is different: Llama has no choice there.
        ImportError: If Hugging Face's library transformers is not installed.
    """
    config = model.config
    _require_switches(config, LLAMA, "Llama")
    from transformers import LlamaConfig, LlamaForCausalLM

    llama = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=config.vocabulary_size,
            hidden_size=config.d_model,
            intermediate_size=config.d_ff,
            num_hidden_layers=config.num_layers,
            num_attention_heads=config.num_heads,
            num_key_value_heads=config.groups,
            max_position_embeddings=config.max_length,
            rms_norm_eps=EPSILON,
            tie_word_embeddings=config.tie_embeddings,
            attention_bias=config.attention_bias,
            mlp_bias=config.feed_forward_bias,
        )
    )
    return _filled(llama, dict(_llama_weights(model)), like=model)


def _llama_weights(model: LanguageModel) -> Iterator[tuple[str, Tensor]]:
    """The same tensors under Llama's names."""
    for name, weight in model.state_dict().items():
        for ours, theirs in PARTS.items():
            name = name.replace(ours, theirs)
        yield name, weight


def as_gpt2(model: LanguageModel) -> nn.Module:
    """A ``GPT2LMHeadModel`` with the weights of a model that has GPT-2's switches.

    Args:
        model: Pre-norm, with LayerNorm, learned positions, GPT-2's GELU, tied embeddings, all
            biases, and as many heads of keys and values as of queries.

    Returns:
        As for as_llama. Only sizes and special tokens differ from a new ``GPT2Config()``.

    Raises:
        ValueError: If a switch is different: GPT-2 has no choice there.
        ImportError: If Hugging Face's library transformers is not installed.
    """
    config = model.config
    _require_switches(config, GPT2 | {"num_key_value_heads": config.num_heads}, "GPT-2")
    from transformers import GPT2Config, GPT2LMHeadModel

    theirs = GPT2Config(
        vocab_size=config.vocabulary_size,
        n_positions=config.max_length,
        n_embd=config.d_model,
        n_layer=config.num_layers,
        n_head=config.num_heads,
        n_inner=config.d_ff,
        bos_token_id=None,  # our vocabulary has not GPT-2's tokens
        eos_token_id=None,
    )
    return _filled(GPT2LMHeadModel(theirs), _gpt2_weights(model), like=model)


def _gpt2_weights(model: LanguageModel) -> dict[str, Tensor]:
    """The same numbers under GPT-2's names and in its shapes."""
    weights = {
        "transformer.wte.weight": model.embedding.weight,
        "transformer.wpe.weight": model.positions.weight,
        "lm_head.weight": model.output_projection.weight,
    }
    linears: dict[str, list[nn.Linear]] = {}
    norms = {"transformer.ln_f": model.final_norm}
    for number, layer in enumerate(model.layers):
        here, attention = f"transformer.h.{number}", layer.self_attention
        norms[f"{here}.ln_1"] = layer.around_self_attention.norm
        norms[f"{here}.ln_2"] = layer.around_feed_forward.norm
        linears[f"{here}.attn.c_attn"] = [
            attention.query_projection, attention.key_projection, attention.value_projection,
        ]  # fmt: skip
        linears[f"{here}.attn.c_proj"] = [attention.output_projection]
        linears[f"{here}.mlp.c_fc"] = [layer.feed_forward.widen]
        linears[f"{here}.mlp.c_proj"] = [layer.feed_forward.narrow]
    for name, norm in norms.items():
        weights |= {f"{name}.weight": norm.weight, f"{name}.bias": norm.bias}
    for name, group in linears.items():  # stored as (in, out), queries, keys and values in one
        weights[f"{name}.weight"] = torch.cat([each.weight for each in group]).T
        weights[f"{name}.bias"] = torch.cat([each.bias for each in group])
    return weights


def _require_switches(
    config: LanguageModelConfig, wanted: Mapping[str, object], architecture: str
) -> None:
    """Refuse a model whose weights would fit, but which computes something else."""
    switches = asdict(config) | {"num_key_value_heads": config.groups}
    for name, value in wanted.items():
        if (got := switches[name]) != value:
            raise ValueError(f"{name} must be {value} in {architecture}, got {got}")


def _filled(other: nn.Module, weights: dict[str, Tensor], *, like: nn.Module) -> nn.Module:
    other.to(next(like.parameters())).load_state_dict(weights)
    return other.eval()
