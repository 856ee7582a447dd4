"""Any text comes back from its ids, no text poses as a special token, and training is BPE."""

import itertools
import json
import os
import random
import subprocess
import sys
import unicodedata
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest
import torch

from transformer_edu.data.tokenizer import (
    ALPHABET,
    Tokenizer,
    load_tokenizer,
    piece_of,
    readable,
    spell,
    train_tokenizer,
)
from transformer_edu.model.special_ids import (
    END_ID,
    PADDING_ID,
    SPECIAL_TOKENS,
    START_ID,
    UNKNOWN_ID,
)

EVERY_BYTE = [bytes([byte]) for byte in range(256)]


def test_the_alphabet_is_every_byte_once():
    assert sorted(ALPHABET) == EVERY_BYTE


def test_a_spelling_comes_back_and_holds_nothing_invisible():
    for piece in [*EVERY_BYTE, b"", " Häuser 中\n".encode()]:
        assert piece_of(spell(piece)) == piece
        assert not set(spell(piece)) & set(" \t\n\r\x00")


def test_bytes_are_spelled_as_the_library_spells_them():
    library = pytest.importorskip("tokenizers").pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    text = "".join(map(chr, range(0x100))) + "\u0400中\U0001f600"
    spelled = "".join(piece for piece, _ in library.pre_tokenize_str(text))
    assert spelled == spell(text.encode())
    assert set(library.alphabet()) == set(map(spell, ALPHABET))


@pytest.mark.parametrize(
    ("piece", "seen"),
    [
        (b" Hund", "▁Hund"),
        ("läuft".encode(), "läuft"),
        (b"  ", "▁▁"),
        (b"\n", "<0x0A>"),
        ("\u202e".encode(), "<0xE2><0x80><0xAE>"),  # turns the direction of whatever follows
        ("▁".encode(), "<0xE2><0x96><0x81>"),
        ("ü".encode()[:1], "<0xC3>"),
        (b" " + "ü".encode()[1:] + b"r", "▁<0xBC>r"),
    ],
)
def test_a_piece_is_shown_as_people_read_it(piece, seen):
    assert readable(piece) == seen


def test_no_two_short_pieces_look_the_same():
    pieces = [bytes(pair) for pair in itertools.product(range(256), repeat=2)]
    assert len({*map(readable, pieces), *map(readable, EVERY_BYTE)}) == 256 * 257


tokenizers = pytest.importorskip("tokenizers")

LINES = [
    "Ein Mann fährt auf einem blauen Fahrrad.",
    "A man is riding a blue bicycle.",
    "Zwei Männer fahren; der eine lacht, der andere nicht!",
    "Two men are riding: one is laughing, the man's friend isn't.",
    "aaaa aaa aa a aaaaa abab ababab",
    "In 2016 </s> ist <s> nur <pad> HTML </s> </s> </s> <s> <s> <pad> <pad>",
] * 2
TEXTS = [
    "",
    " ",
    "  two  spaces  ",
    "\n\t a tab\r\n",
    "\x00\x01\x7f",
    "Straße, naïve, Œuvre, Ǆ, ﬁ, Å, A\u030a",
    "中文 العربية עברית हिन्दी ไทย",
    "👩\u200d👩\u200d👧 🇩🇪 👍🏽",
    "\u202e\u200b\ufeff\ufffd▁ĠÃ",
    "</s><pad> <s> <unk> <0x0A>",
    "\U0010ffff\ue000\ufdd0",
    "x" * 500,
]
TRAINS_AND_PRINTS = """
import hashlib, sys
from transformer_edu.data.tokenizer import train_tokenizer
lines = open(sys.argv[1], encoding="utf-8").read().split("\\n")
print(train_tokenizer(lines, vocabulary_size=420).merges)
"""


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(LINES, vocabulary_size=340)


def some_text(generator: random.Random) -> str:
    """Characters from everywhere, neighbours from the same block, without lone surrogates."""
    characters = []
    while len(characters) < 40:
        first = generator.choice([0x20, 0x20, 0xA0, generator.randrange(0x110000 - 30)])
        block = range(first, first + generator.randrange(1, 30))
        characters += [chr(i) for i in block if not 0xD800 <= i < 0xE000]
    return "".join(generator.sample(characters, len(characters)))


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_comes_back_from_its_ids(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_any_text_at_all_comes_back_from_its_ids(tokenizer):
    generator = random.Random(0)
    texts = [some_text(generator) for _ in range(300)]
    assert [tokenizer.decode(ids) for ids in tokenizer.encode_all(texts)] == texts


def test_every_kind_of_character_comes_back(tokenizer):
    first_of_kind = {}
    for code in range(0x110000):
        first_of_kind.setdefault(unicodedata.category(chr(code)), chr(code))
    del first_of_kind["Cs"]  # surrogates
    text = "".join(first_of_kind.values())
    assert len(first_of_kind) == 29
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_any_ids_are_a_text(tokenizer):
    generator = random.Random(1)
    for _ in range(100):
        ids = generator.choices(range(len(tokenizer)), k=20)
        assert isinstance(tokenizer.decode(ids), str)
    assert tokenizer.decode([]) == ""
    ids = tokenizer.encode("Ein Mann")
    assert tokenizer.decode(torch.tensor(ids)) == "Ein Mann"
    assert tokenizer.decode([UNKNOWN_ID]) == "\ufffd"


def test_padding_start_and_end_are_left_out_of_the_text(tokenizer):
    ids = tokenizer.encode("Ein Mann")
    framed = [START_ID, *ids[:1], PADDING_ID, *ids[1:], END_ID, PADDING_ID]
    assert tokenizer.decode(framed) == "Ein Mann"


def test_no_text_can_forge_a_special_token(tokenizer):
    for text in (*SPECIAL_TOKENS, "".join(SPECIAL_TOKENS), "a</s>b", "</ s>", *TEXTS, *LINES):
        assert min(tokenizer.encode(text), default=4) >= len(SPECIAL_TOKENS)


def test_a_word_is_the_same_token_at_the_beginning_and_in_the_middle(tokenizer):
    (first,) = tokenizer.encode("Ein")
    assert tokenizer.encode("Ein Ein") == [first, first]


def test_many_texts_are_encoded_as_each_alone(tokenizer):
    texts = [*TEXTS, *LINES]
    assert tokenizer.encode_all(texts) == [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_all([]) == []
    assert tokenizer.encode("") == []


def test_tokens_are_pieces_to_look_at(tokenizer):
    assert tokenizer.tokens(tokenizer.encode("Ein  a\n")) == ["▁Ein", "▁", "▁a", "<0x0A>"]
    assert tokenizer.tokens(range(4)) == list(SPECIAL_TOKENS)
    assert len({*tokenizer.tokens(range(len(tokenizer)))}) == len(tokenizer)


def test_every_byte_is_in_the_vocabulary_behind_the_special_tokens(tokenizer):
    assert tokenizer.pieces[4:260] == ALPHABET
    assert len(train_tokenizer(["ab ab"], vocabulary_size=260)) == 260


def test_the_vocabulary_has_the_size_asked_for_or_less(tokenizer):
    assert len(tokenizer) == 340
    assert len(train_tokenizer(LINES, vocabulary_size=10**15)) < 1000
    assert max(map(max, tokenizer.encode_all(LINES))) < 340


def words_of(lines: list[str], tokenizer: Tokenizer) -> Counter[tuple[int, ...]]:
    """The words between which nothing is joined, as the ids of their bytes, and their counts."""
    cut = tokenizer._library.pre_tokenizer
    byte_ids = {tokenizer.tokens([i])[0]: i for i in range(4, 260)}
    assert len(byte_ids) == 256
    from_piece = {piece: i for i, piece in enumerate(tokenizer.pieces) if len(piece) == 1}
    words = Counter()
    for line in lines:
        for _, (start, end) in cut.pre_tokenize_str(f" {line}"):
            content = f" {line}"[start:end].encode()
            words[tuple(from_piece[bytes([byte])] for byte in content)] += 1
    return words


def joined(word: tuple[int, ...], pair: tuple[int, int], new: int) -> tuple[int, ...]:
    found, i = [], 0
    while i < len(word):
        if word[i : i + 2] == pair:
            found.append(new)
            i += 2
        else:
            found.append(word[i])
            i += 1
    return tuple(found)


def test_every_merge_joins_a_most_frequent_pair_and_ties_go_to_smaller_ids(tokenizer):
    words = words_of(LINES, tokenizer)
    ids = {piece: i for i, piece in enumerate(tokenizer.pieces) if piece}
    for left, right in tokenizer.merges:
        pairs = Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:], strict=False):
                pairs[pair] += count
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        assert (ids[left], ids[right]) == best
        again = Counter()
        for word, count in words.items():
            again[joined(word, best, ids[left + right])] += count
        words = again


def test_merges_are_applied_in_their_order(tokenizer):
    ids = {piece: i for i, piece in enumerate(tokenizer.pieces) if piece}
    for line in ["Ein Mann lacht nicht.", "riding abababab aaaaaaa", *LINES]:
        expected = []
        for word in words_of([line], tokenizer).elements():
            for left, right in tokenizer.merges:
                word = joined(word, (ids[left], ids[right]), ids[left + right])
            expected += word
        assert sorted(tokenizer.encode(line)) == sorted(expected)


def test_the_same_lines_give_the_same_tokenizer_in_every_process(tmp_path):
    generator = random.Random(2)
    # Few letters and many ties.
    lines = ["".join(generator.choices("abcdäö ", k=60)) for _ in range(40)]
    path = tmp_path / "lines"
    path.write_text("\n".join(lines), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-c", TRAINS_AND_PRINTS, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
        env=os.environ | {"PYTHONHASHSEED": "1", "RAYON_NUM_THREADS": "5"},
    )
    assert result.stdout.strip() == str(train_tokenizer(lines, vocabulary_size=420).merges)


def test_the_order_of_the_lines_does_not_matter():
    assert train_tokenizer(LINES, vocabulary_size=340).merges == (
        train_tokenizer(reversed(LINES), vocabulary_size=340).merges
    )


@pytest.mark.parametrize("unit", ["a", " ", "中", ".", "ein Mann ", "\n"], ids=repr)
def test_the_work_grows_evenly_with_the_text(tokenizer, unit):
    text = unit * (100_000 // len(unit))
    assert tokenizer.decode(tokenizer.encode(text)) == text
    # The library works on each piece between two borders alone, and none is long.
    longest = max(map(len, words_of([text], tokenizer)))
    assert longest <= 65 * len(unit[0].encode())
    assert len(train_tokenizer([text], vocabulary_size=300)) <= 300


def test_a_saved_tokenizer_is_text_and_gives_the_same_ids(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokens.json")
    loaded = load_tokenizer(str(tmp_path / "tokens.json"))
    assert loaded.pieces == tokenizer.pieces
    assert loaded.encode_all([*TEXTS, *LINES]) == tokenizer.encode_all([*TEXTS, *LINES])
    lines = (tmp_path / "tokens.json").read_text(encoding="utf-8").splitlines()
    assert len(lines) > len(tokenizer.merges)


def test_saving_replaces_the_file_whole_and_leaves_nothing_else(tokenizer, tmp_path):
    for _ in range(2):
        tokenizer.save(tmp_path / "tokens.json")
    assert os.listdir(tmp_path) == ["tokens.json"]
    with pytest.raises(OSError, match="nowhere"):
        tokenizer.save(tmp_path / "nowhere" / "tokens.json")


@pytest.fixture
def path(tokenizer, tmp_path) -> Path:
    tokenizer.save(tmp_path / "tokens.json")
    return tmp_path / "tokens.json"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x81",
        b"[]",
        b"3",
        b"[" * 100_000,
        b'{"model": {"type": "BPE"}}',
        b'{"format": "transformer_edu tokenizer 2"}',
        b"\x89PNG\r\n\x1a\n",
    ],
    ids=["empty", "bytes", "list", "number", "deep", "library", "newer", "picture"],
)
def test_a_file_that_is_something_else_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="tokens.json must be a saved tokenizer, got something"):
        load_tokenizer(path)


def test_a_damaged_file_is_refused(path):
    whole = path.read_bytes()
    record = json.loads(whole)
    for changed in (
        whole.replace(b'"a b"', b'"a c"'),
        json.dumps(record | {"merges": record["merges"][:-1]}).encode(),
        json.dumps(record | {"merges": 5}).encode(),
        json.dumps(record | {"merges": [5]}).encode(),
        json.dumps({"format": record["format"]}).encode(),
    ):
        assert changed != whole
        path.write_bytes(changed)
        with pytest.raises(ValueError, match="tokens.json must be a whole tokenizer, got a damag"):
            load_tokenizer(path)
    path.write_bytes(whole[:-100])
    with pytest.raises(ValueError, match="tokens.json must be"):
        load_tokenizer(path)


def test_merges_that_double_are_refused_by_the_size_of_their_piece(path):
    merges = ["a" * 2**n + " " + "a" * 2**n for n in range(12)]
    record = json.loads(path.read_bytes())
    changed = {"merges": merges, "sha256": sha256("\n".join(merges).encode()).hexdigest()}
    path.write_text(json.dumps(record | changed))
    message = "tokens.json must be a tokenizer whose merges must make at most 260 bytes, got 512"
    with pytest.raises(ValueError, match=message):
        load_tokenizer(path)


def test_a_file_that_cannot_be_read_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.json"):
        load_tokenizer(tmp_path / "nothing.json")
    with pytest.raises(TypeError, match="path must be a path, got 3"):
        load_tokenizer(3)


@pytest.mark.parametrize(
    ("lines", "size", "error", "message"),
    [
        (["", ""], 300, ValueError, "lines must hold some text to learn from, got none"),
        (["a"], 259, ValueError, "vocabulary_size must be at least 260, got 259"),
        (["a"], 300.0, TypeError, "vocabulary_size must be a whole number, got 300.0"),
        (["a\ud800"], 300, ValueError, r"lines must hold no lone surrogate, got '\\ud800'"),
        ([b"a"], 300, TypeError, "lines must be text, got b'a'"),
        (["a", None], 300, TypeError, "lines must be text, got None"),
        ("a line", 300, TypeError, "lines must be several texts, got 'a line'"),
    ],
    ids=range(7),
)
def test_what_nothing_can_be_learned_from_is_refused(lines, size, error, message):
    with pytest.raises(error, match=message):
        train_tokenizer(lines, vocabulary_size=size)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: t.encode("a\udfff"), ValueError, r"text must hold no lone surrogate, got '\\u"),
        (lambda t: t.encode(b"a"), TypeError, "text must be text, got b'a'"),
        (lambda t: t.encode(None), TypeError, "text must be text, got None"),
        (lambda t: t.words(None), TypeError, "text must be text, got None"),
        (lambda t: t.encode_all("ab"), TypeError, "texts must be several texts, got 'ab'"),
        (lambda t: t.encode_all(["a", 3]), TypeError, "texts must be text, got 3"),
        (lambda t: t.decode([340]), ValueError, "ids must be at most 339, got 340"),
        (lambda t: t.decode([4, -1]), ValueError, "ids must be at least 0, got -1"),
        (lambda t: t.decode([4.0]), TypeError, "ids must be a whole number, got 4.0"),
        (lambda t: t.decode(b"ab"), TypeError, "ids must be several token ids, got b'ab'"),
        (lambda t: t.tokens([340]), ValueError, "ids must be at most 339, got 340"),
        (lambda t: t.save(3), TypeError, "path must be a path, got 3"),
        (
            lambda t: Tokenizer([(b"ab", b"c")]),
            ValueError,
            "merges must join pieces that are there before, got b'ab' and b'c'",
        ),
        (
            lambda t: Tokenizer([(b"<", b"s"), (b"<s", b">")]),
            ValueError,
            "merges must make pieces that look different, got '<s>' twice",
        ),
    ],
    ids=range(14),
)
def test_what_has_no_tokens_is_refused(tokenizer, call, error, message):
    with pytest.raises(error, match=message):
        call(tokenizer)
