"""Differences of many sizes have a place on one axis."""

import numpy as np

from transformer_course.a_published_model.differences import plot_differences


def test_differences_have_their_words_and_a_band_in_which_numbers_are_equal():
    differences, words = {"same": 0.0, "near": 2e-5, "far": 3.0}, {"same": "a", "near": "b"}
    labels = {"words": words | {"far": "c"}, "x_label": "x", "title": "t"}
    figure = plot_differences(differences, equal=1e-4, **labels)
    axes = figure.axes[0]
    *bars, band = axes.patches
    np.testing.assert_allclose([bar.get_width() for bar in bars], [1e-7, 2e-5, 3.0])
    assert [text.get_text() for text in axes.texts] == ["a", "b", "c"]
    np.testing.assert_allclose(band.get_x() + band.get_width(), 1e-4)
    same, near, far = (bar.get_facecolor() for bar in bars)
    assert same == near != far
    start, end = axes.get_xlim()
    assert 0 < start < 1e-7 and end > 3.0 and axes.get_xscale() == "log"
    assert figure.get_label() == "t. From top to bottom: same (a), near (b), far (c)"
