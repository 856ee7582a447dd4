"""What notebooks/18_speed_and_scale.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.speed_and_scale.checks import (
    check_cached_step,
    check_crossing,
    check_training_bytes,
)
from transformer_course.speed_and_scale.costs import (
    engines,
    losses_of_a_run,
    next_logits,
    operations,
    operations_a_byte,
    saved_bytes,
    seconds,
)
from transformer_course.speed_and_scale.figures import (
    equal_length,
    plot_crossing,
    plot_memory,
    plot_steps,
)
from transformer_course.speed_and_scale.offset_bug import offset_forgotten
from transformer_course.texts.sentences import ALL_PAIRS
