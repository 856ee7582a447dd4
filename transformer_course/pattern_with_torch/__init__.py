"""What notebooks/13_pattern_with_torch.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.my_transformer import my_parts
from transformer_course.pattern_with_torch.checks import (
    check_make_batches,
    check_moved_prompts,
    check_torch_masks,
)
from transformer_course.pattern_with_torch.figures import (
    batch_table,
    continuation_table,
    loss_curves,
    plot_by_length,
    plot_loss_curves,
    plot_moved,
)
from transformer_course.pattern_with_torch.pattern import (
    PROMPTS,
    clean_pairs,
    continue_pattern,
    encode_pairs,
    pattern_task,
    write_continuations,
)
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
