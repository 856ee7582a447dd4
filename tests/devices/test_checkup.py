"""The check-up says the same of a model on another device, whichever is torch's default."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.checkup.healthy_models import built
from tests.checkup.published_bugs import MergedWithoutPermute, SmallForCausalLM
from transformer_edu.checkup import check_up
from transformer_edu.checkup.watch import Bounds

MODELS = {
    "our Transformer": lambda: built("our Transformer"),
    "our LanguageModel": lambda: built("our LanguageModel, rotary"),
    "a leak": SmallForCausalLM,
    "a reshape": MergedWithoutPermute,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_report_is_that_of_the_cpu(name, device, default):
    with torch.device("cpu"):
        torch.manual_seed(0)
        model = MODELS[name]()
        here = check_up(model)
    there = check_up(model.to(device))
    assert [each.status for each in there.findings] == [each.status for each in here.findings]
    assert there.illnesses == here.illnesses


@pytest.mark.parametrize(
    "read",
    [
        lambda table, ids: F.embedding(ids, table),
        lambda table, ids: nn.Embedding(3, 2, _weight=table)(ids),
        lambda table, ids: table[ids],
        lambda table, ids: table.index_select(0, ids),
        lambda table, ids: table.gather(0, ids[:, None]),
        lambda table, ids: F.cross_entropy(table, ids[[0, 1, 1]] - 3),
        lambda table, ids: F.one_hot(ids, 3),
        lambda table, ids: table.clone().__setitem__(ids, 0.0),
    ],
    ids=["embedding", "layer", "index", "select", "gather", "labels", "one_hot", "set"],
)
def test_a_device_goes_on_after_an_index_beyond_a_table(device, read):
    table, ids = torch.rand(3, 2, device=device), torch.tensor([0, 3], device=device)
    with Bounds(), pytest.raises((IndexError, RuntimeError)):
        read(table, ids)
    assert (table + 1).shape == (3, 2)
