"""What notebooks/19_from_2017_to_today.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.from_2017_to_today.checks import (
    check_cache_size,
    check_rms_norm,
    check_rotate_neighbors,
)
from transformer_course.from_2017_to_today.hugging_face import as_gpt2, as_llama, logit_gap
from transformer_course.from_2017_to_today.language_modeling import (
    everyday_text,
    fill_gap,
    masked_token_loss,
    stored_swaps,
    train_language_model,
    write_sentence,
)
from transformer_course.from_2017_to_today.swaps import (
    plot_loss_by_position,
    plot_swaps,
    plot_today,
)
from transformer_course.my_transformer import my_parts
