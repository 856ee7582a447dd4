"""One weight, its loss and its slope: drag it, and take steps with several learning rates."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from transformer_course.drawing.style import BLUE, GREEN, VERMILION, styled
from transformer_course.viewer.live import show_live

BEST, FIRST, RATE = 3.0, 1.0, 0.1
RATES = (0.02, 0.1, 0.5, 1.0, 1.1)
LEAST, MOST = -1, 7  # weights in the picture


@styled
def plot_slope() -> Figure:
    """Draw the loss over the weight, with the slope and the next step at the first weight.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(7, 3.4))
    weights = np.linspace(LEAST, MOST, 200)
    axes.plot(weights, (weights - BEST) ** 2, color=BLUE)
    loss, slope = (FIRST - BEST) ** 2, 2 * (FIRST - BEST)
    near = np.array([FIRST - 0.8, FIRST + 0.8])
    axes.plot(near, loss + slope * (near - FIRST), color=VERMILION)
    axes.plot(FIRST, loss, "o", color=VERMILION, markersize=9)
    axes.annotate(f"slope {slope:g}", (FIRST, loss), (14, 6), textcoords="offset points")
    moved = FIRST - RATE * slope
    arrow = {"arrowstyle": "->", "color": GREEN, "linewidth": 2}
    axes.annotate("", (moved, 0), (FIRST, 0), arrowprops=arrow)
    axes.set(xlabel="weight w", ylabel="loss", title="The slope says which way is down")
    figure.set_label(
        f"a curve of the loss, lowest at w = {BEST:g}; at w = {FIRST:g} the loss is {loss:g}, "
        f"the slope {slope:g}, and a step leads to w = {moved:g}"
    )
    return figure


def show_slope_live() -> None:
    """Let the reader drag a weight and take steps against the slope of its loss."""
    data = {"best": BEST, "first": FIRST, "least": LEAST, "most": MOST, "rate": RATE}
    show_live(
        __file__,
        data | {"rates": list(RATES)},
        title="The slope says which way is down, the learning rate how far to go",
        still=plot_slope(),
        height=590,
        phone_height=610,
    )
