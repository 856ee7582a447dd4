"""Lesson 12: right answers of many kinds are accepted, and each mistake is named."""

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.generation import checks, search_checks

TABLE = """{"": {"red": 0.27, "green": 0.26, "blue": 0.25, "black": 0.22},
 "red": {"cat": 0.5, "dog": 0.5}, "green": {"cat": 0.5, "dog": 0.5}, "blue": {"cat": 0.5, "dog": 0.5}}"""
LATE = """{"": {"a": 1.0}, "a": {"p": 0.3, "q": 0.25, "r": 0.24, "s": 0.21},
 **{f"a {x}": {"u": 0.4, "v": 0.3, "w": 0.3} for x in "pqr"}}"""
LONG = """{"": {"i": 0.2, "j": 0.2, "k": 0.2, "l": 0.16, "m": 0.12, "n": 0.12},
 **{x: {y: 0.25 for y in "abcd"} for x in "ijkmn"}, "l": {"so": 1.0}, "l so": {"it": 1.0}}"""
TOP_P = """
def keep_top_p(probabilities, p):
    ordered, token_ids = probabilities.sort(descending=True)
    before = ordered.cumsum(dim=0) - ordered
    kept = torch.zeros_like(probabilities)
    kept[token_ids] = ordered * (before < p)
    return kept / kept.sum()
"""
IN_A_LOOP = """
def keep_top_p(probabilities, p):
    kept, total = torch.zeros_like(probabilities), 0.0
    for token in probabilities.argsort(descending=True).tolist():
        if total >= p:
            break
        kept[token] = probabilities[token]
        total += probabilities[token].item()
    return kept / kept.sum()
"""
BY_COUNT = """
def keep_top_p(probabilities, p):
    ordered = probabilities.sort(descending=True).values
    count = int((ordered.cumsum(0) < p).sum()) + 1
    best = probabilities.topk(count)
    return torch.zeros_like(probabilities).index_put((best.indices,), best.values / best.values.sum())
"""
BY_THE_SMALLEST = """
def keep_top_p(probabilities, p):
    ordered = probabilities.sort(descending=True).values
    smallest = ordered[(ordered.cumsum(0) < p).sum()]
    kept = torch.where(probabilities >= smallest, probabilities, 0.0)
    return kept / kept.sum()
"""
WITH_LOGITS = """
def keep_top_p(probabilities, p):
    ordered, ids = probabilities.sort(descending=True)
    cut = ids[(ordered.cumsum(0) - ordered) >= p]
    return probabilities.log().index_fill(0, cut, -math.inf).softmax(-1)
"""
SEARCH = """
def my_beam_search(next_log_p, width, alpha=0.0, longest=20):
    beam = [([1], 0.0)]
    complete = []
    for length in range(1, longest + 1):
        longer = []
        for ids, total in beam:
            log_p = next_log_p(ids)
            best = log_p.topk(min(width, len(log_p)))
            for token, p in zip(best.indices.tolist(), best.values.tolist()):
                if p > -math.inf:
                    longer.append(([*ids, token], total + p))
        longer = sorted(longer, key=lambda pair: -pair[1])[:width]
        beam = []
        for ids, total in longer:
            if ids[-1] == 2 or length == longest:
                complete.append((total / ((5 + length) / 6) ** alpha, ids[1:]))
            else:
                beam.append((ids, total))
        if not beam:
            break
    score, ids = max(complete)
    return ids, score
"""
ALL_TOKENS = """
def my_beam_search(next_log_p, width, alpha=0.0, longest=20):
    def score(ids, total):
        return total / ((5 + len(ids) - 1) / 6) ** alpha

    alive, done = {(1,): 0.0}, {}
    while alive:
        found = {}
        for ids, total in alive.items():
            for token, p in enumerate(next_log_p(list(ids))):
                if p.isfinite():
                    found[(*ids, token)] = total + float(p)
        kept = sorted(found, key=found.get, reverse=True)[:width]
        alive = {ids: found[ids] for ids in kept if ids[-1] != 2 and len(ids) <= longest}
        done |= {ids: score(ids, found[ids]) for ids in kept if ids not in alive}
    best = max(done, key=done.get)
    return list(best[1:]), done[best]
"""
RECURSIVE = """
def my_beam_search(next_log_p, width, alpha=0.0, longest=20):
    def best_of(beam, length):
        if not beam or length > longest:
            return [(total / ((4 + length) / 6) ** alpha, ids[1:]) for total, ids in beam]
        longer = [(total + p, [*ids, n]) for total, ids in beam for n, p in enumerate(next_log_p(ids).tolist())]
        kept = sorted((each for each in longer if each[0] > -math.inf), reverse=True)[:width]
        ended = [(total / ((5 + length) / 6) ** alpha, ids[1:]) for total, ids in kept if ids[-1] == 2]
        return ended + best_of([each for each in kept if each[1][-1] != 2], length + 1)

    score, ids = max(best_of([(0.0, [1])], 1))
    return ids, score
"""
FILLED_UP = SEARCH.replace("[:width]", "").replace(
    "            if ids[-1] == 2",
    "            if len(beam) == width:\n                break\n            if ids[-1] == 2",
)
KEPT = "longer = sorted(longer, key=lambda pair: -pair[1])[:width]"
SCORE = "total / ((5 + length) / 6) ** alpha"

ANSWERS = {
    "12.1": Answers(
        TABLE,
        right=[
            LATE,
            LONG,
            "0.27 → 0.3 && 0.22 → 0.19",
            '"black": 0.22} → "black": 0.22}, "black": {"cat": 0.9, "dog": 0.1}',
            "{b: {w: Fraction(str(p)) for w, p in row.items()} for b, row in "
            + TABLE
            + ".items()}",
            '{"": {w: p for w, p in zip("abcde", (0.24, 0.23, 0.22, 0.21, 0.1))}, '
            '**{w: dict.fromkeys("xyz", 1 / 3) for w in "abce"}}',
        ],
        wrong={
            "0.22} → 0.2}": "sum to 1",
            "0.27 → 0.25 && 0.26 → 0.25 && 0.22 → 0.25": "only because of a tie",
            "0.27 → 0.2 && 0.22 → 0.29": "no sentence is more probable",
            '"black": 0.22} → "black": 0.22}, "black": {"cat": 0.5, "dog": 0.5}': "no sentence",
            '"black": 0.22} → "black": 0.22}, "white": {"cat": 1.0}': "must lead to each",
            '{"": {"red": 0.5, "green": 0.5}}': "no sentence is more probable",
            ', "blue": {"cat": 0.5, "dog": 0.5} → ': "“blue”, with 0.25, and no sentence is more probable. No word follows it",
            '{"": ["red", "green"]}': "The answer is a table",
            '{"": {"red": "0.5", "green": "0.5"}}': "must give probabilities",
            '{"red": {"cat": 1.0}}': "what comes first",
            '{"": {"red": 0.5, "green": 0.5, "blue": 0.0}}': "probabilities above 0",
            '{"": {1: 0.5, 2: 0.5}}': "single words",
            '"green": { → "green ": {': "none at its ends, got 'green '",
        },
    ),
    "12.2": Answers(
        TOP_P,
        right=[
            IN_A_LOOP,
            BY_COUNT,
            BY_THE_SMALLEST,
            WITH_LOGITS,
            "before = ordered.cumsum(dim=0) - ordered →"
            " before = F.pad(ordered, (1, 0))[:-1].cumsum(0)",
            "kept[token_ids] = ordered * (before < p) →"
            " kept.scatter_(0, token_ids, ordered.masked_fill(before >= p, 0.0))",
        ],
        wrong={
            "(before < p) → (ordered.cumsum(dim=0) <= p)": "the one that reaches p is kept",
            "(before < p) → (before <= p)": "one token reaches p already",
            "kept / kept.sum() → kept": "must sum to 1 again",
            "kept[token_ids] = → kept[:] =": "each at its place",
            "- ordered → - probabilities": "at the places [3]",
            "descending=True → descending=False": "tokens reach p already",
            "kept / kept.sum() → kept.softmax(dim=-1)": "divide by the sum",
            "kept / kept.sum() → kept > 0": "give their probabilities",
            "(before < p) → (ordered >= 1 - p)": "For p =",
            "torch.zeros_like(probabilities) → probabilities": "changes the tensor",
            "ordered * (before < p) → (before < p).float()": "in their own proportions",
            "kept / kept.sum() → kept[kept > 0]": "The shape must be",
            "before < p → ordered >= p": "Is any token kept?",
            "before < p → ordered >= p && kept.sum() → kept.sum().clamp(min=0.1)": "keep no token",
            "before < p → ordered >= p * ordered.max()": "1 token reaches p already, you keep 3",
            "kept / kept.sum() → kept / p": "must sum to 1 again",
            "kept[token_ids] = ordered * (before < p) → kept = probabilities * (probabilities.cumsum(0) >= p)": (
                "keep the tokens [3, 4]: the most probable"
            ),
        },
    ),
    "12.3": Answers(
        SEARCH,
        right=[
            ALL_TOKENS,
            RECURSIVE,
            f"{KEPT} → longer.sort(key=lambda pair: pair[1])\n        longer = longer[::-1][:width]",
            "return ids, score → return [ids, torch.tensor(score, dtype=torch.float64)]",
            f"{SCORE} → total * ((5 + length) / 6) ** -alpha",
            "next_log_p(ids) → next_log_p(torch.tensor(ids)) && best = log_p.topk(min(width, "
            "len(log_p))) → best = log_p.sort(descending=True)",
        ],
        wrong={
            "[:width] → [:1]": "greedy search writes",
            "max(complete) → max(complete, key=lambda pair: len(pair[1]))": "the best of those that ended last",
            "max(complete) → min(complete, key=lambda pair: len(pair[1]))": "You return what ended first",
            "max(complete) → complete[0]": "You return what ended first",
            f"max(complete) → complete[0] && {SCORE} → total": "your beam is right at every step",
            "[:width] → [:1] && (5 + length) → (4 + length)": "Yours holds [[1, 3]]",
            "max(complete) → complete[-1]": "You return what ended last",
            "zip(best.indices.tolist(), best.values.tolist()) → zip(best.values.tolist(), best.indices.tolist())": "An id is a whole number",
            "if not beam: → if not beam or (complete and max(t for _, t in beam) / ((6 + length) / 6) ** alpha < max(complete)[0]):": "you stop after",
            "def my_beam_search(next_log_p, width, alpha=0.0, longest=20): → def my_beam_search(next_log_p, width, alpha=0.0, longest=20, complete=[]): && complete = []\n → pass\n": "left from an earlier call?",
            "[:width] → [:1] && return ids, score → return ids, score * ((5 + len(ids)) / 6) ** alpha": "a good first step",
            "zip(best.indices.tolist(), best.values.tolist()) → zip(best.indices, best.values.tolist())": "some of yours are tensors",
            "min(width, len(log_p)) → 2": "you take fewer of each",
            "min(width, len(log_p)) → min(3, width)": "you take fewer of each",
            "min(width, len(log_p)) → min(width // 2 + 1, 6)": "at step ",
            f"{KEPT} → complete += [(t / ((5 + length) / 6) ** alpha, i[1:]) for i, t in longer if i[-1] == 2]\n        longer = sorted([h for h in longer if h[0][-1] != 2], key=lambda h: -h[1])[:width]": "Pick the `width` most probable",
            "score, ids = max(complete) → ids, score = max((i, s) for s, i in complete)": "here the ids",
            "== 2 or length == longest → == 2": "tokens and no end competes",
            "range(1, longest + 1) → range(1, width + 1)": "you choose from an empty list",
            "return ids, score → return ids, score * ((5 + len(ids)) / 6) ** alpha": "which is its ln p",
            "log_p = next_log_p(ids) → log_p = next_log_p([ids])": "takes the ids of one hypothesis",
            "zip(best.indices.tolist(), best.values.tolist()) → enumerate(best.values.tolist())": "topk gives the ids as indices",
            "if p > -math.inf → if p > -2": "at step ",
            "if not beam: → if not beam or longer[0][0][-1] == 2:": "you stop after",
            "if not beam: → if not beam or (complete and max(complete)[0] >= max(t / ((5 + length) / 6) ** alpha for _, t in beam)):": "you stop after",
            f"longer.append(([*ids, token], total + p)) → longer.append(([*ids, token], total + p, p)) && {KEPT} → longer = [h[:2] for h in sorted(longer, key=lambda h: -h[2])[:width]]": "the ln p of the last tokens",
            f"{KEPT} → longer = sorted(longer, reverse=True)[:width]": "the largest ids",
            f"{KEPT} → longer = sorted(longer, key=lambda pair: pair[1])[:width]": "the least probable",
            "[:width] → [: width - len(complete)]": "also after one has ended",
            "-pair[1])[:width] → pair[1])[:width]": "the least probable",
            f"{KEPT} → {KEPT.removesuffix('[:width]')}": "continue more than",
            f"{SCORE} → total": "divided by",
            f"{SCORE} → total * ((5 + length) / 6) ** alpha": "long sentences worse",
            f"{SCORE} → total / length**alpha": "with these parentheses",
            f"{SCORE} → total / (5 + length / 6) ** alpha": "with these parentheses",
            f"{SCORE} → total / length": "the mean ln p of a token",
            f"{SCORE} → total / (length + 1)": "the mean ln p of a token",
            "max(complete) → max(complete, key=lambda pair: pair[0] * ((5 + len(pair[1])) / 6) ** alpha / len(pair[1]))": "the mean ln p of a token",
            "score, ids = max(complete) → score, ids = min(complete)": "has the lowest score",
            "(5 + length) → (4 + length)": "The end token counts",
            "(5 + length) → (5 + longest)": "or the number of steps",
            f"append(({SCORE}, → append((total, && max(complete) → max((total / ((5 + length) / 6) ** alpha, ids) for total, ids in complete)": "or the number of steps",
            "if not beam: → if complete:": "You return what ended first",
            "range(1, longest + 1) → range(1, longest)": "you stop after",
            "if not beam: → if not beam or (complete and max(complete)[0] >= beam[0][1]):": "you stop after",
            "longer = []\n → longer, complete = [], []\n": "the best of those that ended last",
            "            else:\n →             if True:\n": "has ended",
            "ids[1:])) → ids))": "Leave the start token",
            "return ids, score → return ids": "Return two things",
            "return ids, score → return ids[:-1], score": "lack their last token",
            "return ids, score → return [n for n in ids if n != 2], score": "lack their last token",
            "return ids, score → return score, ids": "ids first",
            "next_log_p(ids) → next_log_p(ids[1:])": "the first is START_ID",
            "longest + 1 → longest + 2 && == longest → == longest + 1": "more than `longest`",
            "total + p)) → p))": "of all its tokens",
            FILLED_UP: "Pick the `width` most probable of all continuations first",
            "min(width, len(log_p)) → width": "topk(k) needs at least k numbers",
            "if p > -math.inf → if True": "but ln p of its last token is −∞",
            "[*ids, token] → ids.append(token) or ids": "share one list",
            "return ids, score → return [ids], score": "one list of numbers",
            "return ids, score → return ids, -score": "never above 0",
            "** alpha → * alpha": "is right; its score is",
            "        if not beam:\n →         if complete:\n            complete += [(t / ((5 + length) / 6) ** alpha, i[1:]) for i, t in beam]\n": (
                "without an end and with fewer than 6 tokens"
            ),
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks) | checks_of(search_checks), ANSWERS
)
