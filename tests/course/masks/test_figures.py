"""Every figure of lesson 03 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.masks import figures
from transformer_course.masks.masked_heads import BatchHead
from transformer_edu.training.evaluation import Evaluation

HEAD = BatchHead(
    words=[["a", "dog"], ["b", "<pad>"]],
    token_ids=torch.tensor([[4, 5], [6, 0]]),
    x=torch.ones(2, 2, 3),
    w_query=torch.ones(3, 2),
    w_key=torch.ones(3, 2),
    w_value=torch.ones(3, 2),
    mask=torch.tensor([[[True, True]], [[True, False]]]),
)
RIGHT, BROKEN = Evaluation(200, 0.1, 0.9, 0.8), Evaluation(200, 0.0, 1.0, 0.05)
FIGURES = {
    "plot_both_masks": partial(figures.plot_both_masks, HEAD, HEAD),
    "plot_last_scores": partial(figures.plot_last_scores, RIGHT, BROKEN),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


def test_the_scores_in_the_title_are_those_without_the_mask():
    label = figures.plot_last_scores(RIGHT, BROKEN).get_label()
    assert "No causal mask: 100% of the tokens, exact match 5%" in label


def test_the_maps_are_named_after_what_is_hidden_there():
    label = figures.plot_both_masks(HEAD, HEAD).get_label()
    assert "encoder: padding" in label and "decoder: later words:" in label
    turned = HEAD._replace(words=HEAD.words[::-1])
    label = figures.plot_both_masks(turned, turned).get_label()
    assert "encoder: nothing is hidden" in label and "decoder: later words and padding" in label


def test_a_single_sentence_is_not_enough_for_both_maps():
    with pytest.raises(ValueError, match="encoder must hold two sentences, got 1"):
        figures.plot_both_masks(HEAD._replace(words=HEAD.words[:1]), HEAD)


def test_a_start_token_alone_has_nothing_that_is_hidden():
    alone = HEAD._replace(words=[["a"]], x=torch.ones(1, 1, 3), mask=torch.ones(1, 1, 1) > 0)
    label = figures.plot_both_masks(HEAD, alone).get_label()
    assert "decoder: nothing is hidden: 0 of 1" in label
