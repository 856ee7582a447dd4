"""What notebooks/04_multi_head_attention.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.display import show
from transformer_course.multi_head_attention.checks import (
    check_multi_head_attention,
    check_swapped_heads,
)
from transformer_course.multi_head_attention.diverse_layer import most_diverse_layer
from transformer_course.multi_head_attention.figures import (
    plot_accuracy,
    plot_neighbor_maps,
    plot_splits,
    show_map,
)
from transformer_course.multi_head_attention.head_charts import plot_heads_of_word
from transformer_course.multi_head_attention.list_checks import check_list_of_heads
from transformer_course.multi_head_attention.list_of_heads import as_list
from transformer_course.multi_head_attention.neighbors import (
    NeighborModel,
    neighbor_accuracy,
    neighbor_maps,
    teach,
)
from transformer_course.my_transformer import my_parts
