"""Install the course into this environment: ``python -m tools.install lab,data``.

The argument names the extras of pyproject.toml. The environment variable TORCH names the PyTorch to
install first: a version, the path of a wheel, or any arguments that ``pip install`` takes. Later
installs into the same environment keep that PyTorch. This file needs nothing but Python.
"""

import argparse
import importlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
SMALL_PACKAGE = "tqdm"  # what is downloaded to see whether pip reaches anything
NO_CONNECTION = re.compile(
    "NewConnectionError|establish a new connection|name resolution|getaddrinfo failed"
    "|ConnectTimeout|Network is unreachable|Cannot connect to proxy|No route to host"
)
# A requirement, or the end of a path or an address; torchvision and torch-geometric are none.
NAMES_TORCH = re.compile(r"(?i)(py)?torch($|[^\w.-]|-v?\d|\.(whl|git|zip|tar))")
VERSION = re.compile(r"\d\w*([.+]\w+)*")
LONGEST = 80  # characters of a value that a message repeats
NO_NETWORK = (
    "No network: pip cannot reach its package index, so connect this computer to the internet "
    "and run the command again."
)
SIZE = "This installs PyTorch, JupyterLab and what the lessons need: about {gigabytes} GB on disk."
SIZE_WITH_CUDA = f"""{SIZE.format(gigabytes=5)}
On Linux PyTorch brings NVIDIA's CUDA libraries along, and they are most of it. Without an NVIDIA
GPU the CPU build is enough, about 1.5 GB in all: press Ctrl-C, look up its `pip install` command on
https://pytorch.org/get-started, and give what follows `pip install`: make lab TORCH="torch …"."""


class InstallError(Exception):
    """An install that cannot go on; the message is one sentence for the reader."""


def size_note(platform: str, torch: str, installed: bool) -> str:
    """What is said before the download starts.

    Args:
        platform: As in ``sys.platform``.
        torch: The value of TORCH, empty when it is not set.
        installed: Whether the environment has a PyTorch already.
    """
    if installed:
        return "This installs what is missing or has changed, usually less than 0.5 GB on disk."
    if torch:
        return f"This installs PyTorch as TORCH says ({torch}), and about 0.5 GB besides."
    return SIZE_WITH_CUDA if platform == "linux" else SIZE.format(gigabytes=1.5)


def torch_arguments(torch: str) -> list[str]:
    """What pip is given for a value of TORCH.

    Raises:
        InstallError: If the value names no PyTorch, or a wheel that does not exist.
    """
    got = torch if len(torch) <= LONGEST else f"{torch[:LONGEST]}… ({len(torch):,} characters)"
    exists = False
    with suppress(OSError, RuntimeError):  # such as a name that is too long, or nobody's home
        wheel = Path(torch).expanduser()
        exists = wheel.is_file()
        if exists and NAMES_TORCH.match(wheel.name):
            return [str(wheel.resolve())]
    if torch.endswith(".whl") and not exists and "://" not in torch and " " not in torch:
        raise InstallError(f"TORCH must name a wheel that exists, or a version, got {got}")
    try:  # people copy the whole line of PyTorch's page
        arguments = shlex.split(re.sub(r"^(\S*python\S* -m )?pip3? install ", "", torch))
    except ValueError as error:
        raise InstallError(f"TORCH must be what pip install takes, got {got}: {error}") from None
    if arguments and VERSION.fullmatch(arguments[0]):
        arguments[0] = f"torch=={arguments[0]}"
    if {"install", "uninstall"} & set(arguments):
        raise InstallError(f"TORCH must be what stands after pip install, got {got}")
    ends = [re.split(r"[/\\]", each)[-1] for each in arguments]
    if not any(NAMES_TORCH.match(end) for end in ends) and not {"-r", "--requirement"} & set(ends):
        raise InstallError(f"TORCH must name PyTorch, as 2.13.0 or torch>=2.10 does, got {got}")
    return arguments


def constraints(tested: str, chosen: str) -> str:
    """The text of constraints.txt with the chosen PyTorch, if any, in place of the tested one."""
    return re.sub(r"(?m)^torch==.*$", chosen, tested) if chosen else tested


def remembered_torch(file: Path) -> str:
    """The requirement of the PyTorch that was chosen earlier, empty when none was.

    Raises:
        InstallError: If the file holds another text.
    """
    if not file.exists():
        return ""
    name, _, version = file.read_text(encoding="utf-8", errors="replace").strip().partition("==")
    if name != "torch" or not VERSION.fullmatch(version):
        raise InstallError(f"{file} must hold torch== and a version: choose it again with TORCH=…")
    return f"{name}=={version}"


def known_extras(extras: str) -> list[str]:
    """The names of extras; one that pyproject.toml lacks is refused: pip would only warn."""
    content = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (section,) = re.findall(r"(?ms)^\[project.optional-dependencies\]$(.*?)^\[", content)
    there, names = re.findall(r"(?m)^(\w+) = ", section), re.findall(r"[^,\s]+", extras)
    unknown = [name for name in names if name not in there]
    if unknown or not names:
        wanted = f"extras must be some of {', '.join(there)}"
        raise InstallError(f"{wanted}, got {', '.join(unknown) or 'none'}")
    return names


def torch_version() -> str:
    """The installed PyTorch's version, empty when there is none."""
    importlib.invalidate_caches()
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return ""


def check_network() -> None:
    """Ask pip for a small package.

    Raises:
        InstallError: If it cannot connect. For any other failure, the install itself will say more.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = ["--no-deps", "--retries", "1", "--timeout", "10", "--dest", folder]
        command = [*PIP, "download", *options, SMALL_PACKAGE]
        answer = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if answer.returncode and NO_CONNECTION.search(answer.stdout + answer.stderr):
        raise InstallError(NO_NETWORK)


def pip_install(*arguments: str, log: Path) -> None:
    """Run ``pip install`` with its progress visible.

    Args:
        arguments: Those of ``pip install``.
        log: The file to which pip writes everything; it is kept if the install fails.

    Raises:
        InstallError: If it failed.
    """
    log.unlink(missing_ok=True)
    if subprocess.run([*PIP, "--log", str(log), "install", *arguments], cwd=ROOT).returncode:
        written = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        if NO_CONNECTION.search(written):
            raise InstallError(NO_NETWORK)
        raise InstallError(f"The install failed: pip's reason is above, and all it did in {log}.")
    log.unlink(missing_ok=True)


def write_whole(file: Path, text: str) -> None:
    """Write a file whole or not at all, also on a full disk, and name it in an error."""
    half = file.with_name(f"{file.name}.half")
    try:
        half.write_text(text, encoding="utf-8")
        os.replace(half, file)
    except OSError as error:
        half.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(file)) from error


def install(extras: str, torch: str, environment: Path) -> None:
    """Install PyTorch, if one was chosen, and then the package with these extras.

    Args:
        extras: As in pyproject.toml, with commas between them.
        torch: The value of TORCH, empty when it is not set.
        environment: The folder of the environment; it remembers the chosen PyTorch.

    Raises:
        InstallError: If something cannot be installed.
    """
    names = ",".join(known_extras(extras))
    log, remembered = environment / "install.log", environment / "chosen-torch.txt"
    arguments = torch_arguments(torch) if torch else []
    chosen = "" if arguments else remembered_torch(remembered)
    print(size_note(sys.platform, torch, bool(torch_version())), flush=True)
    check_network()
    if arguments:
        pip_install(*arguments, log=log)
        if not torch_version():
            raise InstallError(f"TORCH must name a PyTorch that pip can install, got {torch}")
        chosen = f"torch=={torch_version()}"
        write_whole(remembered, chosen)
    versions = environment / "constraints.txt"
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    write_whole(versions, constraints(tested, chosen))
    pip_install("--editable", f".[{names}]", "--constraint", str(versions), log=log)


def main(arguments: list[str]) -> int:
    """The command: install the extras that are named."""
    about = "Install the course into this environment."
    parser = argparse.ArgumentParser(prog="python -m tools.install", description=about)
    parser.add_argument("extras", nargs="*", help="of pyproject.toml, such as lab,data")
    extras = parser.parse_args(arguments).extras
    try:
        install(",".join(extras), os.environ.get("TORCH", "").strip(), Path(sys.prefix))
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        where = "the output" if error.filename is None else error.filename
        print(f"The install stopped: {error.strerror}, {where}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped: the same command goes on from here.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
