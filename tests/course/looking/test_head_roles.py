"""A head's share on a role: exactly 1 or 0 for maps made by hand, and counted where it should."""

import pytest
import torch

from transformer_course.looking.head_roles import (
    POSITIONS,
    RecordedPairs,
    group_pieces,
    position_cells,
    record_pairs,
    share_on,
    spell_word,
)
from transformer_course.looking.recording import record_attention
from transformer_course.texts.sentences import CAPTION_PAIRS
from transformer_edu.data.batches import make_batch
from transformer_edu.data.tokenizer import train_tokenizer
from transformer_edu.model.transformer import Transformer, TransformerConfig

QUERIES, KEYS = [6, 4], [5, 7]  # two sentences, each with its own lengths
LONGEST_QUERY, LONGEST_KEY = 6, 7
# "two dogs run ." and "zwei Hun de laufen ." in pieces; the last is the space that begins a word.
PIECES = [b" two", b" dogs", b" run", b".", b" zwei", b" Hun", b"de", b" laufen", b" dogs"]


def looking_at(key_of):
    """A map in which query q of every sentence gives all its attention to key_of(sentence, q)."""
    weights = torch.zeros(2, 3, LONGEST_QUERY, LONGEST_KEY)
    for sentence in range(2):
        for query in range(LONGEST_QUERY):
            key = key_of(sentence, query)
            if 0 <= key < LONGEST_KEY:
                weights[sentence, :, query, key] = 1
    return weights


LOOKS = {
    "previous": lambda sentence, query: query - 1,
    "same": lambda sentence, query: query,
    "next": lambda sentence, query: query + 1,
    "first": lambda sentence, query: 0,
    "last": lambda sentence, query: KEYS[sentence] - 1,
}


@pytest.mark.parametrize("role", POSITIONS)
def test_a_map_made_for_a_role_scores_one_on_it_and_zero_on_the_others(role):
    cells = position_cells(QUERIES, KEYS)
    shares = {name: share_on(looking_at(LOOKS[role]), each) for name, each in cells.items()}
    assert list(shares) == list(POSITIONS)
    near = {"previous", "same", "next"}
    for name, share in shares.items():
        if name == role:
            assert share.tolist() == [1, 1, 1]
        elif {name, role} <= near or {name, role} == {"first", "last"}:
            assert share.tolist() == [0, 0, 0]


def test_no_cell_has_two_roles_and_none_is_padding():
    cells = torch.stack(list(position_cells(QUERIES, KEYS).values()))
    assert cells.shape == (5, 2, LONGEST_QUERY, LONGEST_KEY)
    assert cells.sum(dim=0).max() == 1
    assert not cells[:, 0, :, KEYS[0] :].any() and not cells[:, 1, QUERIES[1] :].any()


def test_the_only_key_of_a_sentence_is_its_first_and_not_its_last():
    cells = position_cells([4, 5], [1, 3])
    assert torch.stack(list(cells.values())).sum(dim=0).max() == 1
    assert cells["first"][0].nonzero().tolist() == [[2, 0], [3, 0]]
    assert not cells["last"][0].any()
    assert cells["last"][1].nonzero().tolist() == [[0, 2], [4, 2]]


def test_first_and_last_are_not_counted_where_they_are_neighbours():
    cells = position_cells(QUERIES, KEYS)
    assert cells["first"][0].nonzero().tolist() == [[2, 0], [3, 0], [4, 0], [5, 0]]
    assert cells["last"][1].nonzero().tolist() == [[0, 6], [1, 6], [2, 6], [3, 6]]
    assert cells["last"][0].nonzero().tolist() == [[0, 4], [1, 4], [2, 4]]


def test_even_attention_has_one_part_in_as_many_keys():
    even = torch.full((2, 3, LONGEST_QUERY, LONGEST_KEY), 1 / 8)
    cells = position_cells(QUERIES, KEYS)["same"]
    torch.testing.assert_close(share_on(even, cells), torch.full((3,), 1 / 8))


def test_every_head_of_every_layer_has_its_own_share():
    weights = torch.stack([looking_at(LOOKS["same"]), looking_at(LOOKS["next"])])
    weights[0, :, 1] = 0
    share = share_on(weights, position_cells(QUERIES, KEYS)["same"])
    assert share.tolist() == [[1, 0, 1], [0, 0, 0]]


def test_rows_without_a_cell_do_not_count_and_several_cells_of_a_row_add_up():
    weights = torch.tensor([[[[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]]])
    cells = torch.tensor([[[True, True, False], [False, False, False]]])
    assert share_on(weights, cells).tolist() == [0.75]


def test_uniform_gives_every_allowed_key_the_same_weight_and_a_hidden_query_none():
    weights = torch.tensor([[0.9, 0.1, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).view(1, 1, 3, 3)
    recorded = RecordedPairs({"encoder.layers.0.self_attention": weights}, [3], [1])
    (even,) = recorded.uniform().attention.values()
    assert even[0, 0].tolist() == [[0.5, 0.5, 0], [1, 0, 0], [0, 0, 0]]
    assert recorded.uniform().source_lengths == [3]


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20}
    return Transformer(TransformerConfig(vocabulary_size=len(PIECES), dropout=0.5, **sizes)).train()


def test_pairs_are_seen_as_the_model_reads_them(model):
    pairs = [([4, 5, 6, 7], [7, 6]), ([5, 8], [4, 5, 6, 7, 8])]
    seen = record_pairs(model, pairs)
    assert model.training
    assert (seen.source_lengths, seen.target_lengths) == ([4, 2], [3, 6])
    batch = make_batch(pairs)
    with record_attention(model.eval()) as recorded:
        model(batch.source_ids, batch.decoder_input_ids)
    assert list(seen.attention) == list(recorded)
    for name, weights in recorded.items():
        torch.testing.assert_close(seen.attention[name], weights)
    cross = seen.of("decoder.cross_attention")
    assert cross.shape == (2, 2, 3, 6, 4)
    assert torch.equal(cross[1], seen.attention["decoder.layers.1.cross_attention"])
    assert seen.of("encoder.self_attention").shape == (2, 2, 3, 4, 4)


def test_the_shares_of_a_kind_are_those_of_its_own_lengths(model):
    pairs = [([4, 5, 6, 7], [7, 6, 5, 4, 5]), ([5, 8, 6], [4, 5])]
    seen = record_pairs(model, pairs)
    sources, targets = [4, 3], [6, 3]
    for kind, queries, keys in (
        ("encoder.self_attention", sources, sources),
        ("decoder.self_attention", targets, targets),
        ("decoder.cross_attention", targets, sources),
    ):
        shares = seen.role_shares(kind)
        assert list(shares) == list(POSITIONS)
        for role, cells in position_cells(queries, keys).items():
            torch.testing.assert_close(shares[role], share_on(seen.of(kind), cells))
            assert shares[role].shape == (2, 3)
    hidden = seen.role_shares("decoder.self_attention")
    assert not hidden["next"].any() and not hidden["last"].any()


class Wrapper(torch.nn.Module):
    """Holds a model under a name of its own, as compiled and parallel models do."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *token_ids):
        return self.inner(*token_ids)


def test_a_wrapped_model_is_seen_as_the_model_is(model):
    pairs = [([4, 5, 6, 7], [7, 6, 5, 4, 5]), ([5, 8, 6], [4, 5])]
    seen, wrapped = record_pairs(model, pairs), record_pairs(Wrapper(model), pairs)
    assert all(name.startswith("inner.") for name in wrapped.attention)
    for kind in ("encoder.self_attention", "decoder.self_attention", "decoder.cross_attention"):
        torch.testing.assert_close(wrapped.of(kind), seen.of(kind))
        shares = seen.role_shares(kind)
        for role, share in wrapped.role_shares(kind).items():
            torch.testing.assert_close(share, shares[role])


@pytest.mark.parametrize("kind", ["cross", "encoder.cross_attention", "encoder.", "ncoder.self"])
def test_a_kind_that_is_not_there_is_refused(model, kind):
    seen = record_pairs(model, [([4, 5], [6])])
    known = "encoder.self_attention, decoder.self_attention, decoder.cross_attention"
    with pytest.raises(ValueError, match=f"kind must be one of {known}, got '{kind}'"):
        seen.of(kind)


def test_what_cannot_be_scored_is_refused():
    weights = looking_at(LOOKS["same"])
    cells = position_cells(QUERIES, KEYS)["same"]
    with pytest.raises(
        ValueError, match=r"must have the \(batch, query, key\) .*, got \(2, 7, 6\)"
    ):
        share_on(weights, cells.transpose(1, 2))
    with pytest.raises(ValueError, match="at least one cell that counts, got none"):
        share_on(weights, torch.zeros_like(cells))


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([b" The", b" book", b"sh", b"op", b"."], ["The", "bookshop", "."]),
        ([b" Stra", b"\xc3", b"\x9f", b"en", b"bahn"], ["Straßenbahn"]),
        ([b" ", b"r", b"ed", b" ", b"(", b"7"], ["red", "(", "7"]),
        ([b" e", b"-", b"mail", b",", b" please", b"!"], ["e", "-", "mail", ",", "please", "!"]),
        ([b"lich", b" x"], ["lich", "x"]),
        ([b" a", b"", b"b", b"\xc3"], ["a", "", "b\ufffd"]),
        ([b" a", b"b-", b"c"], ["ab-", "c"]),
        ([b" a", b"\t", b" b"], ["a", "\t", "b"]),
        ([], []),
    ],
    ids=[
        "full stop",
        "eszett",
        "lone spaces",
        "signs",
        "no space first",
        "no bytes",
        "sign at the end",
        "tab",
        "none",
    ],
)
def test_pieces_make_words_and_punctuation_stands_alone(pieces, words):
    grouped = group_pieces(pieces)
    assert [spell_word(word) for word in grouped] == words
    assert [piece for word in grouped for piece in word] == pieces


def test_every_caption_has_its_words():
    texts = [text for pair in CAPTION_PAIRS for text in pair]
    tokenizer = train_tokenizer(texts, vocabulary_size=400)
    for text in texts:
        pieces = [tokenizer.pieces[token_id] for token_id in tokenizer.encode(text)]
        words = [spell_word(word) for word in group_pieces(pieces)]
        assert words == text.replace(",", " ,").replace(".", " .").split()
