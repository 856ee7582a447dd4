"""Every test of a system draws the same numbers each time, whatever ran before it."""

import pytest
import torch


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
