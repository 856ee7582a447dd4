"""How long a reader waits after moving a control: the CPU time of its new picture.

Every explorer of the course is measured with input of a lesson's size, in many of its states.
"""

import statistics
import time
from collections.abc import Iterator

from experiments.benchmark.explorer_samples import explorer_samples, made_box
from experiments.benchmark.timing import machine, markdown_table
from transformer_edu.model.refusals import require_whole

ROUNDS = 3
STATES = 6  # of a control with more of them: the first, the last, and some between
SENTENCE = "Two dogs are playing with a ball in the snow near a house."


def report_redraw(rounds: int | None = None) -> Iterator[str]:
    """Measure every explorer, and tell line by line.

    Args:
        rounds: How often each picture is drawn; the fastest counts. ROUNDS when None.

    Yields:
        What was measured and where, then a table with a row for each explorer.

    Raises:
        TypeError, ValueError: If rounds is no whole number from 1.
    """
    rounds = ROUNDS if rounds is None else rounds
    yield f"CPU time of a new picture after a control was moved. {machine()}.\n"
    rows = []
    for name, sample in explorer_samples().items():
        *controls, picture = made_box(sample).children
        seconds = [each for one in controls for each in redraw_seconds(one, picture, rounds)]
        milliseconds = [1000 * each for each in (statistics.median(seconds), max(seconds))]
        rows.append([name, str(len(seconds)), *(f"{each:.0f}" for each in milliseconds)])
    yield markdown_table(["explorer", "pictures", "median, ms", "most, ms"], rows)


def redraw_seconds(control: object, picture: object, rounds: int) -> list[float]:
    """CPU seconds of every picture that a control leads to, each the fastest of some rounds.

    Args:
        control: A widget; it is left as it was.
        picture: The widget that it redraws.
        rounds: How often each is drawn.

    Returns:
        As many numbers as there are pictures that differ from the one before.

    Raises:
        TypeError, ValueError: If rounds is no whole number from 1.
    """
    require_whole("rounds", rounds)
    first, fastest = control.value, {}
    for _ in range(rounds):
        for value in [*states(control), first]:
            before = picture.value
            start = time.process_time()
            control.value = value
            seconds = time.process_time() - start
            if picture.value != before:
                fastest[value] = min(seconds, fastest.get(value, seconds))
    return list(fastest.values())


def states(control: object) -> list[object]:
    """Some values of a control: all of a few, else the first, the last, and some between.

    Args:
        control: A slider, a selection, a checkbox or a text field.
    """
    if hasattr(control, "options"):
        return [each[1] if isinstance(each, tuple) else each for each in control.options]
    if isinstance(control.value, bool):
        return [False, True]
    if isinstance(control.value, str):
        return [SENTENCE]
    parts = [part / (STATES - 1) for part in range(STATES)]
    return sorted({control.min + round(part * (control.max - control.min)) for part in parts})
