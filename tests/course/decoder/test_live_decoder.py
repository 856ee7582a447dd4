"""The page holds what the decoder expects at each step."""

import json
import re

import pytest

from tests.published import published_page
from transformer_course.decoder.live_decoder import show_decoder_live
from transformer_course.decoder.next_words import decoding_steps
from transformer_edu.pretrained.loading import load_pretrained


def test_each_beginning_has_its_steps_and_a_short_sentence_starts_within_its_own():
    translator = load_pretrained(device="cpu")
    page = published_page(show_decoder_live, translator, "A man.", beginnings=["", "Ein Mann"])
    data = json.loads(re.search(r"<script[^>]*data-part=.data.[^>]*>(.*?)</script>", page)[1])
    written = [decoding_steps(translator, "A man.", each) for each in data["beginnings"]]
    assert [len(each) for each in data["sentences"]] == [len(each) for each in written]
    assert 0 <= data["step"] < len(written[0])
    assert [each["given"] for each in data["sentences"][1]][:2] == [True, True]
    assert not any(each["given"] for each in data["sentences"][0])


@pytest.mark.parametrize(
    ("beginnings", "error", "message"),
    [
        ("Der", TypeError, "beginnings must be several texts, got 'Der'"),
        ([], ValueError, "beginnings must hold at least one text, got none"),
    ],
)
def test_what_is_not_several_beginnings_is_refused(translator, beginnings, error, message):
    with pytest.raises(error, match=message):
        show_decoder_live(translator, "A man.", beginnings=beginnings)
