"""What notebooks/16_looking_inside.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.looking.ablation import every_head
from transformer_course.looking.found_heads import aligning_head, previous_token_head
from transformer_course.looking.head_roles import KINDS, record_pairs, share_on
from transformer_course.looking_inside.checks import (
    check_largest_weights,
    check_next_share,
    check_uniform_weight,
)
from transformer_course.looking_inside.chosen_head import explore_attention
from transformer_course.looking_inside.figures import plot_diagonal, plot_moments, plot_role_scores
from transformer_course.looking_inside.partners import hits_on, partner_cells
from transformer_course.texts.sentences import ALL_PAIRS, UNDISPUTED, number_of
from transformer_course.viewer.show import view_weights
