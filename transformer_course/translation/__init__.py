"""What notebooks/15_translation.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.curves.run_figures import describe_progress, plot_progress
from transformer_course.drawing.charts import plot_bars, plot_lines
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.texts.sentences import CAPTION_PAIRS, SAMPLE_PAIRS
from transformer_course.translation.checks import (
    check_corpus_precision,
    check_own_translator,
    check_short_text,
)
from transformer_course.translation.ngrams import plot_ngrams
