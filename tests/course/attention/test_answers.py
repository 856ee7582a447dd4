"""Lesson 02: right answers of many kinds are accepted, and each mistake is named."""

import torch

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.attention import checks


def rows():
    return dict(zip(("query", "key", "value"), torch.randn(3, 3, 2), strict=True))


ATTENTION = """
class Attention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query_projection = nn.Linear(d_model, d_head, bias=False)
        self.key_projection = nn.Linear(d_model, d_head, bias=False)
        self.value_projection = nn.Linear(d_model, d_head, bias=False)

    def forward(self, query, key, value):
        q = self.query_projection(query)
        k = self.key_projection(key)
        v = self.value_projection(value)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=-1)
        return weights @ v
"""
SCORES = "q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))"
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
            f"{SCORES} → torch.bmm(q, k.permute(0, 2, 1)) / q.shape[-1] ** 0.5",
            f"{SCORES} → torch.einsum('bqd,bkd->bqk', q, k) * k.size(-1) ** -0.5",
            f"{SCORES} → torch.einsum('...qd,...kd->...qk', q, k) / math.sqrt(k.size(2))",
            f"{SCORES} → (q / math.sqrt(q.size(-1))) @ k.mT",
            f"{SCORES} → (q[:, :, None] * k[:, None]).sum(-1) / math.sqrt(q.size(-1))",
            f"{SCORES} → torch.matmul(q, k.swapaxes(1, 2)).div_(math.sqrt(k.size(-1)))",
            f"{SCORES} → (k @ q.mT).mT / torch.tensor(q.size(-1)).sqrt()",
            "return weights @ v → return torch.einsum('bqk,bkd->bqd', weights, v)",
            "return weights @ v → return (weights.unsqueeze(-1) * v.unsqueeze(1)).sum(dim=2)",
            "return weights @ v → return F.scaled_dot_product_attention(q, k, v)",
            "return weights @ v → return torch.stack([w @ each for w, each in zip(weights, v)])",
            "self.query_projection(query) → query @ self.query_projection.weight.T",
            "self.value_projection(value) → F.linear(value, self.value_projection.weight)",
            "math.sqrt(q.size(-1)) → self.scale && super().__init__() → super().__init__(); self.scale = math.sqrt(d_head)",
            "self, query, key, value → self, a, b, c && (query) → (a) && (key) → (b) && (value) → (c)",
            "        scores =  →         return self.attend(q, k, v)\n\n    def attend(self, q, k, v):\n        scores = ",
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
            """
class Attention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query_projection = nn.Linear(d_model, d_head, False)
        self.key_projection = nn.Linear(d_model, d_head, False)
        self.value_projection = nn.Linear(d_model, d_head, False)

    def forward(self, query, key, value):
        q, k, v = self.query_projection(query), self.key_projection(key), self.value_projection(value)
        output = torch.zeros(q.size(0), q.size(1), v.size(2))
        for sentence in range(q.size(0)):
            for word in range(q.size(1)):
                scores = torch.stack([q[sentence, word] @ each for each in k[sentence]])
                weights = torch.softmax(scores / math.sqrt(k.size(-1)), dim=0)
                output[sentence, word] = sum(w * each for w, each in zip(weights, v[sentence]))
        return output
""",
        ],
        wrong={
            " / math.sqrt(q.size(-1)) → ": "The scores are not scaled: you must divide",
            "math.sqrt(q.size(-1)) → q.size(-1)": "You divided the scores by d_head; you must",
            "/ math.sqrt(q.size(-1)) → * math.sqrt(q.size(-1))": "Your scores are multiplied by 2.45; you must divide",
            "math.sqrt(q.size(-1)) → math.sqrt(q.size(-2))": "You divided the scores by 1.73; for d_head",
            "math.sqrt(q.size(-1)) → math.sqrt(query.size(-1))": "You divided the scores by √d_model; you",
            f"{SOFTMAX} → scores.softmax(dim=-2)": "The softmax runs over the queries: every",
            f"{SOFTMAX} → scores.softmax(dim=0)": "The softmax runs over the batch: every",
            f"{SOFTMAX} → scores": "The softmax is missing between the scores",
            f"{SOFTMAX} → scores / scores.sum(-1, keepdim=True)": "Some weights are negative, such as",
            f"{SOFTMAX} → scores.log_softmax(-1)": "Some weights are negative, such as",
            f"{SOFTMAX} → scores.sigmoid()": "weights that sum to",
            f"{SOFTMAX} → scores.softmax(-1).softmax(-1)": "The weights are not the softmax of the",
            f"{SOFTMAX} → scores && weights @ v → (weights @ v).softmax(dim=-1)": "The softmax is around the product",
            "k.transpose(-2, -1) → k.reshape(len(k), k.size(2), k.size(1))": "A reshape is no transpose",
            "weights @ v → weights": "That is a table of weights, or of scores:",
            "weights @ v → weights @ k": "You averaged the keys: the weights average",
            "weights @ v → v": "The shape must be (batch, query, d_head) =",
            "weights @ v → v.mean(1, keepdim=True).expand_as(q)": "Every key gets the same weight, whatever",
            "return weights @ v → weights @ v": "Your function returns nothing",
            "k.transpose(-2, -1) → k.T": "Python stops at `scores = q @ k.T",
            "k.transpose(-2, -1) → k": "Python stops at `scores = q @ k",
            "self.query_projection(query) → query": "Python stops at `scores = q @ k",
            "self.query_projection(query) → query && self.key_projection(key) → key": "Your forward uses query without a projection",
            "q @ k.transpose → k @ q.transpose": "Python stops at `return weights @ v`: Run",
            "self.value_projection(value) → value": "Your forward uses value without a projection",
            "self.value_projection(value) → self.key_projection(value)": "Your forward uses value projected with key",
            "self.key_projection(key) → self.query_projection(key)": "Your forward uses key projected with query",
            "self.key_projection(key) → self.key_projection(query)": "Python stops at `return weights @ v`: Run",
            "self.value_projection(value) → self.value_projection(key)": "Your value_projection gets key.",
            ", bias=False → ": "The paper's projections have no bias:",
            "nn.Linear(d_model, d_head → nn.Linear(d_head, d_model": "query_projection must go from d_model to",
            "nn.Linear(d_model, d_head → nn.Linear(d_model, d_model": "query_projection must go from d_model to",
            "self.query_projection → self.w_q": "__init__ must set self.query_projection to",
            "weights @ v → (weights @ v).squeeze()": "One query of one sentence must give the shape",
            "math.sqrt(q.size(-1)) → (q.size(-1) ** 1 / 2)": "You divided the scores by 3; for d_head = 6",
            "math.sqrt(q.size(-1)) → int(math.sqrt(q.size(-1)))": "You divided the scores by 2; for d_head = 6",
            "weights @ v → weights @ k && / math.sqrt(q.size(-1)) → ": "You averaged the keys",
            "weights @ v → weights @ k && q @ k. → q @ v.": "Your scores compare query and value",
            "q @ k. → q @ v.": "a query is compared with the keys",
            "weights @ v → q + weights @ v": "is something added to it",
            "weights @ v → weights @ v.softmax(-1)": "changed in the values",
            "super().__init__() → super().__init__(); self.output_projection = nn.Linear(d_head, d_head)": "yours also keeps output_projection",
            "weights @ v → weights.squeeze() @ v.squeeze()": "One query of one sentence must give the shape",
            "math.sqrt(q.size(-1)) → math.sqrt(6)": "Right with d_model 12 and d_head 6, wrong with",
            "math.sqrt(q.size(-1)) → 2": "You divided the scores by 2; for d_head = 6",
            "value_projection = nn.Linear(d_model, d_head, bias=False) → value_projection = self.key_projection": "key_projection and value_projection are the same",
            f"{SOFTMAX} → (-scores).softmax(-1)": "You divided the scores by -2.45; for d_head =",
            f"{SOFTMAX} → scores.masked_fill(scores < scores.mean(-1, keepdim=True), -1e9).softmax(-1)": "Some keys get no weight, but a softmax",
            f"{SOFTMAX} → scores.exp() / scores.exp().sum()": "weights that sum to",
            "return weights @ v → return weights @ v, weights": "yours is tuple",
            "self, query, key, value → self, query, value, key": "Your key_projection gets value",
            "weights @ v → F.dropout(weights) @ v": "Two calls with the same input differ:",
            "weights @ v → weights.detach() @ v": "The gradient is not that of your output",
            "weights @ v → (weights @ v).sum(dim=1)": "The shape must be (batch, query, d_head) =",
            "super().__init__() → pass": "Begin __init__ with super().__init__()",
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
            "(key, value)": "These are key and value as the check gets them.",
            "(key[[1, 2, 0]], value)": "You moved only one of the two. A key must",
            "(key, value[[1, 2, 0]])": "You moved only one of the two. A key must",
            "(key[[1, 2, 0]], value[[2, 0, 1]])": "The outputs have changed. Use one order for",
            "(key.flip(0), value.flip(0))": "Some rows are where they were: every row",
            "key[[1, 2, 0]]": "The answer is a pair: the keys and the",
            "(key[[1, 2, 0]], key[[1, 2, 0]])": "Both are keys",
            "(value[[1, 2, 0]], key[[1, 2, 0]])": "You exchanged the two",
            "(key[:, [1, 0, *range(2, key.size(1))]], value[:, [1, 0, *range(2, value.size(1))]])": "You moved the numbers inside each vector.",
            "(2 * key[[1, 2, 0]], value[[1, 2, 0]])": "The first of the pair is not key in a new",
            "(key[[1, 1, 0]], value[[1, 1, 0]])": "Some rows are where they were: every row",
            "[1, 2, 0]": "The answer is a pair: the keys and the",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS, exercise_22=rows
)
