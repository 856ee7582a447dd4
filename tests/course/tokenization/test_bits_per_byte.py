"""A loss per token and in bits per byte are the same surprise, divided by what is counted."""

import math
import random

import pytest
import torch

from transformer_course.texts.sentences import ALL_PAIRS, SAMPLE_PAIRS
from transformer_course.tokenization.bits_per_byte import score_cut
from transformer_edu.data.augmentation import RandomSplits
from transformer_edu.pretrained.loading import load_pretrained


@pytest.fixture(scope="module")
def translator():
    return load_pretrained()


def test_both_are_the_sum_over_the_target_divided(translator):
    source, target = ALL_PAIRS[0]
    encode, model = translator.tokenizer.encode, translator.model
    ids = encode(target)
    with torch.no_grad():
        given = torch.tensor([[1, *ids]])
        chances = model(torch.tensor([encode(source)]), given)[0].log_softmax(dim=-1)
    nats = -sum(chances[place, i].item() for place, i in enumerate([*ids, 2]))
    per_token, bits = score_cut(translator, [(source, target)], encode)
    assert per_token == pytest.approx(nats / (len(ids) + 1), rel=1e-4)
    assert bits == pytest.approx(nats / math.log(2) / len(target.encode()), rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pairs", [ALL_PAIRS[:24], ALL_PAIRS[24:48], SAMPLE_PAIRS[:40]])
def test_a_loss_per_token_hides_a_part_of_what_smaller_pieces_cost(translator, pairs, seed):
    tokenizer = translator.tokenizer
    whole = score_cut(translator, pairs, tokenizer.encode)
    cut = score_cut(translator, pairs, RandomSplits(tokenizer, 0.1, random.Random(seed)).encode)
    assert cut[1] / whole[1] > 1.15 * cut[0] / whole[0] > 1.15
