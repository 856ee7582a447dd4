"""The reader's class of exercise 2.1 with matrices of a trained head, or with hand-made ones."""

from contextlib import suppress

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import close
from transformer_course.our_transformer import Attention
from transformer_edu.model.attention import scaled_dot_product_attention

OPENING = "The animal didn't cross the street because it was too"
FEATURES = {  # noun, adjective, pronoun, alive, road
    "animal": [1, 0, 0, 1, 0],
    "street": [1, 0, 0, 0, 1],
    "it": [0, 0, 1, 0, 0],
    "tired": [0, 1, 0, 1, 0],
    "wide": [0, 1, 0, 0, 1],
}
SIZES = (2, 3, 5, 6, 4)  # of the trial: batch, queries, keys, d_model, d_head


def finished(kind: type[nn.Module]) -> type[nn.Module]:
    """The reader's class, or the course's where the reader's is not finished: this is printed.

    Args:
        kind: The reader's class of exercise 2.1.
    """
    batch, queries, keys, d_model, d_head = SIZES
    generator = torch.Generator().manual_seed(2)
    draw = [torch.randn(batch, each, d_model, generator=generator) for each in (queries, keys)]
    matrices = torch.randn(3, d_model, d_head, generator=generator)
    inputs = draw[0], draw[1], draw[1]
    projected = [x @ matrix for x, matrix in zip(inputs, matrices, strict=True)]
    with suppress(Exception):  # an answer that does not run is not finished
        if close(given(kind, *matrices)(*inputs), scaled_dot_product_attention(*projected)[0]):
            print("Your Attention.")
            return kind
    print("The course's Attention, because yours is not finished.")
    return Attention


def given(kind: type[nn.Module], w_query: Tensor, w_key: Tensor, w_value: Tensor) -> nn.Module:
    """An attention with these matrices.

    Args:
        kind: The reader's class.
        w_query, w_key, w_value: Each (d_model, d_head), on any device.
    """
    attention = kind(*w_query.shape).to(w_query.device)
    names = ("query_projection", "key_projection", "value_projection")
    with torch.no_grad():
        for name, matrix in zip(names, (w_query, w_key, w_value), strict=True):
            attention.get_submodule(name).weight.copy_(matrix.T)  # nn.Linear stores the transpose
    return attention


def vectors_of(last_word: str) -> tuple[list[str], Tensor]:
    """The words of the lesson's sentence with this last word, and their hand-made vectors.

    Args:
        last_word: What the animal or the street is too much.

    Returns:
        The words, and a batch of one sentence, shape (1, word, 5): noun, adjective, pronoun,
        alive, road.
    """
    words = [*OPENING.split(), last_word]
    return words, torch.tensor([[FEATURES.get(word, [0] * 5) for word in words]]).float()
