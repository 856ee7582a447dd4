"""The tools for looking inside refuse bad input in one sentence, and let right input pass."""

import numpy as np
import pytest
import torch

from transformer_edu.teaching.inspect.refusals import (
    require_cells,
    require_floats,
    require_ids,
    require_lengths,
    require_map,
    require_pair,
    require_pairs,
    require_pieces,
    require_zero_to_one,
)

BATCH, HEADS, QUERY, KEY = 2, 3, 4, 5
EVEN = torch.full((BATCH, HEADS, QUERY, KEY), 1 / KEY)
CELLS = torch.ones(BATCH, QUERY, KEY, dtype=torch.bool)


def test_right_input_passes():
    require_pairs([([4, 5], [6]), [[7], []]])
    require_pair(([1], [2, 0]), ["a", "b", "c"])
    require_lengths("lengths", [1, 7])
    require_pieces([1, 0], [b" a", b"b"])
    for dtype in (torch.float32, torch.float16):
        require_cells(EVEN.to(dtype), CELLS)
    require_cells(EVEN.expand(6, -1, -1, -1, -1), CELLS)
    require_map("weights", np.eye(3, 5), axes=("query", "key"))
    require_ids("written", [])
    require_floats("shares", torch.ones(2, 3, dtype=torch.bfloat16))


@pytest.mark.parametrize("made", [torch.tensor, np.array], ids=["tensor", "array"])
def test_half_precision_may_overshoot_one_and_no_more(made):
    require_zero_to_one("shares", made([0.0, 1.0005]))
    for wrong in (1.002, -0.001, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="shares must be from 0 to 1, got"):
            require_zero_to_one("shares", made([0.5, wrong]))


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        (None, TypeError, "pairs must be a list of pairs, got NoneType"),
        (iter([([4], [5])]), TypeError, "pairs must be a list of pairs, got list_iterator"),
        ("ab", TypeError, "pairs must be a list of pairs, got str"),
        ([], ValueError, "pairs must hold at least one pair, got none"),
        ([([4], [5], [6])], TypeError, "pairs must hold pairs of source ids and target ids, got"),
        ([(4, [5])], TypeError, "pairs must hold pairs of source ids and target ids, got"),
        ([("ab", "cd")], TypeError, "pairs must hold pairs of source ids and target ids, got"),
        ([([4], [5.0])], TypeError, "ids in pairs must be a whole number, got 5.0"),
        ([([-4], [5])], ValueError, "ids in pairs must be at least 0, got -4"),
    ],
    ids=["none", "iterator", "text", "empty", "triple", "id", "texts", "half", "negative"],
)
def test_what_are_no_pairs_is_refused(pairs, error, message):
    with pytest.raises(error, match=message):
        require_pairs(pairs)


@pytest.mark.parametrize(
    ("pair", "tokens", "error", "message"),
    [
        (None, ["a"], TypeError, "pair must be source ids and target ids, got None"),
        (([0],), ["a"], TypeError, "pair must be source ids and target ids"),
        (([0], [0]), "a", TypeError, "tokens must be the token of every id, got str"),
        (([], [0]), ["a"], ValueError, "pair must have a source of at least one token"),
        (([0], [1]), ["a"], ValueError, "pair must hold ids below 1, got 1"),
        (([0], [-1]), ["a"], ValueError, "pair must be at least 0, got -1"),
    ],
    ids=["none", "one side", "text", "empty", "above", "below"],
)
def test_what_is_no_pair_with_tokens_is_refused(pair, tokens, error, message):
    with pytest.raises(error, match=message):
        require_pair(pair, tokens)


@pytest.mark.parametrize(
    ("lengths", "error", "message"),
    [
        (3, TypeError, "key_lengths must be a list of lengths, got 3"),
        (None, TypeError, "key_lengths must be a list of lengths, got None"),
        ([2.5], TypeError, "key_lengths must be a whole number, got 2.5"),
        ([4, -3], ValueError, "key_lengths must be at least 1, got -3"),
        ([0], ValueError, "key_lengths must be at least 1, got 0"),
    ],
    ids=["number", "none", "half", "negative", "zero"],
)
def test_what_are_no_lengths_is_refused(lengths, error, message):
    with pytest.raises(error, match=message):
        require_lengths("key_lengths", lengths)


@pytest.mark.parametrize(
    ("token_ids", "pieces", "error", "message"),
    [
        ([-1], [b"a"], ValueError, "token_ids must be at least 0, got -1"),
        ([1], [b"a"], ValueError, "token_ids must be below 1, got 1"),
        ([0.0], [b"a"], TypeError, "token_ids must be a whole number, got 0.0"),
        (None, [b"a"], TypeError, "token_ids must be a list of token ids, got None"),
        ([0], None, TypeError, "pieces must be the bytes of every token, got NoneType"),
        ([0], ["a"], TypeError, "pieces must be the bytes of every token, got 'a'"),
    ],
    ids=["negative", "above", "float", "no ids", "no pieces", "texts"],
)
def test_ids_without_pieces_are_refused(token_ids, pieces, error, message):
    with pytest.raises(error, match=message):
        require_pieces(token_ids, pieces)


@pytest.mark.parametrize(
    ("weights", "cells", "error", "message"),
    [
        (None, CELLS, TypeError, "weights must be a tensor of floating-point .* got NoneType"),
        (EVEN.tolist(), CELLS, TypeError, "weights must be a tensor of floating-point .* got list"),
        (EVEN.long(), CELLS, TypeError, "weights must be a tensor .* got torch.int64"),
        (EVEN * float("nan"), CELLS, ValueError, "weights must be from 0 to 1, got nan"),
        (EVEN * 35, CELLS, ValueError, "weights must be from 0 to 1, got 7.0"),
        (-EVEN, CELLS, ValueError, "weights must be from 0 to 1, got -0.2"),
        (EVEN, CELLS.float(), TypeError, "cells must be a boolean tensor, .* got torch.float32"),
        (EVEN, None, TypeError, "cells must be a boolean tensor, .* got NoneType"),
        (EVEN, CELLS.mT, ValueError, r"cells must have the \(batch, query, key\) of weights"),
        (EVEN, CELLS[:1], ValueError, r"cells must have the .* got \(1, 4, 5\)"),
        (EVEN[0], CELLS, ValueError, r"cells must have the .* of weights \(3, 4, 5\), got"),
        (EVEN[0, 0], CELLS[0], ValueError, r"cells must have the .* of weights \(4, 5\), got"),
    ],
    ids=[
        "none",
        "list",
        "whole",
        "nan",
        "seven",
        "negative",
        "numbers",
        "nothing",
        "turned",
        "other batch",
        "no batch",
        "one head",
    ],
)
def test_what_is_no_attention_with_cells_is_refused(weights, cells, error, message):
    with pytest.raises(error, match=message):
        require_cells(weights, cells)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (None, TypeError, "weights must be an array of floating-point numbers, got NoneType"),
        (np.eye(3, dtype=int), TypeError, "weights must be an array .* got int64"),
        (np.ones(3), ValueError, r"weights must have shape \(query, key\) .* got \(3,\)"),
        (np.ones((0, 3)), ValueError, r"weights must have shape \(query, key\) .* got \(0, 3\)"),
        (np.full((2, 3), np.nan), ValueError, "weights must be from 0 to 1, got nan"),
        (np.full((2, 3), 7.0), ValueError, "weights must be from 0 to 1, got 7.0"),
    ],
    ids=["none", "whole", "one axis", "empty", "nan", "seven"],
)
def test_what_is_no_map_is_refused(weights, error, message):
    with pytest.raises(error, match=message):
        require_map("weights", weights, axes=("query", "key"))
