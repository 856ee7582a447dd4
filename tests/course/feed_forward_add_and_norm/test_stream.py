"""The stream: what the sub-layers add is what the encoder computes."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_course.feed_forward_add_and_norm.stream import (
    additions,
    lengths_and_angles,
    untrained_twins,
)
from transformer_edu.model.encoder import Encoder, EncoderLayer

WORDS, WIDTH, LAYERS = 5, 12, 3


def encoder(*, norm_first: bool) -> Encoder:
    torch.manual_seed(0)
    sizes = {"d_model": WIDTH, "num_heads": 4, "d_ff": 20, "dropout": 0.5}
    layers = [EncoderLayer(**sizes, norm_first=norm_first) for _ in range(LAYERS)]
    made = Encoder(layers, final_norm=nn.LayerNorm(WIDTH) if norm_first else None)
    for name, weights in made.named_parameters():
        if "norm" in name:
            weights.data += torch.rand_like(weights)  # so that a norm is not without weights
    return made


both_orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


@both_orders
def test_the_last_addition_leaves_what_the_encoder_returns(norm_first):
    model, x = encoder(norm_first=norm_first), torch.randn(WORDS, WIDTH)
    steps = additions(model, x)
    assert len(steps) == 2 * LAYERS
    assert model.training, "the encoder is left as it was"
    end = steps[-1].after if model.final_norm is None else model.final_norm(steps[-1].after)
    torch.testing.assert_close(end, model.eval()(x.unsqueeze(0))[0])
    for step, following in zip(steps, steps[1:], strict=False):
        assert torch.equal(step.after, following.before)


@both_orders
def test_a_norm_stands_before_the_sub_layer_or_after_the_sum(norm_first):
    model, x = encoder(norm_first=norm_first), torch.randn(WORDS, WIDTH)
    step = additions(model, x)[1]  # feed-forward of layer 1
    layer = model.layers[0]
    norm = layer.around_feed_forward.norm
    normed = F.layer_norm(
        step.before if norm_first else step.before + step.added, (WIDTH,), norm.weight, norm.bias
    )
    torch.testing.assert_close(step.read if norm_first else step.after, normed)
    torch.testing.assert_close(step.added, layer.feed_forward(step.read))


@both_orders
def test_lengths_and_cosines_are_those_of_the_vectors(norm_first):
    model, x = encoder(norm_first=norm_first), torch.randn(WORDS, WIDTH)
    numbers = lengths_and_angles(model, x)
    assert numbers.shape == (2 * LAYERS + 1 + norm_first, WORDS, 6)
    step = additions(model, x)[3]
    vectors = torch.stack([step.read, step.added, step.before + step.added, step.after])
    torch.testing.assert_close(numbers[4, :, :4], vectors.norm(dim=-1).T)
    torch.testing.assert_close(numbers[4, :, 4], F.cosine_similarity(step.before, step.added))
    torch.testing.assert_close(numbers[4, :, 5], F.cosine_similarity(step.after, x))
    torch.testing.assert_close(numbers[0, :, 3], x.norm(dim=-1))
    end = model.eval()(x.unsqueeze(0))[0]
    torch.testing.assert_close(numbers[-1, :, 3], end.norm(dim=-1))


def test_twins_are_always_the_same_and_disturb_no_random_number():
    model = encoder(norm_first=True)
    before = torch.get_rng_state()
    first, again = untrained_twins(model), untrained_twins(model)
    assert torch.equal(torch.get_rng_state(), before)
    assert list(first) == ["pre-norm, untrained", "post-norm, untrained"]
    for name, twin in first.items():
        assert twin.layers[0].around_feed_forward.norm_first == name.startswith("pre")
        same = again[name].state_dict()
        for key, weights in twin.state_dict().items():
            assert torch.equal(weights, same[key])
            assert weights.shape == model.state_dict()[key].shape
