"""Lesson 03: right answers of many kinds are accepted, and each mistake is named."""

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.masks import checks

ATTENTION = """
class Attention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query_projection = nn.Linear(d_model, d_head, bias=False)
        self.key_projection = nn.Linear(d_model, d_head, bias=False)
        self.value_projection = nn.Linear(d_model, d_head, bias=False)

    def forward(self, query, key, value, mask=None):
        q = self.query_projection(query)
        k = self.key_projection(key)
        v = self.value_projection(value)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return scores.softmax(dim=-1) @ v
"""
HIDE = "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)"
MASK = """
def decoder_mask(token_ids):
    length = token_ids.size(1)
    padding = (token_ids != 0).unsqueeze(1)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    return padding & causal
"""
LOOK = """
def looks_ahead(model, source_ids, target_ids):
    changed = target_ids.clone()
    changed[:, -1] = (changed[:, -1] - 3) % 16 + 4
    before = model(source_ids, target_ids)[:, :-1]
    after = model(source_ids, changed)[:, :-1]
    return not torch.allclose(before, after, atol=1e-5)
"""
CHANGE = "changed[:, -1] = (changed[:, -1] - 3) % 16 + 4"
INDEXED = "mask = mask.expand(len(q), -1, -1); scores[~mask] = torch.finfo(scores.dtype).min"
ANSWERS = {
    "3.1": Answers(
        MASK,
        right=[
            "(token_ids != 0).unsqueeze(1) → (token_ids != 0)[:, None]",
            "(token_ids != 0).unsqueeze(1) → token_ids.bool().unsqueeze(1)",
            "(token_ids != 0).unsqueeze(1) → (token_ids > 0)[:, None, :]",
            "(token_ids != 0).unsqueeze(1) → ~(token_ids == 0).view(len(token_ids), 1, -1)",
            "torch.ones(length, length, dtype=torch.bool).tril() → torch.ones(length, length).tril() == 1",
            "torch.ones(length, length, dtype=torch.bool).tril() → torch.tril(torch.ones(length, length)).bool()",
            "torch.ones(length, length, dtype=torch.bool).tril() → ~torch.ones(length, length).bool().triu(1)",
            "torch.ones(length, length, dtype=torch.bool).tril() → (n := torch.arange(length)) <= n[:, None]",
            "padding & causal → padding * causal",
            "padding & causal → torch.logical_and(padding, causal)",
            "padding & causal → causal.masked_fill(~padding, False)",
            "padding & causal → ~(~padding | ~causal)",
            "padding & causal → torch.where(padding, causal, False)",
            "def decoder_mask(ids):\n    return torch.stack([torch.outer(torch.ones(len(row)), row != 0).tril() > 0 for row in ids])",
            """
def decoder_mask(token_ids):
    batch, length = token_ids.shape
    mask = torch.zeros(batch, length, length, dtype=torch.bool)
    for sentence in range(batch):
        for query in range(length):
            for key in range(query + 1):
                mask[sentence, query, key] = token_ids[sentence, key] != 0
    return mask
""",
        ],
        wrong={
            "return padding & causal → return causal.expand(len(token_ids), -1, -1)": "The later words are hidden, the padding is not",
            "return padding & causal → return padding.expand(-1, length, -1)": "The padding is hidden, the later words are not",
            "return padding & causal → return padding": "The shape must be (batch, query, key) =",
            "return padding & causal → return causal": "The shape must be (batch, query, key) =",
            "return padding & causal → return ~(padding & causal)": "It is inverted: True means",
            "return padding & causal → return padding | causal": "A query may attend to a key if *both*",
            "return padding & causal → return padding + causal": "A query may attend to a key if *both*",
            "return padding & causal → return padding and causal": "Python's if, and, or, not and max",
            "dtype=torch.bool → dtype=torch.float": "`&` joins boolean tensors",
            "return padding & causal → padding & causal": "Your function returns nothing",
            "return padding & causal → return (padding & causal).float()": "A mask is boolean, True or False; yours is",
            "return padding & causal → return (padding & causal).unsqueeze(1)": "The shape must be (batch, query, key) =",
            ".tril() → .triu()": "You hide earlier words: a row",
            ".tril() → .tril(-1)": "A row may attend to its own word, too",
            ".tril() → .triu(1)": "The causal mask is inverted",
            "token_ids != 0 → token_ids == 0": "The padding mask is inverted",
            ".unsqueeze(1) → .unsqueeze(2)": "You hide the rows of padding.",
            "return padding & causal → return padding & causal & padding.mT": "hide only its columns.",
            ".unsqueeze(1) → ": "Python stops at `return padding & causal`",
            "length = token_ids.size(1) → length = 5": "Python stops at `return padding & causal`",
            "return padding & causal → return (padding & causal)[0].expand(len(token_ids), -1, -1)": "With the ids [1, 4, 5, 6, 8], query 3 may attend",
            ".tril() → .tril(1)": "may not attend to the next word",
            "token_ids != 0 → token_ids > 1": "With the ids [1, 7, 9, 0, 0], query 0 may attend",
            "dtype=torch.bool → dtype=torch.int": "A mask is boolean, True or False; yours is",
            "length = → token_ids[token_ids == 0] = -1; length = ": "Your code changes the tensor that it gets",
            "padding = → length, padding = 4, ": "Python stops at `return padding & causal`",
        },
    ),
    "3.2": Answers(
        ATTENTION,
        right=[
            f"{HIDE} → scores.masked_fill(mask == False, torch.finfo(scores.dtype).min)",
            f"{HIDE} → scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)",
            f"{HIDE} → torch.where(mask, scores, torch.finfo(scores.dtype).min)",
            f"{HIDE} → scores.where(mask, torch.tensor(torch.finfo(scores.dtype).min))",
            f"{HIDE} → scores + torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(scores.dtype).min)",
            f"{HIDE} → scores + (1 - mask.to(scores.dtype)) * torch.finfo(scores.dtype).min",
            f"{HIDE} → scores + (~mask) * torch.finfo(scores.dtype).min",
            f"scores = {HIDE} → scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)",
            f"scores = {HIDE} → scores[~mask.expand_as(scores)] = torch.finfo(scores.dtype).min",
            f"scores = {HIDE} → hidden = ~mask; scores = scores * ~hidden + hidden * torch.finfo(scores.dtype).min",
            f"scores = {HIDE} → scores = scores.clone(); scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)",
            f"scores = {HIDE} → w = scores.exp() * mask; return w @ v / w.sum(-1, keepdim=True).clamp(min=1e-9)",
            f"scores = {HIDE} → w = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(); return w @ v",
            f"scores = {HIDE} → w = {HIDE}.softmax(-1) * mask; return w @ v",
            f"scores = {HIDE} → pass\n        else:\n            mask = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool)\n        scores = {HIDE}",
            "        scores = q →         return self.attend(q, k, v, mask)\n\n    def attend(self, q, k, v, mask=None):\n        scores = q",
            "scores.softmax(dim=-1) → scores.softmax(dim=2)",
            "math.sqrt(q.size(-1)) → self.root && super().__init__() → super().__init__(); self.root = d_head**0.5",
            "scores.softmax(dim=-1) @ v → torch.einsum('...qk,...kd->...qd', F.softmax(scores, dim=-1), v)",
            "k.transpose(-2, -1) → k.mT && scores.softmax(dim=-1) → torch.softmax(scores, -1)",
            "if mask is not None: → if mask is None:\n            scores = scores\n        else:",
            "mask=None → allowed=None && ~mask → ~allowed && if mask → if allowed",
            "query, key, value, mask=None → a, b, c, mask=None && (query) → (a) && (key) → (b) && (value) → (c)",
            "scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)) → return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)",
            """
class Attention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query_projection = nn.Linear(d_model, d_head, False)
        self.key_projection = nn.Linear(d_model, d_head, False)
        self.value_projection = nn.Linear(d_model, d_head, False)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.query_projection(query), self.key_projection(key), self.value_projection(value)
        if mask is None:
            mask = torch.ones(1, 1, 1, dtype=torch.bool)
        mask = mask.expand(len(q), q.size(1), k.size(1))
        rows = []
        for sentence in range(len(q)):
            scores = q[sentence] @ k[sentence].T / math.sqrt(k.size(-1))
            scores[~mask[sentence]] = torch.finfo(scores.dtype).min
            rows.append(torch.softmax(scores, dim=1) @ v[sentence])
        return torch.stack(rows)
""",
        ],
        wrong={
            f"scores = {HIDE} → {INDEXED}": "IndexError: The shape of the mask",
            f"{HIDE} → scores.masked_fill(mask, torch.finfo(scores.dtype).min)": "The polarity is inverted: where mask is",
            f"scores = {HIDE} → {HIDE}": "The mask changes nothing: the softmax",
            f"{HIDE} → scores.masked_fill(~mask, 0)": "Hidden keys still get up to 23% of the",
            f"{HIDE} → scores * mask": "Hidden keys still get up to 23% of the",
            f"{HIDE} → scores + mask": "Adding a boolean mask adds 1 to the allowed",
            f"{HIDE} → scores.masked_fill(~mask, torch.finfo(scores.dtype).tiny)": "Hidden keys still get up to 23% of the",
            f"{HIDE} → scores.masked_fill(~mask, torch.finfo(scores.dtype).max)": "Hidden keys get all of the weight: their",
            f"{HIDE} → scores.masked_fill(~mask, 1e9)": "Hidden keys get all of the weight: their",
            f"{HIDE} → scores.masked_fill(~mask, torch.inf)": "Some numbers are NaN",
            f"{HIDE} → scores.masked_fill(mask, -torch.inf)": "Some numbers are NaN",
            f"{HIDE} → torch.where(mask, torch.finfo(scores.dtype).min, scores)": "The polarity is inverted: where mask is",
            f"{HIDE} → scores.masked_fill(~mask, -torch.inf)": "A query without allowed keys gets NaN:",
            f"scores = {HIDE} → kept = scores.softmax(-1) * mask; return kept / kept.sum(-1, keepdim=True) @ v": "or from 0 / 0.",
            f"{HIDE} → scores.masked_fill(~mask, -1e9)": "the lowest of each type",
            f"{HIDE} → scores.masked_fill(~mask, torch.finfo(torch.float32).min)": "the lowest of each type",
            f"{HIDE} → scores.masked_fill(~mask.any(dim=-2, keepdim=True), torch.finfo(scores.dtype).min)": "or not all of them are hidden",
            f"{HIDE} → scores.masked_fill(~mask, -100)": "Where scores are large, hidden keys get some",
            f"{HIDE} → scores + ~mask * -math.inf": "Some numbers are NaN",
            f"{HIDE} → scores.masked_fill(~torch.ones_like(scores).tril().bool(), -1e9)": "Some keys that the mask allows get no weight",
            f"{HIDE} → scores.masked_fill(~mask.unsqueeze(1), -1e9)": "The shape must be (batch, query, key) =",
            "math.sqrt(q.size(-1)) → 2": "You divided the scores by 2; for d_head = 6",
            f"scores = {HIDE} → mask.logical_not_(); scores = scores.masked_fill(mask, -1e9)": "Your code changes the tensor that it gets",
            f"{HIDE} → scores.masked_fill(~mask, -1)": "Hidden keys still get up to 12% of the",
            f"{HIDE} → scores.masked_fill(~mask.mT, torch.finfo(scores.dtype).min)": "Python stops at `scores = scores.masked_fill(",
            f"{HIDE} → scores.masked_fill(~mask, torch.finfo(scores.dtype).min).T": "Python stops at `return scores.softmax(dim=-1",
            f"scores = {HIDE} → return (scores.softmax(-1) * mask) @ v": "You hide after the softmax, so the rows do",
            f"scores = {HIDE} → v = v * mask[..., :1, :].mT": "You hide after the softmax, so the rows do",
            f"scores = {HIDE} → pass": "The mask changes nothing: the softmax",
            "if mask is not None: → if mask:": "A mask has many values: ask `if mask is not",
            f"{HIDE} → scores.masked_fill(not mask, -1e9)": "Write `~mask` for its opposite",
            f"{HIDE} → scores.masked_fill(~mask, -10)": "Hidden keys still get up to 0.00",
            "        if mask is not None:\n            scores → \n        scores": "Here mask is None",
            "def forward(self, query, key, value, mask=None) → def forward(self, query, key, value, mask)": "forward takes a fourth argument,",
            "def forward(self, query, key, value, mask=None) → def forward(self, query, key, value) && if mask is not None → mask = None\n        if mask is not None": "forward takes a fourth argument,",
            "scores.softmax(dim=-1) → scores.softmax(dim=-2)": "The softmax runs over the queries: every",
            "math.sqrt(q.size(-1)) → q.size(-1)": "You divided the scores by d_head; you must",
            ", bias=False → ": "The paper's projections have no bias:",
            "self.key_projection → self.w_k": "__init__ must set self.key_projection to an",
            "if mask is not None: → mask = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool).tril() if mask is None else mask\n        if mask is not None:": "Some keys get no weight, but a softmax",
            "~mask → mask < 0.5 && if mask is → mask = mask.float() if mask is not None else None\n        if mask is && mask < 0.5 → mask > 0.5": "The polarity is inverted: where mask is",
            "return scores.softmax(dim=-1) @ v → return scores.softmax(dim=-1) @ v * 0": "weights that sum to",
            "return scores → scores": "Your function returns nothing",
            "self.value_projection(value) → value": "Your forward uses value without a projection",
            f"scores = {HIDE} → {HIDE[:-1].replace('masked_fill', 'masked_fill_')}) if mask.dim() > 3 else scores": "The mask changes nothing: the softmax",
        },
    ),
    "3.3": Answers(
        LOOK,
        right=[
            "return not torch.allclose(before, after, atol=1e-5) → return bool((before - after).abs().max() > 1e-4)",
            "return not torch.allclose(before, after, atol=1e-5) → return ((before - after).abs() > 1e-4).any()",
            f"{CHANGE} → changed[:, -1] = torch.where(changed[:, -1] == 4, 5, 4)",
            f"{CHANGE} → changed[:, 1:] = (changed[:, 1:] - 3) % 16 + 4 && [:, :-1] → [:, :1]",
            f"{CHANGE} → changed[:, -1] = 23 - changed[:, -1]",
            "return not torch.allclose(before, after, atol=1e-5) → return (before - after).abs().numpy().max() > 1e-4",
            f"changed = target_ids.clone() → changed = torch.cat([target_ids[:, :-1], 23 - target_ids[:, -1:]], dim=1) && {CHANGE} → pass",
            f"changed = target_ids.clone() → shorter = target_ids[:, :-1] && {CHANGE} → pass && model(source_ids, changed)[:, :-1] → model(source_ids, shorter)",
            "def looks → @torch.no_grad()\ndef looks",
            "model, source_ids, target_ids → net, a, b && model(source_ids, target_ids) → net(a, b) && model(source_ids → net(a && target_ids → b",
        ],
        wrong={
            "target_ids.clone() → target_ids": "Your test changes the caller's target_ids,",
            "[:, :-1] → ": "It reports a model with a causal mask. At",
            f"{CHANGE} → pass": "It misses a model without a causal mask.",
            f"{CHANGE} → changed[:, -1] = 5": "It misses the broken model with the target [1, 5",
            f"{CHANGE} → changed[:, -1] = torch.randint(4, 20, (len(changed),))": "the new token is the old one",
            f"{CHANGE} → changed[:, -1] += 1": "Your new token is no symbol (the target ended",
            "changed[:, -1] = → changed[:, 1] =  && (changed[:, -1] - 3) → (changed[:, 1] - 3)": "compare only those before it",
            f"{CHANGE} → changed[:, 0] = (changed[:, 0] - 3) % 16 + 4": "a row differs from its first token on",
            "[:, :-1] → [:, :1]": "also sees the next token",
            "return not torch.allclose(before, after, atol=1e-5) → return bool((before != after).all())": "also sees the next token",
            "return not torch.allclose(before, after, atol=1e-5) → return bool((before - after).sum() > 1e-4)": "or a sum?",
            "not torch.allclose → torch.allclose": "It is the other way round: True means that",
            "return not → not": "Your function returns nothing",
            "return not torch.allclose(before, after, atol=1e-5) → return (before - after).abs().max()": "Return True or False; yours is Tensor.",
            "return not torch.allclose(before, after, atol=1e-5) → return before != after": "Return True or False; yours is Tensor.",
            "return not torch.allclose(before, after, atol=1e-5) → return True": "It reports a model with a causal mask. At",
            "return not torch.allclose(before, after, atol=1e-5) → return False": "whose earlier logits move",
            "model(source_ids, changed) → model(changed, target_ids)": "something other than source_ids as its first",
            "target_ids.clone() → source_ids.clone() && model(source_ids, changed) → model(changed, target_ids)": "something other than source_ids as its first",
            "model(source_ids, target_ids) → model(target_ids, source_ids) && model(source_ids, changed) → model(changed, source_ids)": "something other than source_ids as its first",
            f"{CHANGE} → changed[:, -1] = torch.randint(12, 20, (len(changed),))": "that always differs from the old one",
            f"{CHANGE} → changed[:, -1] = 23 - changed[:, -1] && before, after, atol=1e-5 → before.argmax(-1) * 1.0, after.argmax(-1) * 1.0": "or the largest ones, or a sum?",
            "changed[:, -1] = → changed[-1] =  && (changed[:, -1] - 3) → (changed[-1] - 3)": "a row differs from its first token on",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS
)
