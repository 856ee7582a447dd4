"""Questions after lesson 17: losses, search, BLEU, patients, maps of heads, ablation."""

import math
from collections import Counter
from itertools import combinations, pairwise
from random import Random

import torch

from transformer_course.examination.question import (
    Drawn,
    mix,
    softmax,
    table,
    whole_vectors,
    written,
)


def loss(rng: Random) -> Drawn:
    """Cross-entropy with padding, perplexity, label smoothing."""
    logits, smoothing = whole_vectors(rng, 3, 4), rng.choice([0.1, 0.2, 0.4])
    labels = [rng.randint(1, 3), rng.randint(1, 3), 0]
    rows = [[n, *row, label] for n, row, label in zip((1, 2, 3), logits, labels, strict=True)]
    heads = ["position", "token 0", "token 1", "token 2", "token 3", "label"]
    given = {"logits": logits, "labels": labels, "smoothing": smoothing}
    given["table"] = table(heads, rows)
    logs = [[math.log(p) for p in softmax(row)] for row in logits[:2]]
    plain = -sum(row[label] for row, label in zip(logs, labels, strict=False)) / 2
    uniform = -sum(sum(row) / 4 for row in logs) / 2
    smoothed = (1 - smoothing) * plain + smoothing * uniform
    return Drawn(given, [plain, math.exp(plain), smoothed])


def search(rng: Random) -> Drawn:
    """Greedy search, a beam, and whose mistake it is."""
    kind, others = rng.choice(["search", "model"]), []
    while not others:
        start, *then = (_percentages(rng) for _ in range(4))
        first, after = dict(zip("ABC", start, strict=True)), dict(zip("ABC", then, strict=True))
        texts = {
            f"{a} {b}": first[a] * chance / 100
            for a in first
            for b, chance in zip("XYZ", after[a], strict=True)
        }
        ranked = sorted(texts, key=texts.__getitem__, reverse=True)
        best, second, _ = sorted(first, key=first.__getitem__, reverse=True)
        greedy = next(text for text in ranked if text[0] == best)
        beam = next(text for text in ranked if text[0] in (best, second))
        if len(set(texts.values())) == 9 and greedy != ranked[0]:
            better, worse = ranked[: ranked.index(beam)], ranked[ranked.index(beam) + 1 :]
            others = better if kind == "search" else [text for text in worse if text != greedy]
    correct = rng.choice(others)
    rows = [["(start)", *start, "", "", ""], *([a, "", "", "", *after[a]] for a in after)]
    given = {"start": start, "then": then, "correct": correct}
    given["table"] = table(["after", *"ABCXYZ"], rows)
    return Drawn(given, [greedy, beam, ranked[0], float(texts[ranked[0]]), kind])


def _percentages(rng: Random) -> list[int]:
    """Three different percentages that sum to 100."""
    while True:
        parts = [b - a for a, b in pairwise([0, *sorted(rng.sample(range(5, 96), 2)), 100])]
        if len(set(parts)) == 3:
            return parts


def bleu_counts(rng: Random) -> Drawn:
    """The parts of BLEU for one sentence."""
    words = rng.sample(["the", "a", "cat", "dog", "sees", "and", "on", "near", "old"], 4)
    one = two = 0
    output = reference = words
    while not one or not two or not one < len(output) < len(reference):
        output = rng.choices(words, k=rng.randint(4, 7))
        reference = rng.choices(words, k=rng.randint(5, 9))
        one, two = (_matches(output, reference, n) for n in (1, 2))
    given = {"output": output, "reference": reference}
    given |= {"output_text": " ".join(output), "reference_text": " ".join(reference)}
    precisions = [one / len(output), two / (len(output) - 1)]
    brevity = math.exp(1 - len(reference) / len(output))
    return Drawn(given, [*precisions, brevity, brevity * math.sqrt(math.prod(precisions))])


def _matches(output: list[str], reference: list[str], n: int) -> int:
    """How many n-grams of the output the reference has, too; each as often as the reference."""
    own, wanted = (
        Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))
        for text in (output, reference)
    )
    return sum((own & wanted).values())


EXPERIMENTS = [
    "the last target token is changed",
    "two more padding tokens at the end of the source",
    "two source tokens change places",
    "the same pass once more",
    "token by token with the cache, not in one pass",
    "largest weight of decoder self-attention on a later position",
]
# For each experiment where its numbers are not zero: nowhere (0), at the last position (l), at all
# but the last (b), at all but the first (f), everywhere (x).
ILLNESSES = {
    "A": ("no illness is visible", "l0x000"),
    "B": ("the decoder's causal mask is missing", "x0x0xb"),
    "C": ("source padding is attended to", "lxx000"),
    "D": ("the encoder has no positions", "l00000"),
    "E": ("a norm in the decoder averages over the positions", "x0x0x0"),
    "F": ("dropout is on", "xxxxx0"),
    "G": ("with the cache, every token gets position 0", "l0x0f0"),
}


def patient(rng: Random) -> Drawn:
    """Two models, whose measurements show what is wrong."""
    chosen = rng.sample(list(ILLNESSES), 2)
    measured = [[_row(rng, kind) for kind in ILLNESSES[letter][1]] for letter in chosen]
    tables = [
        table(["", *"12345"], [[name, *row] for name, row in zip(EXPERIMENTS, rows, strict=True)])
        for rows in measured
    ]
    given = {"measured": measured, "model_1": tables[0], "model_2": tables[1]}
    given["illnesses"] = "\n".join(f"- {name}: {words}" for name, (words, _) in ILLNESSES.items())
    return Drawn(given, chosen)


def _row(rng: Random, kind: str) -> list[float]:
    """Five numbers: which are zero is known, the others are drawn."""
    zero = {"0": range(5), "l": range(4), "b": [4], "f": [0], "x": []}[kind]
    return [0 if place in zero else rng.randint(11, 899) / 1000 for place in range(5)]


def head_map(rng: Random) -> Drawn:
    """A map of causal self-attention, and how much of it goes to the previous token."""
    words = rng.sample(["a", "man", "plays", "the", "old", "guitar", "on", "his", "street"], 5)
    weights, values, row = [], whole_vectors(rng, 5, 2, largest=5), rng.randint(2, 4)
    for last in range(5):
        cuts = sorted(rng.sample(range(1, 20), last))
        parts = [(b - a) / 20 for a, b in pairwise([0, *cuts, 20])]
        weights.append(parts + [0.0] * (4 - last))
    previous = sum(weights[n][n - 1] for n in range(1, 5)) / 4
    uniform = sum(1 / (n + 1) for n in range(1, 5)) / 4
    given = {"weights": weights, "values": values, "word": row + 1}
    given["listed"] = ", ".join(map(written, values))
    drawn = (torch.tensor(weights), words, words)
    return Drawn(given, [previous, uniform, mix(weights[row], values)], drawn)


def ablation(rng: Random) -> Drawn:
    """Heads removed alone and in pairs, with three seeds."""
    full = [rng.randint(930, 960) / 10 for _ in range(3)]
    drops = rng.sample(range(10, 120, 5), 4)
    alone = [[round(it - (drop + rng.randint(-9, 9)) / 10, 1) for it in full] for drop in drops]
    falls = [(sum(full) - sum(values)) / 3 for values in alone]
    pairs = list(combinations(range(4), 2))
    special = rng.choice(pairs)
    extra = {pair: rng.randint(-5, 5) / 10 for pair in pairs} | {
        special: rng.randint(300, 400) / 10
    }
    together = [round(sum(full) / 3 - falls[i] - falls[j] - extra[i, j], 1) for i, j in pairs]
    rows = [["none", *full], *([f"head {n}", *row] for n, row in enumerate(alone, 1))]
    heads = ["removed", *(f"{i + 1} and {j + 1}" for i, j in pairs)]
    given = {"full": full, "alone": alone, "together": together}
    given["table"] = table(["removed", "seed 1", "seed 2", "seed 3"], rows)
    given["pairs"] = table(heads, [["mean", *together]])
    both = sum(full) / 3 - together[pairs.index(special)]
    ratio = both / (falls[special[0]] + falls[special[1]])
    return Drawn(given, [falls, [n + 1 for n in special], ratio])


SECOND = (loss, search, bleu_counts, patient, head_map, ablation)
