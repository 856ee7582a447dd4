"""A translator without training, whose heads all matter to what it writes."""

import torch

from transformer_edu.data.vocabulary import Vocabulary, Words
from transformer_edu.generation.translator import Translator
from transformer_edu.model.transformer import Transformer, TransformerConfig

PAIRS = [("a man sleeps", "ein Mann schläft"), ("two men sleep here", "zwei Männer schlafen")]


def small_translator() -> Translator:
    """Two layers of two heads, and the words of PAIRS."""
    vocabulary = Vocabulary(" ".join(text for pair in PAIRS for text in pair).split())
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 16, "max_length": 30}
    model = Transformer(TransformerConfig(vocabulary_size=len(vocabulary), **sizes))
    for name, weights in model.named_parameters():
        if "attention" in name:
            weights.data *= 3
    return Translator(model, Words(vocabulary))
