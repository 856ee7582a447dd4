"""Fifty variants of every question are solved in another way, mostly by PyTorch's own functions."""

import cmath
import itertools
import json
import re

import numpy as np
import pytest
import sacrebleu
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from transformer_course.examination.examinations import EXAMINATIONS, tasks_and_keys, variant
from transformer_course.examination.question import is_right, read_texts

SECRET = b"only for these tests"
STUDENTS = [f"student {number}" for number in range(50)]
KINDS = {
    draw.__name__: (name, place)
    for name, draws in EXAMINATIONS.items()
    for place, draw in enumerate(draws)
}


def floats(numbers: object) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def solve_attention(query, keys, values, **given):
    query, keys, values = (floats(each) for each in ([query], keys, values))
    eye = torch.eye(3, dtype=torch.float64)
    weights = F.scaled_dot_product_attention(query, keys, eye)
    seen = torch.tensor([True, True, False])
    outputs = [
        F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)[0]
        for mask in (None, seen)
    ]
    return [keys @ query[0] / 2, weights[0], *outputs]


def attends(mask: Tensor, **hidden: Tensor) -> Tensor:
    """Where nn.MultiheadAttention attends, its masks being True where a key is hidden."""
    torch.manual_seed(0)
    x = torch.randn(1, len(mask), 4)
    layer = nn.MultiheadAttention(4, 1, batch_first=True)
    return layer(x, x, x, attn_mask=mask, **hidden)[1][0] > 0


def solve_masks(words, length, target, kept, row, allowed, asked, **given):
    padding = torch.arange(length)[None] >= words
    encoder = attends(torch.zeros(length, length, dtype=torch.bool), key_padding_mask=padding)
    future = torch.triu(torch.ones(target, target), 1).bool()
    decoder = attends(future, key_padding_mask=torch.arange(target)[None] >= kept)
    polarity = ~attends(torch.ones(5, 5).triu(1).bool())[row - 1]
    reach = np.linalg.matrix_power(np.array(allowed), 2)[asked - 1].nonzero()[0] + 1
    return [encoder.int(), int(decoder.sum()), polarity.int(), reach]


def solve_shapes(**given):
    with torch.device("meta"):  # shapes without numbers
        return shapes_of_torchs_own(**given)


def shapes_of_torchs_own(batch, source, target, vocabulary, heads, d_model, d_ff):
    memory = nn.TransformerEncoderLayer(d_model, heads, d_ff, batch_first=True).eval()(
        torch.zeros(batch, source, d_model)
    )
    x = torch.zeros(batch, target, d_model)
    cross = nn.MultiheadAttention(d_model, heads, bias=False, batch_first=True)
    weights = cross(x, memory, memory, average_attn_weights=False)[1]
    rest = nn.ModuleList([nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)])
    rest.extend(nn.LayerNorm(d_model) for _ in range(2))
    size = sum(p.numel() for p in [*cross.parameters(), *rest.parameters()])
    logits = nn.Linear(d_model, vocabulary)(x)
    return [list(memory.shape), list(weights.shape), list(logits.shape), size]


def built(code: str, d_model: int, heads: int) -> nn.Module:
    """The class of a question, made of its printed code."""
    names = {"nn": nn}
    exec(code, names)
    torch.manual_seed(1)
    return names["Attention"](d_model, heads).double()


def torchs_own(layer: nn.Module, x: Tensor, memory: Tensor, mask: Tensor, heads: int) -> Tensor:
    """What nn.MultiheadAttention returns with the same weights."""
    own = nn.MultiheadAttention(x.size(-1), heads, bias=False, batch_first=True).double()
    inward = [layer.query.weight, layer.key.weight, layer.value.weight]
    own.in_proj_weight.data, own.out_proj.weight.data = torch.cat(inward), layer.output.weight
    return own(x, memory, memory, attn_mask=~mask)[0]


# For a line of the class that begins like this, what a student who repairs it would write.
REPAIRS = {
    "query = self": "query = self.query(x).unflatten(2, (self.num_heads, -1)).movedim(2, 1)",
    "key = self": "key = self.key(memory).unflatten(2, (self.num_heads, -1)).movedim(2, 1)",
    "value = self": "value = self.value(memory).unflatten(2, (self.num_heads, -1)).movedim(2, 1)",
    "scores = query": "scores = (query / query.size(-1) ** 0.5) @ key.mT",
    "scores = scores": "scores = scores.where(mask, float('-inf'))",
    "weights = ": "weights = scores.exp() / scores.exp().sum(-1, keepdim=True)",
    "merged = ": "merged = (weights @ value).movedim(1, 2).flatten(2)",
    "return ": "return self.output(merged)",
}


def solve_broken_class(code, heads, x, memory, **given):
    mask = torch.ones(4, 4).tril().bool()
    mask[3, 0] = False
    torch.manual_seed(0)
    one, other = torch.randn(2, 2, 4, 6, dtype=torch.float64)
    right = []
    for number, line in enumerate(code.splitlines(), 1):
        start = next((start for start in REPAIRS if line.strip().startswith(start)), None)
        if start:
            layer = built(code.replace(line.strip(), REPAIRS[start]), 6, 3)
            output = layer(one, other, mask)
            if torch.allclose(output, torchs_own(layer, one, other, mask, 3)):
                right.append(number)
    layer, single = built(code, 6, 3), built(code, 6, 1)
    kept = code.replace("return ", "self.weights = weights\n        return ")
    watched = built(kept, 6, 3)
    watched(one, other, mask)
    hidden = other.clone()
    hidden[:, 2:] += 1  # which the first two queries must not see
    order = [2, 0, 3, 1]
    output = layer(one, other, mask)
    holds = {
        "A": torch.allclose(watched.weights.sum(-1), torch.ones(2, 3, 4).double()),
        "B": not torch.allclose(layer(one, hidden, mask)[:, :2], output[:, :2]),
        "C": torch.allclose(single(one, other, mask), torchs_own(single, one, other, mask, 1)),
        "D": not torch.allclose(layer(one, other[:, order], mask[:, order]), output),
    }
    shape = torch.empty(x[0], heads, x[1], 1) @ torch.empty(memory[0], heads, 1, memory[1])
    letters = "".join(letter for letter, value in holds.items() if value)
    return [*right, letters or "none", list(shape.shape)]


def solve_positions(position, start, end, later_start, later_end):
    def waves(place: int) -> Tensor:
        turned = torch.polar(torch.ones(2), place / 10_000 ** (torch.arange(0, 4, 2) / 4))
        return torch.stack([turned.imag, turned.real], dim=1).flatten()

    pairs = [(start, end), (later_start, later_end)]
    return [waves(position), *(float(waves(a) @ waves(b)) for a, b in pairs)]


def solve_translation_map(weights, rows, columns, values, mixed, place, **given):
    weights = np.array(weights)
    wrong = int(np.abs(weights.sum(1) - 1).argmax())
    output = (weights @ np.array(values))[mixed - 1]
    return [rows[wrong], columns[weights[place - 1].argmax()], float(output)]


def solve_sublayer(vector, other, factor, size, shift):
    x, added = floats(vector), floats(vector) + floats(other)
    norm = nn.LayerNorm(4, eps=0, elementwise_affine=False)
    return [norm(x), norm(size * x + shift), norm(added), x + factor * norm(x)]


def solve_loss(logits, labels, smoothing, **given):
    losses = [
        F.cross_entropy(floats(logits), torch.tensor(labels), ignore_index=0, label_smoothing=part)
        for part in (0, smoothing)
    ]
    return [float(losses[0]), float(losses[0].exp()), float(losses[1])]


def solve_search(start, then, correct, **given):
    joint = floats(start)[:, None] * floats(then) / 100
    names = [f"{a} {b}" for a, b in itertools.product("ABC", "XYZ")]
    table = dict(zip(names, joint.flatten().tolist(), strict=True))
    greedy = names[3 * int(np.argmax(start)) + int(np.argmax(then[int(np.argmax(start))]))]
    kept = floats(start).topk(2).indices
    among = joint[kept].argmax()
    beam = names[3 * int(kept[among // 3]) + int(among % 3)]
    kind = "search" if table[correct] > table[beam] else "model"
    return [greedy, beam, names[int(joint.argmax())], float(joint.max()), kind]


def solve_bleu_counts(output_text, reference_text, **given):
    metric = sacrebleu.BLEU(max_ngram_order=2, tokenize="none", smooth_method="none")
    metric.effective_order = True
    score = metric.sentence_score(output_text, [reference_text])
    return [score.precisions[0] / 100, score.precisions[1] / 100, score.bp, score.score / 100]


def solve_patient(measured, **given):
    letters = []
    for last, padding, swapped, again, cached, later in np.array(measured) > 0:
        if again.any():
            letters.append("F")
        elif later.any():
            letters.append("B")
        elif last[:-1].any():
            letters.append("E")
        elif padding.any():
            letters.append("C")
        elif not swapped.any():
            letters.append("D")
        else:
            letters.append("G" if cached.any() else "A")
    return letters


def solve_head_map(weights, values, word, **given):
    weights = floats(weights)
    uniform = F.softmax(torch.zeros(5, 5).masked_fill(weights == 0, float("-inf")), dim=-1)
    scores = [float(each.diagonal(-1).mean()) for each in (weights, uniform)]
    return [*scores, (weights @ floats(values))[word - 1]]


def solve_ablation(full, alone, together, **given):
    falls = np.mean(full) - np.mean(alone, axis=1)
    first, second = np.triu_indices(4, 1)
    ratios = (np.mean(full) - np.array(together)) / (falls[first] + falls[second])
    surplus = np.mean(full) - np.array(together) - falls[first] - falls[second]
    best = surplus.argmax()
    return [falls, [int(first[best]) + 1, int(second[best]) + 1], float(ratios[best])]


def solve_rotary(query, key, value, angle, moved, at_query, at_key):
    turned = complex(*query) * cmath.exp(1j * angle * at_query)
    scores = [
        (complex(*query) * (complex(*key) * cmath.exp(1j * angle * (n - m))).conjugate()).real
        for m, n in ((at_query, at_key), (at_query + moved, at_key + moved))
    ]
    change = abs(complex(*value) * (cmath.exp(1j * angle * moved) - 1))
    return [[turned.real, turned.imag], *scores, change]


def solve_blocks(scores, values, **given):
    scores, values = floats(scores), floats(values)
    states = []
    for block in (1, 2):
        seen, averaged = scores[:block].flatten(), values[:block].flatten()
        total = (seen.logsumexp(0) - seen.max()).exp()
        states.append(
            [float(seen.max()), float(total), float(total * (seen.softmax(0) @ averaged))]
        )
    factor = float((scores[0].max() - scores.max()).exp())
    output = float(scores.flatten().softmax(0) @ values.flatten())
    return [states[0], factor, states[1], output]


def solve_cost_of_length(layers, groups, heads, d_head, d_ff, length, d_model, **given):
    kept = torch.empty(2, layers, groups, length, d_head, dtype=torch.bfloat16, device="meta")
    full = torch.empty(2, layers, heads, length, d_head, dtype=torch.bfloat16, device="meta")

    def operations(work) -> int:
        with FlopCounterMode(display=False) as counter:
            work()
        return counter.get_total_flops()

    def attend() -> None:
        query, key = (torch.empty(heads, n, d_head, device="meta") for n in (1, 1000))
        (query @ key.mT) @ key

    def feed_forward() -> None:
        token = torch.empty(1, d_model, device="meta")
        token @ torch.empty(d_model, d_ff, device="meta") @ torch.empty(
            d_ff, d_model, device="meta"
        )

    days = 6 * given["parameters"] * 1e9 * given["tokens"] * 1e9 / (24 * 60 * 60)
    days /= given["devices"] * given["speed"] * 1e12 * given["used"] / 100
    equal = 1000 * operations(feed_forward) / operations(attend)
    return [kept.nbytes / 1e9, full.nbytes // kept.nbytes, days, round(equal)]


def solve_circuit(embeddings, query, key, output, names, asked_token, copied_token, **given):
    table = floats(embeddings)
    through = table @ floats(query) @ floats(key).T @ table.T
    written = table @ floats(output) @ table.T
    scores, logits = through[names.index(asked_token)], written[names.index(copied_token)]
    return [scores.int(), names[scores.argmax()], logits.int(), names[logits.argmax()]]


def solve_features(encoder, bias, decoder, vector, **given):
    x = floats(vector)
    before = F.linear(x, floats(encoder), floats(bias))
    kept = before.topk(2)
    features = torch.zeros(5).double().scatter(0, kept.indices, kept.values.relu())
    rebuilt = features @ floats(decoder) / 10
    explained = 1 - F.mse_loss(rebuilt, x) / x.square().mean()
    return [before.int(), (kept.indices.sort().values + 1), rebuilt, float(explained)]


def as_data(answer: object) -> object:
    """An answer as it comes out of a file."""
    if isinstance(answer, Tensor | np.ndarray):
        answer = answer.tolist()
    return json.loads(json.dumps(answer))


@pytest.mark.parametrize("kind", KINDS)
def test_fifty_variants_are_solved_in_another_way_and_are_different(kind):
    name, place = KINDS[kind]
    texts = set()
    for student in STUDENTS:
        question = variant(name, student, SECRET)[place]
        answers = globals()[f"solve_{kind}"](**question.drawn.given)
        parts = zip(question.parts, answers, question.drawn.keys, strict=True)
        for (_, task), answer, key in parts:
            assert is_right(as_data(answer), key), f"{student}, {task}: {answer}, {key}"
        texts.add(question.text + "".join(task for _, task in question.parts))
    assert len(texts) == 50


def test_every_kind_has_a_text_and_nothing_in_braces_is_left():
    assert set(read_texts()) == set(KINDS)
    for name in EXAMINATIONS:
        questions = variant(name, "Ada", SECRET)
        assert sum(question.minutes for question in questions) == 90
        for question in questions:
            assert not re.search(r"\{\w+\}", question.text), question.title
        tasks = [task for _, _, task, _ in tasks_and_keys(questions)]
        assert all("{" not in task for task in tasks)


def test_a_variant_depends_on_the_secret_the_student_and_nothing_else():
    one = variant("second", "Ada", SECRET)
    assert variant("second", "Ada", SECRET) == one
    assert variant("second", "Ada", SECRET + b"!") != one
    assert variant("second", "Bob", SECRET) != one


def test_answers_are_spread_so_that_a_guess_gains_little():
    for kind, part in (("search", 4), ("patient", 0), ("broken_class", 0), ("broken_class", 1)):
        name, place = KINDS[kind]
        keys = [variant(name, it, SECRET)[place].drawn.keys[part] for it in STUDENTS]
        most = max(keys.count(key) for key in keys)
        assert most <= 35 if kind == "search" else most <= 25, (kind, part, most)


@pytest.mark.parametrize(
    ("answer", "key", "right"),
    [
        (0.33, 1 / 3, True),
        (0.36, 1 / 3, False),
        (8, 8, True),
        (8.01, 8, False),
        (" katze ", "Katze", True),
        ("Hund", "Katze", False),
        ([1, 0.49], [1, 0.5], True),
        ([1], [1, 0.5], False),
        ([[1, 0]], [1, 0], False),
        (10**400, 0.5, False),
        (float("nan"), 0.5, False),
        (None, 0.5, False),
        ({"key": 1}, [1], False),
        ("0.5", 0.5, False),
    ],
)
def test_an_answer_is_judged_as_data(answer, key, right):
    assert is_right(answer, key) is right
