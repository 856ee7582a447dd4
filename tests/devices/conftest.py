"""The pretend device is there for these tests, and for no others."""

from collections.abc import Iterator

import pytest
import torch

from tests.devices.pretend import switch_off, switch_on

# Autograd counts the devices at the first backward pass of a process, which may be another test's.
switch_on()
switch_off()


@pytest.fixture(autouse=True)
def device() -> Iterator[torch.device]:
    """A device that is not the CPU."""
    yield switch_on()
    switch_off()


@pytest.fixture(params=["the CPU is torch's default", "the device is torch's default"])
def default(request, device) -> Iterator[torch.device]:
    """Where torch makes tensors unless it is told, once the CPU and once the device."""
    chosen = torch.device("cpu") if "CPU" in request.param else device
    with chosen:
        yield chosen
