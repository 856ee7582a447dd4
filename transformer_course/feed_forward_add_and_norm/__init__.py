"""What notebooks/06_feed_forward_add_and_norm.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.breaking.faults import FAULTS
from transformer_course.drawing.display import show
from transformer_course.feed_forward_add_and_norm.checks import (
    check_add_and_norm,
    check_erased,
    check_feed_forward,
    check_pre_norm,
)
from transformer_course.feed_forward_add_and_norm.feed_forward_units import (
    find_color_unit,
    fit_units,
    read_sentence,
    selectivity,
)
from transformer_course.feed_forward_add_and_norm.figures import (
    plot_norm_orders,
    plot_normalized_rows,
    prepare_stacks,
    show_map,
)
from transformer_course.feed_forward_add_and_norm.live_stream import show_stream_live
from transformer_course.feed_forward_add_and_norm.stream import lengths_and_angles
from transformer_course.feed_forward_add_and_norm.unit_charts import (
    plot_active_words,
    plot_unit_sums,
)
from transformer_course.my_transformer import my_parts
from transformer_course.small_models import small_config
