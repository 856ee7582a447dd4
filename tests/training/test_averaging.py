"""The average of several models has the mean of every weight."""

from pathlib import Path

import pytest
import torch

from tests.small_model import small_transformer
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.checkpoint import average_models, save_model
from transformer_edu.training.checkpoint_file import CheckpointError


def saved(path: Path, seed: int, **changes: object) -> Transformer:
    model = small_transformer(seed=seed, **changes)
    save_model(path, model)
    return model


def test_every_weight_is_the_mean(tmp_path):
    paths = [tmp_path / str(seed) for seed in range(3)]
    models = [saved(path, seed) for seed, path in enumerate(paths)]
    average = average_models(iter(paths))
    for name, weight in average.named_parameters():
        each = torch.stack([model.get_parameter(name).double() for model in models])
        torch.testing.assert_close(weight.double(), each.mean(dim=0), rtol=1e-6, atol=1e-9)
    assert average.output_projection.weight is average.target_embedding.table.weight
    assert not average.training


def test_other_models_and_no_models_are_refused(tmp_path):
    saved(tmp_path / "a", 0)
    saved(tmp_path / "b", 0, num_heads=4)
    with pytest.raises(CheckpointError, match="b must hold the model of .*a, got another config"):
        average_models([tmp_path / "a", tmp_path / "b"])
    with pytest.raises(ValueError, match="paths must hold at least one path, got none"):
        average_models([])
    for single in (tmp_path / "a", str(tmp_path / "a")):
        with pytest.raises(TypeError, match="paths must be several paths, got .*a'"):
            average_models(single)
