"""Muon moves matrices equally far in every direction, and everything else as Adam does."""

import pytest
import torch
from torch import nn
from torch.optim import Adam

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.muon import Muon, orthogonal


def small_model(**changes: object) -> Transformer:
    torch.manual_seed(0)
    sizes = {"vocabulary_size": 11, "d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 12}
    return Transformer(TransformerConfig(**(sizes | {"max_length": 9} | changes)))


def with_gradients(model: nn.Module, seed: int = 0) -> nn.Module:
    generator = torch.Generator().manual_seed(seed)
    for weight in model.parameters():
        weight.grad = torch.randn(weight.shape, generator=generator)
    return model


@pytest.mark.parametrize("shape", [(5, 7), (7, 5), (6, 6)])
def test_orthogonal_leaves_directions_and_makes_singular_values_about_one(shape):
    matrices = torch.randn(3, *shape, generator=torch.Generator().manual_seed(1))
    left, before, right = torch.linalg.svd(matrices, full_matrices=False)
    made = orthogonal(matrices)
    values = left.mT @ made @ right.mT
    diagonal = values.diagonal(dim1=1, dim2=2)
    assert torch.allclose(values, torch.diag_embed(diagonal), atol=1e-5)
    big = before > 0.1 * before[:, :1]  # tiny ones need more iterations
    assert (diagonal[big] > 0.6).all() and (diagonal[big] < 1.3).all()


def test_the_steps_of_a_matrix_are_as_long_whatever_its_gradient():
    lengths = []
    for factor in (1.0, 1000.0):
        model = with_gradients(small_model())
        for weight in model.parameters():
            weight.grad *= factor
        layer = model.encoder.layers[0].feed_forward
        before = {name: weight.detach().clone() for name, weight in layer.named_parameters()}
        Muon(model, 0.01).step()
        weights = dict(layer.named_parameters())
        lengths += [(weights[n] - before[n]).norm() for n in before if before[n].ndim == 2]
    assert torch.allclose(torch.stack(lengths[:2]), torch.stack(lengths[2:]), rtol=1e-3)


@pytest.mark.parametrize("tie_embeddings", [True, False])
def test_embeddings_biases_and_normalizations_take_the_steps_of_adam(tie_embeddings):
    models = [small_model(tie_embeddings=tie_embeddings) for _ in range(2)]
    adam = Adam(models[1].parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    optimizers = [Muon(models[0], 0.01), adam]
    for seed in range(3):
        for model, optimizer in zip(models, optimizers, strict=True):
            with_gradients(model, seed)
            optimizer.step()
    for (name, own), other in zip(
        models[0].named_parameters(), models[1].parameters(), strict=True
    ):
        is_hidden = own.ndim == 2 and "embedding" not in name and name != "output_projection.weight"
        assert torch.allclose(own, other, atol=1e-6) != is_hidden, name


def test_a_weight_without_a_gradient_stays():
    model = with_gradients(small_model())
    chosen = model.encoder.layers[0].feed_forward
    for weight in chosen.parameters():
        weight.grad = None
    before = [weight.detach().clone() for weight in chosen.parameters()]
    Muon(model, 0.01).step()
    assert all(map(torch.equal, chosen.parameters(), before))


@pytest.mark.parametrize("rate", [-1, float("nan"), True, "0.1"])
def test_what_is_no_rate_is_refused(rate):
    with pytest.raises((TypeError, ValueError), match=f"learning_rate must be .*, got {rate!r}"):
        Muon(small_model(), rate)
