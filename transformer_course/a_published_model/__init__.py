"""What notebooks/20_a_published_model.ipynb imports, besides the library."""

from transformer_course.a_published_model.checks import (
    check_our_name,
    check_to_halves,
    check_wrong_switch,
    patient_of,
)
from transformer_course.a_published_model.fetching import fetch_marian
from transformer_course.a_published_model.figures import plot_twins
from transformer_course.a_published_model.own_transformer_checks import check_my_marian
from transformer_course.a_published_model.small_marian import (
    PAIRS,
    damaged_folders,
    small_marian_folder,
)
from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.looking.ablation import every_head, heads_switched_off
from transformer_course.looking.head_roles import record_pairs
from transformer_course.looking.recording import token_words
from transformer_course.looking.shape_trace import trace
from transformer_course.my_transformer import my_parts
from transformer_course.viewer.show import view_attention
