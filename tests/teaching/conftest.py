"""For every test of what lessons show."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Leave no figure to the next test."""
    yield
    plt.close("all")
