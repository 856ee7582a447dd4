"""The words that a translator's decoder expects next."""

from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.looking.next_words import (
    MOST_STEPS,
    NUM_CANDIDATES,
    accuracy_by_distance,
    decoding_steps,
    next_word,
    token_words,
)
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.model.vocabulary import END_ID, START_ID

SOURCE, BEGINNING = "A man is playing the guitar on the street.", "Ein Mann"


def test_words_have_no_mark_of_a_space_and_the_special_tokens_have_names(translator):
    ids = translator.tokenizer.encode(BEGINNING)
    words = token_words(translator, [START_ID, *ids, END_ID])
    assert words[0] == "<s>" and words[-1] == "</s>"
    assert "".join(words[1:-1]) == "EinMann"


def test_no_token_has_an_empty_name(translator):
    assert all(token_words(translator, range(translator.model.config.vocabulary_size)))


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


SIZE = 12
PAIRS = [([4, 5, 6], [7, 8, 9, 10]), ([5], [11]), ([9, 8], [4, 4, 6])]


class _Oracle(nn.Module):
    """Always answers a fixed target, unless a token that it reads is not the true one."""

    def __init__(self, offsets: tuple[int, ...]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.offsets = offsets  # which inputs a prediction reads, relative to its place
        self.seen: list[Tensor] = []

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        self.seen.append(target_ids.clone())
        labels = torch.zeros_like(target_ids)
        for row, (_, target) in enumerate(PAIRS):
            labels[row, : len(target) + 1] = torch.tensor([*target, 2])
        true = F.pad(labels[:, :-1], (1, 0), value=1).masked_fill(target_ids == 0, 0)
        wrong = F.pad(target_ids != true, (3, 3))
        length = target_ids.size(1)
        read_wrong = torch.stack([wrong[:, 3 + o : 3 + o + length] for o in self.offsets]).any(0)
        return F.one_hot(labels.masked_fill(read_wrong, 3), SIZE).float()


def scores(*offsets: int) -> dict[int, float]:
    return accuracy_by_distance(_Oracle(offsets), PAIRS, vocabulary_size=SIZE)


def test_a_model_that_reads_one_token_is_wrong_at_distance_0_only():
    found = scores(0)
    assert found[0] == 0
    assert all(share == 1 for distance, share in found.items() if distance != 0)


def test_a_model_that_sees_the_future_is_wrong_before_the_token():
    found = scores(1)
    assert (found[-1], found[0]) == (0, 1)


def test_a_model_that_reads_two_positions_back_is_wrong_two_later():
    found = scores(-2)
    assert (found[0], found[1], found[2]) == (1, 1, 0)


def test_distances_reach_to_four_and_as_far_as_there_are_predictions():
    assert list(scores(0)) == [-4, -3, -2, -1, 0, 1, 2, 3]


def test_exactly_one_real_token_is_another_word_each_time():
    oracle = _Oracle((0,))
    accuracy_by_distance(oracle, PAIRS, vocabulary_size=SIZE)
    true = torch.tensor([[1, 7, 8, 9, 10], [1, 11, 0, 0, 0], [1, 4, 4, 6, 0]])
    assert len(oracle.seen) == 4
    for place, given in enumerate(oracle.seen, start=1):
        changed = given != true
        assert changed.equal((torch.arange(5) == place) & (true != 0))
        assert given[changed].min() >= 4
        assert given[changed].max() < SIZE


def test_a_causal_model_is_untouched_before_the_token_and_keeps_its_mode():
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 16, "dropout": 0.0}
    model = Transformer(TransformerConfig(vocabulary_size=SIZE, **sizes)).train()
    first = accuracy_by_distance(model, PAIRS, vocabulary_size=SIZE)
    second = accuracy_by_distance(model, PAIRS, vocabulary_size=SIZE - 1)
    assert all(first[distance] == second[distance] for distance in (-4, -3, -2, -1))
    assert model.training
