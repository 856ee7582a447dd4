"""The captions are the right ones wherever they come from, and nothing half-written stays."""

import gzip
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from transformer_edu.data import multi30k as module
from transformer_edu.data.multi30k import (
    CACHE_VARIABLE,
    DATA_VARIABLE,
    DownloadError,
    download,
    load_multi30k,
)
from transformer_edu.data.parallel_text import ParallelText
from transformer_edu.training.machine.failures import import_extra

SMALL_TEXTS = {
    f"{part}.{language}": "".join(f"{part} {language} ä {i} \n" for i in range(count)).encode()
    for part, count in (("train", 5), ("val", 3), ("test_2016_flickr", 2))
    for language in ("en", "de")
}
SMALL = ParallelText(
    *(
        [(f"{part} en ä {i}", f"{part} de ä {i}") for i in range(count)]
        for part, count in (("train", 5), ("val", 3), ("test_2016_flickr", 2))
    )
)
WHERE_ELSE = "^Multi30k must be downloaded, or lie in the folder that .* TRANSFORMER_EDU_DATA names"


class QuietHandler(SimpleHTTPRequestHandler):
    """Sends the files of a folder."""

    def log_message(self, *arguments: object) -> None:
        """Count what was asked for instead of printing it."""
        self.server.asked.append(self.path)


class QuietServer(ThreadingHTTPServer):
    """A server on this machine; it ignores clients that have gone."""

    daemon_threads = True

    def __init__(self, handler: Callable) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.asked: list[str] = []
        self.address = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *arguments: object) -> None:
        """Print nothing."""


@contextmanager
def running(server: QuietServer) -> Iterator[QuietServer]:
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def write_files(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in SMALL_TEXTS.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(text))
    return folder


@pytest.fixture(autouse=True)
def small_texts(monkeypatch, tmp_path, request) -> None:
    """Texts of a few lines in the place of the real ones, an empty cache, and no patience."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    if "real_folder" in request.fixturenames:
        return
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    checksums = {name: hashlib.sha256(text).hexdigest() for name, text in SMALL_TEXTS.items()}
    monkeypatch.setattr(module, "CHECKSUMS", checksums)
    monkeypatch.setattr(module, "PAUSE", 0.0)


@pytest.fixture
def server(tmp_path) -> Iterator[QuietServer]:
    pytest.importorskip("pooch")
    folder = write_files(tmp_path / "served")
    with running(QuietServer(partial(QuietHandler, directory=folder))) as server:
        server.folder = folder
        yield server


@pytest.fixture
def cache(tmp_path) -> Path:
    return tmp_path / "cache" / "multi30k"


@pytest.fixture
def real_folder() -> Path:
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        pytest.skip(f"{DATA_VARIABLE} names no folder with Multi30k")
    return Path(folder)


def left_in(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir()) if cache.exists() else []


def test_the_captions_are_read_from_a_folder_or_from_the_one_in_it(tmp_path, monkeypatch):
    write_files(tmp_path / "data" / "multi30k")
    for folder in (tmp_path / "data", str(tmp_path / "data" / "multi30k")):
        assert load_multi30k(folder) == SMALL
        monkeypatch.setenv(DATA_VARIABLE, str(folder))
        assert load_multi30k() == SMALL


def test_the_captions_are_downloaded_once(server, cache):
    assert load_multi30k(source=server.address) == SMALL
    assert left_in(cache) == sorted(f"{name}.gz" for name in SMALL_TEXTS)
    asked = len(server.asked)
    assert asked == 6
    assert load_multi30k(source=server.address) == SMALL
    assert len(server.asked) == asked


def test_a_download_that_stopped_goes_on_with_what_is_missing(server, cache):
    (server.folder / "val.de.gz").rename(server.folder / "hidden")
    with pytest.raises(OSError, match=f"{WHERE_ELSE}, got 404 from http://127.*val.de.gz$"):
        load_multi30k(source=server.address)
    there = left_in(cache)
    assert there == ["train.de.gz", "train.en.gz", "val.en.gz"]
    (server.folder / "hidden").rename(server.folder / "val.de.gz")
    server.asked.clear()
    assert load_multi30k(source=server.address) == SMALL
    assert not [path for path in server.asked if path.strip("/") in there]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"another text\n"), "train.en.gz must hold the text with the SHA-256"),
        (gzip.compress(SMALL_TEXTS["train.en"])[:-9], "train.en.gz must be a whole gzip archive"),
        (b"<html>Sign in to the network</html>", "train.en.gz must be a whole gzip archive"),
        (gzip.compress(bytes(6_000_000)), "train.en.gz must hold at most 5,000,000 bytes"),
        (bytes(6_000_000), "more than 5,000,000 bytes from http://127"),
    ],
    ids=["another", "cut", "page", "bomb", "large"],
)
def test_a_wrong_file_is_tried_three_times_and_not_kept(server, cache, content, message):
    (server.folder / "train.en.gz").write_bytes(content)
    with pytest.raises(OSError, match=f"{WHERE_ELSE}, got .*{message}"):
        load_multi30k(source=server.address)
    assert server.asked == ["/train.en.gz"] * 3
    assert left_in(cache) == []


def test_a_fault_that_passes_is_forgiven(server, monkeypatch):
    whole = (server.folder / "train.en.gz").read_bytes()
    (server.folder / "train.en.gz").write_bytes(whole[:20])

    def repair(seconds: float) -> None:
        (server.folder / "train.en.gz").write_bytes(whole)

    monkeypatch.setattr(module.time, "sleep", repair)
    assert load_multi30k(source=server.address) == SMALL


def test_what_lies_in_the_cache_is_not_trusted(server, cache):
    load_multi30k(source=server.address)
    whole = (cache / "val.en.gz").read_bytes()
    for damaged in (whole[:-5], gzip.compress(b"another text\n"), b""):
        (cache / "val.en.gz").write_bytes(damaged)
        server.asked.clear()
        assert load_multi30k(source=server.address) == SMALL
        assert server.asked == ["/val.en.gz"]


def test_a_cache_that_cannot_be_made_is_said_before_anything_is_downloaded(server, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(OSError, match=f"{WHERE_ELSE}, got .*cache"):
        load_multi30k(source=server.address)
    assert server.asked == []


def test_a_folder_without_the_files_is_refused(tmp_path, monkeypatch):
    message = "must be a folder with train.en.gz and the other files of Multi30k, got none there"
    with pytest.raises(FileNotFoundError, match=f"^{tmp_path} {message}"):
        load_multi30k(tmp_path)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=f"nowhere {message}"):
        load_multi30k()
    with pytest.raises(TypeError, match="folder must be a path, got 3"):
        load_multi30k(3)


def test_a_folder_with_a_wrong_file_is_refused(tmp_path):
    folder = write_files(tmp_path / "data")
    whole = (folder / "val.de.gz").read_bytes()
    for content, message in (
        (
            gzip.compress(b"x\n"),
            "must hold the text with the SHA-256 [0-9a-f]{64}, got [0-9a-f]{64}",
        ),
        (whole[:-3], "must be a whole gzip archive, got something else"),
    ):
        (folder / "val.de.gz").write_bytes(content)
        with pytest.raises(OSError, match=f"val.de.gz {message}$"):
            load_multi30k(folder)
    (folder / "val.de.gz").unlink()
    with pytest.raises(FileNotFoundError, match="val.de.gz"):
        load_multi30k(folder)


def test_the_real_captions_have_their_numbers_and_stand_side_by_side(real_folder):
    parts = load_multi30k(real_folder)
    assert [len(part) for part in (parts.train, parts.validation, parts.test)] == [
        29_000,
        1014,
        1000,
    ]
    for part in (parts.train, parts.validation, parts.test):
        assert all(source and target for source, target in part)
        # A translation is about as long as its source, a neighbour's is not.
        beside = sum(abs(len(s) - len(t)) for s, t in part)
        shifted = sum(abs(len(s) - len(t)) for (s, _), (_, t) in zip(part, part[1:], strict=False))
        assert beside < 0.7 * shifted


def test_the_real_test_captions_are_not_learned_from(real_folder):
    parts = load_multi30k(real_folder)
    learned = {source for source, _ in parts.train}
    assert not learned & {source for source, _ in parts.test}
    # One caption was published in two parts; it stays, or scores could not be compared.
    assert len(learned & {source for source, _ in parts.validation}) == 1


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
            time.sleep(20 * PATIENCE)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT) + (self.path == "/large")))
        self.end_headers()
        if self.path == "/cut":
            self.wfile.write(CONTENT[:100])
        elif self.path == "/slow":
            for byte in CONTENT[:300]:  # always a byte more before anybody loses patience
                self.wfile.write(bytes([byte]))
                time.sleep(PATIENCE / 10)
        else:
            self.wfile.write(CONTENT + b"x" * (self.path == "/large"))

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    """Where a server on this machine answers."""
    with running(QuietServer(Answers)) as server:
        yield server.address


def test_a_file_comes_whole(address):
    assert download(f"{address}/file", largest=len(CONTENT), timeout=30) == CONTENT


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("large", "^more than 5,120 bytes from http://127.0.0.1"),
        ("missing", "^404 from http://127.0.0.1:[0-9]+/missing$"),
        ("cut", "^no connection, or a broken one from http://127.0.0.1:[0-9]+/cut$"),
    ],
)
def test_a_file_that_is_not_there_not_whole_or_too_large_is_refused(address, name, message):
    with pytest.raises(DownloadError, match=message):
        download(f"{address}/{name}", largest=len(CONTENT), timeout=30)


@pytest.mark.parametrize("name", ["silent", "slow"])
def test_a_download_never_hangs(address, name):
    with pytest.raises(DownloadError, match="^no whole file within 0.4 seconds from http://127"):
        download(f"{address}/{name}", largest=len(CONTENT), timeout=PATIENCE)


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/file", "nonsense", "ftp://x/y", "http://"])
def test_an_address_where_nobody_is_gives_no_connection(address):
    with pytest.raises(DownloadError, match=f"^no connection, or a broken one from {address}$"):
        download(address, largest=10, timeout=30)


# None in sys.modules is Python's own way to say that a module cannot be imported.
WITHOUT_LIBRARIES = """
import sys
sys.modules |= dict.fromkeys(("sacrebleu", "pooch"))
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.data.multi30k import load_multi30k

for call in (
    lambda: corpus_bleu(["a"], ["a"]),
    lambda: load_multi30k(),
):
    try:
        call()
    except ModuleNotFoundError as error:
        print(error)
"""


def test_a_missing_library_is_asked_for():
    with pytest.raises(ModuleNotFoundError, match="^nothing_like_it must be installed .* pip inst"):
        import_extra("nothing_like_it")


def test_without_the_libraries_everything_can_be_imported_and_says_what_it_needs(tmp_path):
    result = subprocess.run(
        [sys.executable, "-O", "-c", WITHOUT_LIBRARIES],
        capture_output=True,
        text=True,
        timeout=600,
        env={
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TRANSFORMER_EDU_CACHE": str(tmp_path / "none"),
        },
    )
    sentences = result.stdout.splitlines()
    assert result.stderr == ""
    assert [sentence.split()[0] for sentence in sentences] == ["sacrebleu", "pooch"]
    assert all('pip install "transformer-edu[data]"' in sentence for sentence in sentences)
