"""Looking at a model leaves it as it was."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from tests.small_model import small_transformer
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.greedy import greedy_search


@pytest.fixture
def model() -> nn.Module:
    """A model with a part that is frozen in evaluation mode."""
    model = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5), nn.Linear(2, 3)))
    model.train()
    model[1][0].eval()
    return model


def test_inside_the_block_nothing_is_dropped_and_no_gradient_is_tracked(model):
    x = torch.ones(4, 2)
    with evaluation_mode(model):
        first, second = model(x), model(x)
    assert first.equal(second)
    assert not first.requires_grad


def test_afterwards_every_module_is_in_its_own_mode_again(model):
    modes = [module.training for module in model.modules()]
    with evaluation_mode(model):
        assert not any(module.training for module in model.modules())
    assert [module.training for module in model.modules()] == modes
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_inside_restores_the_modes_too(model, error):
    modes = [module.training for module in model.modules()]
    with pytest.raises(error), evaluation_mode(model):
        raise error
    assert [module.training for module in model.modules()] == modes
    assert torch.is_grad_enabled()


def test_blocks_that_overlap_in_threads_do_not_end_each_other(model):
    modes = [module.training for module in model.modules()]
    blocks = [evaluation_mode(each) for each in (model, model, model[1])]
    threads = [ThreadPoolExecutor(1) for _ in blocks]
    for thread, block in zip(threads, blocks, strict=True):
        thread.submit(block.__enter__).result()
    for thread, block in zip(threads, blocks, strict=True):
        assert not any(module.training for module in model[1].modules())
        thread.submit(block.__exit__, None, None, None).result()
    assert [module.training for module in model.modules()] == modes


def test_threads_write_alike_and_leave_a_model_in_training():
    model, source_ids = small_transformer(11, dropout=0.5).train(), torch.tensor([[4, 5, 6, 7]])
    expected = greedy_search(model, source_ids)
    with ThreadPoolExecutor(4) as threads:
        written = list(threads.map(lambda _: greedy_search(model, source_ids), range(40)))
    assert written == [expected] * 40
    assert all(module.training for module in model.modules())


def test_what_is_no_module_is_refused():
    with (
        pytest.raises(TypeError, match=r"model must be a torch.nn.Module, got function"),
        evaluation_mode(lambda x: x),
    ):
        pass
