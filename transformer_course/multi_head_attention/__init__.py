"""What notebooks/04_multi_head_attention.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.attention_grid import plot_heads
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.drawing.head_charts import (
    plot_head_split,
    plot_head_sum,
    plot_heads_of_word,
    plot_lookups,
)
from transformer_course.exploring.attention_explorer import explore_head_switches
from transformer_course.looking.ablation import heads_switched_off
from transformer_course.looking.found_heads import (
    most_diverse_layer as most_different_heads,
)
from transformer_course.looking.found_heads import (
    neighbor_accuracy,
    neighbor_sequences,
)
from transformer_course.looking.shape_trace import trace
from transformer_course.multi_head_attention.checks import (
    check_merged,
    check_multi_head_attention,
    check_swapped_heads,
)
from transformer_course.multi_head_attention.shape_walk import plot_shape_walk, print_trace
from transformer_course.my_transformer import my_parts
from transformer_edu.model import attention as attention_module
