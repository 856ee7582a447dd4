"""Fetch a file, with an end in sight: of its size, and of the time that it may take."""

import io
import threading

from transformer_edu.training.extra import import_extra


class DownloadError(OSError):
    """A file that could not be fetched; says what came instead."""


class LimitedBuffer(io.BytesIO):
    """Memory that takes so many bytes and no more.

    Args:
        largest: How many.
    """

    def __init__(self, largest: int) -> None:
        super().__init__()
        self.largest = largest

    def write(self, content: bytes) -> int:
        """Take some more bytes.

        Raises:
            DownloadError: If they are too many.
        """
        if self.tell() + len(content) > self.largest:
            raise DownloadError(f"more than {self.largest:,} bytes")
        return super().write(content)


def download(address: str, *, largest: int, timeout: float) -> bytes:
    """Fetch the file at an address into memory, so that nothing half-written can stay behind.

    Args:
        address: Of the file, http or https.
        largest: Bytes at the most.
        timeout: Seconds until it must be there, however slowly it comes.

    Raises:
        ModuleNotFoundError: If the library pooch is not installed.
        DownloadError: If it cannot be had: no connection, a broken one, a refusal, too many
            bytes, too slow.
    """
    buffer = LimitedBuffer(largest)
    # The library's patience ends with silence only, not with a byte now and then; ours ends first.
    fetch = import_extra("pooch").HTTPDownloader(timeout=2 * timeout)
    errors: list[Exception] = []

    def work() -> None:
        try:
            fetch(address, buffer, None)
        except (OSError, ValueError) as error:  # ValueError: an address that is none
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
    """What went wrong, in words that need no library to be understood."""
    if isinstance(error, DownloadError):
        return str(error)
    answer = getattr(error, "response", None)
    return "no connection, or a broken one" if answer is None else str(answer.status_code)
