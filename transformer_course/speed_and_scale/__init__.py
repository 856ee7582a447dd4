"""What notebooks/18_speed_and_scale.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.charts import plot_lines, plot_stacked_bars
from transformer_course.drawing.course_map import describe_architecture, plot_architecture
from transformer_course.drawing.display import show
from transformer_course.speed_and_scale.checks import (
    check_cached_step,
    check_crossing,
    check_training_bytes,
)
from transformer_course.speed_and_scale.costs import (
    compiled,
    losses_of_a_run,
    operations,
    saved_bytes,
    seconds,
)
from transformer_course.texts.sentences import CAPTION_PAIRS, SAMPLE_PAIRS

__all__ = [
    "CAPTION_PAIRS",
    "SAMPLE_PAIRS",
    "check_cached_step",
    "check_crossing",
    "check_training_bytes",
    "compiled",
    "describe_architecture",
    "losses_of_a_run",
    "operations",
    "plot_architecture",
    "plot_lines",
    "plot_stacked_bars",
    "predict",
    "saved_bytes",
    "seconds",
    "show",
]
