"""How every figure of the course looks: colors, fonts, and text drawn as it is written.

The style holds while one figure is drawn; matplotlib's global settings stay as they were.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's colors with at least 3 : 1 contrast on white; never the only carrier of meaning.
BLUE, VERMILION, GREEN, PURPLE, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"
PALE = "#E3E8EE"  # for what is there but not the point
WEIGHT_COLOURS = "cividis"  # reads the same with any color vision, and in grey
SIGNED_COLOURS = "PuOr"  # white is zero
LONGEST_TOKEN = 24  # characters of a token that are drawn

_STYLE = Path(__file__).with_name("course.mplstyle")
_Drawing = ParamSpec("_Drawing")


def styled(draw: Callable[_Drawing, Figure]) -> Callable[_Drawing, Figure]:
    """Let a drawing function draw in the course's style, and only that function."""

    @functools.wraps(draw)
    def draw_in_style(*args: _Drawing.args, **kwargs: _Drawing.kwargs) -> Figure:
        with plt.style.context(_STYLE):
            return draw(*args, **kwargs)

    return draw_in_style


def new_axes(axes: Axes | None, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure of width × height inches."""
    return axes if axes is not None else plt.subplots(figsize=(width, height))[1]


def literal(token: str, *, longest: int | None = LONGEST_TOKEN) -> str:
    """A token as matplotlib draws it literally: no mathematics, no line breaks, not endless.

    ``$x$`` stays ``$x$``; a control character is written as its escape; what is longer than
    longest characters ends in an ellipsis, unless longest is None.
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in token)
    if longest is not None and len(shown) > longest:
        shown = shown[: longest - 1] + "…"
    return shown.replace("$", r"\$")
