"""How pytest treats lessons: what it compares, which ones it refuses, and how long each took."""

import os
import signal
from collections import defaultdict
from pathlib import Path

try:
    from tools.colab import LESSONS_THAT_TRAIN
except ImportError:  # a lesson alone, outside the repository
    LESSONS_THAT_TRAIN = ()

# A lesson states its seconds; these are the most that it may take on two cores.
SECONDS, SECONDS_WITH_TRAINING = 60, 180

os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")


def pytest_configure():
    """Let an interrupt reach the tests of it, also where pytest runs in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collectstart(collector):
    """Compare what a reader sees as text; pictures and their markup differ between machines."""
    if hasattr(collector, "skip_compare"):
        os.environ["TRANSFORMER_EDU_KEEP"] = "0"  # no lesson writes or reads a reader's classes
        os.environ["HF_HUB_OFFLINE"] = "1"  # no lesson downloads a model
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        os.environ["TQDM_DISABLE"] = "1"  # progress bars never look the same twice
        collector.skip_compare += ("text/html", "image/svg+xml")


def pytest_terminal_summary(terminalreporter):
    """Print the seconds of every lesson, mark those that take too long, and name what differs."""
    seconds, differ = defaultdict(float), set()
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            lesson = getattr(report, "nodeid", "").split("::")[0]
            if lesson.endswith(".ipynb"):
                seconds[lesson] += getattr(report, "duration", 0.0)
                differ |= {lesson} if outcome in ("failed", "error") else set()
    if not seconds:
        return
    terminalreporter.section("seconds per lesson")
    for lesson, total in sorted(seconds.items()):
        name = Path(lesson).name
        limit = SECONDS_WITH_TRAINING if name.startswith(LESSONS_THAT_TRAIN) else SECONDS
        warning = f"  TOO LONG: at most {limit}" if total > limit else ""
        terminalreporter.write_line(f"{total:6.1f}  {name}{warning}")
    terminalreporter.write_line(f"{sum(seconds.values()):6.1f}  all lessons")
    for lesson in sorted(differ):
        words = "a cell fails or shows something new: mend it, or store it with"
        name = Path(lesson).name
        terminalreporter.write_line(f"notebooks/{name}: {words} make lesson LESSON={name[:2]}")
