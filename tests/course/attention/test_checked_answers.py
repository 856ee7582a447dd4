"""Lesson 02: right answers of many kinds are accepted, and each mistake is named."""

import torch

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.attention import checks


def rows():
    return dict(zip(("query", "key", "value"), torch.randn(3, 3, 2), strict=True))


def target_and_source():
    return {"query": torch.randn(3, 4), "key": torch.randn(5, 4)}


ATTENTION = """
class Attention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query_projection = nn.Linear(d_model, d_head, bias=False)
        self.key_projection = nn.Linear(d_model, d_head, bias=False)
        self.value_projection = nn.Linear(d_model, d_head, bias=False)

    def attend(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        weights = scores.softmax(dim=-1)
        return weights @ value

    def forward(self, query, key, value):
        q = self.query_projection(query)
        k = self.key_projection(key)
        v = self.value_projection(value)
        return self.attend(q, k, v)
"""
SCORES = "query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))"
SOFTMAX = "scores.softmax(dim=-1)"
ANSWERS = {
    "2.1": Answers(
        ATTENTION,
        right=[
            f"{SOFTMAX} → scores.softmax(dim=2)",
            f"{SOFTMAX} → F.softmax(scores, -1)",
            f"{SOFTMAX} → nn.Softmax(dim=-1)(scores)",
            f"{SOFTMAX} → scores.exp() / scores.exp().sum(-1, keepdim=True)",
            f"{SOFTMAX} → (e := (scores - scores.amax(-1, keepdim=True)).exp()) / e.sum(-1, keepdim=True)",
            f"{SOFTMAX} → scores.log_softmax(-1).exp()",
            f"{SCORES} → torch.bmm(query, key.permute(0, 2, 1)) / query.shape[-1] ** 0.5",
            f"{SCORES} → torch.einsum('bqd,bkd->bqk', query, key) * key.size(-1) ** -0.5",
            f"{SCORES} → torch.einsum('...qd,...kd->...qk', query, key) / math.sqrt(key.size(2))",
            f"{SCORES} → (query / math.sqrt(query.size(-1))) @ key.mT",
            f"{SCORES} → (query[:, :, None] * key[:, None]).sum(-1) / math.sqrt(query.size(-1))",
            f"{SCORES} → torch.matmul(query, key.swapaxes(1, 2)).div_(math.sqrt(key.size(-1)))",
            "return weights @ value → return torch.einsum('bqk,bkd->bqd', weights, value)",
            "return weights @ value → return (weights.unsqueeze(-1) * value.unsqueeze(1)).sum(dim=2)",
            "return weights @ value → return F.scaled_dot_product_attention(query, key, value)",
            "return weights @ value → return torch.stack([w @ v for w, v in zip(weights, value)])",
            "return self.attend(q, k, v) → return self.attend(query=q, key=k, value=v)",
            "return self.attend(q, k, v) → return (q @ k.mT / math.sqrt(k.size(-1))).softmax(-1) @ v",
            "self.query_projection(query) → query @ self.query_projection.weight.T",
            "self.query_projection(query) → F.linear(query, self.query_projection.weight)",
            "math.sqrt(query.size(-1)) → self.scale && super().__init__() → super().__init__(); self.scale = math.sqrt(d_head)",
            "self, query, key, value → self, a, b, c && query @ key.t → a @ b.t && query.size → a.size && weights @ value → weights @ c && (query) → (a) && (key) → (b) && (value) → (c)",
            """
class Attention(torch.nn.Module):
    def __init__(self, width, small):
        torch.nn.Module.__init__(self)
        for name in ["query", "key", "value"]:
            setattr(self, f"{name}_projection", nn.Linear(width, small, bias=False))

    def attend(self, query, key, value):
        rows = []
        for i in range(query.size(1)):
            row = query[:, i : i + 1] @ key.transpose(1, 2) / query.size(2) ** 0.5
            rows.append(torch.softmax(row, dim=-1) @ value)
        return torch.cat(rows, dim=1)

    def forward(self, query, key, value):
        projections = self.query_projection, self.key_projection, self.value_projection
        return self.attend(*(f(x) for f, x in zip(projections, (query, key, value))))
""",
        ],
        wrong={
            " / math.sqrt(query.size(-1)) → ": "The scores are not scaled: you must divide",
            "math.sqrt(query.size(-1)) → query.size(-1)": "You divided the scores by d_head; you must",
            "/ math.sqrt(query.size(-1)) → * math.sqrt(query.size(-1))": "You divided the scores by 0.5; for d_head =",
            "math.sqrt(query.size(-1)) → math.sqrt(query.size(-2))": "You divided the scores by 1.73; for d_head",
            "math.sqrt(query.size(-1)) → math.sqrt(12)": "You divided the scores by √d_model; you",
            f"{SOFTMAX} → scores.softmax(dim=-2)": "The softmax runs over the queries: every",
            f"{SOFTMAX} → scores.softmax(dim=0)": "The softmax runs over the batch: every",
            f"{SOFTMAX} → scores": "The softmax is missing between the scores",
            f"{SOFTMAX} → scores / scores.sum(-1, keepdim=True)": "Some weights are negative, such as -4.74: a",
            f"{SOFTMAX} → scores.log_softmax(-1)": "Some weights are negative, such as -2.01: a",
            f"{SOFTMAX} → scores.sigmoid()": "The weights of a query must sum to one; a",
            f"{SOFTMAX} → scores.softmax(-1).softmax(-1)": "The weights are not the softmax of the",
            "weights @ value → weights": "attend returns the weights, or scores:",
            "weights @ value → weights @ key": "You averaged the keys: the weights average",
            "weights @ value → value": "The shape must be (batch, query, d_head) =",
            "return weights @ value → weights @ value": "Your function returns nothing: end it with",
            "key.transpose(-2, -1) → key.T": "Python stops at `scores = query @ key.T / mat",
            "key.transpose(-2, -1) → key": "Python stops at `scores = query @ key / math.",
            "self.attend(q, k, v) → self.attend(query, key, value)": "attend is right, but forward projects query",
            "self.attend(q, k, v) → self.attend(k, q, v)": "Python stops at `return weights @ value`: Run",
            "self.attend(q, k, v) → self.attend(q, k, value)": "attend is right, but forward projects value",
            "self.value_projection(value) → self.key_projection(value)": "attend is right, but forward projects value",
            "self.key_projection(key) → self.query_projection(key)": "attend is right, but forward projects key",
            ", bias=False → ": "The paper's projections have no bias:",
            "nn.Linear(d_model, d_head → nn.Linear(d_head, d_model": "query_projection must go from d_model to",
            "nn.Linear(d_model, d_head → nn.Linear(d_model, d_model": "query_projection must go from d_model to",
            "self.query_projection → self.w_q": "__init__ must set self.query_projection to",
            "self.key_projection(key) → self.key_projection(query)": "Python stops at `return weights @ value`: Run",
            "def attend → def attention && self.attend → self.attention": "Write scores, softmax and average in attend",
            "return self.attend(q, k, v) → return self.query_projection(self.attend(query, key, value))": "attend is right, but forward projects query",
            "weights @ value → F.dropout(weights) @ value": "Two calls with the same input differ:",
            "weights @ value → weights.detach() @ value": "The output does not depend on",
        },
    ),
    "2.2": Answers(
        "(key[[1, 2, 0]], value[[1, 2, 0]])",
        right=[
            "[key[[1, 2, 0]], value[[1, 2, 0]]]",
            "(key.roll(1, 0), value.roll(1, 0))",
            "(torch.cat([key[1:], key[:1]]), torch.cat([value[1:], value[:1]]))",
            "(torch.eye(3)[[2, 0, 1]] @ key, torch.eye(3)[[2, 0, 1]] @ value)",
            "(torch.stack([key[2], key[0], key[1]]), torch.stack([value[2], value[0], value[1]]))",
            "torch.index_select(key, 0, torch.tensor([1, 2, 0])), value[torch.tensor([1, 2, 0])]",
        ],
        wrong={
            "(key, value)": "Nothing has moved: every row must leave its",
            "(key[[1, 2, 0]], value)": "You moved only one of the two. A key must",
            "(key, value[[1, 2, 0]])": "You moved only one of the two. A key must",
            "(key[[1, 2, 0]], value[[2, 0, 1]])": "The outputs have changed. Use one order for",
            "(key.flip(0), value.flip(0))": "Some rows are where they were: every row",
            "key[[1, 2, 0]]": "The answer is a pair: the keys and the",
            "(value[[1, 2, 0]], key[[1, 2, 0]])": "Some keys are missing, or new: every row of",
            "(key[:, [1, 0, *range(2, key.size(1))]], value[:, [1, 0, *range(2, value.size(1))]])": "You moved the numbers inside each vector.",
            "(2 * key[[1, 2, 0]], value[[1, 2, 0]])": "Some keys are missing, or new: every row of",
            "(key[[1, 1, 0]], value[[1, 1, 0]])": "Some rows are where they were: every row",
            "[1, 2, 0]": "The answer is a pair: the keys and the",
        },
    ),
    "2.3": Answers(
        "(query @ key.T / math.sqrt(query.size(-1))).softmax(dim=-1)",
        right=[
            "(query @ key.T / math.sqrt(4)).softmax(dim=1)",
            "(key @ query.T / 2).softmax(dim=0).T",
            "torch.einsum('qd,kd->qk', query, key).div(2).softmax(-1)",
            "F.softmax(query @ key.T * 4**-0.5, dim=-1)",
            "F.scaled_dot_product_attention(query[None], key[None], torch.eye(5)[None])[0]",
            "(query @ key.T / 2).exp() / (query @ key.T / 2).exp().sum(1, keepdim=True)",
        ],
        wrong={
            "(key @ query.T / 2).softmax(dim=-1).T": "Right shape, wrong sums: the softmax still",
            "(key @ query.T / 2).softmax(dim=-1)": "Rows are queries: the queries come from the",
            "(key @ query.T / 2).softmax(dim=0)": "Rows are queries: the queries come from the",
            "(query @ key.T / 2).softmax(dim=0)": "Right shape, wrong sums: the softmax still",
            "(query @ key.T).softmax(dim=-1)": "The rows sum to one; now divide the scores",
            "(query @ key.T / 2)": "Every row must sum to one; yours sum to",
            "(w := (key @ query.T / 2).softmax(dim=-1).T) / w.sum(-1, keepdim=True)": "The rows sum to one only because you",
            "(query @ key.T / 4).softmax(-1)": "The rows sum to one, but they come from",
            "(query @ key.T / 2).softmax(-1) @ torch.ones(5, 2)": "The shape must be (target, source) = (3,",
            "(query @ key.T / 2).softmax(-1).argmax(-1)": "The shape must be (target, source) = (3,",
            "torch.ones(3, 5) / 5": "The rows sum to one, but they come from",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS, exercise_22=rows, exercise_23=target_and_source
)
