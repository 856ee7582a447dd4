"""Everyday pairs come from one file that is checked, in three parts that have nothing in common."""

import lzma
import re

import pytest

from transformer_edu.data.everyday import (
    FILE,
    HELD_OUT,
    PHRASES_TO_CHOOSE_BY,
    everyday_pairs,
    generated,
    given_names,
    held_out,
    normal,
    phrases,
    read_everyday,
    words,
)


def parts():
    texts = everyday_pairs()
    return [texts.train, texts.validation, texts.test]


def everything():
    return [pair for part in parts() for pair in part]


@pytest.mark.parametrize("side", [0, 1], ids=["English", "German"])
def test_no_sentence_is_in_two_parts(side):
    seen = [{normal(pair[side]) for pair in part} for part in parts()]
    assert all(seen)
    assert not (seen[0] & seen[1] or seen[0] & seen[2] or seen[1] & seen[2])


def test_an_english_sentence_has_one_translation():
    assert len(dict(everything())) == len(everything())


@pytest.mark.parametrize("side", [0, 1], ids=["English", "German"])
def test_no_held_out_sentence_or_accepted_translation_is_in_a_part(side):
    sentences = [row for kind in HELD_OUT if kind != "copied" for row in held_out(kind)]
    kept_out = {normal(text) for row in sentences for text in ([row[0]], row[1])[side]}
    assert len(kept_out) > 300
    assert not kept_out & {normal(pair[side]) for pair in everything()}


@pytest.mark.parametrize("kind", HELD_OUT)
def test_held_out_sentences_have_translations_and_most_have_several(kind):
    sentences = held_out(kind)
    assert all(accepted for _, accepted in sentences)
    if kind != "copied":
        assert sum(len(accepted) > 1 for _, accepted in sentences) > 0.8 * len(sentences)


@pytest.mark.parametrize("kind", ["nope", None])
def test_an_unknown_kind_of_held_out_sentences_is_refused(kind):
    with pytest.raises(ValueError, match=f"kind must be one of by hand, .*, got {kind!r}"):
        held_out(kind)


def test_a_word_to_be_copied_is_in_its_sentence_and_in_nothing_else():
    rows = [(english, word.lower()) for english, (word,) in held_out("copied")]
    assert len({word for _, word in rows}) == 100
    assert all(word in english.lower() for english, word in rows)
    read = "\n".join(text.lower() for pair in everything() for text in pair)
    seen = set(re.findall(r"[\w.:'-]*\w", read))
    assert not {part for _, word in rows for part in word.split()} & seen


def test_the_last_phrases_of_the_validation_part_are_for_nothing_else():
    train, validation, test = (dict(part) for part in parts())
    chosen = list(validation)[-PHRASES_TO_CHOOSE_BY:]
    assert not set(chosen) & (train.keys() | test.keys() | phrases().keys() | generated().keys())


def test_all_words_and_phrases_are_for_training_and_come_before_what_is_generated():
    fixed, (train, *_) = words() | phrases(), parts()
    assert fixed.items() <= dict(train).items()
    assert train[0] == next(iter(words().items()))
    assert train[-1] in generated().items()


def test_every_generated_sentence_is_in_a_part():
    assert generated().keys() <= dict(everything()).keys()
    _, validation, test = parts()
    assert set(validation[:-PHRASES_TO_CHOOSE_BY] + test) <= generated().items()


def test_english_sentences_with_the_same_translation_stand_side_by_side():
    german = [normal(pair[1]) for pair in everyday_pairs().train]
    begins = sum(one != other for one, other in zip(german, german[1:], strict=False))
    assert begins + 1 == len(set(german)) < len(german)


def test_names_are_those_of_people_in_the_sentences():
    spoken = {word for english in generated() for word in english.replace("'", " ").split()}
    assert {"Anna", "Weber"} <= given_names()
    assert given_names() <= {word.strip(".,!?") for word in spoken}


def flip_a_bit(content):
    return content[:1000] + bytes([content[1000] ^ 1]) + content[1001:]


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (flip_a_bit, "a damaged archive"),
        (lambda content: content[:-100], "a damaged archive"),
        (lambda content: b"", "a damaged archive"),
        (lambda content: lzma.compress(b"word\ttrain\tyes\tJa\n"), "bc79"),
    ],
    ids=["a flipped bit", "a cut file", "an empty file", "another text"],
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, damage, found):
    path = tmp_path / FILE.name
    path.write_bytes(damage(FILE.read_bytes()))
    with pytest.raises(OSError, match=rf"{FILE.name} must hold .* got {found}.* again$"):
        read_everyday(path)
