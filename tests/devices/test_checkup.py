"""The check-up says the same of a model on another device, whichever is torch's default."""

import pytest
import torch

from tests.checkup.healthy_models import built
from tests.checkup.published_bugs import MergedWithoutPermute, SmallForCausalLM
from transformer_edu.checkup import check_up

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
