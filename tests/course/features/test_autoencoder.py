"""The sparse autoencoder keeps few features, and training makes it repeat its vectors."""

import pytest
import torch

from transformer_course.features import autoencoder
from transformer_course.features.autoencoder import SparseAutoencoder, train_autoencoder


def combinations() -> torch.Tensor:
    """Vectors that are sums of two of twelve directions in six dimensions, shape (400, 6)."""
    generator = torch.Generator().manual_seed(0)
    directions = torch.nn.functional.normalize(torch.randn(12, 6, generator=generator), dim=1)
    parts = torch.rand(400, 12, generator=generator).argsort(dim=1) < 2
    return parts.float() @ directions


def explained(model, x):
    with torch.no_grad():
        return 1 - (model(x) - x).square().sum() / (x - x.mean(dim=0)).square().sum()


def test_no_vector_has_more_active_features_than_allowed_and_none_is_negative():
    model = SparseAutoencoder(5, 11, 3)
    features = model.encode(torch.randn(2, 7, 5))
    assert features.shape == (2, 7, 11)
    assert (features >= 0).all() and ((features > 0).sum(dim=-1) <= 3).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_training_finds_directions_of_length_1_that_explain_the_vectors(seed, monkeypatch):
    monkeypatch.setattr(autoencoder, "NUM_FEATURES", 24)
    monkeypatch.setattr(autoencoder, "ACTIVE", 3)
    monkeypatch.setattr(autoencoder, "BATCH_SIZE", 64)
    x = combinations()
    before = train_autoencoder(x, seed=seed, steps=0)
    after = train_autoencoder(x, seed=seed, steps=300)
    assert explained(after, x) > max(0.7, explained(before, x) + 0.2)
    torch.testing.assert_close(after.decoder.weight.norm(dim=0), torch.ones(24))


def test_the_seed_decides_the_training_and_leaves_the_callers_random_numbers_alone():
    x = torch.randn(30, 6)
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    one, same, other = (train_autoencoder(x, seed=seed, steps=1) for seed in (3, 3, 4))
    assert torch.equal(torch.rand(1), expected)
    assert torch.equal(one.encoder.weight, same.encoder.weight)
    assert not torch.equal(one.encoder.weight, other.encoder.weight)
