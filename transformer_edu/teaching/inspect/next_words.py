"""What a translator's decoder expects next, given the source and the beginning of a target.

Used in notebooks/08_decoder.ipynb.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator
from transformer_edu.model.vocabulary import END_ID, START_ID

WORD_START = "▁"  # how Tokenizer.tokens writes the space before a word
MARKS = {START_ID: "<s>", END_ID: "</s>"}


def token_words(translator: Translator, token_ids: Sequence[int]) -> list[str]:
    """The tokens of ids as a reader writes them; ``<s>`` starts a target and ``</s>`` ends it.

    A space before a word is not written; a token that is only a space is ``▁``.

    Args:
        translator: Its tokenizer is the package's.
        token_ids: Of one sentence.
    """
    names = translator.tokenizer.tokens(token_ids)
    return [
        MARKS.get(token_id, name.removeprefix(WORD_START) or WORD_START)
        for token_id, name in zip(token_ids, names, strict=True)
    ]


def next_word(translator: Translator, source: str, beginning: str) -> dict[str, float]:
    """The probabilities of the tokens that are likeliest to follow, the likeliest first.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
        beginning: The words that are written already, as whole words.
    """
    model, tokenizer = translator.model, translator.tokenizer
    device = next(model.parameters()).device
    source_ids, target_ids = (
        torch.tensor([ids], device=device)
        for ids in (tokenizer.encode(source), [START_ID, *tokenizer.encode(beginning)])
    )
    with evaluation_mode(model):
        probabilities: Tensor = model(source_ids, target_ids)[0, -1].softmax(dim=-1)
    best = probabilities.topk(4)
    return dict(
        zip(token_words(translator, best.indices.tolist()), best.values.tolist(), strict=True)
    )
