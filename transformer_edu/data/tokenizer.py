"""Byte-level byte-pair encoding: one vocabulary for two languages, and for any text (paper §5.1).

A text is a sequence of bytes, so nothing is ever unknown. Training joins the most frequent pair of
neighbors into a new piece, again and again; encoding repeats these merges in the same order.
Built step by step in notebooks/14_tokenization.ipynb.
"""

import hashlib
import json
import os
import reprlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import tokenizers

from transformer_edu.model.refusals import require_text, require_texts, require_whole
from transformer_edu.model.special_ids import END_ID, PADDING_ID, SPECIAL_TOKENS, START_ID
from transformer_edu.training.machine.atomic_files import read_json, require_path, write_json

# Each byte is written as one visible character: the printable ones of Latin-1 as they are, the 68
# others in their order from U+0100 on. The library tokenizers does the same.
PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]
SPELLING = {byte: chr(byte) for byte in PRINTABLE} | {
    byte: chr(0x100 + number) for number, byte in enumerate(OTHERS)
}
BYTES = {character: byte for byte, character in SPELLING.items()}
# In the order of the characters, not of the bytes: the library breaks ties by it.
ALPHABET = tuple(bytes([BYTES[character]]) for character in sorted(BYTES))
SPACE = "▁"  # shown for a space


def spell(piece: bytes) -> str:
    """A piece as visible characters, one for each byte: Ġ is a space."""
    return "".join(SPELLING[byte] for byte in piece)


def piece_of(spelled: str) -> bytes:
    """The piece that spell has written; a KeyError if a character stands for no byte."""
    return bytes(BYTES[character] for character in spelled)


def readable(piece: bytes) -> str:
    """A piece as people read it: a space is ▁, and what cannot be seen is its bytes, as <0x0A>.

    Parts of a character and the character ▁ itself are bytes too: two pieces never look the same,
    unless their own text holds something like <0x0A>.
    """
    seen = []
    for character in piece.decode(errors="surrogateescape"):
        own = character.encode(errors="surrogateescape")
        if character == " ":
            seen.append(SPACE)
        elif character == SPACE or not character.isprintable():
            seen += (f"<0x{byte:02X}>" for byte in own)
        else:
            seen.append(character)
    return "".join(seen)


# Pieces never cross these borders: a word with the space before it, an ending like 's, a number,
# punctuation. No run is longer than 64 characters, so the time grows linearly with the text, and no
# piece holds both a letter and a <, so none can look like a special token.
BORDERS = (
    r"'\p{L}{1,2}(?!\p{L})"
    r"| ?[\p{L}\p{M}]{1,64}"
    r"| ?\p{N}{1,64}"
    r"| ?[^\s\p{L}\p{M}\p{N}]{1,64}"
    r"|\s{1,64}(?!\S)"
    r"|\s"
)
RAREST_PAIR = 2  # a pair that comes once is not worth an id
FORMAT = "transformer_edu tokenizer 1"
LONGEST_PIECE = 4 * 65  # bytes: 64 characters and a space before them
SMALLEST_VOCABULARY = len(SPECIAL_TOKENS) + len(ALPHABET)


class Tokenizer:
    """Texts to token ids and back. The four special tokens come first, then the 256 bytes.

    A text is read as if it began with a space, so that a word has the same token at the beginning
    too; ``decode`` removes that space. Text that spells ``</s>`` is text.

    Args:
        merges: Which two pieces are joined, in the order in which they were learned.

    Attributes:
        pieces: The bytes of every id; none for the special tokens.

    Raises:
        ValueError: If a merge joins pieces that do not exist yet, or its result looks like another
            token or is longer than any that can be learned.
    """

    def __init__(self, merges: Iterable[tuple[bytes, bytes]]) -> None:
        self.merges = tuple(merges)
        pieces = dict.fromkeys(ALPHABET)
        for left, right in self.merges:
            if left not in pieces or right not in pieces:
                raise ValueError(
                    f"merges must join pieces that are there before, got {left} and {right}"
                )
            if (size := len(left) + len(right)) > LONGEST_PIECE:
                raise ValueError(f"merges must make at most {LONGEST_PIECE} bytes, got {size:,}")
            pieces[left + right] = None  # nothing new if other merges made the same piece
        self.pieces = (*[b""] * len(SPECIAL_TOKENS), *pieces)
        self._names = (*SPECIAL_TOKENS, *map(readable, pieces))
        if twice := [name for name, count in Counter(self._names).items() if count > 1]:
            raise ValueError(f"merges must make pieces that look different, got {twice[0]!r} twice")

    def __len__(self) -> int:
        """Number of ids, the special tokens' included: the model's vocabulary_size."""
        return len(self.pieces)

    def encode(self, text: str) -> list[int]:
        """The token ids of a text, without start or end.

        Raises:
            TypeError, ValueError: If it is not a text, or holds half a character (a surrogate).
        """
        return self.encode_all([require_text("text", text)])[0]

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """The token ids of every text: encode for many at once, and faster."""
        checked = require_texts("texts", texts)
        encodings = self._library.encode_batch(
            [f" {text}" for text in checked], add_special_tokens=False
        )
        return [
            encoding.ids if text else [] for text, encoding in zip(checked, encodings, strict=True)
        ]

    def words(self, text: str) -> list[bytes]:
        """The words of a text, each with the space before it: no piece crosses their borders."""
        text = require_text("text", text)
        cut = self._library.pre_tokenizer.pre_tokenize_str(f" {text}" if text else "")
        return [piece_of(spelled) for spelled, _ in cut]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of any token ids, also of a tensor; padding, start and end are left out.

        Bytes that are no text become U+FFFD, the replacement character; so does the unknown token.

        Raises:
            TypeError, ValueError: If an id is not a whole number, or outside the vocabulary.
        """
        content = bytearray()
        for token_id in self._require_ids(ids):
            if token_id not in (PADDING_ID, START_ID, END_ID):
                content += self.pieces[token_id] or "\N{REPLACEMENT CHARACTER}".encode()
        return content.decode(errors="replace").removeprefix(" ")

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The readable piece of every id, no two alike; a space is ``▁``. Errors as for decode."""
        return [self._names[token_id] for token_id in self._require_ids(ids)]

    def save(self, path: str | os.PathLike) -> None:
        """Write a text file for load_tokenizer, whole or not at all.

        Raises:
            TypeError, OSError: If path is not a path or cannot be written; an old file stays.
        """
        require_path("path", path)
        merges = [f"{spell(left)} {spell(right)}" for left, right in self.merges]
        write_json(Path(path), {"format": FORMAT, "sha256": _checksum(merges), "merges": merges})

    @cached_property
    def _library(self) -> object:
        """The library's tokenizer with these merges. It knows no special tokens to be forged."""
        vocabulary = {spell(piece): i for i, piece in enumerate(self.pieces) if piece}
        merges = [(spell(left), spell(right)) for left, right in self.merges]
        return _with_borders(tokenizers.models.BPE(vocab=vocabulary, merges=merges))

    def _require_ids(self, ids: Iterable[int]) -> list[int]:
        """Refuse a value that is not several ids of this vocabulary."""
        if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
            raise TypeError(f"ids must be several token ids, got {reprlib.repr(ids)}")
        checked = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        for token_id in checked:
            require_whole("ids", token_id, minimum=0, maximum=len(self.pieces) - 1)
        return checked


def train_tokenizer(lines: Iterable[str], *, vocabulary_size: int) -> Tokenizer:
    """Learn which pieces of text are frequent; the same lines always give the same tokenizer.

    Of two equally frequent pairs, the one with the smaller ids is joined first.

    Args:
        lines: The texts to learn from, of both languages.
        vocabulary_size: The most ids, at least 260; there are fewer if no pair comes twice.

    Raises:
        ModuleNotFoundError: If the library tokenizers is not installed.
        TypeError, ValueError: If lines are not texts or all empty, or the vocabulary too small.
    """
    require_whole("vocabulary_size", vocabulary_size, minimum=SMALLEST_VOCABULARY)
    if not (texts := [f" {text}" for text in require_texts("lines", lines) if text]):
        raise ValueError("lines must hold some text to learn from, got none")
    # There is at most one merge for each byte; the library reserves memory for what it is told.
    largest = SMALLEST_VOCABULARY + sum(len(text.encode()) for text in texts)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=min(vocabulary_size, largest),
        min_frequency=RAREST_PAIR,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=list(map(spell, ALPHABET)),
        show_progress=False,
    )
    learner = _with_borders(tokenizers.models.BPE())
    learner.train_from_iterator(texts, trainer)
    merges = json.loads(learner.to_str())["model"]["merges"]
    return Tokenizer((piece_of(left), piece_of(right)) for left, right in merges)


def load_tokenizer(path: str | os.PathLike) -> Tokenizer:
    """Read what Tokenizer.save wrote.

    Raises:
        TypeError, OSError: If path is not a path or cannot be read.
        ValueError: If it is something else, or damaged.
    """
    require_path("path", path)
    try:
        record = read_json(Path(path))
    except ValueError:
        record = None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError(f"{path} must be a saved tokenizer, got something else")
    try:
        is_whole = _checksum(record["merges"]) == record["sha256"]
        spelled = (merge.split(" ") for merge in record["merges"])
        pairs = [(piece_of(left), piece_of(right)) for left, right in spelled]
    except (KeyError, TypeError, ValueError, AttributeError):
        is_whole = False
    if not is_whole:
        raise ValueError(f"{path} must be a whole tokenizer, got a damaged one")
    try:
        return Tokenizer(pairs)
    except ValueError as error:
        raise ValueError(f"{path} must be a tokenizer whose {error}") from None


def _with_borders(model: object) -> object:
    """A tokenizer of the library that spells bytes and cuts at the borders."""
    cut = tokenizers.pre_tokenizers.Split(tokenizers.Regex(BORDERS), behavior="isolated")
    as_bytes = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([cut, as_bytes])
    return tokenizer


def _checksum(merges: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(merges).encode()).hexdigest()
