"""Sentences in two languages: read from two files, split into three parts, made into a task."""

import gzip
import hashlib
import io
import os
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from transformer_edu.data.augmentation import RandomSplits, TextPair
from transformer_edu.data.tokenizer import Tokenizer
from transformer_edu.data.toy_tasks import Pair, Task
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.model.refusals import require_whole
from transformer_edu.model.special_ids import SPECIAL_TOKENS
from transformer_edu.training.machine.atomic_files import require_path

PARTS = ("train", "validation", "test")
SHARE, LARGEST_PART = 0.05, 1000  # of different sources, in the validation and in the test part
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some editors begin a file with it


@dataclass(frozen=True)
class ParallelText:
    """Texts and their translations, in three parts.

    Args:
        train: Pairs to learn from.
        validation: Pairs to evaluate on during training, and to choose by.
        test: Pairs for the score at the end.
    """

    train: list[TextPair]
    validation: list[TextPair]
    test: list[TextPair]


def read_parallel(source_path: str | os.PathLike, target_path: str | os.PathLike) -> list[TextPair]:
    """Read two files: each line of one is the translation of the same line of the other.

    Spaces around a line are cut off; everything else stays as it is. A pair with an empty side is
    left out, and a warning says how many there were.

    Args:
        source_path: A text file in UTF-8, or one packed with gzip whose name ends in .gz.
        target_path: The same for the translations.

    Raises:
        TypeError: If an argument is not a path.
        OSError: If a file cannot be read, or is a damaged archive.
        ValueError: If a file is not UTF-8, both are one file, they have different numbers of lines,
            or no pair has two sides.
    """
    sources, targets = read_lines(source_path), read_lines(target_path)
    if os.path.samefile(source_path, target_path):
        raise ValueError(f"source and target must be two files, got {source_path} for both")
    if len(sources) != len(targets):
        got = f"{len(targets):,} and {len(sources):,}"
        raise ValueError(f"{target_path} must have as many lines as {source_path}, got {got}")
    if not (pairs := [(s, t) for s, t in zip(sources, targets, strict=True) if s and t]):
        both = f"{source_path} and {target_path}"
        raise ValueError(f"{both} must hold a pair with two sides, got none")
    if empty := len(sources) - len(pairs):
        message = f"{empty:,} of {len(sources):,} pairs are left out: a side is empty"
        warnings.warn(message, stacklevel=2)
    return pairs


def read_lines(path: str | os.PathLike) -> list[str]:
    """The lines of a text file in UTF-8, without the spaces around them.

    Only a line feed ends a line, as for wc; a carriage return before it is cut off.

    Args:
        path: The file; if its name ends in .gz, it is unpacked.

    Raises:
        TypeError, OSError, ValueError: As for read_parallel.
    """
    require_path("path", path)
    if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
        raise OSError(f"{path} must be a file, got a device or a pipe, which may never end")
    content = Path(path).read_bytes()
    return decode_lines(path, unpack(path, content) if Path(path).suffix == ".gz" else content)


def unpack(path: str | os.PathLike, content: bytes, *, largest: int | None = None) -> bytes:
    """The content of a gzip archive.

    Args:
        path: The archive's, for the message.
        content: The archive.
        largest: The most bytes to unpack; None for all of them.

    Raises:
        OSError: If it is not an archive, is damaged, or holds more bytes.
    """
    try:
        if not content:  # which the library takes for an archive of nothing
            raise EOFError
        with gzip.open(io.BytesIO(content)) as archive:
            unpacked = archive.read(-1 if largest is None else largest + 1)
    except (OSError, EOFError, zlib.error):
        raise OSError(f"{path} must be a whole gzip archive, got something else") from None
    if largest is not None and len(unpacked) > largest:
        raise OSError(f"{path} must hold at most {largest:,} bytes, got more")
    return unpacked


def decode_lines(path: str | os.PathLike, content: bytes) -> list[str]:
    """The lines in the content of the file at path, as for read_lines."""
    rows = content.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if not rows[-1]:
        rows.pop()  # after the last line feed
    return [decode_line(path, number, row).strip() for number, row in enumerate(rows, start=1)]


def decode_line(path: str | os.PathLike, number: int, row: bytes) -> str:
    """A line of the file at path as text, or a ValueError that names the line."""
    try:
        return row.replace(b"\0", b"\xff").decode()  # zeros are UTF-16 without its mark
    except UnicodeDecodeError as error:
        got = f"the byte {row[error.start]:#04x} in line {number:,}"
        raise ValueError(f"{path} must be text in UTF-8, got {got}") from None


def split_pairs(pairs: Sequence[TextPair]) -> ParallelText:
    """Split pairs into three parts by a hash of the source: also among other pairs it stays there.

    Validation and test have about a twentieth of the different sources each, and at least one. Of
    more than LARGEST_PART the others are left out.

    Raises:
        ValueError: If nothing is left to learn from.
    """
    together: dict[str, list[TextPair]] = {}
    for source, target in pairs:
        together.setdefault(source, []).append((source, target))
    digests = {source: hashlib.sha256(source.encode()).digest() for source in together}
    places = {source: int.from_bytes(digest, "big") / 2**256 for source, digest in digests.items()}
    first = max(1, sum(place < SHARE for place in places.values()))
    last = max(1, sum(place > 1 - SHARE for place in places.values()))
    if first + last >= len(together):
        wanted = f"more different sources than the {first + last} for validation and test"
        raise ValueError(f"pairs must have {wanted}, got {len(together)}")
    sources = sorted(places, key=places.get)
    held_out = slice(min(first, LARGEST_PART)), slice(-min(last, LARGEST_PART), None)
    cuts = (slice(first, -last), *held_out)
    return ParallelText(*([pair for s in sources[cut] for pair in together[s]] for cut in cuts))


@dataclass(frozen=True, kw_only=True)
class TranslationTask(Task):
    """A Task whose pairs are texts. Its vocabulary shows the tokenizer's pieces.

    Args:
        tokenizer: It made the ids, and decodes what the model writes.
        texts: The text of every pair, in the same order.
    """

    tokenizer: Tokenizer
    texts: ParallelText


def translation_task(
    parallel: ParallelText,
    tokenizer: Tokenizer,
    *,
    max_length: int = 128,
    name: str = "translation",
    bpe_dropout: float = 0.0,
    seed: int = 0,
) -> TranslationTask:
    """Encode texts for fit; pairs that are empty or too long for the model are left out.

    Args:
        parallel: What to learn from, to evaluate on and to test with.
        tokenizer: Made from parallel.train only, or the other parts would not be unseen.
        max_length: The most positions of a side, the end token included.
        name: What the task is called in messages.
        bpe_dropout: How likely a merge is left out in half of the training sentences.
        seed: Decides which.

    Raises:
        TypeError: If parallel is no ParallelText, or tokenizer no Tokenizer.
        ValueError: If max_length is below 2, bpe_dropout not in [0, 1), or no pair of a part fits.
    """
    if not (isinstance(parallel, ParallelText) and isinstance(tokenizer, Tokenizer)):
        got = f"{type(parallel).__name__} and {type(tokenizer).__name__}"
        raise TypeError(f"parallel and tokenizer must be a ParallelText and a Tokenizer, got {got}")
    require_whole("max_length", max_length, minimum=2)
    encoded: dict[str, list[Pair]] = {}
    texts: dict[str, list[TextPair]] = {}
    for part in PARTS:
        given = getattr(parallel, part)
        splits = RandomSplits(tokenizer, bpe_dropout, Random(seed)) if part == "train" else None
        both = zip(_encode(given, tokenizer, splits), given, strict=True)
        fitting = [(ids, text) for ids, text in both if all(0 < len(s) < max_length for s in ids)]
        if not fitting:
            wanted = f"a pair of at most {max_length} tokens a side"
            raise ValueError(f"{part} must hold {wanted}, got none")
        encoded[part], texts[part] = map(list, zip(*fitting, strict=True))
    vocabulary = Vocabulary(tokenizer.tokens(range(len(SPECIAL_TOKENS), len(tokenizer))))
    parts = encoded | {"texts": ParallelText(**texts)}
    return TranslationTask(name=name, vocabulary=vocabulary, tokenizer=tokenizer, **parts)


def _encode(pairs: list[TextPair], tokenizer: Tokenizer, splits: RandomSplits | None) -> list[Pair]:
    """The ids of sources and targets, pair by pair."""
    sides = []
    for texts in zip(*pairs, strict=True):
        ids = tokenizer.encode_all(texts)
        sides.append(splits.encode_some(texts, ids) if splits and splits.dropout else ids)
    return list(zip(*sides, strict=True))
