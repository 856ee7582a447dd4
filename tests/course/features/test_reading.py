"""What the encoder reads: which vector belongs to which token, and which sentences are apart."""

import torch

from tests.small_translator import PAIRS, small_translator
from transformer_course.features.reading import (
    NOUNS,
    Reading,
    captions,
    plural_nouns,
    read_encoder,
    subjects,
    texts_to_learn_from,
    tokens_at,
)


def test_every_vector_is_the_encoders_for_its_token_without_padding(monkeypatch):
    translator = small_translator()
    names = translator.tokenizer.vocabulary.tokens
    tokens = lambda _, ids: [f"▁{names[each]}" for each in ids]  # noqa: E731
    monkeypatch.setattr(type(translator.tokenizer), "tokens", tokens, raising=False)
    sentences = [english for english, _ in PAIRS]
    reading = read_encoder(translator, sentences)
    ids = [translator.tokenizer.encode(each) for each in sentences]
    assert len(reading.vectors) == len(reading.words) == sum(map(len, ids))
    assert reading.words[:3] == ["a", "man", "sleeps"]
    assert reading.sentences == [0] * len(ids[0]) + [1] * len(ids[1])
    assert reading.places == [*range(len(ids[0])), *range(len(ids[1]))]
    with torch.no_grad():
        alone = translator.model.eval().encode(torch.tensor([ids[0]]))[0]
    torch.testing.assert_close(reading.vectors[: len(ids[0])], alone)
    torch.testing.assert_close(tokens_at(reading, 1)[0], alone[1])


def test_what_is_steered_is_neither_learned_from_nor_chosen_by():
    to_choose_by, steered = captions()
    read = {text for texts in texts_to_learn_from() for text in texts}
    tested = {text for text, _ in [*steered, *subjects()[1]]}
    chosen_by = {text for text, _ in [*to_choose_by, *subjects()[0]]}
    assert not tested & read and not tested & chosen_by
    for texts in (to_choose_by, steered, *subjects()):
        marked = [mark for _, mark in texts]
        assert 2 * sum(marked) == len(marked) >= 60


def test_nouns_are_found_and_their_plurals_are_on_the_same_side():
    words = ["the", NOUNS[0], f"{NOUNS[0]}s", NOUNS[1], f"{NOUNS[1]}s"]
    rows, plural, choosing = plural_nouns(Reading(torch.zeros(5, 2), words, [0] * 5, [*range(5)]))
    assert rows.tolist() == [1, 2, 3, 4]
    assert plural.tolist() == [False, True, False, True]
    assert choosing.tolist() == [True, True, False, False]
