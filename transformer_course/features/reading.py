"""What the translator's encoder says of each token, and which sentences it reads here."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from transformer_edu.data.batches import make_batch
from transformer_edu.data.everyday import everyday_pairs
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator
from transformer_edu.training.machine.device import device_of

CAPTIONS, OTHERS, CHOSEN, TESTED = 1000, 1500, 300, 100
CAPTION = re.compile(r"A \w+ (is|in|with|on|wearing) ")  # the second word is its noun
SUBJECT = re.compile(r"(?:The|My|Our|His|Her) (\w+) (is|was|are|were) ")
# Nouns whose plural has one letter more; those at even places are for choosing.
NOUNS = re.findall(
    r"\w+",
    "day week neighbor friend movie brother game sister colleague cousin word niece daughter son "
    "window picture dog uncle shirt nephew flower bag hand key shoe apple cat boy girl tree book "
    "room horse tourist guest bird car chair glove teacher student photo rabbit bottle",
)


@dataclass(frozen=True)
class Reading:
    """The encoder's output for some sentences, without padding.

    Args:
        vectors: Shape (token, d_model).
        words: The token that each vector belongs to, without the sign of a space.
        sentences: The number of its sentence.
        places: Its place in the sentence, from 0.
    """

    vectors: Tensor
    words: list[str]
    sentences: list[int]
    places: list[int]


def read_encoder(translator: Translator, sentences: Sequence[str]) -> Reading:
    """Run the encoder on English sentences.

    Args:
        translator: Whose model is a Transformer of this package, on any device.
        sentences: What it reads.
    """
    model = translator.model
    ids = [translator.source_ids(sentence) for sentence in sentences]
    vectors = []
    with evaluation_mode(model):
        for begin in range(0, len(ids), 100):
            part = ids[begin : begin + 100]
            batch = make_batch([(each, []) for each in part], model).to(device_of(model))
            memory = model.encode(batch.source_ids)  # (sentence, token, d_model)
            vectors += [row[: len(each)] for row, each in zip(memory, part, strict=True)]
    names = translator.tokenizer.tokens([token for each in ids for token in each])
    return Reading(
        vectors=torch.cat(vectors),
        words=[name.strip("▁ ") for name in names],
        sentences=[number for number, each in enumerate(ids) for _ in each],
        places=[place for each in ids for place in range(len(each))],
    )


@cache
def captions() -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Captions that begin with an article and a noun, to choose by and to test with.

    Returns:
        Two lists of captions, each with whether its German begins with *Eine*; half of each
        list do. There are CHOSEN in the first and TESTED in the second.
    """
    found = [
        (english, german.startswith("Eine "))
        for english, german in everyday_pairs().train
        if CAPTION.match(english) and german.startswith(("Ein ", "Eine "))
    ]
    random.Random(0).shuffle(found)
    kinds = [[pair for pair in found if pair[1] == feminine] for feminine in (False, True)]
    half, end = TESTED // 2, (TESTED + CHOSEN) // 2
    return sum((kind[half:end] for kind in kinds), []), sum((kind[:half] for kind in kinds), [])


@cache
def subjects() -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Sentences such as *The dog is big.*, to choose by and to test with other nouns.

    Returns:
        Two lists of sentences, each with whether its subject is a plural; half of each list are.
    """
    found: dict[tuple[bool, bool], list[str]] = {}
    for english, german in everyday_pairs().train:
        match = SUBJECT.match(english)
        if match and german.split()[2] in ("ist", "war", "sind", "waren"):
            noun, verb = match.groups()
            plural = verb in ("are", "were")
            noun = noun.removesuffix("s") if plural else noun
            if noun in NOUNS:
                found.setdefault((noun in NOUNS[::2], plural), []).append(english)
    for texts in found.values():
        random.Random(2).shuffle(texts)
    half = min(TESTED // 2, *map(len, found.values()))
    kinds = [
        [(text, many) for many in (False, True) for text in found[side, many][:half]]
        for side in (True, False)
    ]
    return kinds[0], kinds[1]


@cache
def texts_to_learn_from() -> tuple[list[str], list[str]]:
    """English sentences for an autoencoder: to learn from, and to measure it with.

    The sentences that are steered later are in neither, and none is a single word.
    """
    steered = {english for english, _ in captions()[1] + subjects()[1]}
    english = [
        source for source, _ in everyday_pairs().train if " " in source and source not in steered
    ]
    random.Random(1).shuffle(english)
    described = [each for each in english if each.startswith(("A ", "An "))][: CAPTIONS + 200]
    other = [each for each in english if not each.startswith(("A ", "An "))][: OTHERS + 300]
    return described[200:] + other[300:], described[:200] + other[:300]


def plural_nouns(reading: Reading) -> tuple[Tensor, Tensor, Tensor]:
    """The tokens of NOUNS: where they are, and two ways to divide them.

    Returns:
        The rows of the reading, whether each is a plural, and whether its noun is for choosing;
        each of shape (noun,).
    """
    singular, plural = set(NOUNS), {f"{noun}s" for noun in NOUNS}
    choosing = set(NOUNS[::2]) | {f"{noun}s" for noun in NOUNS[::2]}
    rows = [row for row, word in enumerate(reading.words) if word in singular | plural]
    words = [reading.words[row] for row in rows]
    is_plural = torch.tensor([word in plural for word in words])
    return torch.tensor(rows), is_plural, torch.tensor([word in choosing for word in words])


def tokens_at(reading: Reading, place: int) -> Tensor:
    """The vector at one place of every sentence, shape (sentence, d_model).

    Args:
        reading: Its sentences have a token there.
        place: From 0.
    """
    return reading.vectors[[row for row, each in enumerate(reading.places) if each == place]]
