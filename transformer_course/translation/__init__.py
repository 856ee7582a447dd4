"""What notebooks/15_translation.ipynb imports, besides the library."""

from transformer_course.asking.predict import predict
from transformer_course.drawing.course_map import show_map
from transformer_course.drawing.display import show
from transformer_course.texts.sentences import CAPTION_PAIRS, SAMPLE_PAIRS, sentences_of
from transformer_course.translation.checks import (
    check_corpus_precision,
    check_own_translator,
    check_short_text,
)
from transformer_course.translation.faults import padding_visible, renumber
from transformer_course.translation.figures import plot_finished_run, plot_joined, plot_texts
from transformer_course.translation.ngrams import ngrams_of, plot_ngrams
from transformer_course.translation.scoring import (
    bleu_on,
    chrf,
    describe_sizes,
    find_multi30k,
    group_by_rarity,
    join_sentences,
)
