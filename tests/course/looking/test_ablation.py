"""A head that is switched off adds nothing."""

import copy

import pytest
import torch
from torch import nn

from tests.model_to_ablate import (
    CROSS,
    D_HEAD,
    HEADS,
    NAMES,
    model_to_ablate,
    source_and_target,
)
from transformer_course.looking.ablation import every_head, heads_switched_off
from transformer_course.texts.sentences import AGREEMENT
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.transformer import Transformer


@pytest.fixture(params=[False, True], ids=["post-norm", "pre-norm"])
def model(request) -> Transformer:
    return model_to_ablate(norm_first=request.param)


@pytest.fixture
def ids() -> tuple[torch.Tensor, torch.Tensor]:
    return source_and_target()


def test_every_head_is_named_in_the_order_of_the_layers(model):
    assert every_head(model) == [(name, head + 1) for name in NAMES for head in range(HEADS)]
    assert every_head(model, CROSS) == [(CROSS, 1), (CROSS, 2), (CROSS, 3), (CROSS, 4)]
    attention = MultiHeadAttention(d_model=4, num_heads=2)
    longer = nn.ModuleDict({"a": attention, "ab": copy.deepcopy(attention)})
    assert every_head(longer, "a") == [("a", 1), ("a", 2)]


def test_a_head_switched_off_is_a_block_of_zero_columns_in_its_output_projection(model, ids):
    twin = copy.deepcopy(model)
    columns = slice(1 * D_HEAD, 2 * D_HEAD)
    twin.decoder.layers[1].cross_attention.output_projection.weight.data[:, columns] = 0
    with heads_switched_off(model, {(CROSS, 2)}):
        without = model(*ids)
    torch.testing.assert_close(without, twin(*ids))
    assert not torch.allclose(without, model(*ids))


def test_blocks_inside_one_another_add_up(model, ids):
    with heads_switched_off(model, {(CROSS, 1), (CROSS, 2)}):
        at_once = model(*ids)
    with heads_switched_off(model, {(CROSS, 1)}), heads_switched_off(model, {(CROSS, 2)}):
        one_by_one = model(*ids)
    torch.testing.assert_close(one_by_one, at_once)


def test_what_is_switched_off_gets_no_gradient_and_the_rest_does(model, ids):
    with heads_switched_off(model, {(CROSS, 2)}):
        model(*ids).sum().backward()
    gradient = model.decoder.layers[1].cross_attention.value_projection.weight.grad
    assert (gradient[D_HEAD : 2 * D_HEAD] == 0).all()
    assert (gradient[:D_HEAD] != 0).any()


@pytest.mark.parametrize("heads", [{CROSS: 2}, [CROSS], [(CROSS, 1, 2)]])
def test_heads_that_are_no_pairs_are_refused(model, heads):
    wanted = "heads must hold pairs of a name and a number, got"
    with pytest.raises(TypeError, match=wanted), heads_switched_off(model, heads):
        pass


def test_a_model_without_attention_is_refused():
    with pytest.raises(TypeError, match="model must be a torch.nn.Module, got str"):
        every_head("model")
    with pytest.raises(ValueError, match="model must hold a MultiHeadAttention, got Linear"):
        every_head(nn.Linear(2, 3))


def test_the_two_translations_of_a_contrast_differ_in_one_word_and_kinds_are_balanced():
    assert {kind: len(rows) for kind, rows in AGREEMENT.items()} == {"gender": 24, "number": 24}
    for rows in AGREEMENT.values():
        for one, other in zip(rows[::2], rows[1::2], strict=True):
            changes = []
            for _, right, wrong in (one, other):
                pairs = list(zip(right.split(), wrong.split(), strict=True))
                changes.append([pair for pair in pairs if len({*pair}) > 1])
            (first,), (second,) = changes
            assert first == second[::-1], "the two must exchange right and wrong"
