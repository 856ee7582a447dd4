"""Copy the lessons for their reader: ``python -m tools.working_copies``.

``work/`` holds a copy of each lesson, and git ignores it, so a reader's answers never stand in the
way of ``git pull``. A copy follows its lesson until the reader changes a cell. From then on it is
the reader's own and is never overwritten. A copy that was run and not changed still follows, and
stays as it was, with its outputs, under a name that ends in ``.bak``.

A copy is written whole or not at all. It is signed with the reader's own Jupyter key when it is
written, and only then: JupyterLab shows live figures only in notebooks that it trusts. Its links to
other notebooks are relative, also where those of the lessons lead to Colab.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("tools.working_copies")

import argparse
import hashlib
import json
import os
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from transformer_course.kept_files import content_of, name_from, replace_unchanged
from transformer_edu.training.machine.atomic_files import read_json, write_json
from transformer_edu.training.machine.failures import one_line_errors

ROOT = Path(__file__).resolve().parent.parent
MEMORY = ".copied.json"  # for each copy, fingerprints of its lessons and digests of its bytes
# From one notebook to another, as `make colab` writes it; the links below a title stay.
LINK_TO_COLAB = (
    r"(?<!\[Open in Colab)\]\(https://colab\.research\.google\.com/github/[^/()]+/[^/()]+"
    r"/blob/main/notebooks/"
)
NEWER = (
    "You have changed {names} in {folder}/, and the course has a newer version: your copy stays as "
    "it is, and if you rename it, `make lab` puts the newer version next to it."
)
UNKNOWN = (
    "Each of these copies differs from its lesson, because you have changed it or because it is "
    "older, and {folder}/{memory} does not say which: {names}. They stay as they are, and if you "
    "rename one, `make lab` puts its lesson next to it."
)
KEPT = (
    "The course has a newer version of {names}: your copy in {folder}/, with what you have run or "
    "added, is kept as {kept}."
)
FAILED = "{names} could not be brought up to date in {folder}/: {reason}."
SIGNED = (
    "Notebooks copied to {folder}/: {count}, signed with your Jupyter key, so that JupyterLab "
    "trusts them and shows their live figures."
)
NOT_SIGNED = (
    "Notebooks copied to {folder}/: {count}, which could not be signed with your Jupyter key, so "
    "JupyterLab shows their live figures after its command Trust Notebook."
)


@dataclass
class Update:
    """What was done to the copies.

    Attributes:
        copied: The names of the lessons that were copied.
        newer: The names of those that are newer than a copy that the reader has changed.
        unknown: The names of copies that differ and that nobody remembers: without the memory, such
            as in a new clone, an older one looks like one that the reader has changed.
        kept: By name, the file that keeps a copy as it was: its cells are the lesson's, and its
            outputs or something else are not.
        failed: By name, why a lesson could not be copied.
        signed: Whether all that were copied are signed.
    """

    copied: list[str] = field(default_factory=list)
    newer: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    signed: bool = True


def fingerprint(content: bytes) -> str:
    """A hash of a notebook's cells without their outputs; of all bytes if it cannot be read."""
    return _digest(_cells(content) or content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _cells(content: bytes) -> bytes:
    """The cells of a notebook without their outputs; empty if it cannot be read."""
    try:
        cells = json.loads(content)["cells"]
        text = json.dumps([[cell["cell_type"], "".join(cell["source"])] for cell in cells])
    except (ValueError, KeyError, TypeError, RecursionError):
        return b""
    return text.encode()


def update(lessons: Path, copies: Path) -> Update:
    """Copy what is new, and leave what the reader has changed.

    Args:
        lessons: The folder of the lessons.
        copies: The folder of the copies; made if it does not exist.

    Raises:
        OSError: If the folder of the copies cannot be made.
    """
    copies.mkdir(parents=True, exist_ok=True)
    before, done = _remembered(copies), Update()
    made_of = {name: list(known) for name, known in before.items()}
    names = sorted(path.name for path in lessons.glob("*.ipynb"))
    for name in names:
        try:
            _follow(lessons / name, copies / name, made_of, done)
        except OSError as error:
            done.failed[name] = error.strerror or str(error)
            if error.filename and Path(error.filename).name != name:
                done.failed[name] += f" ({Path(error.filename).name})"
    gone = made_of.keys() - set(names) if names else ()  # or the lesson has another name now
    for name in gone:
        try:
            there = content_of(copies / name)
            if there is not None:
                if fingerprint(there) not in made_of[name]:
                    continue
                _replace(copies / name, there, None, made_of[name], done)
        except ValueError:  # no file can have that name
            pass
        except OSError:
            continue
        del made_of[name]
    if made_of != before:
        with suppress(OSError):  # the next update finds the same
            write_json(copies / MEMORY, made_of)
    return done


def _follow(lesson: Path, copy: Path, made_of: dict[str, list[str]], done: Update) -> None:
    """Copy one lesson, if its copy is missing or the reader has not changed it.

    Raises:
        OSError: If it could not be copied, or its copy could not be read.
    """
    content = re.sub(LINK_TO_COLAB.encode(), b"](", lesson.read_bytes())
    if not _cells(content):
        raise OSError("the lesson is damaged")
    now, known = fingerprint(content), made_of.setdefault(lesson.name, [])
    there = content_of(copy)
    own = None if there is None else fingerprint(there)
    if own not in (None, now, *known):
        if now not in known[-2:]:  # what was copied last
            (done.newer if known else done.unknown).append(lesson.name)
        return
    made = [now, *[_digest(content)] * (own != now or there == content)]
    known[:] = [*(each for each in known if each not in made), *made]
    if own != now:
        # What is remembered first cannot be taken for the reader's own, whatever happens next.
        write_json(copy.with_name(MEMORY), made_of)
        done.signed &= sign(content)
        _replace(copy, there, content, known, done)
        done.copied.append(lesson.name)


def _replace(
    copy: Path, there: bytes | None, content: bytes | None, known: list[str], done: Update
) -> None:
    """Write or remove a copy; what differs in anything from what was written there is kept.

    Raises:
        OSError: If it cannot be done; the copy stays.
    """
    keep = there is not None and _digest(there) not in known
    if kept := replace_unchanged(copy, there, content, keep=keep):
        done.kept[copy.name] = name_from(copy.parent, kept)


def sign(content: bytes) -> bool:
    """Let this user's JupyterLab trust a notebook of these bytes. Returns whether it does."""
    try:
        from jupyter_core.paths import jupyter_data_dir

        Path(jupyter_data_dir()).mkdir(mode=0o700, parents=True, exist_ok=True)
        _with_notary("sign", content)
        return is_trusted(content)  # without a disk the first notary forgets
    except Exception:  # a lesson without live figures is better than none
        return False


def is_trusted(content: bytes) -> bool:
    """Whether this user's JupyterLab trusts a notebook of these bytes."""
    try:
        return _with_notary("check_signature", content)
    except Exception:
        return False


def _with_notary(name: str, content: bytes) -> bool:
    """Call a method of a new notary, which keeps signatures where Jupyter does."""
    import nbformat
    from jupyter_core.paths import jupyter_data_dir
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary(data_dir=jupyter_data_dir())
    with closing(notary.store), warnings.catch_warnings(action="ignore"):  # cells with one id
        return getattr(notary, name)(nbformat.reads(content.decode(), as_version=4))


def _remembered(copies: Path) -> dict[str, list[str]]:
    """The fingerprints by the names of copies; what else the file holds is not ours."""
    if not (copies / MEMORY).is_file():
        return {}
    try:
        memory = dict(read_json(copies / MEMORY))
    except (OSError, ValueError, TypeError):
        return {}
    listed = {name: [known] if isinstance(known, str) else known for name, known in memory.items()}
    return {
        name: known
        for name, known in listed.items()
        if Path(name).name == name and name.endswith(".ipynb") and isinstance(known, list)
    }


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """The command: bring the folder ``work`` up to date."""
    about = "Copy the lessons into work/; what you have changed there is never overwritten."
    argparse.ArgumentParser(prog="python -m tools.working_copies", description=about).parse_args(
        arguments
    )
    copies = ROOT / "work"
    if os.path.lexists(copies) and not copies.is_dir():
        got = "a file" if copies.exists() else "a link that leads nowhere"
        print(f"{copies.name} must be a folder, got {got}: please rename it.", file=sys.stderr)
        return 1
    try:
        done = update(ROOT / "notebooks", copies)
    except OSError as error:
        print(f"{copies.name}/ could not be made: {error.strerror}.", file=sys.stderr)
        return 1
    if done.copied:
        words = SIGNED if done.signed else NOT_SIGNED
        print(words.format(count=len(done.copied), folder=copies.name))
    if done.kept:
        names, files = (", ".join(each) for each in (done.kept, done.kept.values()))
        print(KEPT.format(names=names, kept=files, folder=copies.name))
    if done.newer:
        print(NEWER.format(names=", ".join(done.newer), folder=copies.name))
    if done.unknown:
        print(UNKNOWN.format(names=", ".join(done.unknown), folder=copies.name, memory=MEMORY))
    names = defaultdict(list)
    for name, reason in done.failed.items():
        names[reason].append(name)
    for reason, those in names.items():
        words = FAILED.format(names=", ".join(those), folder=copies.name, reason=reason)
        print(words, file=sys.stderr)
    if any(copies.glob("*.ipynb")):
        return 0
    if not done.failed:
        print("notebooks/ must hold the lessons, got none.", file=sys.stderr)
    return 1
