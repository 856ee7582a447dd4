"""Every head has its cell, and the clearest role its name."""

import numpy as np
import torch

from transformer_course.looking_inside.role_grids import describe_head_roles, plot_head_roles

WORDS = {"label": "share of looks", "title": "Some do, some do not"}
BEFORE = torch.tensor([[0.0, 0.25, 0.75], [0.5, -0.125, 0.0999]])  # 2 layers, 3 heads
AFTER = torch.tensor([[0.2, 0.125, 1.0], [0.25, -0.5, 0.05]])
ROLES = {"encoder": {"previous": BEFORE, "next": AFTER}, "decoder": {"previous": BEFORE}}


def panels(figure):
    return [axes for axes in figure.axes if axes.images and axes.get_label() != "<colorbar>"]


def test_every_head_has_the_name_and_the_number_of_its_strongest_role():
    left, right = panels(plot_head_roles(ROLES, **WORDS))
    written = {text.get_position(): text.get_text() for text in left.texts}
    assert written[0, 0] == "next\n0.20" and written[1, 0] == "previous\n0.25"
    assert written[2, 0] == "next\n1.00" and written[0, 1] == "previous\n0.50"
    assert [axes.get_title("center") for axes in (left, right)] == ["encoder", "decoder"]


def test_a_role_below_the_limit_has_no_name_and_a_number_below_zero_the_color_of_zero():
    left, _ = panels(plot_head_roles(ROLES, **WORDS))
    written = {text.get_position(): text.get_text() for text in left.texts}
    assert written[1, 1] == written[2, 1] == "–"
    assert left.images[0].get_array()[1, 1] == 0


def test_rows_are_layers_and_columns_are_heads_on_one_scale_from_zero_to_one():
    figure = plot_head_roles(ROLES, **WORDS)
    left, right = panels(figure)
    np.testing.assert_allclose(left.images[0].get_array()[0], [0.2, 0.25, 1.0])
    assert {axes.images[0].get_clim() for axes in (left, right)} == {(0, 1)}
    assert left.get_ylabel() == "layer" and figure.get_supxlabel() == "head"
    assert [label.get_text() for label in left.get_yticklabels()] == ["1", "2"]
    assert [label.get_text() for label in right.get_xticklabels()] == ["1", "2", "3"]


def test_the_words_count_the_heads_of_every_role():
    said = "encoder: next 2, none 2, previous 2; decoder: none 3, previous 3"
    assert describe_head_roles(ROLES) == said
    assert plot_head_roles(ROLES, **WORDS).get_label().endswith(said)


def test_scores_with_a_gradient_are_drawn():
    plot_head_roles({"": {"same": BEFORE.clone().requires_grad_()}}, **WORDS)
