"""What notebooks/01_words_as_vectors.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.display import show
from transformer_course.looking.recording import words_of
from transformer_course.my_transformer import my_parts
from transformer_course.words_as_vectors.checks import (
    check_changed_row,
    check_most_similar,
    check_token_embedding,
)
from transformer_course.words_as_vectors.figures import plot_nearest_words, plot_nouns, show_map
from transformer_course.words_as_vectors.vector_pictures import plot_rows
