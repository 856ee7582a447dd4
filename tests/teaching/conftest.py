"""For every test of what lessons show."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest

from transformer_edu.generation.translator import Translator
from transformer_edu.pretrained.loading import load_pretrained


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Leave no figure to the next test."""
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The shipped translator, for modules that have no other of this name."""
    return load_pretrained(device="cpu")
