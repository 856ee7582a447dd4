"""The matrices of attention stand where they are multiplied."""

import torch
from matplotlib.patches import Rectangle

from transformer_course.attention.flow import plot_attention_flow
from transformer_edu.model.attention import scaled_dot_product_attention

torch.manual_seed(0)
QUERY, KEY, VALUE = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 6)
OUTPUT, WEIGHTS = scaled_dot_product_attention(QUERY, KEY, VALUE)
QUERIES, KEYS = ["one", "two", "three"], ["a", "b", "c", "d", "e"]
WORDS = {"query_words": QUERIES, "key_words": KEYS}


def test_the_flow_shows_every_matrix_with_its_shape_and_numbers():
    figure = plot_attention_flow(QUERY, KEY, VALUE, **WORDS, marked=2)
    shown = {axes.get_title(): torch.tensor(axes.images[0].get_array()) for axes in figure.axes}
    expected = {
        "Q  3 × 4": QUERY,
        "Kᵀ  4 × 5": KEY.T,
        "scores  3 × 5": QUERY @ KEY.T / 2,
        "weights  3 × 5": WEIGHTS,
        "V  5 × 6": VALUE,
        "output  3 × 6": OUTPUT,
    }
    assert shown.keys() == expected.keys()
    for name, matrix in expected.items():
        torch.testing.assert_close(shown[name], matrix)


def test_one_row_is_framed_in_the_matrices_that_have_it():
    figure = plot_attention_flow(QUERY, KEY, VALUE, **WORDS, marked=2)
    framed = {
        axes.get_title().split()[0]: patch.get_y()
        for axes in figure.axes
        for patch in axes.patches
        if isinstance(patch, Rectangle)
    }
    assert framed == {"Q": 1.5, "scores": 1.5, "weights": 1.5, "output": 1.5}
    best = KEYS[WEIGHTS[2].argmax()]
    assert figure.get_label().endswith(
        f"The row of three is framed; its largest weight is that of {best}"
    )


def test_the_numbers_of_the_framed_row_are_written_below():
    figure = plot_attention_flow(QUERY, KEY, VALUE, **WORDS, marked=2)
    said = [text.get_text() for text in figure.texts]
    scores = (QUERY @ KEY.T / 2)[2]
    for numbers in (scores, WEIGHTS[2]):
        written = [f"{number:z.2f}".replace("-", "−") for number in numbers.tolist()]
        assert any(said[at : at + len(written)] == written for at in range(len(said)))
    for name, row in (("Q", QUERY[2]), ("output", OUTPUT[2])):
        (line,) = [each for each in said if each.startswith(f"{name}:")]
        assert f"({len(row)} numbers)" in line
        assert f"{row[0]:z.2f}".replace("-", "−") in line
