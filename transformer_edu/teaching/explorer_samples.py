"""Every explorer of the course with input of a lesson's size, to be measured and tested.

Where a lesson trains a model, one with random weights stands in for it. It writes until it is
stopped, so its pictures are as large as a lesson's can be.
"""

import math
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import ipywidgets as widgets
import torch

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.teaching import display
from transformer_edu.teaching.decoding_steps import decoding_steps
from transformer_edu.teaching.explorers import (
    explore_heads,
    explore_masks,
    explore_positions,
    explore_scaling,
)
from transformer_edu.teaching.generation_explorers import (
    explore_beams,
    explore_candidates,
    explore_decoding,
    explore_length_penalty,
)
from transformer_edu.teaching.pieces import explore_merges
from transformer_edu.teaching.replay_explorer import explore_training
from transformer_edu.teaching.table_model import TableModel
from transformer_edu.teaching.text_translation import explore_text
from transformer_edu.teaching.training_replay import TrainingReplay
from transformer_edu.teaching.translation import explore_numbers
from transformer_edu.training.number_words import ENGLISH_WORDS, GERMAN_WORDS, english_words
from transformer_edu.training.vocabulary import Vocabulary

WORDS = english_words(342)
SHORT, LONG = 7, 12  # tokens of a translation: of WORDS, and of a large number
NUM_MERGES = 500
TEXTS = {
    "English": "The children are waiting at the tram stop.",
    "German": "Die Kinder warten an der Straßenbahnhaltestelle.",
}
TABLE = {
    "": {"the": 0.5, "a": 0.3, "</s>": 0.2},
    "the": {"cat": 0.8, "dog": 0.2},
    "the cat": {"sat": 0.7, "slept": 0.3},
}
# Every sentence of the table.
LOG_PROBABILITIES = {
    sentence: math.log(probability)
    for sentence, probability in {
        "": 0.2,
        "a": 0.3,
        "the dog": 0.1,
        "the cat sat": 0.28,
        "the cat slept": 0.12,
    }.items()
}


def made_box(explore: Callable[[], None]) -> widgets.VBox:
    """The controls of an explorer and, below them, its picture; nothing is shown.

    Args:
        explore: Calls one of the explorers.
    """
    made: list[widgets.VBox] = []

    class Box(widgets.VBox):
        def __init__(self, children: list[widgets.Widget]) -> None:
            super().__init__(children)
            made.append(self)

    with patch.object(display, "publish"), patch.object(display.widgets, "VBox", Box):
        explore()
    return made[-1]


def explorer_samples() -> dict[str, Callable[[], None]]:
    """A call of every explorer, by the explorer's name."""
    generator = torch.Generator().manual_seed(0)
    vocabulary = Vocabulary([*ENGLISH_WORDS, *GERMAN_WORDS])
    tokens = vocabulary.tokens
    short, long = (_random_model(vocabulary, length) for length in (SHORT, LONG))
    replay = TrainingReplay((vocabulary.encode(WORDS), vocabulary.encode(WORDS)), tokens)
    for step, model in enumerate((short, long)):
        replay.look(model, step=step)
    translator = load_pretrained()
    table = TableModel(TABLE)
    written = ["<s>", *"01234567"]
    weights = torch.rand(4, len(written), len(written), generator=generator)
    samples = [
        partial(explore_scaling),
        partial(explore_masks),
        partial(explore_positions),
        partial(explore_heads, weights, query_tokens=written, key_tokens=written),
        partial(explore_numbers, long, vocabulary, number=342, layer=2, head=1),
        partial(explore_decoding, decoding_steps(short, vocabulary, WORDS), tokens=tokens),
        partial(explore_candidates, torch.randn(len(tokens), generator=generator), tokens=tokens),
        partial(
            explore_beams,
            short,
            torch.tensor([vocabulary.encode(WORDS)]),
            tokens=tokens,
            width=3,
            alpha=0.6,
        ),
        partial(explore_length_penalty, table, LOG_PROBABILITIES),
        partial(explore_training, replay),
        partial(explore_merges, translator.tokenizer.merges[:NUM_MERGES], TEXTS),
        partial(explore_text, translator, "A man is trying to catch a fish.", layer=3, width=5),
    ]
    return {sample.func.__name__: sample for sample in samples}


def _random_model(vocabulary: Vocabulary, max_length: int) -> Transformer:
    """A model of the lessons' size; the global generator stays as it was."""
    sizes = {"d_model": 64, "num_heads": 4, "num_layers": 2, "d_ff": 128}
    config = TransformerConfig(vocabulary_size=len(vocabulary), max_length=max_length, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Transformer(config).eval()
