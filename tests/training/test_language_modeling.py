"""Language models learn, are judged by position, write, fill gaps; the stored row is complete."""

import math

import pytest
import torch
from torch import nn

from experiments import swaps
from experiments.swaps import SEEDS, configs, main
from transformer_edu.model.language_model import LanguageModel
from transformer_edu.model.vocabulary import END_ID, UNKNOWN_ID
from transformer_edu.training.data.running_text import everyday_text
from transformer_edu.training.language_modeling import (
    LENGTH,
    fill_gap,
    loss_by_position,
    masked_token_loss,
    next_token_loss,
    stored_swaps,
    train_language_model,
    write_sentence,
)


class Successor(nn.Module):
    """Is sure that after token i comes i + 1; the width of its table is the vocabulary."""

    def __init__(self, size):
        super().__init__()
        self.table = nn.Parameter(50.0 * torch.eye(size).roll(1, dims=1))
        self.given = []

    def forward(self, token_ids):
        self.given.append(token_ids)
        return self.table[token_ids]


@pytest.fixture(scope="module")
def text():
    return everyday_text(sentences=300, vocabulary_size=300)


def test_the_loss_compares_each_position_with_the_next_token():
    ids = torch.arange(4, 9).unsqueeze(0)
    assert next_token_loss(Successor(12), ids) < 1e-6
    assert next_token_loss(Successor(12), ids.flip(1)) > 10


def test_by_position_every_loss_has_its_place():
    text = torch.arange(12).repeat(9)
    losses = loss_by_position(Successor(12), text, length=5, pieces=3)
    assert losses.shape == (5,) and losses.max() < 1e-6
    class_of_none = Successor(12)
    class_of_none.table.data.zero_()
    expected = torch.full((5,), math.log(12))
    torch.testing.assert_close(loss_by_position(class_of_none, text, length=5, pieces=3), expected)


def test_hidden_tokens_are_not_shown_and_only_they_count():
    model, ids = Successor(12), torch.arange(4, 12).repeat(20).unsqueeze(0)
    torch.manual_seed(0)
    loss = masked_token_loss(model, ids)
    (given,) = model.given
    hidden = given == UNKNOWN_ID
    assert 0.1 < hidden.float().mean() < 0.5 and torch.equal(given[~hidden], ids[~hidden])
    assert loss > 10, "the successor of a gap's sign is no answer"


def test_training_lowers_the_loss_and_ends_in_evaluation_mode(text):
    torch.manual_seed(0)
    model = LanguageModel(configs(len(text.tokenizer))["no biases"])
    losses = train_language_model(model, text, steps=15)
    assert len(losses) == 15 and losses[-1] < losses[0] - 0.5
    assert not model.training
    torch.manual_seed(0)
    again = LanguageModel(configs(len(text.tokenizer))["no biases"])
    assert train_language_model(again, text, steps=15) == losses


def test_a_sentence_ends_with_the_end_token_or_at_its_limit(text):
    luck = torch.Generator().manual_seed(0)
    model = Successor(len(text.tokenizer))
    model.table.data = 50.0 * torch.eye(len(text.tokenizer))  # every token follows itself
    written = write_sentence(model, text.tokenizer, "I", luck=luck)
    assert written == " ".join(["I"] * LENGTH)
    model.table.data.zero_()
    model.table.data[:, END_ID] = 50.0
    assert write_sentence(model, text.tokenizer, "I", luck=luck) == "I"


def test_a_gap_is_asked_between_the_two_sides(text):
    model, encode = Successor(len(text.tokenizer)), text.tokenizer.encode
    best, *_ = fill_gap(model, text.tokenizer, "I am", "it.", count=2)
    (given,) = model.given
    assert given[0].tolist() == [END_ID, *encode("I am"), UNKNOWN_ID, *encode("it."), END_ID]
    assert best == text.tokenizer.decode([UNKNOWN_ID + 1])


def test_the_stored_row_belongs_to_the_models_of_the_command():
    text = everyday_text()
    models = configs(len(text.tokenizer))
    stored = stored_swaps()
    assert [swap.name for swap in stored] == list(models)
    for swap, config in zip(stored, models.values(), strict=True):
        count = sum(each.numel() for each in LanguageModel(config).parameters())
        assert (swap.parameters, swap.cache) == (count, 2 * 2 * config.groups * 16)
        assert len(swap.losses) == len(swap.by_range) == len(swap.tokens_per_second) == len(SEEDS)


@pytest.mark.slow
def test_the_command_stores_what_it_measures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(swaps, "SEEDS", (4, 5))
    monkeypatch.setattr(swaps, "PIECES", dict.fromkeys(swaps.PIECES, 4))
    assert main(["--steps", "1", "--file", str(tmp_path / "swaps.json")]) == 0
    stored = stored_swaps(tmp_path / "swaps.json")
    assert [swap.name for swap in stored] == [swap.name for swap in stored_swaps()]
    assert {len(set(swap.losses)) for swap in stored} == {2}
    printed = capsys.readouterr().out
    assert all(swap.name in printed and f"{swap.losses[0]:.4f}" in printed for swap in stored)
