"""What notebooks/17_what_can_be_removed.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.looking.ablation import every_head, heads_switched_off
from transformer_course.looking.found_heads import aligning_head
from transformer_course.looking.head_roles import record_pairs, share_on
from transformer_course.texts.sentences import AGREEMENT, CAPTION_PAIRS
from transformer_course.what_can_be_removed.checks import (
    check_greedy_removal,
    check_heads_of_gender,
    check_without_head,
)
from transformer_course.what_can_be_removed.contrasts import margins
from transformer_course.what_can_be_removed.figures import (
    plot_choices,
    plot_cost,
    plot_exact_matches,
    plot_orders,
    plot_together,
)
from transformer_course.what_can_be_removed.parts import heads_of, sublayers_of
from transformer_course.what_can_be_removed.remains import plot_remains
from transformer_course.what_can_be_removed.removals import explore_removals
from transformer_course.what_can_be_removed.removing import (
    heads_made_uniform,
    mean_outputs,
    resampled_outputs,
    sublayers_switched_off,
)
from transformer_course.what_can_be_removed.several_texts import several_texts
