"""The words that a translator's decoder expects next."""

from itertools import pairwise

import pytest
import torch

from transformer_course.decoder.next_words import (
    MOST_STEPS,
    NUM_CANDIDATES,
    decoding_steps,
    next_word,
)
from transformer_course.looking.recording import token_words
from transformer_edu.model.special_ids import START_ID

SOURCE, BEGINNING = "A man is playing the guitar on the street.", "Ein Mann"


def test_the_likeliest_words_are_those_of_the_models_last_position(translator):
    model, tokenizer = translator.model, translator.tokenizer
    expected = next_word(translator, SOURCE, BEGINNING)
    ids = [START_ID, *tokenizer.encode(BEGINNING)]
    with torch.no_grad():
        logits = model(torch.tensor([tokenizer.encode(SOURCE)]), torch.tensor([ids]))[0, -1]
    assert len(expected) == 4 and sorted(expected.values(), reverse=True) == [*expected.values()]
    assert next(iter(expected)) == token_words(translator, [int(logits.argmax())])[0]
    assert expected[next(iter(expected))] == pytest.approx(float(logits.softmax(-1).max()))


def test_another_source_has_other_words(translator):
    assert next_word(translator, SOURCE, BEGINNING) != next_word(
        translator, "A man is cooking.", BEGINNING
    )


@pytest.mark.parametrize("likelier", ["H", "▁H"])
def test_tokens_that_would_be_written_alike_show_which_one_begins_a_word(translator, likelier):
    model = translator.model
    names = translator.tokenizer.tokens(range(model.config.vocabulary_size))
    wanted = torch.full((len(names),), -50.0)
    wanted[names.index("H")] = wanted[names.index("▁H")] = 0
    wanted[names.index(likelier)] += 1
    hook = model.output_projection.register_forward_hook(lambda *call: call[-1] * 0 + wanted)
    try:
        expected = next_word(translator, SOURCE, BEGINNING)
        candidates = decoding_steps(translator, SOURCE, BEGINNING)[0].candidates
    finally:
        hook.remove()
    assert len(expected) == 4 and len(dict(candidates)) == len(candidates)
    other = "▁H" if likelier == "H" else "H"
    for found in (expected, dict(candidates)):
        assert list(found)[:2] == [likelier, other]
        assert found[likelier] == pytest.approx(0.7311, abs=1e-4)


@pytest.mark.parametrize("expect", [next_word, decoding_steps])
def test_a_source_without_tokens_is_refused(translator, expect):
    with pytest.raises(ValueError, match="^source must have at least one token, got ''$"):
        expect(translator, "", BEGINNING)


def test_the_steps_of_a_decoder_write_the_translation_and_every_token_is_read_in_the_next(
    translator,
):
    steps = decoding_steps(translator, SOURCE, "")
    for before, after in pairwise(steps):
        assert after.read == [*before.read, before.candidates[before.chosen][0]]
    for step in steps:
        assert step.chosen == 0 and not step.is_given and len(step.candidates) == NUM_CANDIDATES
        torch.testing.assert_close(step.attention.sum(), torch.tensor(1.0))
    last = steps[-1].candidates[0][0]
    assert last == "</s>"
    written = "".join(steps[-1].read[1:])
    assert written == translator.translate(SOURCE).replace(" ", "")


def test_a_beginning_is_put_in_though_it_is_unlikely(translator):
    tokens = token_words(translator, translator.tokenizer.encode("Computer"))
    steps = decoding_steps(translator, SOURCE, "Computer")
    given = [step for step in steps if step.is_given]
    assert [step.candidates[step.chosen][0] for step in given] == tokens
    assert given[0].chosen == NUM_CANDIDATES
    assert given[0].candidates[-1][1] <= min(p for _, p in given[0].candidates[:-1])


def test_a_sentence_that_never_ends_is_cut(translator):
    beginning = "Mann " * MOST_STEPS
    assert len(decoding_steps(translator, SOURCE, beginning)) == MOST_STEPS
