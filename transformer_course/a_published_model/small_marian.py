"""A small Marian model, trained here on ten sentences, where no published one is at hand.

It has everything that a published one has, and learns its sentences by heart in seconds. It is used
in notebooks/20_a_published_model.ipynb and in tests.
"""

import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F

from transformer_edu.data.batches import make_batch
from transformer_edu.generation.translator import Translator
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.pretrained.marian import PICKLE, WEIGHTS, save_marian, train_marian_tokenizer
from transformer_edu.training.machine.device import device_of

PAIRS = (  # German, English
    ("Ein Hund rennt über das Gras.", "A dog runs across the grass."),
    ("Eine Katze schläft auf dem Stuhl.", "A cat sleeps on the chair."),
    ("Zwei Männer essen Brot.", "Two men eat bread."),
    ("Die Frau liest ein Buch.", "The woman reads a book."),
    ("Wir spielen im Garten.", "We play in the garden."),
    ("Die Kinder trinken Milch.", "The children drink milk."),
    ("Ich gehe heute nach Hause.", "I go home today."),
    ("Wo ist der Bahnhof?", "Where is the station?"),
    ("Das Haus ist sehr alt.", "The house is very old."),
    ("Er kauft drei Äpfel.", "He buys three apples."),
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
    model, encode = translator.model.eval(), translator.tokenizer.encode
    ids = [(encode(source), translator.target_ids(target)) for source, target in PAIRS]
    batch = make_batch(ids, model).to(device_of(model))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    padding_id, losses = model.config.padding_id, []
    for _ in range(steps):
        logits = model(batch.source_ids, batch.decoder_input_ids).transpose(1, 2)
        loss = F.cross_entropy(logits, batch.label_ids, ignore_index=padding_id)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def small_marian_folder(device: torch.device) -> Path:
    """Train a small model and save it where the system keeps temporary files.

    Args:
        device: Where it is trained.
    """
    folder, translator = Path(tempfile.mkdtemp()) / "small", untrained_marian()
    translator.model.to(device)
    train_marian(translator)
    save_marian(folder, translator)
    return folder


def damaged_folders() -> dict[str, Path]:
    """Folders of small models that must not be loaded, by what is wrong with them."""
    wrong = ("another architecture", "weights as a pickle", "no tokenizer")
    folders = {what: Path(tempfile.mkdtemp()) / "model" for what in wrong}
    for folder in folders.values():
        save_marian(folder, untrained_marian())
    architecture, weights, tokenizer = folders.values()
    (architecture / "config.json").write_text('{"model_type": "bart"}', encoding="utf-8")
    (weights / WEIGHTS).rename(weights / PICKLE)
    (tokenizer / "source.spm").unlink()
    return folders
