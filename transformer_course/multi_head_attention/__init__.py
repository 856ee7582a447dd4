"""What notebooks/04_multi_head_attention.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.display import show
from transformer_course.looking.shape_trace import trace
from transformer_course.multi_head_attention.checks import (
    check_merged,
    check_multi_head_attention,
    check_swapped_heads,
)
from transformer_course.multi_head_attention.diverse_layer import most_diverse_layer
from transformer_course.multi_head_attention.faults import heads_split_by
from transformer_course.multi_head_attention.figures import (
    plot_accuracy,
    plot_neighbor_maps,
    plot_shapes,
    plot_splits,
    plot_terms,
    show_map,
)
from transformer_course.multi_head_attention.head_charts import plot_heads_of_word
from transformer_course.multi_head_attention.neighbors import (
    explore_switches,
    neighbor_accuracy,
    neighbor_sequences,
)
from transformer_course.multi_head_attention.shape_walk import print_trace
from transformer_course.my_transformer import my_parts
from transformer_course.small_models import small_config
