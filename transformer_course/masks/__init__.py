"""What notebooks/03_masks.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.asking.projections import given
from transformer_course.breaking.faults import WithoutCausalMask
from transformer_course.drawing.display import show
from transformer_course.masks.checks import (
    check_decoder_mask,
    check_masked_attention,
    check_sees_future_test,
)
from transformer_course.masks.decoder_mask import finished_mask, reversing, train_to_reverse
from transformer_course.masks.figures import plot_both_masks, plot_last_scores, show_map
from transformer_course.masks.live_mask import show_mask_live
from transformer_course.masks.masked_heads import decoder_head, encoder_head
from transformer_course.my_transformer import my_parts
