"""Modules, tensors and axes are called what the lessons call them."""

import pytest
import torch
from torch import nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.inspect.trace import in_words, name_tensor, place_in_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("self_attention", "self-attention"),
        ("around_cross_attention", "Add & Norm around cross-attention"),
        ("output_projection", "output projection"),
        ("0", "0"),
        ("_", "_"),
        ("$x_1$", "$x_1$"),
    ],
)
def test_a_name_is_read_aloud(name, words):
    assert in_words(name) == words


def test_a_place_counts_layers_from_one_and_names_a_shared_module_after_all_its_places():
    model = Transformer(TransformerConfig.tiny(num_layers=2, vocabulary_size=7))
    assert place_in_words(model, "") == "Transformer"
    place = "encoder.layers.1.self_attention"
    assert place_in_words(model, place) == "encoder · layer 2 · self-attention"
    shared = place_in_words(model, "target_embedding")
    assert shared == "source embedding = target embedding"


def test_a_known_tensor_has_words_and_axes():
    attention = MultiHeadAttention(d_model=6, num_heads=2)
    keys = torch.zeros(2, 3, 6)
    names = name_tensor(attention.key_projection, attention, "key_projection", keys, into=False)
    assert names == ("K = key W_K", ("batch", "key", "d_model"))
    around = AddAndNorm(d_model=6)
    words, axes = name_tensor(around, None, "", keys, into=False)
    assert (words, axes) == ("x + sub-layer", ("batch", "position", "d_model"))


def test_a_mask_has_the_axes_of_the_scores_counted_from_the_right():
    attention = MultiHeadAttention(d_model=6, num_heads=2)
    mask = torch.ones(3, 4, dtype=torch.bool)
    assert name_tensor(attention, None, "", mask, into=True)[1] == ("query", "key")


def test_an_unknown_module_is_named_and_its_axes_are_not_guessed():
    layer = nn.Linear(2, 3)
    assert name_tensor(layer, None, "", torch.zeros(4, 3), into=False) == ("Linear", ())
    assert name_tensor(layer, None, "out", torch.zeros(4, 2), into=True) == ("into out", ())
