"""A trace holds the tensors of a real forward pass, and leaves no trace itself."""

import re

import pytest
import torch
from torch import Tensor, nn

from transformer_course.looking.shape_trace import (
    Step,
    in_words,
    name_tensor,
    place_in_words,
    trace,
)
from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention, merge_heads, split_heads
from transformer_edu.model.decoder import DecoderLayer
from transformer_edu.model.encoder import EncoderLayer
from transformer_edu.model.masks import causal_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig

BATCH, HEADS, QUERY, KEY, D_HEAD = 2, 3, 4, 5, 6
D_MODEL, D_FF = HEADS * D_HEAD, 7


@pytest.fixture
def attention() -> MultiHeadAttention:
    torch.manual_seed(0)
    return MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS)


@pytest.fixture
def query() -> Tensor:
    return torch.randn(BATCH, QUERY, D_MODEL, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def memory() -> Tensor:
    return torch.randn(BATCH, KEY, D_MODEL, generator=torch.Generator().manual_seed(2))


class Own(nn.Module):
    """A learner's module: noise, dropout, a change in place, two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.cut = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(0.5)
        self.normalise = nn.BatchNorm1d(3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = self.normalise(self.drop(self.cut(self.first(x))))
        return x, x + torch.rand(3)


def words_of(steps: list[Step]) -> list[str]:
    return [step.words for step in steps]


def by_words(steps: list[Step]) -> dict[str, Tensor]:
    return {step.words: step.tensor for step in steps}


def test_the_shapes_of_the_paper_s_base_attention_are_walked_in_order():
    x = torch.randn(2, 10, 512)
    steps = trace(MultiHeadAttention(d_model=512, num_heads=8), x, x, x)
    assert [step.shape for step in steps] == [
        *[(2, 10, 512)] * 4,
        *[(2, 8, 10, 64)] * 3,
        *[(2, 8, 10, 10)] * 2,
        (2, 8, 10, 64),
        *[(2, 10, 512)] * 2,
    ]
    assert words_of(steps)[0] == "query = key = value"
    assert steps[8].axes == ("batch", "heads", "query", "key")


@pytest.mark.parametrize("hidden", [None, 1])
def test_the_traced_values_reproduce_the_output_of_attention(attention, query, memory, hidden):
    mask = None if hidden is None else torch.arange(KEY) != hidden
    found = by_words(trace(attention, query, memory, memory, mask=mask))
    softmax = "softmax of scores" if mask is None else "softmax under the mask"
    scores = found["Q split into heads"] @ found["K split into heads"].mT / D_HEAD**0.5
    torch.testing.assert_close(found["scores: Q Kᵀ / √d_head"], scores)
    torch.testing.assert_close(
        found[softmax], attention.attention_weights(query, memory, mask=mask)
    )
    gathered = found[softmax] @ found["V split into heads"]
    torch.testing.assert_close(found["weights times V"], gathered)
    torch.testing.assert_close(found["heads merged"], merge_heads(gathered))
    torch.testing.assert_close(
        found["V split into heads"], split_heads(found["V = value W_V"], HEADS)
    )
    output = found["heads merged"] @ attention.output_projection.weight.T
    torch.testing.assert_close(output, attention(query, memory, memory, mask=mask))
    torch.testing.assert_close(found["times W_O"], output)


@pytest.mark.parametrize("norm_first", [False, True])
def test_an_encoder_layer_shows_its_residual_sums_and_its_hidden_layer(query, norm_first):
    layer = EncoderLayer(d_model=D_MODEL, num_heads=HEADS, d_ff=D_FF, norm_first=norm_first)
    steps = trace(layer, query)
    assert words_of(steps).count("x + sub-layer") == 2
    assert words_of(steps).count("normalized") == 2
    hidden = next(step for step in steps if step.words.startswith("ReLU"))
    assert hidden.axes == ("batch", "position", "d_ff")
    assert hidden.shape == (BATCH, QUERY, D_FF)
    before = next(step for step in steps if step.words.startswith("widened"))
    assert (before.tensor < 0).any()
    torch.testing.assert_close(hidden.tensor, before.tensor.relu())
    torch.testing.assert_close(steps[-1].tensor, layer.eval()(query))


def test_a_decoder_layer_tells_self_attention_from_cross_attention(query, memory):
    layer = DecoderLayer(d_model=D_MODEL, num_heads=HEADS, d_ff=D_FF)
    steps = trace(layer, query, memory, target_mask=causal_mask(QUERY))
    shapes = {(step.place, step.words): step.shape for step in steps}
    own = shapes["self-attention", "softmax under the mask"]
    across = shapes["cross-attention", "softmax of scores"]
    assert own == (BATCH, HEADS, QUERY, QUERY)
    assert across == (BATCH, HEADS, QUERY, KEY)


def test_the_whole_model_ends_in_its_logits():
    model = Transformer(TransformerConfig.tiny(vocabulary_size=11, num_layers=2))
    source, target = torch.tensor([[4, 5, 6], [7, 8, 0]]), torch.tensor([[1, 4], [1, 7]])
    steps = trace(model, source, target)
    assert words_of(steps)[:2] == ["source_ids", "target_ids"]
    assert all(step.is_input for step in steps[:2])
    assert not any(step.is_input for step in steps[2:])
    assert steps[-1].axes == ("batch", "position", "vocabulary")
    torch.testing.assert_close(steps[-1].tensor, model.eval()(source, target))
    assert all(len(step.axes) == len(step.shape) for step in steps)
    assert {step.place for step in steps} >= {"encoder · layer 2 · feed-forward"}


def test_the_values_are_the_first_of_the_first_token(attention, query):
    step = trace(attention, query, query, query)[0]
    assert list(step.values) == query[0, 0, : len(step.values)].tolist()


def test_every_step_names_the_line_that_makes_it(attention, query):
    steps = {step.words: step for step in trace(attention, query, query, query)}
    for named, code in (
        ("query = key = value", "def forward("),
        ("K = key W_K", "self.key_projection(key)"),
        ("softmax of scores", "fused_attention("),
        ("times W_O", "self.output_projection("),
    ):
        assert code in steps[named].code
        assert re.fullmatch(r"transformer_edu/model/attention\.py:\d+", steps[named].source)


def test_a_learner_s_module_is_traced_without_guessing_axes():
    steps = trace(Own(), torch.randn(4, 2))
    assert words_of(steps) == ["x", "first", "cut", "normalise", "Own"]
    assert [step.shape for step in steps] == [(4, 2), *[(4, 3)] * 4]
    assert all(step.axes == () for step in steps)
    assert all(re.fullmatch(r"[\w/]+\.py:\d+", step.source) for step in steps)


def test_a_change_in_place_does_not_reach_the_step_before():
    found = by_words(trace(Own(), torch.randn(40, 2)))
    assert (found["first"] < 0).any()
    torch.testing.assert_close(found["cut"], found["first"].relu())


def test_pytorch_s_own_layers_can_be_traced():
    layer = nn.TransformerEncoderLayer(6, 2, batch_first=True)
    x = torch.randn(2, 3, 6)
    steps = trace(layer, x)
    torch.testing.assert_close(steps[-1].tensor, layer.eval()(x))
    assert "linear1" in words_of(steps)


def test_a_model_without_numbers_is_traced_for_its_shapes():
    with torch.device("meta"):
        steps = trace(EncoderLayer(d_model=6, num_heads=2, d_ff=7), torch.empty(2, 3, 6))
    assert steps[-1].shape == (2, 3, 6)
    assert steps[-1].values == ()


def test_tracing_leaves_modes_gradients_random_numbers_and_hooks_as_they_were():
    model = Own()
    model.first.eval()
    model.drop.train()
    model.first.weight.grad = torch.ones(3, 2)
    x = torch.randn(4, 2, requires_grad=True)
    modes = [module.training for module in model.modules()]
    state = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.get_rng_state()
    steps = trace(model, x)
    assert [module.training for module in model.modules()] == modes
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.equal(model.first.weight.grad, torch.ones(3, 2))
    assert x.grad is None
    assert torch.is_grad_enabled()
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert not any(step.tensor.requires_grad for step in steps)
    for module in model.modules():
        assert not module._forward_hooks
        assert not module._forward_pre_hooks


def test_a_failing_model_is_left_as_it_was_too(attention, query):
    attention.train()
    with pytest.raises(ValueError, match="query and key must have the same leading axes"):
        trace(attention, query[0], query, query)
    with pytest.raises(TypeError, match="missing"):
        trace(attention, query)
    assert attention.training
    assert not any(module._forward_hooks for module in attention.modules())


def test_the_caller_s_own_hooks_stay(attention, query):
    calls = []
    attention.register_forward_hook(lambda *_: calls.append(1))
    trace(attention, query, query, query)
    assert len(calls) == len(attention._forward_hooks) == 1


def test_what_is_no_module_is_refused():
    with pytest.raises(TypeError, match=r"model must be a torch.nn.Module, got function"):
        trace(lambda x: x, 1)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("self_attention", "self-attention"),
        ("around_cross_attention", "Add & Norm around cross-attention"),
        ("output_projection", "output projection"),
        ("0", "0"),
        ("_", "_"),
        ("$x_1$", "$x_1$"),
    ],
)
def test_a_name_is_read_aloud(name, words):
    assert in_words(name) == words


def test_a_place_counts_layers_from_one_and_names_a_shared_module_after_all_its_places():
    model = Transformer(TransformerConfig.tiny(num_layers=2, vocabulary_size=7))
    assert place_in_words(model, "") == "Transformer"
    place = "encoder.layers.1.self_attention"
    assert place_in_words(model, place) == "encoder · layer 2 · self-attention"
    shared = place_in_words(model, "target_embedding")
    assert shared == "source embedding = target embedding"


def test_a_known_tensor_has_words_and_axes():
    attention = MultiHeadAttention(d_model=6, num_heads=2)
    keys = torch.zeros(2, 3, 6)
    names = name_tensor(attention.key_projection, attention, "key_projection", keys, into=False)
    assert names == ("K = key W_K", ("batch", "key", "d_model"))
    around = AddAndNorm(d_model=6)
    words, axes = name_tensor(around, None, "", keys, into=False)
    assert (words, axes) == ("x + sub-layer", ("batch", "position", "d_model"))


def test_a_mask_has_the_axes_of_the_scores_counted_from_the_right():
    attention = MultiHeadAttention(d_model=6, num_heads=2)
    mask = torch.ones(3, 4, dtype=torch.bool)
    assert name_tensor(attention, None, "", mask, into=True)[1] == ("query", "key")


def test_an_unknown_module_is_named_and_its_axes_are_not_guessed():
    layer = nn.Linear(2, 3)
    assert name_tensor(layer, None, "", torch.zeros(4, 3), into=False) == ("Linear", ())
    assert name_tensor(layer, None, "out", torch.zeros(4, 2), into=True) == ("into out", ())
