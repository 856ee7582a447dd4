"""Download a published Marian model, or find an earlier download.

Used in notebooks/20_a_published_model.ipynb.
"""

import socket
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from transformer_edu.pretrained.marian_folder import GENERATION, MARIAN_FILES
from transformer_edu.training.machine.failures import import_extra


def fetch_marian(name: str, *, revision: str, timeout: float = 5) -> Path:
    """Download a published model from the Hugging Face Hub into its cache, or find it there.

    It fetches the files that load_marian reads and, if there is one, generation_config.json for
    transformers' own generate: no pickle, and nothing that could be run.

    Args:
        name: Such as "Helsinki-NLP/opus-mt-de-en".
        revision: The full name of a Git commit, which stands for the same bytes forever.
        timeout: Seconds to wait for the Hub's first answer.

    Returns:
        The folder.

    Raises:
        ModuleNotFoundError: If the library huggingface_hub is not installed.
        OSError: If HF_HUB_OFFLINE is set, or there is neither a connection nor an earlier download.
    """
    hub, settings = import_extra("huggingface_hub"), import_extra("huggingface_hub.constants")
    if settings.HF_HUB_OFFLINE:
        raise OSError(f"{name} must be downloaded, got HF_HUB_OFFLINE, which forbids it")
    address = (urlsplit(settings.ENDPOINT).hostname, 443)
    is_known = False  # without a connection, only an earlier download is taken
    if "https" not in getproxies():
        try:
            socket.create_connection(address, timeout).close()
        except OSError:
            is_known = True
    files = [*MARIAN_FILES, GENERATION]
    wanted = {"revision": revision, "allow_patterns": files, "local_files_only": is_known}
    try:
        return Path(hub.snapshot_download(name, **wanted))
    except OSError as error:
        reason = f"no connection to {address[0]}" if is_known else type(error).__name__
        raise OSError(f"{name} must be downloaded, got {reason}") from error
