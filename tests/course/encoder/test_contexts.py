"""A word is found in its sentences, and the vector nearest to each is named."""

import pytest
import torch

from transformer_course.encoder.contexts import nearest_of_its_kind, word_in_sentences
from transformer_course.looking.recording import vectors_by_layer

TEXT = "A man is playing the guitar."


def test_a_word_is_found_in_every_sentence(translator):
    texts = [TEXT, "Now a man is playing.", "He likes playing."]
    found = word_in_sentences(translator, texts, "playing")
    for text, own in zip(texts, found.unbind(dim=1), strict=True):
        words, vectors = vectors_by_layer(translator, text)
        torch.testing.assert_close(own, vectors[:, words.index("playing")])
    with pytest.raises(ValueError, match="must have the token 'playing', got 'A dog runs"):
        word_in_sentences(translator, ["A dog runs."], "playing")


def test_only_neighbors_of_the_own_kind_count():
    line = torch.tensor([[0.0], [1.0], [1.5], [4.0]])
    vectors = torch.stack([line, line[[0, 2, 1, 3]]])  # (layer, sentence, d_model)
    assert nearest_of_its_kind(vectors, ["a", "a", "b", "b"]) == [2, 0]


def test_no_sentences_are_refused(translator):
    with pytest.raises(ValueError, match="texts must hold at least one sentence, got none"):
        word_in_sentences(translator, [], "dog")
