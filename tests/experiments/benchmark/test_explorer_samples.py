"""There is a sample of every explorer of the course, and each can be moved."""

import ipywidgets as widgets
import pytest
import torch

from experiments.benchmark.explorer_samples import explorer_samples, made_box
from tests.lesson_widgets import interactive_functions


@pytest.fixture(scope="module")
def samples():
    return explorer_samples()


def test_every_explorer_has_a_sample(samples):
    explorers = {name for name in interactive_functions() if name.startswith("explore_")}
    assert explorers <= samples.keys()


def test_a_sample_is_made_of_controls_and_one_picture_and_shows_nothing(samples, capsys):
    *controls, picture = made_box(samples["explore_head_switches"]).children
    assert len(controls) == 2 and isinstance(picture, widgets.HTML)
    before = picture.value
    controls[0].value = not controls[0].value
    assert picture.value != before
    assert capsys.readouterr().out == ""


def test_making_samples_leaves_the_global_generator_as_it_was():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    explorer_samples()
    assert torch.equal(torch.get_rng_state(), before)
