"""Questions after lesson 22: rotary positions, softmax in blocks, cost, circuits, features."""

import math
from random import Random

from transformer_course.examination.question import Drawn, dot, mix, table, whole_vectors


def rotary(rng: Random) -> Drawn:
    """Queries and keys that are turned by their positions."""
    query, key, value = whole_vectors(rng, 3, 2, largest=5)
    angle, moved = rng.randint(2, 12) / 10, rng.randint(10, 90)
    at_query, at_key = rng.randint(6, 20), rng.randint(0, 5)

    def turn(vector: list[int], position: int) -> list[float]:
        (x, y), by = vector, angle * position
        return [x * math.cos(by) - y * math.sin(by), x * math.sin(by) + y * math.cos(by)]

    given = {"query": query, "key": key, "value": value, "angle": angle, "moved": moved}
    given |= {"at_query": at_query, "at_key": at_key}
    score = dot(turn(query, at_query), turn(key, at_key))
    change = 2 * math.hypot(*value) * abs(math.sin(angle * moved / 2))
    return Drawn(given, [turn(query, at_query), score, score, change])


def blocks(rng: Random) -> Drawn:
    """A softmax over keys that come in two blocks."""
    scores = [[0], [0]]
    while max(scores[0]) == max(scores[1]):
        scores = [[rng.randint(-3, 6) for _ in range(3)] for _ in range(2)]
    values = whole_vectors(rng, 2, 3, largest=9)
    rows = [[n, *each] for n, each in enumerate(zip(scores, values, strict=True), 1)]

    def state(seen: list[int], averaged: list[int]) -> list[float]:
        powers = [math.exp(score - max(seen)) for score in seen]
        return [float(max(seen)), sum(powers), dot(powers, averaged)]

    given = {"scores": scores, "values": values}
    given["table"] = table(["block", "scores", "values"], rows)
    first, last = state(scores[0], values[0]), state(scores[0] + scores[1], values[0] + values[1])
    return Drawn(given, [first, math.exp(first[0] - last[0]), last, last[2] / last[1]])


def cost_of_length(rng: Random) -> Drawn:
    """A cache, two products of attention, and the time of a training."""
    layers, groups, d_head = rng.randint(10, 60), rng.choice([1, 2, 4]), rng.choice([64, 96, 128])
    heads, length = groups * rng.choice([2, 4, 8]), rng.randint(2, 60) * 1000
    d_model, d_ff = heads * d_head, heads * d_head * rng.choice([2, 3, 4])
    parameters, tokens, devices = rng.randint(10, 90) / 10, rng.randint(20, 300), rng.randint(8, 99)
    speed, used = rng.randint(3, 10) * 100, rng.randint(25, 55)
    given = {"layers": layers, "groups": groups, "heads": heads, "d_head": d_head, "d_ff": d_ff}
    given |= {"length": length, "d_model": d_model, "parameters": parameters, "tokens": tokens}
    given |= {"devices": devices, "speed": speed, "used": used, "shared": heads // groups}
    cache = 2 * layers * groups * d_head * length * 2 / 1e9
    seconds = 6 * parameters * tokens * 1e18 / (devices * speed * 1e12 * used / 100)
    return Drawn(given, [cache, heads // groups, seconds / 86_400, d_ff])


def circuit(rng: Random) -> Drawn:
    """What a head attends to and writes, from its matrices alone."""
    names = rng.sample(["red", "dog", "sun", "cup", "ice", "pen", "map", "key"], 4)
    scores = logits = [0, 0]
    while scores.count(max(scores)) > 1 or logits.count(max(logits)) > 1:
        embeddings, asked, copied = whole_vectors(rng, 4, 2, 2), rng.randrange(4), rng.randrange(4)
        query, key, output = (whole_vectors(rng, 2, 2, 2) for _ in range(3))
        own, out = mix(embeddings[asked], query), mix(embeddings[copied], output)
        scores = [dot(own, mix(other, key)) for other in embeddings]
        logits = [dot(out, other) for other in embeddings]
    given = {"embeddings": embeddings, "query": query, "key": key, "output": output}
    given |= {"names": names, "asked_token": names[asked], "copied_token": names[copied]}
    given["table"] = table(["token", "embedding"], list(zip(names, embeddings, strict=True)))
    matrices = {"W_Q": query, "W_K": key, "W_OV (values and output in one)": output}
    rows = [[name, *rows] for name, rows in matrices.items()]
    given["matrices"] = table(["matrix", "row 1", "row 2"], rows)
    attended, written_most = (names[each.index(max(each))] for each in (scores, logits))
    return Drawn(given, [scores, attended, logits, written_most])


def features(rng: Random) -> Drawn:
    """A sparse autoencoder that keeps the largest features."""
    strongest, vector = [0, 0, 0], [0]
    while not strongest[1] > max(0, strongest[2]) or not any(vector):
        encoder, decoder = whole_vectors(rng, 5, 3), whole_vectors(rng, 5, 3)
        (vector,), (bias,) = whole_vectors(rng, 1, 3, 5), whole_vectors(rng, 1, 5, 2)
        before = [dot(row, vector) + shift for row, shift in zip(encoder, bias, strict=True)]
        strongest = sorted(before, reverse=True)
    kept = [n for n in range(5) if before[n] >= strongest[1]]
    rebuilt = mix([before[n] / 10 for n in kept], [decoder[n] for n in kept])
    explained = 1 - math.dist(vector, rebuilt) ** 2 / dot(vector, vector)
    rows = [[n + 1, encoder[n], bias[n], decoder[n]] for n in range(5)]
    given = {"encoder": encoder, "bias": bias, "decoder": decoder, "vector": vector}
    given["table"] = table(["feature", "encoder row", "encoder bias", "direction"], rows)
    return Drawn(given, [before, [n + 1 for n in kept], rebuilt, explained])


GRADUATE = (rotary, blocks, cost_of_length, circuit, features)
