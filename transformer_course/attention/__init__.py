"""What notebooks/02_attention.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.attention.checks import (
    check_attention,
    check_repaired_weights,
    check_unnoticed_order,
)
from transformer_course.drawing.attention_flow import (
    plot_attention_flow,
    plot_lookup,
    plot_marked_links,
)
from transformer_course.drawing.attention_grid import plot_attention, plot_links
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.exploring.attention_explorer import show_plane_live
from transformer_course.looking.found_heads import aligning_head, previous_token_head
