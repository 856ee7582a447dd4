"""The lookup in the plane: the output is drawn where the weights put it, among the values."""

import torch
from matplotlib.text import Text

from transformer_edu.teaching.figures.lookup import plot_lookup

QUERY = torch.tensor([2.0, 0.0])
KEY = torch.tensor([[2.0, -0.5], [0.0, 2.0], [1.0, 0.5]])
VALUE = torch.tensor([[4.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
WEIGHTS = (KEY @ QUERY).softmax(dim=0)
FIGURE = plot_lookup(QUERY, KEY, VALUE, words=["a", "b", "c"], features=["x", "y"])


def test_the_star_is_the_weighted_average_of_the_values():
    (star,) = (line for line in FIGURE.axes[1].lines if line.get_marker() == "*")
    torch.testing.assert_close(torch.tensor(star.get_xydata()[0]).float(), WEIGHTS @ VALUE)


def test_every_key_has_its_score_and_every_value_its_weight():
    left, right = ({text.get_text() for text in axes.findobj(Text)} for axes in FIGURE.axes)
    assert {"a: score 4", "b: score 0", "c: score 2"} <= left
    assert {f"{word}: weight {w:.3f}" for word, w in zip("abc", WEIGHTS, strict=True)} <= right


def test_the_largest_weight_is_named_in_title_and_words():
    assert FIGURE.get_suptitle().endswith("nearest to a")
    assert "near the value of a" in FIGURE.get_label()
