"""What notebooks/09_transformer.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.display import show
from transformer_course.my_transformer import my_parts, show_my_transformer
from transformer_course.norms_first import put_norms_first
from transformer_course.transformer.checks import check_transformer
from transformer_course.transformer.figures import plot_training, show_map
from transformer_course.transformer.live_map import show_map_live
from transformer_course.transformer.own_model import (
    compare_classes,
    keep_weights,
    whose_classes,
)
from transformer_course.transformer.trained_model_checks import (
    check_learned_positions,
    check_short_numbers,
)
from transformer_course.transformer.training_loop_checks import check_learn, our_learn
