"""A small Marian model, trained here: ``python -m experiments.small_marian FOLDER`` writes it.

No network is needed. The model has everything that a published one has, and is trained for seconds
on a few sentences, which it then knows by heart. Tests use it.
"""

import argparse
import sys
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer_edu.generation.translator import Translator
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.pretrained.marian import (
    MarianTokenizer,
    load_marian,
    save_marian,
    train_marian_tokenizer,
)

PAIRS = (
    ("A dog runs across the grass.", "Ein Hund rennt über das Gras."),
    ("A cat sleeps on the chair.", "Eine Katze schläft auf dem Stuhl."),
    ("Two men eat bread.", "Zwei Männer essen Brot."),
    ("The woman reads a book.", "Die Frau liest ein Buch."),
    ("We play in the garden.", "Wir spielen im Garten."),
    ("The children drink milk.", "Die Kinder trinken Milch."),
    ("I go home today.", "Ich gehe heute nach Hause."),
    ("Where is the station?", "Wo ist der Bahnhof?"),
    ("The house is very old.", "Das Haus ist sehr alt."),
    ("He buys three apples.", "Er kauft drei Äpfel."),
)
PIECES = 90  # of each language, at the most
SIZES = {"d_model": 64, "num_heads": 4, "num_layers": 2, "num_decoder_layers": 1, "d_ff": 128}


def untrained_marian(*, seed: int = 0, **changes: object) -> Translator:
    """A Marian model with random weights, and a tokenizer that has read the pairs.

    Args:
        seed: Decides the weights.
        changes: Of the model's config.
    """
    sources, targets = zip(*PAIRS, strict=True)
    tokenizer = train_marian_tokenizer(sources, targets, vocabulary_size=PIECES)
    padding_id, end_id = (tokenizer.vocabulary[name] for name in ("<pad>", "</s>"))
    ids = {"padding_id": padding_id, "start_id": padding_id, "end_id": end_id}
    marian = {"bias": True, "activation": "silu", "position_order": "halves", "max_length": 64}
    torch.manual_seed(seed)
    config = TransformerConfig(vocabulary_size=len(tokenizer), **ids, **SIZES | marian | changes)
    return Translator(Transformer(config).eval(), tokenizer, lower_capitals=False)


def train_marian(translator: Translator, *, steps: int = 120) -> list[float]:
    """Train its model on all pairs at once, without dropout.

    Args:
        translator: Its tokenizer is a MarianTokenizer; its model is changed in place.
        steps: Steps of Adam.

    Returns:
        The loss of each step, in nats per token.
    """
    model, tokenizer = translator.model.eval(), translator.tokenizer
    source_ids, target_ids, label_ids = _batch(tokenizer, model.config)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    losses = []
    for _ in range(steps):
        logits = model(source_ids, target_ids)
        padding_id = model.config.padding_id
        loss = F.cross_entropy(logits.flatten(0, 1), label_ids.flatten(), ignore_index=padding_id)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _batch(tokenizer: MarianTokenizer, config: TransformerConfig) -> tuple[Tensor, Tensor, Tensor]:
    """Sources, decoder inputs and labels, each (batch, position)."""
    sources = [tokenizer.encode(source) for source, _ in PAIRS]
    labels = [tokenizer.encode_target(target) for _, target in PAIRS]
    inputs = [[config.start_id, *label[:-1]] for label in labels]
    return tuple(
        pad_sequence(
            [torch.tensor(row) for row in rows],
            batch_first=True,
            padding_value=config.padding_id,
        )
        for rows in (sources, inputs, labels)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, train, write the folder, and translate with what it holds."""
    parser = argparse.ArgumentParser(description="Train a small Marian model and write its folder.")
    parser.add_argument("folder", help="where to write it")
    chosen = parser.parse_args(arguments)
    translator = untrained_marian()
    losses = train_marian(translator)
    save_marian(chosen.folder, translator)
    print(f"loss {losses[0]:.2f} → {losses[-1]:.4f} nats per token")
    again = load_marian(chosen.folder)
    for source, _ in PAIRS:
        print(f"{source} → {again.translate(source, width=4)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
