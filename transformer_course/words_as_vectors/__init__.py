"""What notebooks/01_words_as_vectors.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.breaking.faults import StandardNormalEmbeddings
from transformer_course.drawing.charts import plot_lines
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.drawing.vector_pictures import (
    nearest,
    plot_neighbors,
    plot_rows,
    plot_similarities,
    plot_tables,
)
from transformer_course.words_as_vectors.checks import (
    check_changed_row,
    check_most_similar,
    check_token_embedding,
)
