"""What notebooks/14_tokenization.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.texts.sentences import SAMPLE_PAIRS, sentences_of
from transformer_course.tokenization.bits_per_byte import score_cut
from transformer_course.tokenization.checks import (
    check_costly_text,
    check_encode_in_order,
    check_learn_merges,
)
from transformer_course.tokenization.counting import count_tokens, ids_of, vocabulary_growth
from transformer_course.tokenization.figures import (
    plot_english_only,
    plot_first_pieces,
    plot_merges_of,
    plot_tokens_per_word,
)
from transformer_course.tokenization.pieces import explore_merges
