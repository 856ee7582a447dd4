"""What notebooks/02_attention.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.asking.projections import weights_of
from transformer_course.attention.checks import check_attention, check_unnoticed_order
from transformer_course.attention.figures import (
    plot_average,
    plot_it,
    plot_rows,
    plot_word,
    show_map,
)
from transformer_course.attention.live_lookup import show_plane_live
from transformer_course.attention.own_attention import finished, given, vectors_of
from transformer_course.drawing.display import show
from transformer_course.looking.found_heads import aligning_head
