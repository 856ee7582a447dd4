"""What notebooks/00_start_here.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.display import show
from transformer_course.looking.found_heads import aligning_head
from transformer_course.small_models import small_config
from transformer_course.start_here.checks import (
    check_next_id,
    check_other_order,
    check_swapped_memory,
)
from transformer_course.start_here.faults import memory_of_zeros
from transformer_course.start_here.figures import show_map
from transformer_course.start_here.first_translation import (
    draw_translation,
    explore_links,
    explore_numbers,
    translate,
)
from transformer_course.start_here.history import plot_history
from transformer_course.texts.sentences import FIRST_SENTENCES
