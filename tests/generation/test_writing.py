"""What is asked of beam search and sampling is checked before anything is written."""

import pytest
import torch
from torch import nn

from tests.generation.test_greedy import SOURCES, VOCABULARY, padded, transformer
from transformer_edu.generation.writing import Writing
from transformer_edu.model.vocabulary import END_ID, PADDING_ID, START_ID


def test_each_source_begins_a_target_with_a_limit_of_its_own():
    writing = Writing(transformer(0).eval(), padded(SOURCES))
    assert writing.limits == [len(source) + 50 for source in SOURCES]
    assert writing.target.written.tolist() == [[START_ID]] * len(SOURCES)
    assert writing.target.next_logits().shape == (len(SOURCES), VOCABULARY)


def test_the_request_is_followed():
    writing = Writing(
        transformer(0).eval(), padded(SOURCES), max_length=7, start_id=5, end_id=6, cached=False
    )
    assert writing.limits == [7, 7, 7]
    assert writing.target.written.tolist() == [[5]] * len(SOURCES)
    assert (writing.end_id, writing.target.cache) == (6, None)


def test_a_row_is_read_up_to_its_end_without_start_and_padding():
    writing = Writing(transformer(0).eval(), padded(SOURCES))
    assert writing.read([START_ID, 7, PADDING_ID, 8, START_ID, END_ID, 9]) == [7, 8]
    assert writing.read([START_ID, 7, 8]) == [7, 8]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"source_ids": [[4, 5]]}, TypeError, "source_ids must be a tensor of token ids, got list"),
        ({"source_ids": torch.empty(0, 3, dtype=torch.long)}, ValueError, "with no empty axis"),
        (
            {"source_ids": padded([[4, 5], [PADDING_ID]])},
            ValueError,
            "source_ids must hold a real token in every row, got none in row 1",
        ),
        ({"source_ids": padded([[VOCABULARY]])}, ValueError, "from 0 to 10, got 11"),
        ({"max_length": 0}, ValueError, "max_length must be at least 1, got 0"),
        ({"max_length": -3}, ValueError, "max_length must be at least 1, got -3"),
        ({"max_length": 2.5}, TypeError, "max_length must be a whole number, got 2.5"),
        ({"max_length": 65}, ValueError, r"at most 64 \(the model's max_length\), got 65"),
        ({"start_id": END_ID}, ValueError, "three different ids, got 2, 2 and 0"),
        ({"end_id": -1}, ValueError, "end_id must be at least 0, got -1"),
        ({"end_id": VOCABULARY}, ValueError, "end_id must be from 0 to 10, got 11"),
        ({"start_id": VOCABULARY}, ValueError, "start_id must be from 0 to 10, got 11"),
        ({"cached": 1}, TypeError, "cached must be True or False, got 1"),
        ({"model": nn.Linear(2, 2)}, TypeError, "must have the method source_mask, got Linear"),
        ({"min_length": 3}, TypeError, "unexpected keyword argument 'min_length'"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(changes, error, message):
    arguments = {"model": transformer(0), "source_ids": padded(SOURCES)} | changes
    with pytest.raises(error, match=message):
        Writing(arguments.pop("model"), arguments.pop("source_ids"), **arguments)
