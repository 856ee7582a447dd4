"""The reader's class of exercise 2.1 with matrices of a trained head, or with hand-made ones."""

from contextlib import suppress

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import close
from transformer_course.asking.projections import given
from transformer_course.looking.found_heads import Head
from transformer_course.our_transformer import Attention
from transformer_edu.model.refusals import require_choice

OPENING = "The animal didn't cross the street because it was too"
FEATURES = {  # noun, adjective, pronoun, alive, road
    "animal": [1, 0, 0, 1, 0],
    "street": [1, 0, 0, 0, 1],
    "it": [0, 0, 1, 0, 0],
    "tired": [0, 1, 0, 1, 0],
    "wide": [0, 1, 0, 0, 1],
}


def finished(kind: type[nn.Module], head: Head) -> type[nn.Module]:
    """The reader's class, or the course's where the reader's is not finished: this is printed.

    Args:
        kind: The reader's class of exercise 2.1.
        head: What it should compute.
    """
    query, key = head.query_input.unsqueeze(0), head.key_input.unsqueeze(0)
    expected = head.attention_weights() @ (head.key_input @ head.w_value)
    with suppress(Exception):  # an answer that does not run is not finished
        output = given(kind, head.w_query, head.w_key, head.w_value)(query, key, key)
        if close(output[0], expected):
            print("Your Attention.")
            return kind
    print("The course's Attention, because yours is not right yet.")
    return Attention


def vectors_of(last_word: str, device: torch.device | str) -> tuple[list[str], Tensor]:
    """The words of the lesson's sentence with this last word, and their hand-made vectors.

    Args:
        last_word: What the animal or the street is too much: tired or wide.
        device: Where the vectors go.

    Returns:
        The words, and a batch of one sentence, shape (1, word, 5): noun, adjective, pronoun,
        alive, road.
    """
    adjectives = [word for word, features in FEATURES.items() if features[1]]
    require_choice("last_word", last_word, adjectives)
    words = [*OPENING.split(), last_word]
    vectors = torch.tensor([[FEATURES.get(word, [0] * 5) for word in words]])
    return words, vectors.float().to(device)
