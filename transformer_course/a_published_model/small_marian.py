"""A small Marian model, trained here on ten sentences, where no published one is at hand.

It has everything that a published one has, and learns its sentences by heart in seconds. It is used
in notebooks/20_a_published_model.ipynb and in tests.
"""

import io
import tempfile
from collections.abc import Iterable
from pathlib import Path

import torch
import torch.nn.functional as F

from transformer_edu.data.batches import make_batch
from transformer_edu.generation.translator import Translator
from transformer_edu.model.refusals import require_whole
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.pretrained.marian_folder import (
    END,
    PADDING,
    PICKLE,
    UNKNOWN,
    WEIGHTS,
    MarianTokenizer,
    save_marian,
)
from transformer_edu.training.machine.device import device_of
from transformer_edu.training.machine.failures import import_extra

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


def train_marian_tokenizer(
    sources: Iterable[str], targets: Iterable[str], *, vocabulary_size: int
) -> MarianTokenizer:
    """Train a SentencePiece model for each language, and join their pieces in one vocabulary.

    Args:
        sources, targets: The texts to learn from.
        vocabulary_size: The most pieces of each language, at least its characters.

    Raises:
        ModuleNotFoundError: If the library sentencepiece is not installed.
        ValueError: If a language has no text, or more characters than vocabulary_size.
    """
    library = import_extra("sentencepiece")
    require_whole("vocabulary_size", vocabulary_size)
    sizes = {"vocab_size": vocabulary_size, "hard_vocab_limit": False}
    quiet = {"minloglevel": 2, "num_threads": 1}
    cutters, names = [], [END, UNKNOWN]
    for texts in (sources, targets):
        written = io.BytesIO()
        try:
            library.SentencePieceTrainer.train(
                sentence_iterator=iter(texts), model_writer=written, **sizes, **quiet
            )
        except (RuntimeError, OSError) as error:
            reason = str(error).split("] ")[-1].strip()
            raise ValueError(f"the texts must suffice for a tokenizer: {reason}") from None
        cutters.append(written.getvalue())
        cutter = library.SentencePieceProcessor(model_proto=written.getvalue())
        names += [cutter.id_to_piece(i) for i in range(len(cutter)) if not cutter.is_control(i)]
    pieces = [*dict.fromkeys(names), PADDING]
    return MarianTokenizer({piece: i for i, piece in enumerate(pieces)}, tuple(cutters))


def untrained_marian(*, seed: int = 0, **changes: object) -> Translator:
    """A Marian model with random weights, and a tokenizer that has read the pairs.

    Args:
        seed: Decides the weights.
        changes: Of the model's config.
    """
    sources, targets = zip(*PAIRS, strict=True)
    tokenizer = train_marian_tokenizer(sources, targets, vocabulary_size=PIECES)
    padding_id, end_id = (tokenizer.vocabulary[name] for name in (PADDING, END))
    ids = {"padding_id": padding_id, "start_id": padding_id, "end_id": end_id}
    marian = {"bias": True, "activation": "silu", "position_order": "halves", "max_length": 64}
    torch.manual_seed(seed)
    config = TransformerConfig(vocabulary_size=len(tokenizer), **ids, **SIZES | marian | changes)
    return Translator(Transformer(config).eval(), tokenizer, normalize=False)


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
