"""What may be asked of a model that writes, and what is left of what it wrote."""

from types import SimpleNamespace

import pytest
import torch

from transformer_edu.generation.requests import (
    EXTRA_LENGTH,
    LARGEST_WIDTH,
    length_limits,
    padding_id_of,
    require_model,
    require_tokens,
    require_width,
    strip,
    vocabulary_size_of,
)
from transformer_edu.model.masks import padding_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig

SIZES = {"d_model": 4, "num_heads": 2, "num_layers": 1, "d_ff": 6}
MASK = padding_mask(torch.tensor([[4, 5, 6], [4, 0, 0]]))


def model_with(max_length: int | None) -> SimpleNamespace:
    return SimpleNamespace(config=SimpleNamespace(max_length=max_length))


def test_a_row_may_have_fifty_tokens_more_than_its_source_and_never_more_than_the_model():
    assert EXTRA_LENGTH == 50
    assert length_limits(SimpleNamespace(), MASK, None).tolist() == [53, 51]
    assert length_limits(model_with(52), MASK, None).tolist() == [52, 51]
    assert length_limits(model_with(52), MASK, 7).tolist() == [7, 7]


@pytest.mark.parametrize(
    ("max_length", "error", "sentence"),
    [
        (0, ValueError, "max_length must be at least 1, got 0"),
        (-3, ValueError, "max_length must be at least 1, got -3"),
        (2.5, TypeError, "max_length must be a whole number, got 2.5"),
        (True, TypeError, "max_length must be a whole number, got True"),
        (10, ValueError, "max_length must be at most 9 (the model's max_length), got 10"),
    ],
)
def test_another_limit_is_refused(max_length, error, sentence):
    with pytest.raises(error) as caught:
        length_limits(model_with(9), MASK, max_length)
    assert str(caught.value) == sentence


def test_a_beam_is_as_wide_as_somebody_can_wait_for():
    require_width("width", 1)
    require_width("width", LARGEST_WIDTH)
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        require_width("width", 0)
    with pytest.raises(ValueError, match="beam must be at most 1,000, got 1001"):
        require_width("beam", LARGEST_WIDTH + 1)
    with pytest.raises(TypeError, match="width must be a whole number, got 2.5"):
        require_width("width", 2.5)


def test_a_source_of_padding_only_is_refused_by_its_row():
    mask = padding_mask(torch.tensor([[4, 5], [0, 0]]))
    with pytest.raises(ValueError, match="must hold a real token in every row, got none in row 1"):
        length_limits(model_with(9), mask, None)


def test_start_end_and_padding_are_three_different_ids():
    require_tokens(1, 2, 0)
    for ids in ((1, 1, 0), (0, 2, 0), (1, 0, 0)):
        with pytest.raises(ValueError, match="must be three different ids"):
            require_tokens(*ids)
    with pytest.raises(TypeError, match="end_id must be a whole number, got '2'"):
        require_tokens(1, "2", 0)
    with pytest.raises(ValueError, match="start_id must be at least 0, got -1"):
        require_tokens(-1, 2, 0)


def test_start_and_end_are_tokens_that_the_model_knows():
    config = TransformerConfig(vocabulary_size=9, target_vocabulary_size=7, **SIZES)
    known = vocabulary_size_of(Transformer(config))
    assert known == 7  # those that it can write
    require_tokens(5, 6, 0, known)
    with pytest.raises(ValueError, match="end_id must be from 0 to 6, got 7"):
        require_tokens(1, 7, 0, known)
    with pytest.raises(ValueError, match="start_id must be from 0 to 6, got 7"):
        require_tokens(7, 2, 0, known)
    assert vocabulary_size_of(torch.nn.Linear(2, 2)) is None
    require_tokens(1, 7, 0)


def test_a_model_must_read_and_write_in_two_steps():
    require_model(Transformer(TransformerConfig(vocabulary_size=9, **SIZES)))
    with pytest.raises(TypeError, match="model must have the method source_mask, got Linear"):
        require_model(torch.nn.Linear(2, 2))


def test_padding_is_what_the_models_config_says():
    config = TransformerConfig(vocabulary_size=9, padding_id=3, **SIZES)
    assert padding_id_of(Transformer(config)) == 3
    assert padding_id_of(torch.nn.Linear(2, 2)) == 0


def test_what_is_written_ends_before_the_end_token_and_holds_no_dropped_ones():
    assert strip([1, 5, 0, 6, 2, 7], 2, (1, 0)) == [5, 6]
    assert strip([1, 5, 7], 2, (1, 0)) == [5, 7]
