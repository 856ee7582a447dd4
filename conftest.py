"""How pytest treats lessons: what it compares, and how long each took; slow tests come first."""

import os
from collections import defaultdict
from pathlib import Path

# A lesson states its seconds; these are the most that it may take on two cores.
SECONDS, SECONDS_WITH_TRAINING = 60, 180
LESSONS_THAT_TRAIN = ("10", "11", "13", "15", "17", "18", "19")  # as in tools/colab.py

os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")


def pytest_collectstart(collector):
    """Compare what a reader sees as text; pictures and their markup differ between machines."""
    if hasattr(collector, "skip_compare"):
        os.environ["TRANSFORMER_EDU_KEEP"] = "0"  # no lesson writes or reads a reader's classes
        os.environ["HF_HUB_OFFLINE"] = "1"  # no lesson downloads a model
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        os.environ["TQDM_DISABLE"] = "1"  # progress bars never look the same twice
        collector.skip_compare += ("text/html", "image/svg+xml")


def pytest_collection_modifyitems(items):
    """Each process begins with its share of the slow tests; what it gives away later is short."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    slow = [item for item in items if item.get_closest_marker("slow")]
    short = [item for item in items if not item.get_closest_marker("slow")]
    items.clear()
    for number in range(processes):
        for tests in (slow, short):
            first, end = (len(tests) * each // processes for each in (number, number + 1))
            items += tests[first:end]


def pytest_terminal_summary(terminalreporter):
    """Print the seconds of every lesson, and mark those that take too long."""
    seconds = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            lesson = getattr(report, "nodeid", "").split("::")[0]
            if lesson.endswith(".ipynb"):
                seconds[lesson] += getattr(report, "duration", 0.0)
    if not seconds:
        return
    terminalreporter.section("seconds per lesson")
    for lesson, total in sorted(seconds.items()):
        name = Path(lesson).name
        limit = SECONDS_WITH_TRAINING if name.startswith(LESSONS_THAT_TRAIN) else SECONDS
        warning = f"  TOO LONG: at most {limit}" if total > limit else ""
        terminalreporter.write_line(f"{total:6.1f}  {name}{warning}")
    terminalreporter.write_line(f"{sum(seconds.values()):6.1f}  all lessons")
