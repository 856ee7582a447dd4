"""Lesson 04: right answers of many kinds are accepted, and each mistake is named."""

import torch

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.multi_head_attention import checks

HEADS = """
class MultiHeadAttention(Attention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, d_model)
        self.num_heads = num_heads
        self.output_projection = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def attend(self, query, key, value, mask=None):
        query, key, value = self.split(query), self.split(key), self.split(value)
        heads = super().attend(query, key, value, mask)
        joined = heads.transpose(1, 2).flatten(-2)
        return self.output_projection(joined)
"""
OWN_START = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h, self.d = num_heads, d_model // num_heads
        self.query_projection = nn.Linear(d_model, d_model, bias=False)
        self.key_projection = nn.Linear(d_model, d_model, bias=False)
        self.value_projection = nn.Linear(d_model, d_model, bias=False)
        self.output_projection = nn.Linear(d_model, d_model, bias=False)
"""
ALONE = f"""{OWN_START}
    def forward(self, query, key, value, mask=None):
        b, n, _ = query.shape
        q = self.query_projection(query).view(b, n, self.h, self.d).transpose(1, 2)
        k = self.key_projection(key).view(b, key.size(1), self.h, self.d).transpose(1, 2)
        v = self.value_projection(value).view(b, value.size(1), self.h, self.d).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        out = (scores.softmax(-1) @ v).transpose(1, 2).contiguous().view(b, n, -1)
        return self.output_projection(out)
"""
LOOP = f"""{OWN_START}
    def forward(self, query, key, value, mask=None):
        q, k, v = self.query_projection(query), self.key_projection(key), self.value_projection(value)
        outputs = []
        for head in range(self.h):
            part = slice(head * self.d, (head + 1) * self.d)
            scores = q[..., part] @ k[..., part].transpose(-2, -1) / math.sqrt(self.d)
            if mask is not None:
                hidden = ~(mask if mask.dim() < 4 else mask[:, head if mask.size(1) > 1 else 0])
                scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
            outputs.append(scores.softmax(dim=-1) @ v[..., part])
        return self.output_projection(torch.cat(outputs, dim=-1))
"""
ATTEND_LOOP = """
class MultiHeadAttention(Attention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, d_model)
        self.n_heads = num_heads
        self.output_projection = nn.Linear(d_model, d_model, bias=False)

    def attend(self, query, key, value, mask=None):
        out = []
        for q, k, v in zip(*(x.chunk(self.n_heads, dim=-1) for x in (query, key, value))):
            if mask is not None and mask.dim() == 4:
                m = mask[:, 0]
            else:
                m = mask
            out.append(super().attend(q, k, v, m))
        return self.output_projection(torch.cat(out, dim=-1))
"""
SPLIT = "x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)"
JOIN = "heads.transpose(1, 2).flatten(-2)"
FRIEND = """
def merged_heads(heads):
    return heads.transpose(1, 2).flatten(2)
"""
MERGED = "heads.transpose(1, 2).flatten(2)"
SUPER = "super().attend(query, key, value, mask)"
SDPA = "F.scaled_dot_product_attention(query, key, value, attn_mask=mask)"
SWAP = "torch.cat([w_o[:, 16:32], w_o[:, :16], w_o[:, 32:]], dim=1)"
ANSWERS = {
    "4.1": Answers(
        HEADS,
        right=[
            ALONE,
            LOOP,
            ATTEND_LOOP,
            ALONE.replace(".contiguous().view(b, n, -1)", ".reshape(b, n, -1)").replace(
                ".view(", ".reshape("
            ),
            ALONE.replace("self.h", "self.num_heads").replace("self.d", "self.d_head"),
            f"{SPLIT} → x.view(x.size(0), x.size(1), self.num_heads, -1).transpose(1, 2)",
            f"{SPLIT} → x.reshape(*x.shape[:2], self.num_heads, x.size(-1) // self.num_heads).permute(0, 2, 1, 3)",
            f"{SPLIT} → torch.stack(x.chunk(self.num_heads, dim=-1), dim=1)",
            f"{SPLIT} → torch.stack(x.split(x.size(-1) // self.num_heads, dim=-1), 1)",
            f"{SPLIT} → torch.stack([x[..., i * (n := x.size(-1) // self.num_heads) : (i + 1) * n] for i in range(self.num_heads)], 1)",
            f"{SPLIT} → x.unflatten(2, (self.num_heads, self.d_head)).swapaxes(1, 2) && self.num_heads = num_heads → self.num_heads, self.d_head = num_heads, d_model // num_heads",
            f"{JOIN} → heads.permute(0, 2, 1, 3).reshape(heads.size(0), heads.size(2), -1)",
            f"{JOIN} → heads.transpose(1, 2).contiguous().view(heads.size(0), -1, heads.size(1) * heads.size(3))",
            f"{JOIN} → torch.cat(list(heads.unbind(1)), dim=-1)",
            f"{JOIN} → torch.cat([heads[:, i] for i in range(self.num_heads)], -1)",
            f"{SUPER} → {SDPA}",
            f"{SUPER} → Attention.attend(self, query, key, value, mask)",
            f"{SUPER} → super().attend(query, key, value, mask=mask)",
            f"{SUPER} → super(MultiHeadAttention, self).attend(query, key, value, mask)",
            "return self.output_projection(joined) → return joined @ self.output_projection.weight.T",
            "return self.output_projection(joined) → return torch.einsum('bqi,oi->bqo', joined, self.output_projection.weight)",
            "return self.output_projection(joined) → w = self.output_projection.weight.unflatten(1, (self.num_heads, -1)); return torch.einsum('bhqd,ohd->bqo', heads, w)",
            "num_heads = num_heads → heads_count = num_heads && self.num_heads → self.heads_count",
            f"{SUPER} → torch.stack([Attention.attend(self, query[:, i], key[:, i], value[:, i], None if mask is None else mask.expand(len(query), self.num_heads, query.size(2), key.size(2))[:, i]) for i in range(self.num_heads)], 1)",
        ],
        wrong={
            f"{SPLIT} → x.view(x.size(0), self.num_heads, x.size(1), -1)": "view and reshape cut between words (section",
            f"{SPLIT} → x.unflatten(-1, (self.num_heads, -1))": "Python stops at `heads = super().attend(query",
            f"{SPLIT} → x.unflatten(-1, (-1, self.num_heads)).transpose(1, 2)": "Already with num_heads=1 the numbers are",
            f"{SPLIT} → x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)": "A head must be one piece of d_head numbers;",
            f"{JOIN} → heads.flatten(1, 2)": "Python stops at `return self.output_projectio",
            f"{JOIN} → heads.reshape(heads.size(0), heads.size(2), -1)": "The heads are joined without moving them",
            f"{JOIN} → heads.transpose(1, 2).view(heads.size(0), heads.size(2), -1)": "Python stops at `joined = heads.transpose(1, ",
            f"{JOIN} → heads.mean(dim=1)": "Python stops at `return self.output_projectio",
            f"{JOIN} → heads.permute(0, 2, 3, 1).flatten(-2)": "The heads are joined number by number: each",
            f"{JOIN} → heads.flip(1).transpose(1, 2).flatten(-2)": "The heads are joined in reverse order.",
            f"{SPLIT} → x.unflatten(-1, (self.num_heads, -1)) && {JOIN} → heads.flatten(-2)": "Python stops at `heads = super().attend(query",
            f"{SPLIT} → x.view(x.size(0), self.num_heads, x.size(1), -1) && {JOIN} → heads.reshape(heads.size(0), heads.size(2), -1)": "view and reshape cut between words (section",
            "return self.output_projection(joined) → return joined": "The output does not depend on",
            "return self.output_projection(joined) → self.output_projection(joined)": "Your function returns nothing: end it with",
            "key, value, mask) → key, value)": "The mask changes nothing: attend must use",
            f"{SUPER} → F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=self.num_heads**-0.5)": "Already with num_heads=1 the numbers are",
            f"{SUPER} → F.scaled_dot_product_attention(query, key, value, attn_mask=None if mask is None else ~mask)": "The polarity is inverted: where mask is",
            f"{SUPER} → F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1)": "The scores are not divided by √d_head.",
            f"{SUPER} → F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=query.size(1)**-0.5*query.size(-1)**-0.5)": "The scores are divided by √d_model; each",
            f"{SUPER} → F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=mask is None)": "Already with num_heads=1 the numbers are",
            "bias=False → bias=True": "The paper has no bias here:",
            "self.output_projection → self.w_o": "self.output_projection must be an",
            "super().__init__(d_model, d_model) → super().__init__(d_model, d_model // num_heads)": "query_projection holds all heads side by",
            "super().__init__(d_model, d_model) → super().__init__(d_model, num_heads)": "query_projection holds all heads side by",
            f"{SUPER} → torch.stack([super().attend(query[:, i], key[:, i], value[:, i]) for i in range(self.num_heads)], 1)": "Before Python 3.12, super() does not work",
            "def attend → def forward": "The output does not depend on",
            "self.split(query), self.split(key), self.split(value) → self.split(query), self.split(key), self.split(key)": "The output does not depend on",
            "self.split(query), self.split(key), self.split(value) → self.split(key), self.split(query), self.split(value)": "Python stops at `heads = super().attend(query",
            "query, key, value = self.split(query), self.split(key), self.split(value) → query = self.split(self.query_projection(query)); key = self.split(self.key_projection(key)); value = self.split(self.value_projection(value))": "Already with num_heads=1 the numbers are",
            LOOP.replace(
                "math.sqrt(self.d)", "math.sqrt(self.d * self.h)"
            ): "The scores are divided by √d_model; each",
            ALONE.replace(
                "scores.softmax(-1)", "scores.softmax(-2)"
            ): "Already with num_heads=1 the numbers are",
            ALONE.replace(
                "q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)"
            ): "Python stops at `out = (scores.softmax(-1) @ ",
            LOOP.replace(
                "            outputs.append", "        outputs.append"
            ): "Python stops at `return self.output_projectio",
        },
    ),
    "4.2": Answers(
        FRIEND,
        right=[
            f"{MERGED} → heads.permute(0, 2, 1, 3).flatten(-2)",
            f"{MERGED} → heads.transpose(1, 2).reshape(heads.size(0), heads.size(2), -1)",
            f"{MERGED} → heads.transpose(1, 2).contiguous().view(heads.shape[0], heads.shape[2], -1)",
            f"{MERGED} → torch.cat(list(heads.unbind(dim=1)), dim=-1)",
            f"{MERGED} → torch.cat([heads[:, i] for i in range(heads.size(1))], dim=2)",
            f"{MERGED} → torch.einsum('bhpd->bphd', heads).flatten(2)",
            "    return → b, h, p, d = heads.shape; return".replace("    return", "return", 1)
            + f" && {MERGED} → heads.swapaxes(1, 2).reshape(b, p, h * d)",
        ],
        wrong={
            f"{MERGED} → heads.reshape(heads.size(0), heads.size(2), -1)": "That is the friend's version: the first",
            f"{MERGED} → heads.flatten(1, 2)": "The shape must be (batch, position,",
            f"{MERGED} → heads.transpose(1, 2)": "The axes are in order; now flatten the last",
            f"{MERGED} → heads.transpose(1, 2).view(heads.size(0), heads.size(2), -1)": "Python stops at `return heads.transpose(1, 2)",
            f"{MERGED} → heads.permute(0, 2, 3, 1).flatten(-2)": "The heads are interleaved, number by",
            f"{MERGED} → heads.transpose(2, 3).reshape(heads.size(0), heads.size(2), -1)": "You moved d_head, not the heads, before you",
            f"{MERGED} → heads.sum(1)": "The shape must be (batch, position,",
            f"{MERGED} → heads.transpose(1, 2).flatten(1)": "The shape must be (batch, position,",
            f"{MERGED} → torch.cat([heads[:, i] for i in range(heads.size(1))], dim=1)": "The shape must be (batch, position,",
            f"return {MERGED} → {MERGED}": "Your function returns nothing: end it with",
            f"{MERGED} → heads.flip(1).transpose(1, 2).flatten(2)": "The heads are in reverse order.",
            f"{MERGED} → heads.transpose(0, 2).flatten(2)": "The shape must be (batch, position,",
        },
    ),
    "4.3": Answers(
        SWAP,
        right=[
            "w_o[:, [*range(16, 32), *range(16), *range(32, 48)]]",
            "w_o.unflatten(1, (3, 16))[:, [1, 0, 2]].flatten(1)",
            "w_o.view(48, 3, 16)[:, torch.tensor([1, 0, 2])].reshape(48, 48)",
            "torch.cat([(p := w_o.chunk(3, dim=1))[1], p[0], p[2]], 1)",
            "(r := w_o.clone()).__setitem__((slice(None), slice(0, 16)), w_o[:, 16:32]) or r.__setitem__((slice(None), slice(16, 32)), w_o[:, :16]) or r",
            "w_o @ torch.block_diag(torch.tensor([[0.0, 1.0], [1.0, 0.0]]).kron(torch.eye(16)), torch.eye(16))",
            "nn.Parameter(torch.hstack([w_o[:, 16:32], w_o[:, :16], w_o[:, 32:]]))",
        ],
        wrong={
            "w_o": "This is w_o as the check gets it. If you",
            "torch.cat([w_o[16:32], w_o[:16], w_o[32:]])": "You swapped rows. Stored as (out, in), a",
            "torch.cat([w_o[:, 16:32], w_o[:, :16], w_o[:, 32:]], dim=1).T": "Columns 0 to 47 have changed. Which columns",
            "torch.cat([w_o[:, 32:], w_o[:, 16:32], w_o[:, :16]], dim=1)": "That swaps heads 1 and 3: the order must be",
            "torch.cat([w_o[:, :16], w_o[:, 32:], w_o[:, 16:32]], dim=1)": "That swaps heads 2 and 3: we count heads",
            "w_o[:, [1, 0, *range(2, 48)]]": "A head is 16 columns wide, not one.",
            "w_o.unflatten(1, (16, 3))[:, :, [1, 0, 2]].flatten(1)": "Columns 0 to 46 have changed. Which columns",
            "w_o.T": "Columns 0 to 47 have changed. Which columns",
            "torch.cat([w_o[:, 16:32], w_o[:, :16]], dim=1)": "The shape must be (out, in) = (48, 48);",
            "torch.cat([w_o[:, 16:32], w_o[:, 16:32], w_o[:, 32:]], dim=1)": "Columns 0 to 15 have changed. Which columns",
            "torch.linalg.inv(w_o)": "Columns 0 to 47 have changed. Which columns",
            "w_o.roll(16, dims=1)": "All heads moved by one; head 3 must stay in",
            "[1, 0, 2]": "The answer is a tensor (out, in); yours is",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS, exercise_43=lambda: {"w_o": torch.randn(48, 48)}
)
