"""Groups, lines and scores of lesson 15 are what its text says; its two faults do harm."""

import pytest
import torch

from transformer_course.translation.faults import padding_visible, renumber
from transformer_course.translation.scoring import (
    bleu_on,
    chrf,
    describe_sizes,
    find_multi30k,
    group_by_rarity,
    join_sentences,
)
from transformer_edu.data.tokenizer import Tokenizer
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.training.bleu import corpus_bleu

MERGES = [(b" ", b"a"), (b"b", b"c"), (b" ", b"bc")]  # " a" and " bc" are frequent words


def test_groups_have_equally_many_pairs_of_each_length():
    sources = ["a", "b", "bc", "b", "a a", "a b", "a bc", "bc a", "b a", "b b b"]
    pairs = [(source, str(number)) for number, source in enumerate(sources)]
    groups = group_by_rarity(pairs, Tokenizer(MERGES), str.split)
    assert groups == {
        "only frequent words": [("a", "0"), ("bc", "2"), ("a a", "4"), ("a bc", "6")],
        "with a rare word": [("b", "1"), ("b", "3"), ("a b", "5"), ("b a", "8")],
    }


def test_joined_sentences_are_lines_with_one_full_stop():
    sentences = ["A man.", "Two dogs.", "It rains."]
    assert join_sentences(sentences, 2, "and") == ["a man and two dogs.", "it rains."]


def test_bleu_compares_each_translation_with_its_own_reference(translator):
    sources = ["A man is playing the guitar on the street.", "Two dogs are running in the snow."]
    pairs = list(zip(sources, translator.translate_all(sources), strict=True))
    assert bleu_on(translator, pairs) > 99
    assert bleu_on(translator, iter(pairs)) > 99
    wrong = [(sources[0], pairs[1][1]), (sources[1], pairs[0][1])]
    assert bleu_on(translator, wrong) < 20


def test_the_sizes_are_told_in_three_lines():
    lines = describe_sizes(TransformerConfig(num_decoder_layers=2)).splitlines()
    assert lines[0] == "6 + 2 layers, 8 heads, d_model 512, d_ff 2048, 37,000 tokens"
    assert [line.split(": ")[1] for line in lines[1:]] == ["False", "False"]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: bleu_on(None, []), "pairs must hold at least one pair, got none"),
        (lambda: bleu_on(None, ["ab"]), r"pairs must hold \(source, target\), got 'ab'"),
        (lambda: chrf("Der Mann.", "Der Hund."), "hypotheses must be several texts, got 'Der Mann"),
        (lambda: chrf([], []), "hypotheses must hold at least one text, got none"),
        (lambda: describe_sizes(torch.nn.ReLU()), "config must be a TransformerConfig, got ReLU"),
        (lambda: join_sentences(["A man."], 0, "and"), "size must be at least 1, got 0"),
    ],
)
def test_what_has_no_score_or_sizes_is_refused(ask, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ask()


def test_without_a_folder_there_is_no_multi30k(monkeypatch):
    monkeypatch.delenv("TRANSFORMER_EDU_DATA", raising=False)
    assert find_multi30k() is None


def test_a_renumbered_tokenizer_has_the_same_pieces_with_other_ids():
    merges = [(b"b", b"c"), (b"bc", b"d"), (b"x", b"y")]
    right, wrong = Tokenizer(merges), renumber(Tokenizer(merges))
    assert sorted(right.pieces) == sorted(wrong.pieces)
    assert right.encode("bcd") != wrong.encode("bcd")


def test_padding_is_visible_inside_the_block_only(translator):
    source_ids = torch.tensor([[5, 6, 0]])
    with padding_visible(translator.model):
        assert translator.model.source_mask(source_ids).tolist() == [[[[True, True, True]]]]
    assert translator.model.source_mask(source_ids).tolist() == [[[[True, True, False]]]]


def test_chrf_gives_credit_for_a_part_of_a_word_where_bleu_gives_none():
    reference = ["Er arbeitet als Straßengitarrist."]
    ending, other = ["Er arbeitet als Straßengitarristen."], ["Er arbeitet als Bäckermeister."]
    assert corpus_bleu(ending, reference).score == corpus_bleu(other, reference).score
    assert chrf(ending, reference) > 90 > 50 > chrf(other, reference)
    assert chrf(reference, reference) == 100
    with pytest.raises(ValueError, match="references must be as many as hypotheses, got 2 and 1"):
        chrf(reference, reference * 2)
