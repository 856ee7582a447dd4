"""The device is the best one, or the one asked for, and is described in a sentence."""

import pytest
import torch
from torch import nn

from transformer_edu.training import device
from transformer_edu.training.device import (
    DEVICE_VARIABLE,
    describe_device,
    device_of,
    pick_device,
    suitable_threads,
    use_one_thread,
)


@pytest.fixture(autouse=True)
def nothing_asked_for(monkeypatch):
    monkeypatch.delenv(DEVICE_VARIABLE, raising=False)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("cuda", "mps", "best"),
    [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_a_gpu_is_preferred(monkeypatch, cuda, mps, best):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert pick_device() == torch.device(best)


def test_the_environment_overrides_the_choice(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")
    assert pick_device() == torch.device("cpu")


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "meta", " "])
def test_a_device_that_is_not_here_is_refused(monkeypatch, name):
    monkeypatch.setenv(DEVICE_VARIABLE, name)
    with pytest.raises(ValueError, match=f"{DEVICE_VARIABLE} must name a device .*'{name}'"):
        pick_device()


def test_the_cpu_is_described_with_the_way_to_a_gpu():
    sentence = describe_device(torch.device("cpu"))
    assert "CPU" in sentence
    assert "Colab" in sentence
    assert sentence.count(".") == 1


def test_a_gpu_is_described_by_its_name(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "Tesla T4")
    assert describe_device(torch.device("cuda")) == "Computing on the GPU Tesla T4."
    assert "MPS" in describe_device(torch.device("mps"))


def test_one_thread_is_used_inside_the_block_only(two_threads):
    with pytest.raises(ZeroDivisionError), use_one_thread():
        assert torch.get_num_threads() == 1
        raise ZeroDivisionError
    assert torch.get_num_threads() == 2


def test_small_models_get_one_thread_and_large_ones_all(two_threads, monkeypatch):
    with suitable_threads(nn.Linear(3, 4)):
        assert torch.get_num_threads() == 1
    monkeypatch.setattr(device, "SMALL_MODEL", 10)
    with suitable_threads(nn.Linear(3, 4)):
        assert torch.get_num_threads() == 2


def test_a_model_is_where_its_parameters_are():
    assert device_of(nn.Linear(2, 2, device="meta")) == torch.device("meta")
    with pytest.raises(ValueError, match="model must have parameters, got none"):
        device_of(nn.ReLU())
