"""The working tree as a stranger gets it: the files that git knows or would add, and no others."""

import shutil
import subprocess
from pathlib import Path

from tools.notebooks import ROOT


def clone_into(folder: Path) -> Path:
    """Copy the working tree, without what git ignores, such as environments and readers' copies.

    Args:
        folder: Where to.

    Returns:
        The same folder.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():  # one that was deleted is still listed
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder
