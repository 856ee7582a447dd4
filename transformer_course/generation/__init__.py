"""What notebooks/12_generation.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.generation.beam_explorer import explore_beams
from transformer_course.generation.checks import check_misleading_table, check_top_p
from transformer_course.generation.figures import plot_translator_beam
from transformer_course.generation.live_sampling import show_sampling_live
from transformer_course.generation.search_checks import check_beam_search
from transformer_course.generation.search_tree import plot_lengths
from transformer_course.generation.table_model import TableModel, sentence_table
from transformer_course.looking.recording import token_words
