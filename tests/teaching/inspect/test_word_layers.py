"""A word's vector in the encoder, layer by layer."""

import pytest
import torch

from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.teaching.inspect.word_layers import (
    nearest_of_its_kind,
    vectors_by_layer,
    word_in_sentences,
)

TEXT = "A man is playing the guitar."


@pytest.fixture(scope="module")
def translator():
    return load_pretrained()


def test_the_last_vectors_become_the_memory_and_the_first_are_words_with_positions(translator):
    words, vectors = vectors_by_layer(translator, TEXT)
    model = translator.model
    ids = torch.tensor([translator.tokenizer.encode(TEXT)])
    assert vectors.shape == (len(model.encoder.layers) + 1, len(words), model.config.d_model)
    assert words[:3] == ["A", "man", "is"]
    with torch.no_grad():
        memory, embedded = model.encode(ids)[0], model.positions(model.source_embedding(ids))[0]
    torch.testing.assert_close(model.encoder.final_norm(vectors[-1]), memory, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(vectors[0], embedded)


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
