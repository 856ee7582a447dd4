"""What notebooks/10_training.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.curves import run_figures as runs
from transformer_course.curves.stored_runs import load_runs
from transformer_course.drawing.charts import plot_bars, plot_lines
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.my_transformer import my_parts
from transformer_course.training.checks import (
    check_learning_rate,
    check_repaired_step,
    check_smoothing_floor,
)
from transformer_course.training.live_drawing import live_curve
