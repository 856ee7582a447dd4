"""A table of what follows what answers as a model does, for every search of the package."""

import math

import pytest
import torch

from transformer_course.generation.table_model import TableModel, sentence_table
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.sampling import sample
from transformer_edu.model.special_ids import END_ID, START_ID

TABLE = {
    "": {"up": 0.5, "down": 0.3, "</s>": 0.2},
    "up": {"up": 0.25, "down": 0.75},
    "up down": {"</s>": 0.6, "up": 0.4},
}


@pytest.fixture
def model() -> TableModel:
    return TableModel(TABLE)


def next_probabilities(model: TableModel, words: list[str]) -> dict[str, float]:
    """What may follow these words, by its name."""
    written = torch.tensor([[START_ID, *model.vocabulary.encode(words)]])
    memory = model.encode(model.source_ids)
    logits = model.project(model.decode(written, memory))[0, -1]
    found = logits.softmax(dim=-1).tolist()
    return {model.vocabulary.tokens[i]: p for i, p in enumerate(found) if p > 0}


def test_the_probabilities_are_those_of_the_table(model):
    for beginning, row in TABLE.items():
        assert next_probabilities(model, beginning.split()) == pytest.approx(row)


def test_a_beginning_that_is_not_in_the_table_ends(model):
    assert next_probabilities(model, ["down"]) == {"</s>": 1.0}


def test_every_position_of_every_row_is_answered_by_what_stands_before_it(model):
    up, down = model.vocabulary.encode(["up", "down"])
    target_ids = torch.tensor([[START_ID, up, down], [START_ID, down, END_ID]])
    answers = model.decode(target_ids, model.source_ids)
    assert answers.shape == (2, 3, len(model.vocabulary))
    assert answers[0, 1, down].item() == pytest.approx(math.log(0.75))
    assert answers[1, 1, END_ID].item() == 0
    assert torch.equal(answers[0, 0], answers[1, 0])


def test_greedy_search_follows_the_likeliest_words(model):
    (ids,) = greedy_search(model, model.source_ids)
    assert model.vocabulary.decode(ids) == ["up", "down"]


def test_beam_search_finds_the_most_probable_sentence(model):
    ((best,),) = beam_search(model, model.source_ids, width=3, alpha=0.0)
    # up down: 0.5 · 0.75 · 0.6 = 0.225; down: 0.3; nothing: 0.2
    assert model.vocabulary.decode(best.token_ids) == ["down"]
    assert best.log_probability == pytest.approx(math.log(0.3))


def test_what_is_drawn_is_possible(model):
    sources = model.source_ids.expand(50, 1)
    drawn = {tuple(model.vocabulary.decode(ids)) for ids in sample(model, sources, generator=0)}
    possible = {(), ("down",), ("up", "up"), ("up", "down"), ("up", "down", "up")}
    assert len(drawn) > 3 and drawn <= possible


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            {"": {"up": 0.5, "down": 0.4}},
            "table must give probabilities above 0 that sum to 1 after '', "
            "got {'up': 0.5, 'down': 0.4}",
        ),
        (
            {"": {"up": 1.5, "down": -0.5}},
            "table must give probabilities above 0 that sum to 1 after '', "
            "got {'up': 1.5, 'down': -0.5}",
        ),
        (
            {"": {"up": 1.0}, "down": {"up": 1.0}},
            "table must lead to each of its beginnings (all words so far), got 'down'",
        ),
        (
            {"": {"up": 1.0}, "up up": {"up": 1.0}},
            "table must lead to each of its beginnings (all words so far), got 'up up'",
        ),
        ({}, "table must say what comes first, under the empty text, got []"),
        (
            {"": {"up there": 1.0}},
            "table must have single words after '', got 'up there'",
        ),
        ({"": {7: 1.0}}, "table must have single words after '', got 7"),
        ({"": {"up": 1.0}, 7: {"up": 1.0}}, "table must have a text for each beginning, got 7"),
    ],
    ids=[
        *("below 1", "negative", "nothing leads", "one word missing", "empty", "two words"),
        *("a number as a word", "a number as a beginning"),
    ],
)
def test_a_table_that_is_no_language_is_refused(table, sentence):
    with pytest.raises(ValueError) as caught:
        TableModel(table)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("beginning", ["up ", " up", "up  down", "up\tdown", "up\n", " "], ids=repr)
def test_a_beginning_with_other_spaces_than_one_between_two_words_is_refused(beginning):
    with pytest.raises(ValueError) as caught:
        TableModel(TABLE | {beginning: {"up": 1.0}})
    assert str(caught.value) == (
        "table must have one space between the words of a beginning and none at its ends, "
        f"got {beginning!r}"
    )


@pytest.mark.parametrize("probability", ["0.5", None, float("nan")], ids=repr)
def test_what_is_no_probability_is_refused(probability):
    with pytest.raises((TypeError, ValueError), match="table must give"):
        TableModel({"": {"up": probability, "down": 0.5}})


def test_a_table_of_sentences_begins_with_the_most_probable_one():
    sentences = {"up": math.log(0.25), "down": math.log(0.5)}
    assert sentence_table(sentences, starred="up").splitlines() == [
        f"  {'down':15} p = 0.500   ln p = -0.69",
        f"* {'up':15} p = 0.250   ln p = -1.39",
    ]
