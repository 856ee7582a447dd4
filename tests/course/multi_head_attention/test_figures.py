"""Every figure of lesson 04 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.course.multi_head_attention.test_neighbors import Learner
from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.looking.shape_trace import trace
from transformer_course.multi_head_attention import figures
from transformer_edu.model.attention import MultiHeadAttention

MODELS = [Learner(1), Learner(1)]
NUMBERS = torch.arange(16).view(4, 4)
STEPS = trace(MultiHeadAttention(d_model=6, num_heads=2), *[torch.ones(1, 4, 6)] * 3)
FIGURES = {
    "plot_accuracy": partial(figures.plot_accuracy, MODELS, MODELS),
    "plot_neighbor_maps": partial(figures.plot_neighbor_maps, MODELS, Learner(2)),
    "plot_shapes": partial(figures.plot_shapes, STEPS),
    "plot_splits": partial(figures.plot_splits, NUMBERS, NUMBERS.view(2, 4, 2), NUMBERS),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())
