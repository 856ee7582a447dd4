"""What notebooks/21_circuits.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.circuits.checks import (
    check_circuit,
    check_copying_weights,
    check_induction_score,
)
from transformer_course.circuits.figures import plot_cuts, plot_training
from transformer_course.circuits.jumps import plot_jumps, stored_jumps
from transformer_course.circuits.live_jump import show_jump_live
from transformer_course.circuits.paths import (
    accuracy_through,
    best_heads,
    decoder_scores,
    head_scores,
    uniform_score,
)
from transformer_course.circuits.repeats import (
    ONE_PERIOD,
    WORDS,
    copy_accuracy,
    copying_model,
    held_out_texts,
    train_on_repeats,
)
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.looking.ablation import every_head, heads_switched_off
