"""What readers and teachers start, killed at any line: ``python -m tests.killed_actions``.

The process imports everything once. For each request, a line of JSON on its standard input, it
forks a child that does one action in the present folder. The child counts the lines of this
project that it runs, and kills itself at the one that is asked for.
"""

import json
import linecache
import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType

from tools import working_copies
from transformer_course import our_transformer
from transformer_course.grading.__main__ import main as grade
from transformer_course.my_transformer import OURS, keep, my_parts

ROOT = str(Path(__file__).resolve().parent.parent)
SAID, LINES = ".said", ".lines"


def keep_class(name: str, idea: str) -> None:
    """Keep a class of the course's, with an idea in its docstring, as a notebook's cell would."""
    source = OURS[name].replace('"""', f'"""{idea} ', 1)
    text = f"import math\nimport torch\nfrom torch import nn\n\n\n{source}\n"
    linecache.cache["<cell>"] = (len(text), None, text.splitlines(keepends=True), "<cell>")
    names = {"__name__": "__main__", **{each: getattr(our_transformer, each) for each in OURS}}
    exec(compile(text, "<cell>", "exec"), names)
    keep(names[name])


def update_copies() -> None:
    """Bring the folder work up to date with the folder notebooks."""
    working_copies.ROOT = Path.cwd()
    working_copies.main()


ACTIONS: dict[str, Callable[..., object]] = {
    "keep": keep_class,
    "my_parts": my_parts,
    "update": update_copies,
    "grade": lambda *files: grade([*files, "--course", "course"]),
}


def killing(number: int, is_counted: Callable[[str], bool]) -> Callable:
    """A trace that counts the lines of some files, and kills the process at the one of a number.

    Its attribute ``lines`` is how many there were.
    """

    def trace(frame: FrameType, event: str, _: object) -> Callable | None:
        if not is_counted(frame.f_code.co_filename):
            return None
        trace.lines += 1
        if trace.lines == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    trace.lines = 0
    return trace


def act(action: str, arguments: list[str], killed_at: int) -> dict[str, object]:
    """Do an action in a child, which is killed at a line; 0 lets it finish."""
    child = os.fork()
    if child == 0:
        trace = killing(killed_at, lambda file: file.startswith(ROOT))
        status = 1
        with (
            open(SAID, "w", encoding="utf-8") as said,
            redirect_stdout(said),
            redirect_stderr(said),
        ):
            sys.settrace(trace)
            try:
                ACTIONS[action](*arguments)
                status = 0
            finally:
                sys.settrace(None)
                said.flush()
                Path(LINES).write_text(str(trace.lines))
                os._exit(status)
    _, status = os.waitpid(child, 0)
    return {
        "finished": not os.WIFSIGNALED(status),
        "failed": os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0,
        "lines": int(Path(LINES).read_text()) if not os.WIFSIGNALED(status) else 0,
        "said": Path(SAID).read_text(encoding="utf-8"),
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(act(**json.loads(line))), flush=True)
