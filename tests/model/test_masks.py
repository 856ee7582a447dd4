"""Masks have exactly the cells that they should, and True means *may attend*."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_edu.model.masks import causal_mask, padding_mask, target_mask
from transformer_edu.model.special_ids import PADDING_ID, START_ID

BATCH, LENGTH = 2, 5
TOKEN_IDS = torch.tensor([[START_ID, 7, 8, 9, 6], [START_ID, 7, 8, PADDING_ID, PADDING_ID]])


def test_the_padding_mask_is_true_exactly_at_the_real_tokens():
    mask = padding_mask(TOKEN_IDS)
    assert mask.shape == (BATCH, 1, 1, LENGTH)
    assert mask.dtype == torch.bool
    expected = [[token != PADDING_ID for token in row] for row in TOKEN_IDS.tolist()]
    assert mask.flatten(1).tolist() == expected


def test_another_id_may_be_the_padding():
    assert (
        padding_mask(TOKEN_IDS, padding_id=7).flatten(1).tolist()
        == [[True, False, True, True, True]] * 2
    )
    # With 7 for padding, id 0 is a token like any other.
    assert target_mask(TOKEN_IDS, padding_id=7)[1, 0, -1].tolist() == [
        True,
        False,
        True,
        True,
        True,
    ]


def test_the_causal_mask_shows_every_query_itself_and_the_past():
    mask = causal_mask(LENGTH)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[key <= query for key in range(LENGTH)] for query in range(LENGTH)]


def test_the_target_mask_hides_padding_and_the_future_and_nothing_else():
    mask = target_mask(TOKEN_IDS)
    assert mask.shape == (BATCH, 1, LENGTH, LENGTH)
    for row, token_ids in enumerate(TOKEN_IDS.tolist()):
        for query in range(LENGTH):
            for key in range(LENGTH):
                may = key <= query and token_ids[key] != PADDING_ID
                assert mask[row, 0, query, key].item() == may


def test_a_target_may_start_with_padding_if_that_is_its_start_token():
    token_ids = torch.tensor([[7, 5, 6, 7], [7, 5, 7, 7]])
    mask = target_mask(token_ids, padding_id=7, start_id=7)
    real = torch.tensor([[True, True, True, False], [True, True, False, False]])
    assert torch.equal(mask, real[:, None, None] & causal_mask(4))
    assert not target_mask(token_ids, padding_id=7, start_id=1)[..., 0].any()


def test_padding_hides_keys_and_never_silences_a_query():
    assert target_mask(TOKEN_IDS).any(dim=-1).all()


def test_masks_combine_with_and():
    combined = padding_mask(TOKEN_IDS) & causal_mask(LENGTH)
    assert torch.equal(combined, target_mask(TOKEN_IDS))


def test_the_mask_is_made_where_it_is_needed():
    assert causal_mask(LENGTH, device="meta").device.type == "meta"
    assert target_mask(TOKEN_IDS.to("meta")).device.type == "meta"


def test_true_means_what_it_means_to_pytorchs_function():
    # One key may be attended to, so its value comes back whole.
    value = torch.randn(BATCH, LENGTH, 3)
    only_third = torch.arange(LENGTH) == 2
    output = F.scaled_dot_product_attention(value, value, value, attn_mask=only_third[None])
    torch.testing.assert_close(output, value[:, 2:3].expand(BATCH, LENGTH, 3))


def test_true_means_the_opposite_to_pytorchs_modules():
    pytorch = nn.Transformer.generate_square_subsequent_mask(LENGTH)  # -inf where hidden
    assert torch.equal(causal_mask(LENGTH), pytorch == 0)
    hidden = ~causal_mask(LENGTH)
    x = torch.randn(BATCH, LENGTH, 4)
    _, weights = nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x, attn_mask=hidden)
    assert (weights[:, hidden] == 0).all()
    assert (weights[:, causal_mask(LENGTH)] > 0).all()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_token_ids_are_left_as_they_are(dtype):
    token_ids = TOKEN_IDS.to(dtype)
    before = token_ids.clone()
    target_mask(token_ids)
    assert torch.equal(token_ids, before)


def test_the_last_queries_have_the_last_rows_of_the_mask():
    assert torch.equal(causal_mask(5, queries=2), causal_mask(5)[-2:])


def test_more_queries_than_positions_are_refused():
    with pytest.raises(ValueError, match="queries must be at most 3, got 4"):
        causal_mask(3, queries=4)
    with pytest.raises(ValueError, match="queries must be at least 1, got 0"):
        causal_mask(3, queries=0)
