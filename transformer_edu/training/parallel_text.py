"""Sentences in two languages: read from two files, line by line, and cut into three parts."""

import gzip
import io
import os
import random
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_edu.model.refusals import require_whole
from transformer_edu.training.checkpoint_file import require_path

TextPair = tuple[str, str]  # a source text and its translation
LARGEST_PART = 1000  # pairs that are held out for watching, and for judging, if nobody says more
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some editors begin a file with it


@dataclass(frozen=True)
class ParallelText:
    """Texts and their translations, in three parts.

    Args:
        train: Pairs to learn from.
        validation: Pairs to watch by, and to choose by.
        test: Pairs to be judged by at the end.
    """

    train: list[TextPair]
    validation: list[TextPair]
    test: list[TextPair]


def read_parallel(source_path: str | os.PathLike, target_path: str | os.PathLike) -> list[TextPair]:
    """Read two files of which each line of one is the translation of the other's.

    Lines may be of any length. Spaces around a line are cut off, everything else stays as it is:
    HTML is text. A pair with an empty side is left out, and a warning says how many there were.

    Args:
        source_path: A text file in UTF-8, or one packed with gzip whose name ends in .gz.
        target_path: The same for the translations.

    Raises:
        TypeError: If a path is no path.
        OSError: If a file cannot be read, or is a damaged archive.
        ValueError: If a file is not UTF-8, the files have different numbers of lines, or no pair
            has two sides.
    """
    sources, targets = read_lines(source_path), read_lines(target_path)
    if len(sources) != len(targets):
        raise ValueError(
            f"{target_path} must have as many lines as {source_path}, "
            f"got {len(targets):,} and {len(sources):,}"
        )
    pairs = [(s, t) for s, t in zip(sources, targets, strict=True) if s and t]
    if not pairs:
        raise ValueError(
            f"{source_path} and {target_path} must hold a pair with two sides, got none"
        )
    empty = len(sources) - len(pairs)
    if empty:
        message = f"{empty:,} of {len(sources):,} pairs are left out: a side is empty"
        warnings.warn(message, stacklevel=2)
    return pairs


def read_lines(path: str | os.PathLike) -> list[str]:
    """The lines of a text file in UTF-8, without the spaces around them.

    Only a line feed ends a line, as for wc; a carriage return before it is cut off.

    Args:
        path: The file; if its name ends in .gz, it is unpacked.

    Raises:
        TypeError: If path is no path.
        OSError: If it cannot be read, or is a damaged archive.
        ValueError: If it is not UTF-8; the first such line is named.
    """
    require_path("path", path)
    content = Path(path).read_bytes()
    if Path(path).suffix == ".gz":
        content = unpack(path, content)
    return decode_lines(path, content)


def unpack(path: str | os.PathLike, content: bytes, *, largest: int | None = None) -> bytes:
    """What is packed in a gzip archive that lies at path.

    Args:
        path: For the message.
        content: The archive.
        largest: So many bytes at the most are unpacked; None for all of them.

    Raises:
        OSError: If it is no archive, damaged, or larger.
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
    """The lines in the content of the file at path, as read_lines."""
    rows = content.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if not rows[-1]:
        rows.pop()  # behind the last line feed
    lines = []
    for number, row in enumerate(rows, start=1):
        try:
            lines.append(row.decode().strip())
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path} must be text in UTF-8, got the byte {row[error.start]:#04x} "
                f"in line {number:,}"
            ) from None
    return lines


def split_pairs(
    pairs: Sequence[TextPair],
    *,
    validation_size: int | None = None,
    test_size: int | None = None,
    seed: int = 0,
) -> ParallelText:
    """Cut pairs into three parts at random; pairs of the same source stay in one part.

    Args:
        pairs: Texts and their translations.
        validation_size: Different sources to watch by; None takes a tenth, 1,000 at most.
        test_size: Different sources to be judged by; None as for validation_size.
        seed: Decides which; the same seed gives the same parts.

    Raises:
        TypeError, ValueError: If a size is not a whole number of at least 1, seed is negative,
            or nothing is left to learn from.
    """
    together: dict[str, list[TextPair]] = {}
    for source, target in pairs:
        together.setdefault(source, []).append((source, target))
    tenth = min(LARGEST_PART, max(1, len(together) // 10))
    validation_size = tenth if validation_size is None else validation_size
    test_size = tenth if test_size is None else test_size
    require_whole("validation_size", validation_size)
    require_whole("test_size", test_size)
    require_whole("seed", seed, minimum=0)
    held_out = validation_size + test_size
    if held_out >= len(together):
        raise ValueError(
            f"pairs must have more different sources than the {held_out:,} for validation and "
            f"test, got {len(together):,}"
        )
    sources = list(together)
    random.Random(seed).shuffle(sources)
    cuts = (slice(held_out, None), slice(validation_size), slice(validation_size, held_out))
    return ParallelText(*([pair for s in sources[cut] for pair in together[s]] for cut in cuts))
