"""A running text is the same every time; language models learn from it, write and fill gaps."""

import json
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from experiments import swaps
from experiments.swaps import MODELS, SEEDS, main
from transformer_course.from_2017_to_today import language_modeling
from transformer_course.from_2017_to_today.language_modeling import (
    LEARNING_RATE,
    LENGTH,
    WARM_UP,
    Swap,
    Training,
    everyday_text,
    fill_gap,
    loss_by_position,
    masked_token_loss,
    next_token_loss,
    stored_swaps,
    train_language_model,
    windows,
    write_sentence,
)
from transformer_edu.model.special_ids import END_ID, UNKNOWN_ID


def sentences(text, ids):
    ends = (ids == END_ID).nonzero().flatten().tolist()
    parts = [ids[a + 1 : b] for a, b in zip([-1, *ends], ends, strict=False)]
    return [text.tokenizer.decode(part.tolist()) for part in parts]


def test_no_held_out_sentence_is_in_the_training_part_and_all_are_sentences():
    text = everyday_text(sentences=300, vocabulary_size=300)
    train, held_out = sentences(text, text.train), sentences(text, text.validation)
    assert (len(train), len(held_out)) == (270, 30)
    assert not set(train) & set(held_out) and len(set(train)) == 270
    assert all(each[-1] in ".!?" for each in train + held_out)
    assert len(text.tokenizer) == 300
    everyday_text.cache_clear()
    assert torch.equal(everyday_text(sentences=300, vocabulary_size=300).train, text.train)


def test_windows_are_pieces_of_the_text_by_seed():
    ids = torch.arange(50)
    batches = list(windows(ids, length=7, batch_size=5, steps=3, seed=1))
    assert [tuple(each.shape) for each in batches] == [(5, 7)] * 3
    for batch in batches:
        assert torch.equal(batch - batch[:, :1], torch.arange(7).expand(5, 7))
    assert not torch.equal(batches[0], batches[1])
    again = windows(ids, length=7, batch_size=5, steps=3, seed=1)
    assert all(map(torch.equal, batches, again))


def test_windows_reach_the_first_token_and_the_last():
    (batch,) = windows(torch.arange(8), length=7, batch_size=50, steps=1, seed=0)
    assert set(batch[:, 0].tolist()) == {0, 1}


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


def test_the_rate_rises_from_its_first_step_and_then_falls_to_0(text):
    model, steps = nn.Linear(1, 1, bias=False).double(), 2 * WARM_UP
    weights = train_language_model(
        model, text, loss_of=lambda model, batch: model.weight.sum(), steps=steps
    )
    rates = -torch.tensor(weights).diff() / LEARNING_RATE  # Adam's steps, where nothing changes
    assert rates[0] == pytest.approx(1 / WARM_UP, rel=1e-3)
    top = int(rates.argmax())
    torch.testing.assert_close(
        rates[:top].diff(), torch.full((top - 1,), 1 / WARM_UP), rtol=0.01, atol=1e-5
    )
    falling = rates[top:].diff()
    torch.testing.assert_close(falling, torch.full_like(falling, -1 / steps), rtol=0.01, atol=1e-5)
    assert rates[-1] == pytest.approx(2 / steps, rel=1e-2)  # of the step before the last


def test_every_step_follows_its_own_gradient_alone(text):
    model = nn.Linear(1, 1, bias=False)
    train_language_model(
        model, text, loss_of=lambda model, batch: 0.1 * model.weight.sum(), steps=3
    )
    assert model.weight.grad.item() == pytest.approx(0.1)


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


def test_the_loss_of_hidden_tokens_is_their_mean():
    model, ids = Successor(12), torch.arange(4, 12).repeat(20).unsqueeze(0)
    torch.manual_seed(0)
    loss = masked_token_loss(model, ids)
    hidden = model.given[0] == UNKNOWN_ID
    expected = F.cross_entropy(model.table[model.given[0]][hidden], ids[hidden])
    torch.testing.assert_close(loss, expected)


def test_where_no_token_is_hidden_the_loss_is_0_and_changes_nothing(monkeypatch):
    monkeypatch.setattr(language_modeling, "HIDDEN", 0.0)
    model = Successor(12)
    loss = masked_token_loss(model, torch.arange(4, 12).unsqueeze(0))
    loss.backward()
    assert loss == 0 and not model.table.grad.any()


def test_a_model_in_training_mode_writes_and_fills_gaps_without_dropout(text):
    class Dropping(Successor):
        def forward(self, token_ids):
            return F.dropout(super().forward(token_ids), 1.0, self.training)

    model, plain = (kind(len(text.tokenizer)) for kind in (Dropping, Successor))
    model.train()
    asked = [text.tokenizer, "I am", "it."]
    assert fill_gap(model, *asked) == fill_gap(plain, *asked)
    written = (
        write_sentence(each, text.tokenizer, "I", luck=torch.Generator().manual_seed(0))
        for each in (model, plain)
    )
    assert len(set(written)) == 1 and model.training


def test_training_lowers_the_loss_and_ends_in_evaluation_mode(text):
    torch.manual_seed(0)
    model = swaps.build("the four swaps of section 4", len(text.tokenizer))
    losses = train_language_model(model, text, steps=15)
    assert len(losses) == 15 and losses[-1] < losses[0] - 0.5
    assert not model.training
    torch.manual_seed(0)
    again = swaps.build("the four swaps of section 4", len(text.tokenizer))
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


def test_a_word_that_two_tokens_spell_fills_a_gap_once(text):
    decode, size = text.tokenizer.decode, len(text.tokenizer)
    spelt = [decode([token_id]) for token_id in range(size)]
    (word, *_) = (each for each in spelt if each and spelt.count(each) == 2)
    twice = [i for i in range(size) if spelt[i] == word]
    model = Successor(size)
    model.table.data.zero_()
    model.table.data[:, twice] = 50.0
    best = fill_gap(model, text.tokenizer, "I am", "it.", count=3)
    assert best[0] == word and len(set(best)) == 3


def test_the_stored_trainings_are_those_of_the_command_and_none_is_missing():
    size = len(everyday_text().tokenizer)
    stored = stored_swaps()
    assert [(swap.model.name, swap.model.after) for swap in stored] == [
        (name, after) for name, (after, _) in MODELS.items()
    ]
    lost = list(swaps.missing(swaps.stored_trainings()))
    assert not lost, f"run python -m experiments.swaps, which trains {lost}"
    for swap in stored:
        model = swaps.build(swap.model.name, size)
        count = sum(each.numel() for each in model.parameters())
        cache = 2 * 2 * model.config.groups * 16
        assert {(each.parameters, each.cache) for each in swap.trainings} == {(count, cache)}
        assert len(swap.losses(swap.best)) == len(SEEDS)


def test_the_best_rate_of_every_model_lies_between_others():
    assert {swap.best for swap in stored_swaps()} <= set(swaps.RATES[1:-1])


def test_what_no_switch_says_is_built_in():
    torch.manual_seed(0)
    ids = torch.tensor([[3, 4, 5, 6], [5, 4, 3, 6]])
    blind, rotary, bare = (
        swaps.build(name, 9) for name in ("no positions", "rotary positions", "no factor √d_model")
    )
    seen = blind.layers[0].self_attention(blind.positions(blind.embedding(ids)), mask=None)
    torch.testing.assert_close(seen[0, 3], seen[1, 3])  # the same tokens in another order
    factor = rotary.embedding(ids) / rotary.embedding.table.weight[ids]
    torch.testing.assert_close(factor, torch.full_like(factor, 8.0))
    torch.testing.assert_close(bare.embedding(ids), bare.embedding.weight[ids])


def test_a_rate_is_chosen_with_the_first_seed():
    by_range, sizes = (1.0,), {"parameters": 1, "cache": 1, "name": "a", "after": None}
    rows = [(0.1, 0, 2.0), (0.2, 0, 1.9), (0.1, 1, 1.0), (0.1, 2, 1.0)]
    trainings = (
        Training(**sizes, rate=rate, seed=seed, loss=loss, by_range=by_range)
        for rate, seed, loss in rows
    )
    assert Swap(tuple(trainings)).best == 0.2


@pytest.mark.slow
def test_the_command_stores_what_it_measures_and_continues(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(swaps, "SEEDS", (4, 5))
    monkeypatch.setattr(swaps, "RATES", (0.004, 0.008))
    monkeypatch.setattr(swaps, "PIECES", dict.fromkeys(swaps.PIECES, 4))
    file = tmp_path / "swaps.json"
    assert main(["--steps", "1", "--file", str(file)]) == 0
    assert [swap.model.name for swap in stored_swaps(file)] == list(MODELS)
    first = swaps.stored_trainings(file)
    file.write_text(json.dumps(json.loads(file.read_text("utf-8"))[1:]), encoding="utf-8")
    assert main(["--steps", "1", "--file", str(file)]) == 0
    assert swaps.stored_trainings(file) == first
    printed = capsys.readouterr().out
    every = (loss for swap in stored_swaps(file) for loss in swap.losses(0.004))
    assert all(f"{loss:.4f}" in printed for loss in every)
