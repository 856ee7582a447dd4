"""Words are looked up and scaled (§3.4); positions are the paper's sinusoids (§3.5)."""

import math

import pytest
import torch

from transformer_edu.model.embeddings import (
    PositionalEncoding,
    TokenEmbedding,
    sinusoidal_positions,
)

BATCH, POSITION, D_MODEL, VOCABULARY, MAX_LENGTH = 2, 3, 6, 11, 7
TOKEN_IDS = torch.tensor([[1, 10, 4], [0, 4, 2]])


@pytest.fixture
def embedding() -> TokenEmbedding:
    return TokenEmbedding(vocabulary_size=VOCABULARY, d_model=D_MODEL)


@pytest.fixture
def positions() -> PositionalEncoding:
    return PositionalEncoding(d_model=D_MODEL, max_length=MAX_LENGTH)


def test_a_word_is_its_row_of_the_table_times_root_d_model(embedding):
    vectors = embedding(TOKEN_IDS)
    assert vectors.shape == (BATCH, POSITION, D_MODEL)
    for row, position in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]:
        expected = embedding.table.weight[TOKEN_IDS[row, position]] * math.sqrt(D_MODEL)
        torch.testing.assert_close(vectors[row, position], expected)


def test_a_word_has_the_same_vector_wherever_it_stands(embedding):
    vectors = embedding(TOKEN_IDS)
    assert torch.equal(vectors[0, 2], vectors[1, 1])
    assert not torch.equal(vectors[0, 0], vectors[0, 1])


def test_the_table_starts_with_rows_of_length_one():
    table = TokenEmbedding(vocabulary_size=1000, d_model=64).table.weight.detach()
    assert abs(table.mean().item()) < 0.002
    assert table.norm(dim=-1).mean().item() == pytest.approx(1, abs=0.02)


def test_a_scaled_word_is_about_as_long_as_a_position():
    d_model = 64
    words = TokenEmbedding(vocabulary_size=50, d_model=d_model)(torch.arange(50).unsqueeze(0))
    lengths = sinusoidal_positions(50, d_model).norm(dim=-1)
    # d_model / 2 pairs, each of length one.
    torch.testing.assert_close(lengths, torch.full((50,), math.sqrt(d_model / 2)))
    ratio = words.norm(dim=-1).mean() / lengths.mean()
    assert 1 < ratio < 2


def test_only_the_words_that_occur_learn(embedding):
    embedding(TOKEN_IDS).sum().backward()
    learns = embedding.table.weight.grad.abs().sum(dim=-1) > 0
    assert set(learns.nonzero().flatten().tolist()) == set(TOKEN_IDS.flatten().tolist())


@pytest.mark.parametrize("d_model", [2, 6, 512])
def test_the_table_of_positions_is_the_papers_formula(d_model):
    table = sinusoidal_positions(5000, d_model)
    assert table.shape == (5000, d_model)
    for position in (0, 1, 2, 10, 137, 2500, 4999):
        for i in range(d_model // 2):
            angle = position / 10_000 ** (2 * i / d_model)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize("d_model", [2, 6])
def test_in_halves_all_sines_come_before_all_cosines(d_model):
    table = sinusoidal_positions(9, d_model)
    halves = sinusoidal_positions(9, d_model, order="halves")
    assert torch.equal(halves, torch.cat([table[:, 0::2], table[:, 1::2]], dim=-1))
    positions = PositionalEncoding(d_model=d_model, max_length=9, order="halves").double()
    assert torch.equal(positions.table.float(), halves)  # converted, it is computed again
    torch.testing.assert_close(positions(torch.zeros(1, 9, d_model))[0], halves)


def test_the_table_follows_the_default_type():
    torch.set_default_dtype(torch.float64)
    try:
        table = sinusoidal_positions(3, 4)
    finally:
        torch.set_default_dtype(torch.float32)
    assert table.dtype == torch.float64
    assert table[2, 2].item() == math.sin(2 / 100)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, int, float, "float32"])
def test_sines_are_rounded_to_floating_point_numbers_only(dtype):
    with pytest.raises(TypeError, match="dtype must be a floating-point type, got"):
        sinusoidal_positions(3, 4, dtype=dtype)


def test_positions_are_added_along_the_sequence_to_every_row_alike(positions):
    x = torch.randn(BATCH, POSITION, D_MODEL)
    added = positions(x) - x
    table = sinusoidal_positions(POSITION, D_MODEL)
    torch.testing.assert_close(added, table.expand(BATCH, POSITION, D_MODEL))


def test_an_offset_continues_a_prefix(positions):
    x = torch.randn(BATCH, MAX_LENGTH, D_MODEL)
    prefix, rest = x[:, :3], x[:, 3:]
    continued = torch.cat([positions(prefix), positions(rest, offset=3)], dim=1)
    assert torch.equal(continued, positions(x))


def test_the_longest_sequence_fills_the_table(positions):
    x = torch.zeros(BATCH, MAX_LENGTH, D_MODEL)
    torch.testing.assert_close(positions(x)[0], sinusoidal_positions(MAX_LENGTH, D_MODEL))
    last = positions(x[:, :1], offset=MAX_LENGTH - 1)[0, 0]
    torch.testing.assert_close(last, sinusoidal_positions(MAX_LENGTH, D_MODEL)[-1])


def test_positions_are_not_learned_and_not_saved(positions):
    assert list(positions.parameters()) == []
    assert positions.state_dict() == {}


def test_positions_move_with_the_model(positions):
    assert positions.to("meta").table.device.type == "meta"


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_positions_keep_the_type_of_what_they_are_added_to(positions, dtype):
    assert positions(torch.zeros(BATCH, POSITION, D_MODEL, dtype=dtype)).dtype == dtype


def test_what_is_given_is_left_as_it_was(embedding, positions):
    token_ids = TOKEN_IDS.clone()
    x = embedding(token_ids).detach()
    before = x.clone()
    positions(x)
    assert torch.equal(token_ids, TOKEN_IDS)
    assert torch.equal(x, before)
