"""Units are drawn as dark as they are active, and a sum beside its parts."""

import pytest
import torch

from transformer_course.feed_forward_add_and_norm.unit_charts import (
    plot_active_words,
    plot_unit_sums,
)

X = torch.linspace(0, 1, 5)


def test_the_most_active_word_is_the_darkest_and_is_named():
    sentences = [(["a", "red"], torch.tensor([0.0, 2.0])), (["car"], torch.tensor([0.5]))]
    figure = plot_active_words(sentences)
    boxes = figure.axes[0].patches
    light = [sum(box.get_facecolor()[:3]) for box in boxes]
    assert light[1] < light[2] < light[0]
    assert figure.get_label() == "2 sentences; the darkest words are red"


def test_the_title_names_colors_only_where_a_color_is_dark():
    dark = plot_active_words([(["a", "red"], torch.tensor([3.0, 0.0]))])
    mixed = plot_active_words([(["a", "red", "the"], torch.tensor([3.0, 3.0, 3.0]))])
    assert mixed.get_suptitle().endswith("at each word")
    none = plot_active_words([(["a", "red"], torch.zeros(2))])
    assert dark.get_suptitle() == none.get_suptitle() == "One number of the translator at each word"
    assert none.get_label() == "1 sentences; the darkest words are none"


def test_a_single_network_has_a_panel_too():
    assert len(plot_unit_sums(X, X, {"one": (torch.zeros(5, 3), X)}).axes) == 1


def test_every_unit_and_the_output_is_drawn_and_the_closest_is_named():
    near = (torch.stack([X, X], dim=1) / 2, X)
    far = (torch.zeros(5, 3), torch.zeros(5))
    figure = plot_unit_sums(X, X, {"near": near, "far": far})
    assert [len(axes.lines) for axes in figure.axes] == [4, 5]
    assert figure.get_suptitle() == "near come closest"
    assert "far 1.0" in figure.get_label()


def test_networks_with_the_same_error_are_named_together():
    near, far = (torch.zeros(5, 3), X), (torch.zeros(5, 3), X * 0)
    figure = plot_unit_sums(X, X, {"a": near, "b": near, "c": far})
    assert figure.get_suptitle() == "a and b come closest"
    assert plot_unit_sums(X, X, {"a": near}).get_suptitle() == "Largest error of each: 0.0"
    with pytest.raises(ValueError, match="sums must hold at least one network, got none"):
        plot_unit_sums(X, X, {})
