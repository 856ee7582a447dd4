"""Lesson 03: right answers of many kinds are accepted, and each mistake is named."""

import torch

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
LOOK = """
def looks_ahead(model, source_ids, target_ids):
    changed = target_ids.clone()
    changed[:, -1] = (changed[:, -1] - 3) % 16 + 4
    before = model(source_ids, target_ids)[:, :-1]
    after = model(source_ids, changed)[:, :-1]
    return not torch.allclose(before, after, atol=1e-5)
"""
CHANGE = "changed[:, -1] = (changed[:, -1] - 3) % 16 + 4"
ANSWERS = {
    "3.1": Answers(
        "9",
        right=[
            "9.0",
            "torch.tensor(9)",
            "sum([1, 2, 3, 3])",
            "int(torch.ones(4, 4).tril()[:, :3].sum())",
            "(torch.ones(4, 4).bool().tril() & torch.tensor([True, True, True, False])).sum()",
        ],
        wrong={
            "16": "Nothing would be hidden. Hide the future",
            "12": "That is the padding mask alone: three",
            "10": "That is the causal mask alone. The padding",
            "6": "Either you hid the row of the padding (only",
            "7": "7 is the number of hidden entries. How many",
            "3": "A word may attend to itself: the diagonal",
            "'9'": "The answer is a whole number; yours is '9'.",
            "[9]": "The answer is a whole number; yours is [9].",
            "13": "Count row by row: how many keys may each of",
        },
    ),
    "3.2": Answers(
        ATTENTION,
        right=[
            f"{HIDE} → scores.masked_fill(mask == False, -1e9)",
            f"{HIDE} → scores.masked_fill(mask.logical_not(), torch.finfo(torch.float32).min)",
            f"{HIDE} → torch.where(mask, scores, torch.finfo(scores.dtype).min)",
            f"{HIDE} → scores.where(mask, torch.tensor(torch.finfo(scores.dtype).min))",
            f"{HIDE} → scores + torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(scores.dtype).min)",
            f"{HIDE} → scores + (1 - mask.float()) * -1e9",
            f"{HIDE} → scores + (~mask) * torch.finfo(scores.dtype).min",
            f"scores = {HIDE} → scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)",
            f"scores = {HIDE} → scores[~mask.expand_as(scores)] = torch.finfo(scores.dtype).min",
            f"scores = {HIDE} → hidden = ~mask; scores = scores * ~hidden + hidden * -1e9",
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
            f"{HIDE} → scores.masked_fill(mask, torch.finfo(scores.dtype).min)": "The polarity is inverted: where mask is",
            f"scores = {HIDE} → {HIDE}": "The mask changes nothing.",
            f"{HIDE} → scores.masked_fill(~mask, 0)": "Hidden keys still get up to 24% of the",
            f"{HIDE} → scores * mask": "Hidden keys still get up to 24% of the",
            f"{HIDE} → scores + mask": "Adding a boolean mask adds 1 to the allowed",
            f"{HIDE} → scores.masked_fill(~mask, torch.finfo(scores.dtype).tiny)": "Hidden keys still get up to 24% of the",
            f"{HIDE} → scores.masked_fill(~mask, torch.finfo(scores.dtype).max)": "The polarity is inverted: where mask is",
            f"{HIDE} → scores.masked_fill(~mask, -torch.inf)": "A query without allowed keys gets NaN,",
            f"{HIDE} → scores.masked_fill(~mask, -1)": "Hidden keys still get up to 13% of the",
            f"{HIDE} → scores.masked_fill(~mask.mT, torch.finfo(scores.dtype).min)": "Python stops at `scores = scores.masked_fill(",
            f"{HIDE} → scores.masked_fill(~mask, torch.finfo(scores.dtype).min).T": "Python stops at `return scores.softmax(dim=-1",
            f"scores = {HIDE} → return (scores.softmax(-1) * mask) @ v": "You hide after the softmax, so the rows do",
            f"scores = {HIDE} → v = v * mask[..., :1, :].mT": "You hide after the softmax, so the rows do",
            f"scores = {HIDE} → pass": "The mask changes nothing.",
            "if mask is not None: → if mask:": "A mask has many values: ask `if mask is not",
            "        if mask is not None:\n            scores → \n        scores": "Python stops at `scores = scores.masked_fill(",
            "def forward(self, query, key, value, mask=None) → def forward(self, query, key, value, mask)": "forward takes a fourth argument,",
            "def forward(self, query, key, value, mask=None) → def forward(self, query, key, value) && if mask is not None → mask = None\n        if mask is not None": "forward takes a fourth argument,",
            "scores.softmax(dim=-1) → scores.softmax(dim=-2)": "The softmax runs over the queries: every",
            "math.sqrt(q.size(-1)) → q.size(-1)": "You divided the scores by d_head; you must",
            ", bias=False → ": "The paper's projections have no bias:",
            "self.key_projection → self.w_k": "__init__ must set self.key_projection to an",
            "if mask is not None: → mask = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool).tril() if mask is None else mask\n        if mask is not None:": "Some keys get no weight, but a softmax",
            "~mask → mask < 0.5 && if mask is → mask = mask.float() if mask is not None else None\n        if mask is && mask < 0.5 → mask > 0.5": "The polarity is inverted: where mask is",
            "return scores.softmax(dim=-1) @ v → return scores.softmax(dim=-1) @ v * 0": "The weights of a query must sum to one;",
            "return scores → scores": "Your function returns nothing: end it with",
            "self.value_projection(value) → value": "Your forward projects value with no layer",
            f"scores = {HIDE} → {HIDE[:-1].replace('masked_fill', 'masked_fill_')}) if mask.dim() > 3 else scores": "The mask changes nothing.",
        },
    ),
    "3.3": Answers(
        "(token_ids != 0)[:, None, None, :]",
        right=[
            "(token_ids != 0).unsqueeze(1).unsqueeze(1)",
            "token_ids.bool()[:, None, None]",
            "token_ids.ne(0).view(2, 1, 1, -1)",
            "~(token_ids == 0)[:, None, None, :]",
            "(token_ids > 0).reshape(len(token_ids), 1, 1, token_ids.size(1))",
            "torch.logical_not(token_ids == 0)[:, None, None]",
        ],
        wrong={
            "(token_ids == 0)[:, None, None, :]": "The axis is repaired; now the polarity:",
            "(token_ids != 0)[:, None, :, None]": "The polarity is repaired; now the axis:",
            "(token_ids == 0)[:, None, :, None]": "That is the friend's mask: look at polarity",
            "(token_ids != 0)": "Two axes are missing: one for the heads,",
            "(token_ids != 0)[:, None]": "One axis is missing: here the batch would",
            "(token_ids != 0)[:, None, None, :].float()": "A mask is boolean, True or False; yours is",
            "token_ids[:, None, None, :]": "A mask is boolean, True or False; yours is",
            "(token_ids != 0)[None, None]": "The shape must be (batch, 1, 1, key) = (2,",
            "(token_ids != 0)[:, None, None, :].expand(2, 1, 5, 5)": "The shape must be (batch, 1, 1, key) = (2,",
            "torch.ones(2, 1, 1, 5, dtype=torch.bool)": "True belongs exactly where token_ids is not",
            "(token_ids != 2)[:, None, None, :]": "True belongs exactly where token_ids is not",
            "(token_ids != 0)[:, None, None, :] & torch.ones(5, 5).bool().tril()": "The shape must be (batch, 1, 1, key) = (2,",
        },
    ),
    "3.4": Answers(
        LOOK,
        right=[
            "return not torch.allclose(before, after, atol=1e-5) → return bool((before - after).abs().max() > 1e-4)",
            "return not torch.allclose(before, after, atol=1e-5) → return ((before - after).abs() > 1e-4).any()",
            f"{CHANGE} → changed[:, -1] = torch.where(changed[:, -1] == 4, 5, 4)",
            f"{CHANGE} → changed[:, 1:] = (changed[:, 1:] - 3) % 16 + 4 && [:, :-1] → [:, :1]",
            f"{CHANGE} → changed[:, -1] = 23 - changed[:, -1]",
            f"changed = target_ids.clone() → changed = torch.cat([target_ids[:, :-1], 23 - target_ids[:, -1:]], dim=1) && {CHANGE} → pass",
            f"changed = target_ids.clone() → shorter = target_ids[:, :-1] && {CHANGE} → pass && model(source_ids, changed)[:, :-1] → model(source_ids, shorter)",
            "def looks → @torch.no_grad()\ndef looks",
            "model, source_ids, target_ids → net, a, b && model(source_ids, target_ids) → net(a, b) && model(source_ids → net(a && target_ids → b",
        ],
        wrong={
            "target_ids.clone() → target_ids": "Your test changes the caller's target_ids,",
            "[:, :-1] → ": "It reports a model with a causal mask. At",
            f"{CHANGE} → pass": "It misses a model without a causal mask.",
            f"{CHANGE} → changed[:, -1] = 5": "It misses the broken model when the target",
            f"{CHANGE} → changed[:, -1] += 1": "Your new token is no symbol when the target",
            f"{CHANGE} → changed[:, 0] = (changed[:, 0] - 3) % 16 + 4": "It reports a model with a causal mask. At",
            "not torch.allclose → torch.allclose": "It is the other way round: True means that",
            "return not → not": "Your function returns nothing: end it with",
            "return not torch.allclose(before, after, atol=1e-5) → return (before - after).abs().max()": "Return True or False; yours is Tensor.",
            "return not torch.allclose(before, after, atol=1e-5) → return before != after": "Return True or False; yours is Tensor.",
            "return not torch.allclose(before, after, atol=1e-5) → return True": "It reports a model with a causal mask. At",
            "return not torch.allclose(before, after, atol=1e-5) → return False": "It misses a model without a causal mask.",
            "model(source_ids, changed) → model(changed, target_ids)": "It reports a model with a causal mask. At",
            "changed[:, -1] = → changed[-1] =  && (changed[:, -1] - 3) → (changed[-1] - 3)": "It reports a model with a causal mask. At",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks),
    ANSWERS,
    exercise_33=lambda: {"token_ids": torch.tensor([[7, 8, 9, 5, 2], [6, 4, 0, 0, 0]])},
)
