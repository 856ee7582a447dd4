"""The page holds the stream of each word."""

import json
import re

import pytest
import torch

from tests.published import published_page
from transformer_course.feed_forward_add_and_norm.live_stream import plot_stream, show_stream_live
from transformer_course.feed_forward_add_and_norm.stream import lengths_and_angles
from transformer_edu.model.encoder import Encoder, EncoderLayer


def data_of(page: str) -> dict:
    return json.loads(re.search(r"<script[^>]*data-part=.data.[^>]*>(.*?)</script>", page)[1])


def test_a_stack_has_its_order_and_its_numbers():
    torch.manual_seed(0)
    layer = EncoderLayer(d_model=8, num_heads=2, d_ff=6, norm_first=True)
    encoder, x = Encoder([layer], final_norm=torch.nn.LayerNorm(8)), torch.randn(3, 8)
    words = ["one", "two", "three"]
    (stack,) = data_of(published_page(show_stream_live, {"s": encoder}, words, x, word=0))["stacks"]
    assert (stack["name"], stack["normFirst"], stack["sublayers"]) == ("s", True, 2)
    numbers = torch.tensor(stack["words"]).transpose(0, 1)
    torch.testing.assert_close(numbers, lengths_and_angles(encoder, x), atol=6e-5, rtol=0)


def test_the_stack_with_the_longest_vector_is_named():
    figure = plot_stream({"a": [1, 3, 1], "b": [1, 2, 2]}, word="red")
    assert figure.axes[0].get_title("left").endswith("red is longest in: b")
    assert figure.get_label().endswith("longest in: b")


def test_a_word_that_the_sentence_does_not_have_is_refused():
    encoder = Encoder([EncoderLayer(d_model=8, num_heads=2, d_ff=6)])
    with pytest.raises(ValueError, match="word must be at most 1, got 2"):
        show_stream_live({"s": encoder}, ["one", "two"], torch.randn(2, 8), word=2)
