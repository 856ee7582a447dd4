"""A translator gives back what the model writes, text by text."""

from dataclasses import replace

import pytest
import torch

from tests.generation.test_greedy import Copyist
from tests.small_model import small_transformer
from transformer_edu.data.tokenizer import Tokenizer
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.translator import Translator, write_all
from transformer_edu.model.special_ids import END_ID, UNKNOWN_ID


class Letters:
    """A tokenizer of letters: a is 4, b is 5, …"""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) - ord("a") + 4 for letter in text]

    def decode(self, token_ids) -> str:
        return "".join(chr(token_id - 4 + ord("a")) for token_id in token_ids if token_id >= 4)


@pytest.fixture
def translator() -> Translator:
    model = small_transformer(11, seed=1, max_length=12)
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
def test_a_translator_ends_loops_unless_it_is_told_otherwise(translator, width):
    with torch.no_grad():
        translator.model.output_projection.bias[4] = 9.0
    assert "aaa" in translator.translate("abc", width=width, end_loops=False)
    assert translator.translate_all(["abc"], width=width, end_loops=False) == [
        translator.translate("abc", width=width, end_loops=False)
    ]
    for text in ("abc", "g"):
        assert "aaa" not in translator.translate(text, width=width)


def test_white_space_counts_as_single_spaces(translator, monkeypatch):
    assert translator.translate(" \n") == ""
    read = []
    monkeypatch.setattr(Letters, "encode", lambda self, text: read.append(text) or [])
    translator.translate("\ta\u00a0b\r\n  c\n")
    assert read == ["a b c"]


@pytest.mark.parametrize("normalize", [True, False])
def test_a_text_is_read_as_training_texts_are_written_unless_that_is_switched_off(
    translator, monkeypatch, normalize
):
    read = []
    monkeypatch.setattr(Letters, "encode", lambda self, text: read.append(text) or [])
    # Dots with spaces between them stay: English training texts have no ellipsis of any kind, and
    # the shipped translator is right as often after these as after three dots together.
    asked, curly = ["ABC", "Abc"], "‘a’ “b” „c” d‑e – f — g… h′i . . . «e\u0301\u00ad\u200b\ufeff»"
    typed = "I don´t, it`s ʼtis ‚x‛ ‹y› in‐law \u200emother\u202c ﬁreman Ｗｉｄｅ\u2060 "
    typed += "− 6″\u2068\ufe0f\u200c"
    replace(translator, normalize=normalize).translate_all([*asked, curly, typed])
    plain = ["abc", "Abc", '\'a\' "b" "c" d-e - f - g... h\'i . . . "é"']
    plain += ["I don't, it's 'tis 'x' 'y' in-law mother fireman Wide - 6\""]
    assert read == (plain if normalize else [*asked, curly, typed])


@pytest.mark.parametrize("width", [1, 3])
def test_the_search_is_the_one_asked_for(translator, width):
    source_ids = torch.tensor([[4, 5, 6]])
    if width == 1:
        expected = greedy_search(translator.model, source_ids, end_loops=True)
    else:
        asked = {"width": width, "alpha": 1.0, "end_loops": True}
        found = beam_search(translator.model, source_ids, **asked)
        expected = [hypotheses[0].token_ids for hypotheses in found]
    assert write_all(translator.model, [[4, 5, 6]], width=width, alpha=1.0) == expected
    text = translator.translate("abc", width=width, alpha=1.0)
    assert text == Letters().decode(expected[0])


def test_the_length_penalty_reaches_the_beam(translator):
    with torch.no_grad():
        translator.model.output_projection.bias[END_ID] = 1.0  # some targets end early
    sources = [[4, 5, 6], [7], [9, 8, 7, 6]]
    written = {
        alpha: write_all(translator.model, sources, width=3, alpha=alpha) for alpha in (0, 9)
    }
    for alpha, answers in written.items():
        for source, answer in zip(sources, answers, strict=True):
            asked = {"width": 3, "alpha": alpha, "end_loops": True}
            found = beam_search(translator.model, torch.tensor([source]), **asked)
            assert answer == found[0][0].token_ids
    assert written[0] != written[9]


def test_the_result_does_not_depend_on_the_batch(translator):
    sources = [[4], [5, 6, 7, 8], [9, 10], [4, 4, 4]]
    alone = [write_all(translator.model, [source])[0] for source in sources]
    for batch_size in (1, 2, 3, 9):
        assert write_all(translator.model, sources, batch_size=batch_size) == alone
    assert write_all(translator.model, []) == []


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda t: t.translate(7), TypeError, "text must be text, got 7"),
        (lambda t: t.translate_all(5), TypeError, "texts must be several texts, got 5"),
        (lambda t: t.translate_all("abc"), TypeError, "texts must be several texts, got 'abc'"),
        (lambda t: t.translate("a" * 13), ValueError, "text must have at most 12 tokens, got 13"),
        (lambda t: t.translate("ab", width=0), ValueError, "width must be at least 1, got 0"),
        (lambda t: t.translate("", width=100_000), ValueError, "at most 1,000, got 100,000"),
        (lambda t: t.translate("ab", alpha=-1), ValueError, "alpha must be a finite number of at"),
        (lambda t: t.translate_all(["ab"], batch_size=2.5), TypeError, "batch_size must be a whol"),
    ],
)
def test_what_cannot_be_translated_is_refused(translator, ask, error, message):
    with pytest.raises(error, match=message):
        ask(translator)


def test_sources_are_padded_with_the_models_own_padding():
    model = small_transformer(11, seed=1, padding_id=3, tie_embeddings=False).double()
    with torch.no_grad():
        model.output_projection.bias[: UNKNOWN_ID + 1] = -5.0  # let it write letters
    sources = [[4], [5, 6, 7, 8], [9, 10]]
    rows = [source + [3] * (4 - len(source)) for source in sources]
    assert write_all(model, sources, end_loops=False) == greedy_search(model, torch.tensor(rows))
    rows = [source + [0] * (4 - len(source)) for source in sources]
    assert write_all(model, sources, end_loops=False) != greedy_search(model, torch.tensor(rows))


def test_a_model_without_weights_writes_too():
    assert write_all(Copyist({4: [5, 6], 9: [7]}), [[9, 9], [4]]) == [[7], [5, 6]]


@pytest.mark.parametrize(
    ("sources", "error", "message"),
    [
        ([[4], []], ValueError, r"sources must have a token each, got \[\]"),
        (["abc"], TypeError, "sources must hold lists of token ids, got 'abc'"),
        ([["a", "man"]], TypeError, r"sources must hold lists of token ids, got \['a', 'man'\]"),
        ([4, 5], TypeError, "sources must hold lists of token ids, got 4"),
        ("", TypeError, "sources must be a list of lists of token ids, got ''"),
        (7, TypeError, "sources must be a list of lists of token ids, got 7"),
    ],
    ids=["empty", "text", "words", "ids", "no text", "number"],
)
def test_what_are_no_sources_is_refused(translator, sources, error, message):
    with pytest.raises(error, match=message):
        write_all(translator.model, sources)


def test_without_a_model_or_a_tokenizer_there_is_no_translator(translator):
    with pytest.raises(TypeError, match="model must have the method source_mask, got NoneType"):
        Translator(None, Letters())
    with pytest.raises(TypeError, match="tokenizer must have the method encode, got NoneType"):
        Translator(translator.model, None)
    with pytest.raises(TypeError, match="normalize must be True or False, got 'no'"):
        Translator(translator.model, Letters(), normalize="no")
    with pytest.raises(ValueError, match="at most the model's 11 tokens, got 260"):
        Translator(translator.model, Tokenizer([]))
    with pytest.raises(TypeError, match="model must have the method source_mask, got Linear"):
        write_all(torch.nn.Linear(2, 2), [[4]])
