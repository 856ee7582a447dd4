"""A download ends: with the whole file, or with one sentence that says why not."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from transformer_edu.training.download import DownloadError, LimitedBuffer, download

pytest.importorskip("pooch")

CONTENT = bytes(range(256)) * 20
PATIENCE = 0.4  # seconds, for what never ends


class Answers(BaseHTTPRequestHandler):
    """Answers by the name that is asked for."""

    def do_GET(self) -> None:  # noqa: N802 - the library's name
        """Send the file, or something worse."""
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/silent":
            time.sleep(3 * PATIENCE)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        if self.path == "/cut":
            self.wfile.write(CONTENT[:100])
        elif self.path == "/slow":
            for byte in CONTENT[:30]:  # always a byte more before anybody loses patience
                self.wfile.write(bytes([byte]))
                time.sleep(PATIENCE / 10)
        else:
            self.wfile.write(CONTENT)

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


class QuietServer(ThreadingHTTPServer):
    """A server that does not mind when nobody listens any more."""

    daemon_threads = True

    def handle_error(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def address(monkeypatch) -> Iterator[str]:
    """Where a server on this machine answers."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = QuietServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_file_comes_whole(address):
    assert download(f"{address}/file", largest=len(CONTENT), timeout=30) == CONTENT


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "^404 from http://127.0.0.1:[0-9]+/missing$"),
        ("cut", "^no connection, or a broken one from http://127.0.0.1:[0-9]+/cut$"),
    ],
)
def test_a_file_that_is_not_there_or_not_whole_is_refused(address, name, message):
    with pytest.raises(DownloadError, match=message):
        download(f"{address}/{name}", largest=len(CONTENT), timeout=30)


def test_a_file_that_is_too_large_is_refused(address):
    with pytest.raises(DownloadError, match="^more than 2,000 bytes from http://127.0.0.1"):
        download(f"{address}/file", largest=2000, timeout=30)


@pytest.mark.parametrize("name", ["silent", "slow"])
def test_a_download_never_hangs(address, name):
    with pytest.raises(DownloadError, match="^no whole file within 0.4 seconds from http://127"):
        download(f"{address}/{name}", largest=len(CONTENT), timeout=PATIENCE)


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/file", "nonsense", "ftp://x/y", "http://"])
def test_an_address_where_nobody_is_gives_no_connection(monkeypatch, address):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(DownloadError, match=f"^no connection, or a broken one from {address}$"):
        download(address, largest=10, timeout=30)


def test_a_limited_buffer_takes_what_fits():
    buffer = LimitedBuffer(5)
    assert buffer.write(b"abc") == 3
    buffer.write(b"de")
    with pytest.raises(DownloadError, match="more than 5 bytes"):
        buffer.write(b"f")
    assert buffer.getvalue() == b"abcde"
