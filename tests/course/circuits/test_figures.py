"""Every figure of lesson 21 has its title and says in words what it shows."""

import json
import math
import re

import pytest
import torch

from tests.published import published_page
from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.circuits import figures
from transformer_course.circuits.jumps import KINDS, plot_jumps, stored_jumps
from transformer_course.circuits.live_jump import (
    plot_moment,
    role_cells,
    show_jump_live,
    stored_maps,
)

SCORES = [
    {role: torch.tensor([[0.1], [0.2]]) for role in ("before", "after")},
    {role: torch.tensor([[0.5], [0.75]]) for role in ("before", "after")},
]
TRAINING = (0, 25), (0.25, 0.5), SCORES
CUTS = {"nothing": 1.0, "one": 0.25, "another": 0.125}


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (figures.plot_training(*TRAINING), "Step 25: 50% of the words that come again are right"),
        (figures.plot_training(*TRAINING), "the word before from 0.10 to 0.50"),
        (figures.plot_training(*TRAINING), "after an earlier one from 0.20 to 0.75"),
        (figures.plot_cuts(CUTS), "Cut: another. The accuracy falls from 1.00 to 0.12"),
        (figures.plot_cuts({"nothing": 0.5, "one": 0.75}), "No cut lowers the accuracy of 0.50"),
        (figures.plot_cuts({"nothing": 0.504, "a": 0.501}), "Cut: a. The accuracy falls by less"),
        (figures.plot_cuts({"a": 0.5, "nothing": 1.0}), "Cut: a. The accuracy falls from 1.00 to"),
        (figures.plot_cuts({"a": 0.5, "b": 0.25}), "Cut: b. The accuracy is 0.25"),
        (figures.plot_cuts({"nothing": math.nan, "a": math.nan}), "No cut lowers the accuracy"),
    ],
)
def test_a_figure_says_what_it_shows_with_its_numbers(figure, words):
    assert_it_says_what_it_shows(figure)
    assert words in figure.get_label()


def test_the_stored_trainings_have_three_seeds_each_and_are_drawn():
    for kind in KINDS:
        jumps = stored_jumps(kind)
        assert [jump.seed for jump in jumps] == [0, 1, 2]
        for jump in jumps:
            curves = (jump.accuracy, jump.first, jump.again, jump.before, jump.after)
            assert {len(curve) for curve in curves} == {len(jump.steps)}
    assert "two layers" in plot_jumps({kind: stored_jumps(kind) for kind in KINDS}).get_label()


def test_the_stored_maps_are_those_of_the_first_training():
    jump, maps = stored_jumps("two layers")[0], stored_maps()
    assert_it_says_what_it_shows(plot_moment(jump, maps))
    size = len(maps.words)
    for weights in (maps.before, maps.after):
        found = torch.tensor(weights)
        assert found.shape == (len(jump.steps), size, size)
        assert (found.sum(dim=-1) - 100).abs().max() <= size  # whole percents
        assert (found.triu(1) == 0).all()
    cells = role_cells(maps.words)["after"]
    on_cells = torch.tensor([maps.after[-1][query][key] for query, key in cells])
    assert on_cells.float().mean() > 70


def test_the_cells_of_both_roles_are_those_of_their_words():
    cells = role_cells(["a", "b", "c", "a", "b"])
    assert cells == {"before": [(1, 0), (2, 1), (3, 2), (4, 3)], "after": [(3, 1), (4, 2)]}


def test_the_live_figure_has_every_step():
    page = published_page(show_jump_live)
    data = json.loads(re.search(r"<script[^>]*data-part=.data.[^>]*>(.*?)</script>", page)[1])
    steps = len(stored_jumps(KINDS[0])[0].steps)
    assert [len(each["weights"]) for each in data["maps"]] == [steps, steps]
    assert [len(each["values"]) for each in data["curves"]] == 3 * [steps]


def test_the_words_count_the_seeds_only_where_all_kinds_have_as_many():
    two, one = (stored_jumps(kind) for kind in KINDS[:2])
    assert plot_jumps({"a": two, "b": one}).get_label().endswith("One line for each of 3 seeds")
    assert plot_jumps({"a": two[:1], "b": one}).get_label().endswith("One line for each training")
