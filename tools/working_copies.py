"""Copy the lessons for their reader: ``python -m tools.working_copies``.

``work/`` holds a copy of each lesson, and git ignores it, so a reader's answers never stand in the
way of ``git pull``. A copy follows its lesson until the reader changes a cell. From then on it is
the reader's own and is never overwritten. A lesson that was run and not changed still follows.
"""

import hashlib
import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMORY = ".copied.json"  # the fingerprint of the lesson that each copy was made of
NEWER = (
    "You have changed {names} in {folder}/, and the course has a newer version: your copy stays as "
    "it is, and if you rename it, `make lab` puts the newer version next to it."
)


def fingerprint(path: Path) -> str:
    """A hash of a notebook's cells without their outputs; of all bytes if it cannot be read."""
    content = path.read_bytes()
    try:
        cells = json.loads(content)["cells"]
        content = json.dumps([[cell["cell_type"], "".join(cell["source"])] for cell in cells])
    except (ValueError, KeyError, TypeError):
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha256(content.encode()).hexdigest()


def update(lessons: Path, copies: Path) -> list[str]:
    """Copy what is new, and leave what the reader has changed.

    Args:
        lessons: The folder of the lessons.
        copies: The folder of the copies; made if it does not exist.

    Returns:
        The names of those lessons that are newer than a copy that the reader has changed.
    """
    copies.mkdir(parents=True, exist_ok=True)
    before = _remembered(copies)
    made_of, outdated = {}, []
    for lesson in sorted(lessons.glob("*.ipynb")):
        name, now, known = lesson.name, fingerprint(lesson), before.get(lesson.name)
        own = fingerprint(copies / name) if (copies / name).exists() else None
        if own is None or own == known != now:
            shutil.copyfile(lesson, copies / name)
            own = now
        made_of[name] = now if own == now else known
        if own != now != known:
            outdated.append(name)
    for name in before.keys() - made_of.keys():  # the lesson is gone, or has another name now
        if (copies / name).exists() and fingerprint(copies / name) == before[name]:
            (copies / name).unlink()
    (copies / MEMORY).write_text(json.dumps(made_of, indent=1), encoding="utf-8")
    return outdated


def _remembered(copies: Path) -> dict[str, str]:
    try:
        return dict(json.loads((copies / MEMORY).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def main() -> int:
    """The command: bring the folder ``work`` up to date."""
    outdated = update(ROOT / "notebooks", ROOT / "work")
    if outdated:
        print(NEWER.format(names=", ".join(outdated), folder="work"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
