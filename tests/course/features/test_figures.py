"""Every figure of lesson 22 has its title and says in words what it shows."""

from dataclasses import replace
from functools import partial

import pytest
import torch

from tests.published import caught_explorers
from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.features import feature_explorer, figures
from transformer_course.features.stored import stored_runs

PLANES = {
    "always present": torch.tensor([[1.0, 0.0, 0.1], [0.0, 1.0, 0.1]]),
    "rare": torch.tensor([[1.0, 0.0, -0.9], [0.0, 1.0, 0.1]]),
}
FLIPS = {"n = 2": {"features": 60.0, "random features": 3.0}}
RUNS = [
    replace(stored_runs()[0], seed=seed, plural=plural) for seed, plural in ((0, 0.9), (1, 0.95))
]
FIGURES = {
    "plot_directions": partial(figures.plot_directions, PLANES),
    "plot_words": partial(figures.plot_words, {"$q$": 0.75, "b": 0.25}, 3),
    "plot_scores": partial(figures.plot_scores, {"feature": 0.98, "coordinate": 0.8}),
    "plot_flips": partial(figures.plot_flips, FLIPS, 100),
    "plot_seeds": partial(figures.plot_seeds, RUNS),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plot_directions", "Two numbers for 3 features keep 2 or 3 of them"),
        ("plot_words", "Feature 3: 75% of its activity is at “$q$”"),
        ("plot_scores", "feature has the largest AUC, 0.98"),
        ("plot_flips", "n = 2: 60 of 100 articles change, with random ones 3"),
        ("plot_seeds", "the AUC for plural is at least 0.90"),
    ],
)
def test_the_words_hold_the_numbers(name, words):
    assert words in FIGURES[name]().get_label()


def test_the_explorer_shows_the_words_of_every_feature_and_says_which_is_dead(monkeypatch):
    features = torch.tensor([[3.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    explored = caught_explorers(monkeypatch, feature_explorer)
    feature_explorer.explore_features(features, ["dog", "cat", "the"])
    ((draw, alt, controls),) = explored
    assert controls["feature"].max == 1
    assert alt(feature=0) == "Feature 0: 75% of its activity is at “dog”: dog 0.75, cat 0.25"
    assert alt(feature=1) == "Feature 1 is never active"
    for feature in (0, 1):
        assert_it_says_what_it_shows(draw(feature=feature))


def test_the_title_counts_the_seeds():
    for runs, count in ((RUNS[:1], "One seed:"), (RUNS, "Two seeds:"), (RUNS * 2, "4 seeds:")):
        assert figures.plot_seeds(runs).get_label().startswith(count)


def test_equal_counts_and_scores_are_told_once_and_all_the_best_are_named():
    planes = {"a": PLANES["rare"], "b": PLANES["rare"]}
    assert "keep 3 of them" in figures.plot_directions(planes).get_label()
    planes["b"] = torch.ones(2, 5)
    assert "for 3 or 5 features keep 3 or 5 of" in figures.plot_directions(planes).get_label()
    label = figures.plot_scores({"a": 1.0, "b": 0.5, "c": 1.0}).get_label()
    assert label.startswith("Plural or singular: a and c have the largest AUC, 1.00")
    label = figures.plot_scores(dict.fromkeys("abc", 1.0)).get_label()
    assert label.startswith("Plural or singular: 3 of 3 have the largest AUC, 1.00")


def test_the_lowest_auc_is_not_rounded_up():
    runs = [replace(RUNS[0], plural=0.9966)]
    assert (
        figures.plot_seeds(runs)
        .get_label()
        .startswith("One seed: the AUC for plural is at least 0.99")
    )


def test_directions_of_three_numbers_are_refused():
    with pytest.raises(ValueError, match=r"'a' must have the shape \(2, feature\), got \(3, 5\)"):
        figures.plot_directions({"a": torch.ones(3, 5)})


def test_features_of_other_tokens_are_refused():
    with pytest.raises(ValueError, match="words must be one for each of 3 tokens, got 2"):
        feature_explorer.explore_features(torch.ones(3, 2), ["a", "b"])


def test_a_single_feature_may_come_without_its_axis(monkeypatch):
    drawn = []
    monkeypatch.setattr(feature_explorer, "explore", lambda draw, *_, **__: drawn.append(draw(0)))
    feature_explorer.explore_features(torch.tensor([1.0, 3.0]), ["dog", "cat"])
    assert "Feature 0: 75% of its activity is at “cat”" in drawn[0].get_label()
