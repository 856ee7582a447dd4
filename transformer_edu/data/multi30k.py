"""Multi30k: 31,014 image captions in English and German, to learn a real translation from.

Elliott et al. 2016, "Multi30K: Multilingual English-German Image Descriptions"; the first task's
raw texts, and its test set of 2016. A folder that holds them needs no network.
"""

import hashlib
import io
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from transformer_edu.data.parallel_text import ParallelText, decode_lines, unpack
from transformer_edu.training.machine.atomic_files import (
    replace_file,
    require_path,
    require_writable,
)
from transformer_edu.training.machine.failures import import_extra

DATA_VARIABLE = "TRANSFORMER_EDU_DATA"  # names a folder that holds the files, or its parent
CACHE_VARIABLE = "TRANSFORMER_EDU_CACHE"  # names the folder for what was downloaded
NAME = "multi30k"
SOURCE = (
    "https://raw.githubusercontent.com/multi30k/dataset/"
    "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw"
)
PARTS = ("train", "val", "test_2016_flickr")
# SHA-256 of the unpacked texts: a copy may be packed in another way.
CHECKSUMS = {
    "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
    "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
    "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
    "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
    "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
    "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
}
LARGEST = 5_000_000  # bytes, packed or not; the largest text has 2,110,398
ATTEMPTS, PAUSE = 3, 1.0  # seconds before the second attempt, twice as many before the third


def load_multi30k(
    folder: str | os.PathLike | None = None, *, source: str = SOURCE, timeout: float = 30
) -> ParallelText:
    """The captions in English, each with its German translation: 29,000, 1,014 and 1,000 pairs.

    They are read from folder, or from the folder that the environment variable
    TRANSFORMER_EDU_DATA names, or downloaded once into the cache (TRANSFORMER_EDU_CACHE moves
    it). The SHA-256 of every file is compared each time.

    Args:
        folder: Holds train.en.gz and the others, or a folder multi30k with them.
        source: The address of the folder to download from.
        timeout: Seconds that one attempt to download a file may take.

    Raises:
        ModuleNotFoundError: If the library pooch is needed and not installed.
        TypeError: If folder is not a path.
        OSError: If a file is missing or a different one, the download fails three times, or the
            cache cannot be written; no half-written file is left.
    """
    if folder is not None:
        require_path("folder", folder)
    folder = folder or os.environ.get(DATA_VARIABLE)
    if folder:
        own = _folder_with_files(Path(folder))
        texts = {name: _read(own / f"{name}.gz") for name in CHECKSUMS}
    else:
        cache = os.environ.get(CACHE_VARIABLE) or import_extra("pooch").os_cache("transformer_edu")
        own = Path(cache) / NAME
        texts = {name: _cached(own / f"{name}.gz", source, timeout) for name in CHECKSUMS}
    lines = {name: decode_lines(name, text) for name, text in texts.items()}
    pairs = (list(zip(lines[f"{p}.en"], lines[f"{p}.de"], strict=True)) for p in PARTS)
    return ParallelText(*pairs)


def _read(path: Path, content: bytes | None = None) -> bytes:
    """Unpack a file, or the content that will lie at path; refuse a text of another SHA-256."""
    text = unpack(path, path.read_bytes() if content is None else content, largest=LARGEST)
    found, wanted = hashlib.sha256(text).hexdigest(), CHECKSUMS[path.stem]
    if found != wanted:
        raise OSError(f"{path} must hold the text with the SHA-256 {wanted}, got {found}")
    return text


def _cached(path: Path, source: str, timeout: float) -> bytes:
    """The text of a file in the cache; downloaded first if it is not there, or damaged."""
    with suppress(OSError):  # not there yet, or not to be trusted
        return _read(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        require_writable("the cache", path)
        content = _fetch(path, source, timeout)
        replace_file(path, [content])
    except OSError as error:
        wanted = f"lie in the folder that the environment variable {DATA_VARIABLE} names"
        raise OSError(f"Multi30k must be downloaded, or {wanted}, got {error}") from error
    return _read(path, content)


def _fetch(path: Path, source: str, timeout: float) -> bytes:
    """Download what belongs at path; try again if it is not the right file."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            content = download(f"{source}/{path.name}", largest=LARGEST, timeout=timeout)
            _read(path, content)
            break
        except OSError:
            if attempt == ATTEMPTS:
                raise
            time.sleep(PAUSE * attempt)
    return content


def _folder_with_files(folder: Path) -> Path:
    """The folder itself, or the one in it that is named after the data."""
    for candidate in (folder, folder / NAME):
        if (candidate / "train.en.gz").is_file():
            return candidate
    wanted = "a folder with train.en.gz and the other files of Multi30k"
    got = f"none there (or in the folder {NAME} in it)"
    raise FileNotFoundError(f"{folder} must be {wanted}, got {got}")


class DownloadError(OSError):
    """A file could not be downloaded; the message says why."""


class LimitedBuffer(io.BytesIO):
    """Memory that takes at most ``largest`` bytes."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self.largest = largest

    def write(self, content: bytes) -> int:
        """Take more bytes, or raise a DownloadError if they are too many."""
        if self.tell() + len(content) > self.largest:
            raise DownloadError(f"more than {self.largest:,} bytes")
        return super().write(content)


def download(address: str, *, largest: int, timeout: float) -> bytes:
    """Download a file into memory, so that no half-written file can be left.

    Args:
        address: Of the file, http or https.
        largest: Bytes at the most.
        timeout: Seconds for the whole file, however slowly it comes.

    Raises:
        ModuleNotFoundError: If the library pooch is not installed.
        DownloadError: If there is no connection, it breaks, or the server refuses; if the file has
            too many bytes or comes too slowly.
    """
    buffer = LimitedBuffer(largest)
    # The library's timeout is for silence only: a byte now and then would go on for ever.
    fetch = import_extra("pooch").HTTPDownloader(timeout=2 * timeout)
    errors: list[Exception] = []

    def work() -> None:
        try:
            fetch(address, buffer, None)
        except (OSError, ValueError) as error:  # ValueError: not an address
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)  # the program may end before it does
    thread.start()
    thread.join(timeout)
    if thread.is_alive():
        raise DownloadError(f"no whole file within {timeout:g} seconds from {address}")
    if errors:
        raise DownloadError(f"{_reason(errors[0])} from {address}") from errors[0]
    return buffer.getvalue()


def _reason(error: Exception) -> str:
    """What went wrong, without the words of the library."""
    if isinstance(error, DownloadError):
        return str(error)
    answer = getattr(error, "response", None)
    return "no connection, or a broken one" if answer is None else str(answer.status_code)
