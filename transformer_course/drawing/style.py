"""How every figure of the course looks: colors, fonts, and names drawn literally.

The style holds while one figure is drawn; matplotlib's global settings stay as they were.
"""

import functools
import inspect
from collections.abc import Callable, Sized
from pathlib import Path
from typing import ParamSpec

import matplotlib.pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.typing import ColorType

# After Okabe and Ito; the first three at least 4.5 : 1 on white, as words need. Never the only
# carrier of meaning.
BLUE, VERMILION, GREEN, PURPLE, BLACK = "#0072B2", "#B85000", "#007F5F", "#CC79A7", "#000000"
PALE, GRAY = "#E3E8EE", "#8A94A0"  # for what is less important; gray hatching means hidden
WEIGHT_COLORS = "cividis"  # reads the same with any color vision, and in gray
SIGNED_COLORS = "PuOr"  # white is zero
LONGEST_TOKEN = 24  # characters of a token that are drawn

_STYLE = Path(__file__).with_name("course.mplstyle")
_Drawing = ParamSpec("_Drawing")


def styled(draw: Callable[_Drawing, Figure]) -> Callable[_Drawing, Figure]:
    """Let a drawing function draw in the course's style, and only that function."""
    first = next(iter(inspect.signature(draw).parameters), "")

    @functools.wraps(draw)
    def draw_in_style(*args: _Drawing.args, **kwargs: _Drawing.kwargs) -> Figure:
        drawn = args[0] if args else kwargs.get(first)
        if isinstance(drawn, list) and not drawn:
            raise ValueError(f"{first} must hold something to draw, got an empty list")
        with plt.style.context(_STYLE):
            return draw(*args, **kwargs)

    return draw_in_style


def require_one_each(count: int, what: str, **given: Sized) -> None:
    """Refuse what a figure draws one by one, unless it is as many as it belongs to."""
    for name, each in given.items():
        if len(each) != count:
            raise ValueError(f"{name} must be one for each of {count} {what}, got {len(each)}")


def title_above(figure: Figure, title: str) -> None:
    """Write the title of a figure with several panels, aligned to the left."""
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")


def ink_on(color: ColorType) -> str:
    """Black or white, whichever stands out more on a color: the contrast is at least 4.5 : 1."""
    *parts, opacity = to_rgba(color)
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "white" if opacity and luminance < 0.179 else "black"


def literal(token: str, *, longest: int | None = LONGEST_TOKEN) -> str:
    """A token as matplotlib draws it literally: no mathematics, no line breaks, not endless.

    ``$x$`` stays ``$x$``; a control character is written as its escape; what is longer than
    longest characters ends in an ellipsis, unless longest is None.
    """
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(token)
    )
    if longest is not None and len(shown) > longest:
        shown = shown[: longest - 1] + "…"
    return shown.replace("$", r"\$")
