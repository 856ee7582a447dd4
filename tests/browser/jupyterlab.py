"""A JupyterLab of a test's own: on loopback, with a token, and gone afterwards."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

import psutil

# Cells out of sight stay in the page; nothing is saved or asked for by itself.
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosave": False},
    "apputils-extension/notification": {
        "checkForUpdates": False,
        "doNotDisturbMode": True,
        "fetchNews": "false",
    },
}
OPTIONS = [
    "--no-browser",
    "--allow-root",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--ServerApp.log_level=WARN",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.extension_manager=readonly",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.news_url=",
]
SECONDS_TO_START, SECONDS_TO_END = 90, 15


class Server:
    """A running JupyterLab.

    Args:
        folder: Its notebooks lie in it.
        port: Where it listens, on loopback.
        token: Without which it answers nobody.
    """

    def __init__(self, folder: Path, port: int, token: str) -> None:
        self.folder, self.port, self.token = folder, port, token
        self.address = f"http://127.0.0.1:{port}"

    def page_of(self, notebook: str) -> str:
        """The address at which a browser finds one of its notebooks."""
        return f"{self.address}/lab/tree/{notebook}?token={self.token}&reset"

    def ask(self, path: str, method: str = "GET") -> bytes:
        """What the server answers; an OSError when it does not."""
        headers = {"Authorization": f"token {self.token}"}
        request = Request(f"{self.address}/api/{path}", method=method, headers=headers)  # noqa: S310
        # The way to loopback is never over a proxy.
        with build_opener(ProxyHandler({})).open(request, timeout=30) as answer:
            return answer.read()


@contextmanager
def running_lab(folder: Path, options: Sequence[str] = ()) -> Iterator[Server]:
    """A JupyterLab on a folder. All its processes are gone in the end, whatever has happened."""
    server = Server(folder, free_port(), secrets.token_hex(16))
    own = folder / ".jupyter"
    for name, settings in SETTINGS.items():
        path = own / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
    command = [sys.executable, "-m", "jupyterlab", *OPTIONS, *options]
    command += [f"--ServerApp.root_dir={folder}", f"--ServerApp.port={server.port}"]
    with started(server, command, _environment(own, server.token), own / "log.txt"):
        yield server


@contextmanager
def started(
    server: Server, command: Sequence[str], environment: dict[str, str], log: Path
) -> Iterator[None]:
    """A command that serves. All its processes are gone in the end, whatever has happened.

    Args:
        server: What it starts.
        command: It and its arguments; it runs in the server's folder.
        environment: All its variables.
        log: The file for what it prints.
    """
    with log.open("w") as written:
        process = psutil.Popen(
            command,
            cwd=server.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            start_new_session=True,
        )
        try:
            _wait_for(server, process, log)
            yield
        finally:
            _end(server, process)


def free_port() -> int:
    """A port of loopback that nobody listens to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _environment(own: Path, token: str) -> dict[str, str]:
    """Ours, with every folder that Jupyter writes to in one place."""
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    ours = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    return {
        **ours,
        **{name: str(own / folder) for name, folder in places.items()},
        "JUPYTER_TOKEN": token,
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
    }


def _wait_for(server: Server, process: psutil.Popen, log: Path) -> None:
    """Until it answers."""
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end and process.poll() is None:
        try:
            server.ask("status")
            return
        except (URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


def _end(server: Server, process: psutil.Popen) -> None:
    """Ask it to stop, which ends its kernels too; then end what is still there."""
    family = [process, *process.children(recursive=True)] if process.is_running() else []
    try:
        server.ask("shutdown", "POST")
    except (OSError, HTTPException):  # it may end before it has answered, or obey nobody
        for each in family:
            with suppress(psutil.NoSuchProcess):
                each.terminate()
    _, alive = psutil.wait_procs(family, timeout=SECONDS_TO_END)
    for each in alive:
        each.kill()
    psutil.wait_procs(alive, timeout=SECONDS_TO_END)
