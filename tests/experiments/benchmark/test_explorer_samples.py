"""There is a sample of every explorer of the course, and each can be moved."""

import math

import ipywidgets as widgets
import numpy as np
import pytest
import torch

from experiments.benchmark.explorer_samples import (
    HEADS,
    LOG_PROBABILITIES,
    LONG,
    NUM_MERGES,
    SHORT,
    TABLE,
    explorer_samples,
    made_box,
)
from tests.lesson_widgets import interactive_functions


@pytest.fixture(scope="module")
def samples():
    return explorer_samples()


def control_of(box: widgets.VBox, description: str) -> widgets.ValueWidget:
    """The control that is called so."""
    (found,) = [each for each in box.children[:-1] if each.description.startswith(description)]
    return found


def test_every_explorer_has_a_sample(samples):
    explorers = {name for name in interactive_functions() if name.startswith("explore_")}
    assert explorers <= samples.keys()


def test_a_sample_is_made_of_controls_and_one_picture_and_shows_nothing(samples, capsys):
    *controls, picture = made_box(samples["explore_masks"]).children
    assert len(controls) == 3 and isinstance(picture, widgets.HTML)
    before = picture.value
    controls[0].value += 1
    assert picture.value != before
    assert capsys.readouterr().out == ""


def test_the_sentences_are_those_of_the_table_with_their_probabilities():
    expected = {}
    for words in ("", "a", "the dog", "the cat sat", "the cat slept"):
        parts, probability = [*words.split(), "</s>"], 1.0
        for place, part in enumerate(parts):
            choices = TABLE.get(" ".join(parts[:place]), {"</s>": 1.0})
            probability *= choices[part]
        expected[words] = math.log(probability)
    assert pytest.approx(expected) == LOG_PROBABILITIES
    assert sum(map(math.exp, expected.values())) == pytest.approx(1)


def test_what_is_drawn_is_of_a_lessons_size(samples):
    assert len(samples["explore_heads"].args[0]) == HEADS
    assert control_of(made_box(samples["explore_decoding"]), "step").max == SHORT
    assert control_of(made_box(samples["explore_beams"]), "beam width").value == 3
    assert samples["explore_numbers"].args[0].config.max_length == LONG
    assert len(samples["explore_merges"].args[0]) == NUM_MERGES


def test_a_step_of_the_training_has_a_picture_of_its_own(samples):
    first, second = samples["explore_training"].args[0].moments
    assert not np.allclose(first.maps[-1].weights, second.maps[-1].weights, atol=0.01)


def test_making_samples_leaves_the_global_generator_as_it_was():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    explorer_samples()
    assert torch.equal(torch.get_rng_state(), before)
