"""What notebooks/03_masks.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.display import show
from transformer_course.masks.checks import (
    check_allowed_entries,
    check_masked_attention,
    check_repaired_mask,
    check_sees_future_test,
)
from transformer_course.masks.figures import plot_both_masks, plot_last_scores, show_map
from transformer_course.masks.live_mask import show_mask_live
from transformer_course.masks.masked_heads import decoder_head, encoder_head
from transformer_course.masks.masked_maps import plot_padding_share
from transformer_course.small_models import small_config
