"""Every explorer of the course with input of a lesson's size, to be measured and tested.

Where a lesson trains a model, one with random weights stands in for it. It writes until it is
stopped, so its pictures are as large as a lesson's can be.
"""

from collections.abc import Callable
from functools import partial

import torch

from transformer_edu.data.number_words import ENGLISH_WORDS, GERMAN_WORDS, english_words
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.pretrained.loading import load_pretrained

WORDS = english_words(342)
SHORT, LONG = 7, 12  # tokens of a translation: of WORDS, and of a large number
HEADS, NUM_MERGES = 4, 500
SENTENCES = [("caption", "A man is trying to catch a fish.")]
PAIR = ("Two dogs are running.", "Zwei Hunde laufen.")
PLACE = "decoder.layers.2.cross_attention"
TEXTS = {
    "English": "The children are waiting at the tram stop.",
    "German": "Die Kinder warten an der Straßenbahnhaltestelle.",
}


def made_box(sample: Callable[[], None]) -> object:
    """The controls of an explorer and, below them, its picture; nothing is shown.

    Args:
        sample: Calls one of the explorers.

    Returns:
        A VBox of ipywidgets.
    """
    # Here and not above: importing the benchmark needs no plotting library.
    from transformer_course.drawing.display import explorers_kept_back

    with explorers_kept_back() as kept:
        sample()
    return kept[-1].box


def explorer_samples() -> dict[str, Callable[[], None]]:
    """A call of every explorer, by the explorer's name."""
    from transformer_course.generation.beam_explorer import explore_beams
    from transformer_course.looking_inside.chosen_head import explore_attention
    from transformer_course.start_here import first_translation as translation
    from transformer_course.tokenization import pieces
    from transformer_course.what_can_be_removed import removals

    vocabulary = Vocabulary([*ENGLISH_WORDS, *GERMAN_WORDS])
    tokens = vocabulary.tokens
    short, long = (_random_model(vocabulary, length) for length in (SHORT, LONG))
    source_ids = torch.tensor([vocabulary.encode(WORDS)])
    translator = load_pretrained()
    merges = translator.tokenizer.merges[:NUM_MERGES]
    samples = [
        partial(translation.explore_numbers, long, vocabulary, number=342, layer=2, head=1),
        partial(explore_beams, short, source_ids, tokens=tokens, width=3, alpha=0.6),
        partial(pieces.explore_merges, merges, TEXTS),
        partial(translation.explore_links, translator, SENTENCES, layer=3, head=1),
        partial(explore_attention, translator, *PAIR, start=PLACE, head=1),
        partial(removals.explore_removals, translator, [PAIR]),
    ]
    return {sample.func.__name__: sample for sample in samples}


def _random_model(vocabulary: Vocabulary, max_length: int) -> Transformer:
    """A model of the lessons' size; the global generator stays as it was."""
    sizes = {"d_model": 64, "num_heads": HEADS, "num_layers": 2, "d_ff": 128}
    config = TransformerConfig(vocabulary_size=len(vocabulary), max_length=max_length, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(max_length)  # another model for another length
        return Transformer(config)
