"""Five features in a plane, trained in the page as often as the reader likes."""

from collections.abc import Mapping

from torch import Tensor

from transformer_course.features.figures import KEPT, plot_directions
from transformer_course.viewer.live import show_live

PRESENCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # how often each feature is there


def show_plane_live(planes: Mapping[str, Tensor]) -> None:
    """Let the reader choose how often features are present, and train anew each time.

    Args:
        planes: What the lesson has trained, for the still picture; as for plot_directions.
    """
    show_live(
        __file__,
        {"presences": PRESENCES, "kept": KEPT, "first": PRESENCES.index(0.1)},
        title="The rarer the features, the more of them share the plane",
        still=plot_directions(planes),
        height=520,
        phone_height=720,
    )
