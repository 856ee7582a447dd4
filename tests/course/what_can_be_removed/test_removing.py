"""What is switched off contributes nothing, and afterwards the model is as before."""

import copy

import pytest
import torch

from tests.model_to_ablate import (
    BATCH,
    CROSS,
    D_HEAD,
    HEADS,
    LAYERS,
    NAMES,
    SOURCE,
    TARGET,
    model_to_ablate,
    source_and_target,
)
from transformer_course.looking.ablation import every_head, heads_switched_off
from transformer_course.looking.recording import record_attention
from transformer_course.what_can_be_removed.removing import (
    heads_made_uniform,
    mean_outputs,
    sublayers_switched_off,
)
from transformer_edu.data.batches import make_batch
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.transformer import Transformer

SWITCHES = [heads_switched_off, heads_made_uniform]


@pytest.fixture(params=[False, True], ids=["post-norm", "pre-norm"])
def model(request) -> Transformer:
    return model_to_ablate(norm_first=request.param)


@pytest.fixture
def ids() -> tuple[torch.Tensor, torch.Tensor]:
    return source_and_target()


def written_step_by_step(model, source_ids, target_ids):
    """The logits of a decoder that reads the target one token at a time, from a cache."""
    memory, source_mask = model.encode(source_ids), model.source_mask(source_ids)
    cache = DecoderCache(num_layers=LAYERS)
    steps = [
        model.decode(token_ids, memory, source_mask=source_mask, cache=cache)
        for token_ids in target_ids.split(1, dim=1)
    ]
    return model.project(torch.cat(steps, dim=1))


def no_hook_is_left(model):
    return not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


def test_no_head_switched_off_changes_no_bit(model, ids):
    before = model(*ids)
    for switch in SWITCHES:
        with switch(model, set()):
            assert torch.equal(model(*ids), before)


def test_a_uniform_head_gives_all_that_it_may_see_the_same_weight(model, ids):
    source_ids, target_ids = ids
    with record_attention(model) as usual:
        model(source_ids, target_ids)
    with heads_made_uniform(model, every_head(model)), record_attention(model) as uniform:
        model(source_ids, target_ids)
    assert list(uniform) == list(usual) == NAMES
    padded = (source_ids != 0).view(BATCH, 1, 1, SOURCE)
    seen = {
        NAMES[0]: padded.expand(-1, HEADS, SOURCE, -1),
        NAMES[2]: torch.ones(TARGET, TARGET).tril().bool().expand(BATCH, HEADS, -1, -1),
        NAMES[3]: padded.expand(-1, HEADS, TARGET, -1),
    }
    for name, may_see in seen.items():
        expected = may_see / may_see.sum(dim=-1, keepdim=True)
        torch.testing.assert_close(uniform[name], expected)
        assert not torch.allclose(usual[name], expected, atol=1e-3)


def test_a_uniform_head_hands_on_the_mean_of_its_values():
    torch.manual_seed(0)
    layer = MultiHeadAttention(d_model=6, num_heads=2, bias=True)
    query, memory = torch.randn(3, 4, 6), torch.randn(3, 5, 6)
    with heads_made_uniform(layer, {("", 1), ("", 2)}):
        output = layer(query, memory, memory)
    mean = layer.output_projection(layer.value_projection(memory).mean(dim=1, keepdim=True))
    torch.testing.assert_close(output, mean.expand(-1, 4, -1))


def test_heads_can_be_held_at_their_mean_over_real_tokens(model):
    batch = make_batch([([5, 6, 7], [8, 9]), ([10, 11], [12, 13, 14, 15])])
    means = mean_outputs(model, batch)
    assert list(means) == NAMES and no_hook_is_left(model)
    alone = [mean_outputs(model, make_batch([pair])) for pair in [([5, 6, 7], [8, 9])] * 2]
    torch.testing.assert_close(alone[0], alone[1])
    other = mean_outputs(model, make_batch([([10, 11], [12, 13, 14, 15])]))
    for name, lengths in ((NAMES[0], (3, 2)), (CROSS, (3, 5))):  # the start token included
        total = lengths[0] * alone[0][name] + lengths[1] * other[name]
        torch.testing.assert_close(means[name], total / sum(lengths))
    attention = model.decoder.layers[1].cross_attention
    seen = []
    with heads_switched_off(model, {(CROSS, 2)}, instead=means):
        hook = attention.output_projection.register_forward_hook(
            lambda module, given, answer: seen.append(given[0])
        )
        model(batch.source_ids, batch.decoder_input_ids)
        hook.remove()
    strip = seen[0].unflatten(-1, (HEADS, D_HEAD))
    torch.testing.assert_close(
        strip[:, :, 1], means[CROSS][D_HEAD : 2 * D_HEAD].expand_as(strip[:, :, 1])
    )
    assert strip[..., 0, :].std(dim=1).min() > 0


@pytest.mark.parametrize("name", ["encoder.layers.0.feed_forward", NAMES[0], CROSS])
def test_a_sublayer_switched_off_adds_zeros(model, ids, name):
    twin = copy.deepcopy(model)
    part = twin.get_submodule(name)
    for parameter in (part.output_projection if "attention" in name else part.narrow).parameters():
        parameter.data.zero_()
    with sublayers_switched_off(model, [name]):
        without = model(*ids)
    torch.testing.assert_close(without, twin(*ids))
    assert not torch.allclose(without, model(*ids))


@pytest.mark.parametrize("switch", SWITCHES, ids=["off", "uniform"])
def test_writing_step_by_step_from_a_cache_obeys_as_reading_does(model, ids, switch):
    with switch(model, {(CROSS, 1), (NAMES[2], 4), (NAMES[1], 2)}):
        torch.testing.assert_close(written_step_by_step(model, *ids), model(*ids))


@pytest.mark.parametrize("broken", [float("inf"), float("nan")], ids=["inf", "nan"])
@pytest.mark.parametrize(
    ("ablated", "projection"),
    [(heads_switched_off, "value_projection"), (heads_made_uniform, "query_projection")],
    ids=["switched off", "uniform"],
)
def test_an_ablated_head_hides_even_weights_that_are_not_finite(
    model, ids, ablated, projection, broken
):
    with ablated(model, {(CROSS, 2)}):
        whole = model(*ids)
    weight = getattr(model.decoder.layers[1].cross_attention, projection).weight
    with torch.no_grad():
        weight[D_HEAD : 2 * D_HEAD] = broken
    assert not model(*ids).isfinite().all()
    with ablated(model, {(CROSS, 2)}):
        assert torch.equal(model(*ids), whole)


def test_a_compiled_model_obeys_too_and_is_as_before_afterwards(ids):
    model = model_to_ablate(norm_first=False)
    compiled = torch.compile(model, backend="eager")
    before = compiled(*ids)
    for switch, what in (
        (heads_switched_off, [(CROSS, 2)]),
        (heads_made_uniform, [(CROSS, 2)]),
        (sublayers_switched_off, [CROSS]),
    ):
        with switch(model, what):
            torch.testing.assert_close(compiled(*ids), model(*ids))
            assert not torch.allclose(compiled(*ids), before)
        assert torch.equal(compiled(*ids), before)


def test_afterwards_every_bit_is_as_before(model, ids):
    before, weights = model(*ids), copy.deepcopy(model.state_dict())
    for switch, what in (
        (heads_switched_off, every_head(model)),
        (heads_made_uniform, every_head(model)),
        (sublayers_switched_off, ["encoder.layers.0.feed_forward", CROSS]),
    ):
        with switch(model, what):
            assert not torch.equal(model(*ids), before)
        assert no_hook_is_left(model)
        assert torch.equal(model(*ids), before)
    assert all(torch.equal(weights[name], value) for name, value in model.state_dict().items())


@pytest.mark.parametrize("switch", SWITCHES, ids=["off", "uniform"])
def test_an_error_inside_the_block_leaves_no_hook(model, switch):
    with pytest.raises(ArithmeticError), switch(model, every_head(model)):
        raise ArithmeticError
    assert no_hook_is_left(model)
    with pytest.raises(ArithmeticError), sublayers_switched_off(model, [CROSS]):
        raise ArithmeticError
    assert no_hook_is_left(model)


@pytest.mark.parametrize("switch", SWITCHES, ids=["off", "uniform"])
@pytest.mark.parametrize(
    ("heads", "error", "message"),
    [
        (
            {("decoder.layers.2.cross_attention", 1)},
            ValueError,
            "heads must name one of encoder.layers.0.self_attention, .*, "
            "decoder.layers.1.cross_attention, got 'decoder.layers.2.cross_attention'",
        ),
        ({(CROSS, 5)}, ValueError, f"heads must be from 1 to 4 in {CROSS}, got 5"),
        ({(CROSS, 0)}, ValueError, f"heads must be from 1 to 4 in {CROSS}, got 0"),
    ],
    ids=["no layer", "head 5", "head 0"],
)
def test_a_wrong_head_is_refused_and_leaves_no_hook(model, switch, heads, error, message):
    with pytest.raises(error, match=message), switch(model, heads):
        pass
    assert no_hook_is_left(model)


def test_a_wrong_sublayer_is_refused(model):
    message = "names must name one of encoder.layers.0.self_attention, .*, got 'encoder'"
    with pytest.raises(ValueError, match=message), sublayers_switched_off(model, ["encoder"]):
        pass
    assert no_hook_is_left(model)
    with pytest.raises(ValueError, match="attentions must name one of encoder.layers.0"):
        every_head(model, "encoder.layers.0")
