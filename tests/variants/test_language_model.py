"""The decoder-only model: every switch against its formulas, its cache, its refusals.

``written_out`` has the formulas, and is compared with the model in float64. Hugging Face's Llama
and GPT-2 are compared in tests/course/from_2017_to_today.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_edu.model.embeddings import sinusoidal_positions
from transformer_edu.variants.language_model import (
    GatedFeedForward,
    LanguageModel,
    LanguageModelConfig,
    rotate,
)

EPSILON = nn.LayerNorm(1).eps  # torch's, and GPT-2's
SIZES = {"vocabulary_size": 17, "d_model": 24, "num_heads": 6, "num_layers": 3, "d_ff": 40}
SWAPS = {
    "pre-norm": {"norm_first": True},
    "RMSNorm": {"norm": "rms"},
    "learned positions": {"positions": "learned"},
    "rotary positions": {"positions": "rotary"},
    "GELU": {"feed_forward": "gelu"},
    "GPT-2's GELU": {"feed_forward": "gelu_tanh"},
    "SwiGLU": {"feed_forward": "swiglu"},
    "grouped queries": {"num_key_value_heads": 2},
    "one group": {"num_key_value_heads": 1},
    "tied": {"tie_embeddings": True},
    "no biases": {"feed_forward_bias": False},
    "attention biases": {"attention_bias": True},
}
ROW = ("pre-norm", "RMSNorm", "rotary positions", "SwiGLU", "grouped queries", "tied", "no biases")
SO_FAR = {
    f"up to {last}": {k: v for name in ROW[: n + 1] for k, v in SWAPS[name].items()}
    for n, last in enumerate(ROW)
}
GPT2 = {"norm_first": True, "positions": "learned", "feed_forward": "gelu_tanh"}
GPT2 |= {"attention_bias": True, "tie_embeddings": True}
CHANGES = {"none": {}} | SWAPS | SO_FAR | {"GPT-2": GPT2}
IDS = torch.tensor([[3, 5, 8, 1, 16, 2, 9], [4, 7, 2, 0, 0, 0, 0]])  # the second row is padded
REAL = IDS != 0
every_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


def random_model(change):
    """All weights random, norms and biases too."""
    torch.manual_seed(0)
    model = LanguageModel(LanguageModelConfig(**SIZES | change))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(0.3 * torch.randn_like(weight))
    return model


@pytest.fixture
def exact():
    """Everything built inside a test has float64 numbers."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def written_out(model, token_ids):
    """The logits that follow from the model's weights by the formulas written here.

    It calls the model's linear layers, which are PyTorch's, but no ``forward`` of the package.

    Args:
        model: A LanguageModel.
        token_ids: Shape (batch, position).

    Returns:
        Shape (batch, position, vocabulary).
    """
    config, (batch, length) = model.config, token_ids.shape
    d_head = config.d_model // config.num_heads
    frequency = 10_000.0 ** (-torch.arange(0, d_head, 2) / d_head)
    turns = torch.polar(torch.ones(1), torch.arange(length)[:, None] * frequency)

    def norm(module, x):
        if config.norm == "layer":
            return F.layer_norm(x, x.shape[-1:], module.weight, module.bias, EPSILON)
        return module.weight * x / (x.square().mean(-1, keepdim=True) + EPSILON) ** 0.5

    def attend(module, x):
        query, key, value = (
            linear(x).view(batch, length, -1, d_head).transpose(1, 2)
            for linear in (module.query_projection, module.key_projection, module.value_projection)
        )
        if config.positions == "rotary":  # a rotation is a product of complex numbers
            query, key = (
                torch.view_as_real(torch.complex(*each.chunk(2, -1)) * turns)
                .transpose(-1, -2)
                .flatten(-2)
                for each in (query, key)
            )
        heads = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        return module.output_projection(heads.transpose(1, 2).flatten(-2))

    def feed(module, x):
        if config.feed_forward == "swiglu":
            gate = module.gate(x)
            return module.narrow(gate * gate.sigmoid() * module.widen(x))
        inner = module.widen(x)
        if config.feed_forward == "gelu_tanh":  # Hendrycks and Gimpel, 2016
            cubic = math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)
            return module.narrow(inner * (1 + cubic.tanh()) / 2)
        return module.narrow(getattr(F, config.feed_forward)(inner))

    x = model.embedding.weight[token_ids]
    if config.positions == "sinusoidal":
        x = x * math.sqrt(config.d_model) + sinusoidal_positions(length, config.d_model)
    if config.positions == "learned":
        x = x + model.positions.weight[:length]
    for layer in model.layers:
        for run, part, around in (
            (attend, layer.self_attention, layer.around_self_attention.norm),
            (feed, layer.feed_forward, layer.around_feed_forward.norm),
        ):
            first = config.norm_first
            x = x + run(part, norm(around, x)) if first else norm(around, x + run(part, x))
    return (
        norm(model.final_norm, x) if config.norm_first else x
    ) @ model.output_projection.weight.T


@every_change
def test_every_switch_alone_and_all_together_gives_the_written_out_logits_and_gradients(
    exact, change
):
    model = random_model(change)
    weights = list(model.parameters())
    ours, theirs = model(IDS), written_out(model, IDS)
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0)
    for mine, other in zip(
        *(torch.autograd.grad(each.sin().sum(), weights) for each in (ours, theirs)), strict=True
    ):
        torch.testing.assert_close(mine, other, atol=1e-10, rtol=0)


@every_change
def test_with_a_cache_the_logits_are_the_same(exact, change):
    model = random_model(change)
    caches = model.new_caches()
    pieces = [model(part, caches=caches) for part in IDS.split([3, 1, 3], dim=1)]
    torch.testing.assert_close(torch.cat(pieces, dim=1), model(IDS), atol=1e-10, rtol=0)
    assert caches[0].keys.shape == (2, model.config.groups, 7, 4)


@every_change
def test_padding_at_the_end_and_later_tokens_change_no_earlier_logits(exact, change):
    model, changed = random_model(change), IDS.clone()
    changed[:, 3:] = 11
    torch.testing.assert_close(model(changed)[:, :3], model(IDS)[:, :3], atol=1e-10, rtol=0)
    torch.testing.assert_close(model(IDS[1:, :3])[0], model(IDS)[1, :3], atol=1e-10, rtol=0)


def test_rotation_keeps_norms_and_scores_depend_on_the_distance_only(exact):
    torch.manual_seed(0)
    query, key = torch.randn(2, 3, 5, 1, 8)
    angles = sinusoidal_positions(40, 8, order="halves")
    torch.testing.assert_close(rotate(query, angles[7:8]).norm(dim=-1), query.norm(dim=-1))

    def score(place, other):
        turned = rotate(query, angles[place : place + 1]), rotate(key, angles[other : other + 1])
        return (turned[0] * turned[1]).sum(dim=-1)

    torch.testing.assert_close(score(9, 4), score(29, 24))
    assert not torch.allclose(score(9, 4), score(9, 5))


def test_with_rotary_positions_moving_the_whole_text_changes_nothing_and_order_matters():
    model = random_model(SO_FAR["up to no biases"])
    table = model.positions.table.clone()
    before = model(IDS)
    model.positions.table = table.roll(-11, dims=0)
    torch.testing.assert_close(model(IDS), before, atol=1e-4, rtol=1e-4)
    swapped = model(IDS[:, [1, 0, *range(2, 7)]])
    assert not torch.allclose(swapped[:, -1], before[:, -1], atol=1e-3)


def test_one_table_is_counted_once_and_shared():
    tied, untied = (random_model({"tie_embeddings": tie}) for tie in (True, False))
    assert tied.output_projection.weight is tied.embedding.weight
    counts = [sum(each.numel() for each in model.parameters()) for model in (tied, untied)]
    assert counts[1] - counts[0] == 17 * 24


def test_without_biases_nothing_has_one():
    model = random_model({"feed_forward_bias": False, "norm": "rms", "feed_forward": "swiglu"})
    assert not [name for name, _ in model.named_parameters() if "bias" in name]


def test_the_gate_is_hugging_faces():
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    from transformers import LlamaConfig

    config = LlamaConfig(hidden_size=6, intermediate_size=10, num_attention_heads=2, mlp_bias=True)
    ours, theirs = GatedFeedForward(d_model=6, d_ff=10), llama.LlamaMLP(config)
    names = {"gate": "gate_proj", "widen": "up_proj", "narrow": "down_proj"}
    for mine, other in names.items():
        getattr(theirs, other).load_state_dict(getattr(ours, mine).state_dict())
    x = torch.randn(2, 3, 6)
    torch.testing.assert_close(ours(x), theirs(x))


def test_a_gradient_reaches_every_parameter():
    model = random_model(SO_FAR["up to no biases"])
    model(IDS)[REAL].square().sum().backward()
    idle = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert idle == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_heads": 5}, "num_heads must divide d_model, got 5 and 24"),
        ({"num_key_value_heads": 4}, "num_key_value_heads must divide num_heads, got 4 and 6"),
        ({"norm": "batch"}, "norm must be one of layer, rms, got 'batch'"),
        ({"positions": "none"}, "positions must be one of sinusoidal, learned, rotary"),
        ({"feed_forward": "tanh"}, "feed_forward must be one of relu, gelu, gelu_tanh"),
        ({"num_layers": 0}, "num_layers must be at least 1, got 0"),
        ({"norm_first": "no"}, "norm_first must be True or False"),
        ({"num_heads": 8, "positions": "rotary"}, "num_heads must be even to rotate, got 3"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises((TypeError, ValueError), match=message):
        LanguageModelConfig(**SIZES | change)


def test_a_model_without_room_and_an_id_outside_the_vocabulary_are_refused():
    with pytest.raises(ValueError, match="model must have at most .* numbers"):
        LanguageModel(LanguageModelConfig(vocabulary_size=17, num_layers=10**8))
    with pytest.raises(ValueError, match="token_ids must be from 0 to 16, got 17"):
        LanguageModel(LanguageModelConfig(**SIZES))(torch.tensor([[17]]))
    with pytest.raises(TypeError, match="config must be a LanguageModelConfig, got dict"):
        LanguageModel(SIZES)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
def test_a_text_longer_than_the_model_is_refused_also_with_a_cache(positions):
    model = random_model({"max_length": 7, "positions": positions})
    caches = model.new_caches()
    model(IDS, caches=caches)
    for given, kept in ((torch.cat([IDS, IDS], dim=1), None), (IDS[:, :1], caches)):
        with pytest.raises(ValueError, match="^length must be at most 7, got "):
            model(given, caches=kept)


def test_a_norm_of_torch_is_what_the_model_uses():
    kinds = {type(m) for m in random_model({"norm": "rms", "norm_first": True}).modules()}
    assert nn.RMSNorm in kinds and nn.LayerNorm not in kinds
