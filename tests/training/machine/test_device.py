"""The device is the best one, or the one asked for, and is described in a few words."""

import platform
import subprocess
import sys

import pytest
import torch
from torch import nn

from transformer_edu.training.machine import device
from transformer_edu.training.machine.device import (
    DEVICE_VARIABLE,
    PRECISIONS,
    autocast_for,
    cpu_is_faster_in_bfloat16,
    describe_device,
    device_of,
    gradient_scaler,
    keep_freed_memory,
    pick_device,
    pick_precision,
    product_seconds,
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


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "meta", " ", "tpu", "xpu", "hpu", "vulkan"])
def test_a_device_that_is_not_here_is_refused(monkeypatch, name):
    monkeypatch.setenv(DEVICE_VARIABLE, name)
    message = f"^device must be one of this machine .*, got '{name}' from --device or "
    with pytest.raises(ValueError, match=message):
        pick_device()


def test_a_device_is_described_in_words_that_fit_after_computed_on(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "Tesla T4")
    assert describe_device("cpu") == "the CPU"
    assert describe_device(torch.device("cuda")) == "the GPU Tesla T4"
    assert describe_device(torch.device("mps")) == "the GPU of this Apple computer (MPS)"
    assert describe_device(torch.device("xpu")) == "the device xpu"


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


@pytest.mark.parametrize(
    ("kind", "native", "best"),
    [
        ("cuda", True, "bfloat16"),
        ("cuda", False, "float16"),  # a T4 only imitates bfloat16
        ("mps", False, "float32"),
    ],
)
def test_half_precision_is_chosen_where_a_large_model_gains(monkeypatch, kind, native, best):
    def is_supported(including_emulation: bool = True) -> bool:
        return native or including_emulation

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", is_supported)
    monkeypatch.setattr(device, "device_of", lambda model: torch.device(kind))
    assert pick_precision(nn.Linear(3, 4)) == "float32"
    monkeypatch.setattr(device, "SMALL_MODEL", 10)
    assert pick_precision(nn.Linear(3, 4)) == best


def timed(monkeypatch, wide: list[float], narrow: list[float]) -> None:
    """Let the CPU's products take these seconds, one after the other."""
    seconds = {torch.float32: iter(wide), torch.bfloat16: iter(narrow)}
    monkeypatch.setattr(device, "product_seconds", lambda dtype: next(seconds[dtype]))
    cpu_is_faster_in_bfloat16.cache_clear()


@pytest.fixture
def measured_again():
    yield
    cpu_is_faster_in_bfloat16.cache_clear()


@pytest.mark.parametrize(
    ("wide", "narrow", "best"),
    [
        ([9, 5, 5], [9, 3, 8], "bfloat16"),  # the quickest of each counts
        ([5, 5, 5], [4.5, 4.5, 4.5], "float32"),  # not worth the conversions
        ([5, 9, 9], [8, 8, 8], "float32"),
    ],
)
def test_a_cpu_computes_in_bfloat16_only_if_a_product_was_faster(
    monkeypatch, measured_again, wide, narrow, best
):
    timed(monkeypatch, wide, narrow)
    monkeypatch.setattr(device, "SMALL_MODEL", 10)
    for _ in range(2):  # it is timed once: there are no more seconds to give
        assert pick_precision(nn.Linear(3, 4)) == best
        with autocast_for(nn.Linear(3, 4), "auto"):
            assert torch.is_autocast_enabled("cpu") is (best == "bfloat16")


def test_a_product_takes_time_in_every_type_whatever_the_default_device():
    with torch.device("meta"):
        assert product_seconds(torch.float32) > 0
        assert product_seconds(torch.bfloat16) > 0


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_precision_holds_inside_the_block_only(precision):
    layer, x = nn.Linear(3, 4), torch.ones(2, 3)
    with autocast_for(layer, precision):
        inside = layer(x).dtype
    assert inside == getattr(torch, "float32" if precision == "auto" else precision)
    assert layer(x).dtype == torch.float32
    assert layer.weight.dtype == torch.float32


@pytest.mark.parametrize("precision", PRECISIONS)
def test_only_float16_needs_its_gradients_scaled(precision):
    scaler = gradient_scaler(nn.Linear(3, 4), precision)
    assert scaler.is_enabled() is (precision == "float16")
    assert (scaler.get_scale() > 1) is (precision == "float16")


COUNT_PAGES = """
import resource
import torch
from transformer_edu.training.machine.device import keep_freed_memory

def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(16, 2**20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def fewest():  # the heap grows a few times, until an aligned tensor fits into what was freed
    return min(pages() for _ in range(30))

fresh = fewest()
assert keep_freed_memory()
print(fresh, fewest())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_the_system_is_asked_for_fewer_pages():
    command = [sys.executable, "-c", COUNT_PAGES]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    fresh, kept = map(int, result.stdout.split())
    assert kept < fresh / 5


def test_another_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert keep_freed_memory() is False
