"""Other positions for the words of a source."""

import pytest
import torch

from transformer_course.positional_encoding.position_scores import (
    read_at,
    source_positions,
)
from transformer_edu.model.transformer import Transformer, TransformerConfig

SOURCE, TARGET = torch.tensor([[5, 6, 7, 8, 2]]), torch.tensor([[1, 9, 10]])
ORDER = [3, 0, 2, 1, 4]  # the first word is at position 3


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20}
    return Transformer(TransformerConfig(vocabulary_size=20, **sizes)).eval()


def logits(model: Transformer, source_ids: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model(source_ids, TARGET)


def test_words_at_other_positions_are_the_sentence_in_that_order(model):
    reordered = torch.empty_like(SOURCE)
    reordered[:, ORDER] = SOURCE
    expected = logits(model, reordered)
    with source_positions(model, ORDER):
        torch.testing.assert_close(logits(model, SOURCE), expected)
    assert not torch.allclose(logits(model, SOURCE), expected)


def test_without_positions_every_order_is_the_same(model):
    with source_positions(model, None):
        torch.testing.assert_close(logits(model, SOURCE), logits(model, SOURCE[:, ORDER]))


def test_the_usual_positions_change_nothing_and_the_model_stays_as_it_was(model):
    before = logits(model, SOURCE)
    with source_positions(model, range(5)):
        torch.testing.assert_close(logits(model, SOURCE), before)
    with source_positions(model, None):
        assert not torch.allclose(logits(model, SOURCE), before)
    assert torch.equal(logits(model, SOURCE), before)


def test_a_position_for_each_token_is_needed(model):
    with (
        source_positions(model, range(4)),
        pytest.raises(ValueError, match="one for each of 5 tokens, got 4"),
    ):
        logits(model, SOURCE)


@pytest.mark.parametrize("wrong", [-1, 5000])
def test_a_position_that_the_table_does_not_have_is_refused(model, wrong):
    with (
        source_positions(model, [wrong, 1, 2, 3, 4]),
        pytest.raises(ValueError, match=f"a position must be at (least|most) .*, got {wrong:,}"),
    ):
        logits(model, SOURCE)


def test_a_reading_has_the_words_their_positions_and_the_translation(translator):
    text = "A man is playing the guitar."
    usual = read_at(translator, text)
    assert usual.words == ["A", "man", "is", "playing", "the", "guitar", "."]
    assert usual.positions == [0, 1, 2, 3, 4, 5, 6]
    assert usual.translation == translator.translate(text)
    order = [6, 5, 4, 3, 2, 1, 0]
    assert read_at(translator, text, order).positions == order
    assert read_at(translator, text, None).positions is None


def test_half_a_position_is_refused(translator):
    with pytest.raises(TypeError, match=r"a position must be a whole number, got 0\.5"):
        read_at(translator, "dog", [0.5] * len(read_at(translator, "dog").words))
