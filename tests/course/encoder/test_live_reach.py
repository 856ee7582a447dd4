"""The page holds how far a word reaches."""

import json
import re

import pytest
import torch

from tests.published import published_page
from transformer_course.encoder.live_reach import show_reach_live


def data_of(page: str) -> dict:
    return json.loads(re.search(r"<script[^>]*data-part=.data.[^>]*>(.*?)</script>", page)[1])


def test_a_share_above_0_stays_above_0_and_0_stays_0():
    shares = torch.tensor([[1 - 1e-7, 1e-7, 0.0], [0.123456, 0.876544, 0.0]])

    def influence_on(word: int, mask: torch.Tensor) -> torch.Tensor:
        return shares

    distance = torch.zeros(3, 3)
    data = data_of(published_page(show_reach_live, influence_on, ["a", "b", "c"], distance, word=1))
    assert data["shares"] == [[[[1, 0.0001, 0], [0.1235, 0.8765, 0]]] * 3] * 3


def test_every_window_is_a_mask_of_its_own():
    masks = []

    def influence_on(word: int, mask: torch.Tensor) -> torch.Tensor:
        masks.append(mask)
        return torch.ones(1, 2) / 2

    published_page(
        show_reach_live, influence_on, ["a", "b"], torch.tensor([[0, 1], [1, 0]]), word=0
    )
    assert [int(mask.sum()) for mask in masks] == [2, 2, 4, 4]  # two words, both windows


@pytest.mark.parametrize(("word", "limit"), [(2, "most 1"), (-1, "least 0")])
def test_a_word_that_is_not_there_is_refused(word, limit):
    with pytest.raises(ValueError, match=f"word must be at {limit}, got {word}"):
        show_reach_live(None, ["a", "b"], torch.zeros(2, 2), word=word)


@pytest.mark.parametrize(
    ("count", "reached", "said"),
    [
        (1, 1, "With one word, 2 layers reach every word here"),
        (2, 2, "With one neighbor on each side, 2 layers reach every word here"),
        (4, 3, "With one neighbor on each side, 2 layers reach 2 words to each side"),
    ],
)
def test_a_short_sentence_is_reached_as_a_whole(count, reached, said):
    shares = torch.tensor([[1.0] * reached + [0.0] * (count - reached)] * 2)
    place = torch.arange(count)
    distance = (place[:, None] - place).abs()
    words = list("abcd")[:count]
    page = published_page(show_reach_live, lambda word, mask: shares, words, distance, word=0)
    assert said in page
