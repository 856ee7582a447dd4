"""What notebooks/08_decoder.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.decoder.checks import (
    check_cross_shape,
    check_decoder,
    check_decoder_layer,
    check_shift,
    use_shift,
)
from transformer_course.decoder.figures import plot_left_out, show_map
from transformer_course.decoder.left_out import change_without
from transformer_course.decoder.live_decoder import show_decoder_live
from transformer_course.decoder.next_word_bars import plot_next_words
from transformer_course.decoder.next_words import next_word
from transformer_course.drawing.display import show
from transformer_course.looking.recording import token_words
from transformer_course.my_transformer import my_parts
from transformer_course.norms_first import put_norms_first
