"""Questions after lesson 09: attention, masks, shapes, a broken class, positions, maps, norms."""

import math
from random import Random

import torch

from transformer_course.examination.question import Drawn, dot, mix, softmax, table, whole_vectors

WORDS = {"dog": "Hund", "cat": "Katze", "ball": "Ball", "house": "Haus", "tree": "Baum"}
WORDS |= {"table": "Tisch", "car": "Auto", "child": "Kind", "boat": "Boot", "bread": "Brot"}


def attention(rng: Random) -> Drawn:
    """One query over three keys."""
    weights = [1.0]
    while max(weights) > 0.9 or min(weights) < 0.02 or len(set(weights)) < 3:
        (query,), keys = whole_vectors(rng, 1, 4), whole_vectors(rng, 3, 4)
        scores = [dot(query, key) / 2 for key in keys]
        weights = softmax(scores)
    values = whole_vectors(rng, 3, 2, largest=9)
    rows = [[n, key, value] for n, key, value in zip((1, 2, 3), keys, values, strict=True)]
    given = {"query": query, "keys": keys, "values": values}
    given["table"] = table(["", "key", "value"], rows)
    hidden = mix(softmax(scores[:2]), values[:2])
    return Drawn(given, [scores, weights, mix(weights, values), hidden])


def masks(rng: Random) -> Drawn:
    """What padding, a causal mask, and layers with a mask let a position read."""
    words, length, row = rng.randint(2, 4), rng.randint(5, 6), rng.randint(2, 4)
    target, padding, asked = rng.randint(8, 15), rng.randint(2, 5), rng.randint(1, 6)
    reach = range(6)
    while len(reach) > 5 or len(reach) < 3:
        allowed = [[int(i == j or rng.random() < 0.25) for j in range(6)] for i in range(6)]
        seen = [allowed[j] for j in range(6) if allowed[asked - 1][j]]
        reach = [place for place, column in enumerate(zip(*seen, strict=True), 1) if any(column)]
    given = {"words": words, "length": length, "target": target, "kept": target - padding}
    given |= {"row": row, "allowed": allowed, "asked": asked}
    given["table"] = table(["", *range(1, 7)], [[n, *line] for n, line in enumerate(allowed, 1)])
    pairs = sum(min(n, target - padding) for n in range(1, target + 1))
    encoder = [[int(place < words) for place in range(length)]] * length
    return Drawn(given, [encoder, pairs, [int(place >= row) for place in range(5)], reach])


def shapes(rng: Random) -> Drawn:
    """Shapes in a model that translates, and its parameters."""
    heads, d_head, vocabulary = rng.choice([2, 4, 8]), rng.choice([4, 8, 16]), rng.randint(50, 900)
    batch, source, target = rng.sample(range(2, 20), 3)
    d_model, d_ff = heads * d_head, rng.choice([2, 3, 4]) * heads * d_head
    given = {"batch": batch, "source": source, "target": target, "vocabulary": vocabulary}
    given |= {"heads": heads, "d_model": d_model, "d_ff": d_ff}
    layer = 4 * d_model**2 + 2 * d_model * d_ff + d_ff + d_model + 2 * 2 * d_model
    weights, logits = [batch, heads, target, source], [batch, target, vocabulary]
    return Drawn(given, [[batch, source, d_model], weights, logits, layer])


CLASS = """\
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
{layers}

    def forward(self, x, memory, mask):  # mask: True where a query may attend
{inward}
        scores = query @ key.transpose(-2, -1) / key.size(-1) ** 0.5
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(dim=-1)
        merged = (weights @ value).transpose(1, 2).flatten(-2)
        return self.output(merged)"""
HEADS = ".unflatten(-1, (self.num_heads, -1)).transpose(1, 2)"
CUT = ".view({0}.size(0), self.num_heads, {0}.size(1), -1)"
# What is replaced, by what, and which of the observations A to D hold for the broken class.
FAULTS = [
    (f"self.query(x){HEADS}", "self.query(x)" + CUT.format("x"), "AC"),
    (f"self.key(memory){HEADS}", "self.key(memory)" + CUT.format("memory"), "ABCD"),
    (f"self.value(memory){HEADS}", "self.value(memory)" + CUT.format("memory"), "ABCD"),
    ("self.value(memory)", "self.key(memory)", "A"),
    (" / key.size(-1) ** 0.5", " / self.num_heads ** 0.5", "A"),
    ("masked_fill(~mask", "masked_fill(mask", "AB"),
    ("softmax(dim=-1)", "softmax(dim=-2)", "none"),
    ("(weights @ value).transpose(1, 2).flatten(-2)", "(weights @ value).reshape(x.shape)", "ABC"),
    ("return self.output(merged)", "return merged", "A"),
]


def broken_class(rng: Random) -> Drawn:
    """A class of attention with one mistake."""
    names, inputs = ["query", "key", "value", "output"], {"query": "x"}
    linear = "        self.{} = nn.Linear(d_model, d_model, bias=False)"
    layers = [linear.format(name) for name in rng.sample(names, 4)]
    inward = [
        f"        {name} = self.{name}({inputs.get(name, 'memory')}){HEADS}"
        for name in rng.sample(names[:3], 3)
    ]
    right = CLASS.format(layers="\n".join(layers), inward="\n".join(inward))
    correct, broken, holds = rng.choice(FAULTS)
    lines, wrong = right.splitlines(), right.replace(correct, broken).splitlines()
    line = next(number for number, text in enumerate(wrong, 1) if text != lines[number - 1])
    heads, d_head = rng.randint(2, 9), rng.randint(2, 9)
    batch, source, target = rng.sample(range(2, 30), 3)
    x, memory = [batch, target, heads * d_head], [batch, source, heads * d_head]
    given = {"code": "\n".join(wrong), "heads": heads, "x": x, "memory": memory}
    given["numbered"] = "\n".join(f"{number:2}  {text}" for number, text in enumerate(wrong, 1))
    return Drawn(given, [line, holds, [batch, heads, target, source]])


def positions(rng: Random) -> Drawn:
    """Vectors of the paper's positions."""
    position, start, distance = rng.randint(2, 60), rng.randint(2, 60), rng.randint(1, 30)
    given = {"position": position, "start": start, "end": start + distance}
    given |= {"later_start": start + 500, "later_end": start + 500 + distance}
    vector = [wave(position / slow) for slow in (1, 100) for wave in (math.sin, math.cos)]
    product = math.cos(distance) + math.cos(distance / 100)
    return Drawn(given, [vector, product, product])


def translation_map(rng: Random) -> Drawn:
    """A map of cross-attention, one row of which is wrong."""
    columns, order, wrong = rng.sample(list(WORDS), 5), rng.sample(range(5), 5), rng.randrange(5)
    output = [WORDS[columns[place]] for place in order]
    rows, weights = ["<s>", *output[:-1]], []
    for row, best in enumerate(order):
        parts = [rng.randint(2, 12) if place != best else 0 for place in range(5)]
        parts[best] = (80 if row == wrong else 100) - sum(parts)
        weights.append([part / 100 for part in parts])
    asked, mixed = rng.sample([row for row in range(5) if row != wrong], 2)
    given = {"weights": weights, "rows": rows, "columns": columns}
    given |= {"values": [rng.randint(-9, 9) for _ in columns], "mixed": mixed + 1}
    given |= {"place": asked + 1, "predicted": output[asked]}
    keys = [rows[wrong], columns[order[asked]], float(dot(weights[mixed], given["values"]))]
    return Drawn(given, keys, (torch.tensor(weights), rows, columns))


def sublayer(rng: Random) -> Drawn:
    """Post-norm, pre-norm, and what a norm takes away."""
    vector = added = [0]
    while len(set(vector)) < 3 or len(set(added)) < 3:
        vector, other = whole_vectors(rng, 2, 4, largest=6)
        added = [a + b for a, b in zip(vector, other, strict=True)]
    factor, size, shift = rng.randint(2, 5), rng.randint(2, 9), rng.randint(2, 9)
    given = {"vector": vector, "other": other, "factor": factor, "size": size, "shift": shift}
    norm = _normalized(vector)
    before = [x + factor * y for x, y in zip(vector, norm, strict=True)]
    return Drawn(given, [norm, norm, _normalized(added), before])


def _normalized(vector: list[int]) -> list[float]:
    """Layer normalization without learned numbers."""
    mean = sum(vector) / len(vector)
    spread = math.sqrt(sum((x - mean) ** 2 for x in vector) / len(vector))
    return [(x - mean) / spread for x in vector]


FIRST = (attention, masks, shapes, broken_class, positions, translation_map, sublayer)
