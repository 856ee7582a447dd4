"""Training pairs in the forms that people type, and words in the pieces that BPE dropout leaves."""

from random import Random

import pytest

from transformer_edu.data.augmentation import (
    RandomSplits,
    exchange,
    exchange_words,
    invent_name,
    invent_word,
    vary,
)
from transformer_edu.data.parallel_text import ParallelText, translation_task
from transformer_edu.data.tokenizer import train_tokenizer

LINES = ["Eine Frau liest.", "Ein Mann liest ein Buch.", "Drei Hunde rennen über die Straße."] * 3


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(LINES, vocabulary_size=320)


def test_some_sources_lose_capitals_or_the_final_mark_and_no_target_does():
    pairs = [("Where is he?", "Wo ist er?")] * 400
    varied = vary(pairs, Random(0))
    assert {target for _, target in varied} == {"Wo ist er?"}
    sources = [source for source, _ in varied]
    assert set(sources) == {"Where is he?", "where is he?", "Where is he", "where is he"}
    assert 200 < sources.count("Where is he?") < 400


def test_most_of_the_names_are_exchanged_on_both_sides_alike():
    varied = [
        exchange_words("Eva knows Paul.", "Eva kennt Paul.", Random(seed), {"Eva", "Paul"})
        for seed in range(400)
    ]
    for name in ("Eva", "Paul"):
        assert 40 < sum(name in target for _, target in varied) < 120
    for source, target in varied:
        assert source.replace(" knows ", " kennt ") == target


def test_numbers_are_exchanged_by_others_as_long():
    pair = ("It has 250 rooms, it is 8:45.", "Es hat 250 Zimmer, es ist 8:45.")
    varied = {exchange_words(*pair, Random(seed)) for seed in range(40)}
    numbers = {source.split()[2] for source, _ in varied}
    assert len(numbers) > 10 and {len(number) for number in numbers} == {3}
    for source, target in varied:
        assert source.replace("It has", "Es hat").split()[:3] == target.split()[:3]
        assert "8:45" in source and "8:45" in target


def test_words_that_both_sides_spell_alike_are_sometimes_exchanged():
    varied = [
        exchange_words("The hotel is red.", "Das Hotel ist rot.", Random(seed))
        for seed in range(400)
    ]
    others = [pair for pair in varied if "hotel" not in pair[0]]
    assert 80 < len(others) < 160
    for source, target in others:
        new = source.split()[1]
        assert new.islower() and target == f"Das {new.capitalize()} ist rot."


@pytest.mark.parametrize(
    ("source", "target", "word"),
    [
        ("Eva is here.", "Sie ist hier.", "Eva"),  # only one side has it
        ("Eva is here. Eva's car is here.", "Evas Auto ist hier. Eva ist hier.", "Eva"),  # declined
        ("The boat's park, the park.", "Der Park des Parkes.", "Park"),
    ],
)
def test_a_word_that_the_sides_do_not_share_stays(source, target, word):
    assert exchange(source, target, word, word, "Trolei") == (source, target)


def test_invented_names_differ_and_begin_with_a_capital():
    rng = Random(0)
    names = {invent_name(rng) for _ in range(200)}
    assert len(names) > 190
    assert all(name[0].isupper() for name in names)
    kinds = [str.isupper, str.istitle, lambda name: " " in name, lambda name: name[-1].isdigit()]
    assert all(any(map(kind, names)) for kind in kinds)
    assert all(word.isalpha() and word.islower() for word in (invent_word(rng) for _ in range(50)))


def test_the_same_seed_varies_alike():
    pairs = [(f"Eva has {n} books.", f"Eva hat {n} Bücher.") for n in range(50)]
    varied = [vary(pairs, Random(seed), {"Eva"}) for seed in (0, 0, 1)]
    assert varied[0] == varied[1] != varied[2]


@pytest.mark.parametrize("text", ["", *LINES[:3], "naïve ▁ TWO  dogs\n", "日本"])
def test_random_splits_spell_the_same_text(tokenizer, text):
    splits = RandomSplits(tokenizer, 0.3, Random(0))
    assert {tokenizer.decode(splits.encode(text)) for _ in range(20)} == {text}


def test_without_dropout_the_split_is_the_tokenizers(tokenizer):
    splits = RandomSplits(tokenizer, 0.0, Random(0))
    for text in LINES[:3]:
        assert splits.encode(text) == tokenizer.encode(text)


def test_more_dropout_gives_more_pieces_and_other_ones(tokenizer):
    text = LINES[2]
    lengths = {}
    for dropout in (0.0, 0.1, 0.5):
        splits = RandomSplits(tokenizer, dropout, Random(0))
        drawn = [tuple(splits.encode(text)) for _ in range(50)]
        lengths[dropout] = sum(map(len, drawn))
        assert (len(set(drawn)) > 1) == (dropout > 0)
    assert lengths[0.0] < lengths[0.1] < lengths[0.5]


@pytest.mark.parametrize("dropout", [-0.1, 1.0])
def test_dropout_is_a_probability_below_one(tokenizer, dropout):
    with pytest.raises(ValueError, match="dropout must be "):
        RandomSplits(tokenizer, dropout, Random(0))


def test_a_seed_is_no_generator_of_random_numbers(tokenizer):
    with pytest.raises(TypeError, match="rng must be a random.Random, got 0"):
        RandomSplits(tokenizer, 0.1, 0)


def test_a_task_splits_half_of_its_training_sentences_and_nothing_else(tokenizer):
    pairs = [(LINES[n % 3], LINES[(n + 1) % 3]) for n in range(60)]
    parallel = ParallelText(pairs, pairs[:5], pairs[:5])
    plain = translation_task(parallel, tokenizer)
    task = translation_task(parallel, tokenizer, bpe_dropout=0.3, seed=1)
    same = sum(one == other for one, other in zip(task.train, plain.train, strict=True))
    assert 5 < same < 30  # a quarter has neither side split
    assert (task.validation, task.test) == (plain.validation, plain.test)
    again, other = (
        translation_task(parallel, tokenizer, bpe_dropout=0.3, seed=seed) for seed in (1, 2)
    )
    assert task.train == again.train != other.train


def test_a_pair_with_a_word_to_exchange_is_there_twice_and_others_are_there_once():
    pairs = [("Eva has a dog.", "Eva hat einen Hund."), ("It rains.", "Es regnet.")] * 100
    targets = [target for _, target in vary(pairs, Random(0), {"Eva"})]
    assert targets.count("Es regnet.") == 100
    named = [target.removesuffix(" hat einen Hund.") for target in targets if "Hund" in target]
    assert 180 < len(named) <= 200 and len(set(named)) > 130
