"""What notebooks/07_encoder.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.display import show
from transformer_course.encoder.checks import (
    check_encoder,
    check_encoder_layer,
    check_layers_needed,
    check_used_layers,
)
from transformer_course.encoder.contexts import nearest_of_its_kind, word_in_sentences
from transformer_course.encoder.figures import (
    plot_change,
    plot_riding,
    plot_training_losses,
    show_map,
)
from transformer_course.encoder.influence import influence
from transformer_course.encoder.live_reach import show_reach_live
from transformer_course.encoder.repeats import train_on_repeats
from transformer_course.looking.recording import vectors_by_layer
from transformer_course.my_transformer import my_parts
from transformer_course.norms_first import put_norms_first
