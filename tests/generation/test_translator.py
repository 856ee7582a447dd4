"""A translator gives back what the model writes, text by text."""

import pytest
import torch

from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.translator import Translator, write_all
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.model.vocabulary import UNKNOWN_ID

SIZES = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 24, "max_length": 12}


class Letters:
    """A tokenizer of letters: a is 4, b is 5, …"""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) - ord("a") + 4 for letter in text]

    def decode(self, token_ids) -> str:
        return "".join(chr(token_id - 4 + ord("a")) for token_id in token_ids if token_id >= 4)


@pytest.fixture
def translator() -> Translator:
    torch.manual_seed(1)
    model = Transformer(TransformerConfig(vocabulary_size=11, **SIZES))
    with torch.no_grad():
        model.output_projection.bias[: UNKNOWN_ID + 1] = -5.0  # let it write letters
    return Translator(model, Letters())


def test_each_text_is_written_as_if_it_were_alone_and_the_order_stays(translator):
    texts = ["abc", "", "g", "fedcba", "ab"]
    together = translator.translate_all(texts, batch_size=2)
    assert together == [translator.translate(text) for text in texts]
    assert together[1] == ""
    assert len(set(together)) > 2


@pytest.mark.parametrize("width", [1, 3])
def test_the_search_is_the_one_asked_for(translator, width):
    source_ids = torch.tensor([[4, 5, 6]])
    if width == 1:
        expected = greedy_search(translator.model, source_ids)
    else:
        found = beam_search(translator.model, source_ids, width=width, alpha=1.0)
        expected = [hypotheses[0].token_ids for hypotheses in found]
    assert write_all(translator.model, [[4, 5, 6]], width=width, alpha=1.0) == expected
    text = translator.translate("abc", width=width, alpha=1.0)
    assert text == Letters().decode(expected[0])


def test_the_result_does_not_depend_on_the_batch(translator):
    sources = [[4], [5, 6, 7, 8], [9, 10], [4, 4, 4]]
    alone = [write_all(translator.model, [source])[0] for source in sources]
    for batch_size in (1, 2, 3, 9):
        assert write_all(translator.model, sources, batch_size=batch_size) == alone
    assert write_all(translator.model, []) == []


def test_what_cannot_be_translated_is_refused(translator):
    with pytest.raises(TypeError, match="text must be a text, got 7"):
        translator.translate(7)
    with pytest.raises(TypeError, match="texts must be a list of texts, got the single text 'abc'"):
        translator.translate_all("abc")
    with pytest.raises(ValueError, match="text must have at most 12 tokens, got 13"):
        translator.translate("a" * 13)
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        translator.translate("ab", width=0)
    with pytest.raises(ValueError, match="alpha must be a finite number of at least 0, got -1"):
        translator.translate("ab", alpha=-1)
    with pytest.raises(TypeError, match="batch_size must be a whole number, got 2.5"):
        write_all(translator.model, [[4]], batch_size=2.5)
