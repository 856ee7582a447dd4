"""The wavelengths of an encoding are drawn as they are."""

import numpy as np
import pytest

from transformer_edu.teaching.positions import plot_wavelengths


def test_sines_and_cosines_stand_over_their_pairs_on_a_logarithmic_scale():
    axes = plot_wavelengths([6, 60, 600], [8, 80, 800], title="Slower and slower").axes[0]
    sine, cosine = axes.lines
    np.testing.assert_array_equal(sine.get_xydata(), [[0, 6], [1, 60], [2, 600]])
    np.testing.assert_array_equal(cosine.get_ydata(), [8, 80, 800])
    assert axes.get_yscale() == "log"


def test_the_two_are_told_apart_by_more_than_colour():
    axes = plot_wavelengths([6, 60], [6, 60], title="Equal").axes[0]
    sine, cosine = axes.lines
    assert sine.get_marker() != cosine.get_marker()
    assert sine.get_linestyle() != cosine.get_linestyle()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["sine", "cosine"]


def test_the_longest_sequence_is_a_line_with_its_length():
    axes = plot_wavelengths([6, 60], [6, 60], title="One too slow", longest_sequence=50).axes[0]
    assert set(axes.lines[-1].get_ydata()) == {50}
    assert [text.get_text() for text in axes.texts] == ["50 positions"]


@pytest.mark.parametrize(("sine", "cosine"), [([], []), ([6, 60], [6])])
def test_pairs_that_are_no_pairs_are_refused(sine, cosine):
    with pytest.raises(ValueError, match="one wavelength per pair"):
        plot_wavelengths(sine, cosine, title="none")


def test_a_wavelength_of_zero_is_refused():
    with pytest.raises(ValueError, match="wavelengths must be above 0, got 0"):
        plot_wavelengths([6, 60], [6, 0], title="standing still")
