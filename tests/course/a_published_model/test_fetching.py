"""A published model is downloaded without anything that could be run, or found where it was."""

import socket
from pathlib import Path

import pytest

from transformer_course.a_published_model import fetching
from transformer_course.a_published_model.fetching import fetch_marian
from transformer_edu.pretrained.marian_folder import MARIAN_FILES


class Hub:
    """Stands for the library that downloads, and remembers what it was asked for."""

    def __init__(self, monkeypatch, *, connected: bool = True, offline: bool = False) -> None:
        self.asked, self.kept = {}, None
        constants = pytest.importorskip("huggingface_hub.constants")
        monkeypatch.setattr("huggingface_hub.snapshot_download", self.download)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        monkeypatch.setattr(fetching, "getproxies", dict)
        self.connected = connected
        monkeypatch.setattr(socket, "create_connection", self.connect)

    def connect(self, address, timeout):
        if not self.connected:
            raise TimeoutError
        return socket.socket()

    def download(self, name, **asked):
        self.asked = {"name": name, **asked}
        if asked["local_files_only"] and self.kept is None:
            raise FileNotFoundError
        return str(self.kept or "downloaded")


COMMIT = "0" * 40


def test_only_files_without_code_of_one_commit_are_fetched(monkeypatch):
    hub = Hub(monkeypatch)
    assert fetch_marian("owner/name", revision=COMMIT) == Path("downloaded")
    assert hub.asked == {
        "name": "owner/name",
        "revision": COMMIT,
        "allow_patterns": [*MARIAN_FILES, "generation_config.json"],
        "local_files_only": False,
    }
    fetched = hub.asked["allow_patterns"]
    assert not any(name.endswith((".bin", ".pt", ".py", "*")) for name in fetched)


def test_without_a_connection_an_earlier_download_is_found(monkeypatch):
    hub = Hub(monkeypatch, connected=False)
    hub.kept = Path("kept")
    assert fetch_marian("owner/name", revision=COMMIT) == Path("kept")
    assert hub.asked["local_files_only"]


def test_behind_a_proxy_the_library_connects_itself(monkeypatch):
    hub = Hub(monkeypatch, connected=False)
    monkeypatch.setattr(fetching, "getproxies", lambda: {"https": "http://proxy"})
    fetch_marian("owner/name", revision=COMMIT)
    assert not hub.asked["local_files_only"]


@pytest.mark.parametrize(
    ("hub", "reason"),
    [
        ({"connected": False}, "no connection to huggingface.co"),
        ({"offline": True}, "HF_HUB_OFFLINE, which forbids it"),
    ],
)
def test_no_download_is_said_in_one_sentence(monkeypatch, hub, reason):
    Hub(monkeypatch, **hub)
    with pytest.raises(OSError, match=f"^owner/name must be downloaded, got {reason}$"):
        fetch_marian("owner/name", revision=COMMIT)
