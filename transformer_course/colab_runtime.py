"""Keep the reader's work where Colab does not delete it: in Google Drive, or on another machine.

The set-up cell of a lesson asks where, in a form. Without Colab nothing is asked and nothing done.
"""

import ast
import os
from pathlib import Path
from types import ModuleType

from transformer_course.kept_files import content_of, replace_unchanged
from transformer_course.my_transformer import FILE

MOUNT, DRIVE, FOLDER = "drive", "MyDrive", "transformer-edu"  # where Colab shows Google Drive
UPLOADED = f"uploaded_{FILE}"


def keep_work_in(place: str) -> None:
    """Keep ``my_transformer.py`` on Colab, and say where it is or why that failed.

    Args:
        place: ``"this runtime"``, until Colab deletes it; ``"Google Drive"``, with all else that
            lessons write from now on; ``"download"``, once, to the reader's machine; ``"upload"``,
            from there.

    Raises:
        ValueError: If the place is none of these.
    """
    try:
        from google.colab import drive, files
    except ImportError:  # this is not Colab
        return
    actions = {
        "this runtime": _say_where_it_is,
        "Google Drive": lambda: _move_to_drive(drive),
        "download": lambda: _download(files),
        "upload": lambda: _upload(files),
    }
    if place not in actions:
        raise ValueError(f"place must be one of {', '.join(actions)}, got {place!r}")
    try:
        print(actions[place]())
    except Exception as error:  # a lesson works without either
        reason = " ".join(str(error).split()) or type(error).__name__
        print(f"{FILE} stays where it is: {place} failed ({reason}).")


def _say_where_it_is() -> str:
    if _is_in_drive():
        return _in_drive()
    return (
        f"Colab deletes {FILE} with this runtime. To keep it, choose Google Drive above, or "
        "download it now and upload it next time."
    )


def _is_in_drive() -> bool:
    return Path.cwd().parts[-2:] == (DRIVE, FOLDER)


def _in_drive() -> str:
    return f"{FILE} is kept in your Google Drive, in the folder {FOLDER}."


def _move_to_drive(drive: ModuleType) -> str:
    """Work in a folder of Google Drive from now on; a file that is there already stays."""
    own, content = Path(FILE).absolute(), None
    if own.is_file():
        content = own.read_bytes()
    if not _is_in_drive():
        mount = Path.cwd() / MOUNT
        drive.mount(str(mount))
        folder = mount / DRIVE / FOLDER
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
    kept = Path(FILE)
    if content is not None and not kept.exists():
        replace_unchanged(kept, None, content)
    elif content is not None and content != kept.read_bytes():
        return f"{_in_drive()} It differs from the one of this runtime, which is still {own}."
    return _in_drive()


def _download(files: ModuleType) -> str:
    if not Path(FILE).is_file():
        return f"There is no {FILE} yet: a lesson writes it when a class of yours passes its check."
    files.download(FILE)
    return f"Your browser saves {FILE}. In a new runtime, choose upload."


def _upload(files: ModuleType) -> str:
    """Put the file that the reader chooses in place of the one that is here, which is copied."""
    files.upload_file(UPLOADED)
    uploaded, said = Path(UPLOADED), ""
    content = uploaded.read_bytes()
    uploaded.unlink()
    try:
        ast.parse(content)
    except (SyntaxError, ValueError):
        raise ValueError("the file that you chose holds no Python") from None
    before = content_of(Path(FILE))
    if copy := replace_unchanged(Path(FILE), before, content, keep=before not in (None, content)):
        said = f" The one that was here is kept as {copy.name}."
    return f"{FILE} is uploaded.{said} {_say_where_it_is()}"
