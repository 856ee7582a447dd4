"""What notebooks/14_tokenization.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.charts import plot_lines
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.texts.sentences import SAMPLE_PAIRS
from transformer_course.tokenization.checks import (
    check_costly_text,
    check_encode_in_order,
    check_learn_merges,
)
from transformer_course.tokenization.pieces import explore_merges, plot_merge_steps, plot_pieces
