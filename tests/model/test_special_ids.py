"""The special tokens have one id each, the first ones of every vocabulary."""

from transformer_edu.model import special_ids as vocabulary
from transformer_edu.model.masks import padding_mask
from transformer_edu.model.transformer import TransformerConfig

IDS = [
    vocabulary.PADDING_ID,
    vocabulary.START_ID,
    vocabulary.END_ID,
    vocabulary.UNKNOWN_ID,
]


def test_special_tokens_take_the_first_ids_in_the_order_of_their_names():
    assert list(range(len(vocabulary.SPECIAL_TOKENS))) == IDS
    assert len(set(vocabulary.SPECIAL_TOKENS)) == len(IDS)


def test_masks_and_model_agree_on_what_padding_is():
    assert padding_mask.__kwdefaults__["padding_id"] == vocabulary.PADDING_ID
    assert TransformerConfig().padding_id == vocabulary.PADDING_ID
