"""For every test of what lessons show."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest

from transformer_course.my_transformer import SWITCH
from transformer_edu.generation.translator import Translator
from transformer_edu.pretrained.loading import load_pretrained


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Leave no figure to the next test."""
    yield
    plt.close("all")


@pytest.fixture(autouse=True)
def check_in_an_empty_folder(request, tmp_path, monkeypatch) -> None:
    """A test of a check works in a folder of its own, into which no class is written."""
    if "check" in request.path.name or "answers" in request.path.name:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv(SWITCH, "0")


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The shipped translator, for modules that have no other of this name."""
    return load_pretrained(device="cpu")
