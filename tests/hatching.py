"""Which cells of a grid are hatched, for the tests of every figure that has a grid."""

from matplotlib.axes import Axes
from matplotlib.path import Path


def hatched_corners(axes: Axes) -> list[tuple[float, float]]:
    """Left and upper edge of every hatched cell, row by row."""
    outlines = [patch.get_path() for patch in axes.patches if patch.get_hatch()]
    return [
        tuple(corner)
        for outline in outlines
        for corner in outline.vertices[outline.codes == Path.MOVETO].tolist()
    ]
