"""Links are as strong as their weights."""

import numpy as np
import torch

from transformer_course.attention.links import plot_links

QUERY_TOKENS = ["das", "Haus"]
KEY_TOKENS = ["the", "old", "house"]
WEIGHTS = torch.tensor([[0.1, 0.2, 0.7], [0.0, 0.4, 0.6]])
LABELS = {"query_tokens": QUERY_TOKENS, "key_tokens": KEY_TOKENS, "title": "t"}


def test_a_link_leads_from_its_query_to_its_key_and_is_as_wide_as_its_weight():
    lines = plot_links(WEIGHTS, **LABELS).axes[0].lines
    assert len(lines) == 5  # the weight of zero has no line
    ends = [tuple(line.get_xdata()) for line in lines]
    places = [(q, k) for q in (0.25, 0.75) for k in (1 / 6, 1 / 2, 5 / 6)]
    np.testing.assert_allclose(ends, places[:3] + places[4:])
    widths = [line.get_linewidth() for line in lines]
    assert np.argsort(widths).tolist() == [0, 1, 3, 4, 2]


def test_links_of_one_query_alone():
    axes = plot_links(WEIGHTS, **LABELS, only_query=1).axes[0]
    assert {line.get_xdata()[0] for line in axes.lines} == {0.75}
    assert [text.get_text() for text in axes.texts if text.get_weight() == "bold"] == ["Haus"]
