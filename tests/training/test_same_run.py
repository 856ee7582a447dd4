"""Every choice of a run has a name, and the first that differs is said."""

import json

import pytest
import torch
from torch import nn

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.checkpoint_file import CheckpointError
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.same_run import choices, distinct_weights, require_same
from transformer_edu.training.state import TrainingState
from transformer_edu.training.tasks import copy_task

TASK = copy_task(num_symbols=5, longest=3, shortest=2, train_size=9, validation_size=3, test_size=2)


def transformer(**changes: object) -> Transformer:
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 12}
    return Transformer(TransformerConfig(vocabulary_size=9, **sizes | changes))


def test_every_field_of_both_configs_is_among_the_choices_but_what_changes_nothing():
    model = transformer()
    config = TrainingConfig(schedule=lambda step: 1.0, progress=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    found = choices(TrainingState(model, TASK, config, optimizer))
    assert found["model"].keys() == {"class", *vars(model.config)}
    assert found["training"].keys() == {"loss_scaling", *vars(config)} - {"progress"}
    assert found["training"]["schedule"] is True
    assert json.loads(json.dumps(found)) == found


def test_a_model_without_a_config_has_its_class_alone():
    model = nn.Linear(2, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert choices(TrainingState(model, TASK, TrainingConfig(), optimizer))["model"] == {
        "class": "Linear"
    }


def test_the_learning_rate_that_counts_is_the_one_before_the_schedule():
    model = transformer()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    state = TrainingState(model, TASK, TrainingConfig(), optimizer)
    before = choices(state)
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.1)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.05)
    assert choices(state) == before
    assert before["optimizer"]["group 0"]["lr"] == 0.5


def test_a_tied_tensor_is_named_once_and_its_other_names_point_to_it():
    distinct, tied = distinct_weights(transformer())
    first = "source_embedding.table.weight"
    assert tied == {"target_embedding.table.weight": first, "output_projection.weight": first}
    assert not distinct.keys() & tied.keys()
    assert distinct_weights(transformer(tie_embeddings=False))[1] == {}


@pytest.mark.parametrize(
    ("saved", "own", "message"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "run.a.b must be 1 as in file, got 2"),
        ({"a": {"b": 1}}, {"a": {}}, "run.a.b must be 1 as in file, got None"),
        ({}, {"c": 3}, "run.c must be None as in file, got 3"),
        ({"a": 1}, {"a": True}, "run.a must be 1 as in file, got True"),
        ({"a": {"b": 1}}, {"a": 1}, "run.a must be {'b': 1} as in file, got 1"),
    ],
)
def test_the_first_difference_is_named(saved, own, message):
    with pytest.raises(CheckpointError, match=message):
        require_same("file", saved, own, "run.")


def test_equal_choices_pass_whatever_their_order():
    require_same("file", {"a": 1, "b": float("nan")}, {"b": float("nan"), "a": 1}, "")
