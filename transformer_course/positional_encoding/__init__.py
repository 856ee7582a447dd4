"""What notebooks/05_positional_encoding.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.breaking.faults import StandardNormalEmbeddings
from transformer_course.drawing.display import show
from transformer_course.my_transformer import my_parts
from transformer_course.positional_encoding.checks import (
    check_nearest_position,
    check_positional_encoding,
    check_turn,
)
from transformer_course.positional_encoding.figures import (
    plot_learning,
    plot_sentences,
    plot_waves,
    show_map,
)
from transformer_course.positional_encoding.live_clocks import plot_clocks, show_clocks_live
from transformer_course.positional_encoding.position_charts import plot_position_products
from transformer_course.positional_encoding.position_scores import read_at
from transformer_course.small_models import small_config
