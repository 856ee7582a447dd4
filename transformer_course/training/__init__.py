"""What notebooks/10_training.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.curves.run_figures import run_table
from transformer_course.curves.stored_runs import load_deep_runs
from transformer_course.drawing.display import show
from transformer_course.my_transformer import my_parts
from transformer_course.training.checks import (
    check_learning_rate,
    check_repaired_step,
    check_smoothing_floor,
    finished_rate,
    finished_step,
)
from transformer_course.training.figures import (
    name_costs,
    plot_costs,
    plot_deep_runs,
    plot_loss_curves,
    plot_paths,
    plot_rates,
    show_map,
)
from transformer_course.training.live_training import show_training_live
from transformer_course.training.loss_while_training import live_curve
