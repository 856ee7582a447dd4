"""Lesson 04: right answers of many kinds are accepted, and each mistake is named."""

import torch

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.multi_head_attention import checks, list_checks

LIST = """
class ListOfHeads(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.heads = nn.ModuleList([Attention(d_model, d_model // num_heads) for _ in range(num_heads)])
        self.output_projection = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        outputs = [head(query, key, value, mask) for head in self.heads]
        joined = torch.cat(outputs, dim=-1)
        return self.output_projection(joined)
"""
LAYERS = """
class ListOfHeads(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        def layers():
            return nn.ModuleList(nn.Linear(d_model, d_model // num_heads, bias=False) for _ in range(num_heads))
        self.w_v, self.w_k, self.w_q = layers(), layers(), layers()
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        outputs = []
        for w_q, w_k, w_v in zip(self.w_q, self.w_k, self.w_v):
            scores = w_q(query) @ w_k(key).transpose(-2, -1) / math.sqrt(w_q.out_features)
            if mask is not None:
                scores = scores.masked_fill(~mask, -1e9)
            outputs.append(scores.softmax(dim=-1) @ w_v(value))
        return self.w_o(torch.concat(outputs, dim=2))
"""
OUTPUTS, CAT = (
    "[head(query, key, value, mask) for head in self.heads]",
    "torch.cat(outputs, dim=-1)",
)
MODULES = "nn.ModuleList([Attention(d_model, d_model // num_heads) for _ in range(num_heads)])"
HEADS = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query_projection = nn.Linear(d_model, d_model, bias=False)
        self.key_projection = nn.Linear(d_model, d_model, bias=False)
        self.value_projection = nn.Linear(d_model, d_model, bias=False)
        self.output_projection = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        query = self.split(self.query_projection(query))
        key = self.split(self.key_projection(key))
        value = self.split(self.value_projection(value))
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        heads = scores.softmax(dim=-1) @ value
        joined = heads.transpose(1, 2).flatten(-2)
        return self.output_projection(joined)
"""
INHERITED = """
class MultiHeadAttention(Attention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, d_model)
        self.num_heads = num_heads
        self.output_projection = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        query = self.split(self.query_projection(query))
        key = self.split(self.key_projection(key))
        value = self.split(self.value_projection(value))
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
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
SPLIT = "x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)"
JOIN = "heads.transpose(1, 2).flatten(-2)"
ATTEND = """scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        heads = scores.softmax(dim=-1) @ value"""
SDPA = "F.scaled_dot_product_attention(query, key, value, attn_mask=mask)"
SWAP = "torch.cat([w_o[:, 16:32], w_o[:, :16], w_o[:, 32:]], dim=1)"
ANSWERS = {
    "4.1": Answers(
        LIST,
        right=[
            LAYERS,
            f"{MODULES} → nn.ModuleList(Attention(d_model, d_model // num_heads) for i in range(num_heads))",
            "self.heads → self.attentions && self.output_projection → self.w_o",
            f"{CAT} → torch.cat(outputs, 2)",
            f"{CAT} → torch.stack(outputs, dim=2).flatten(-2)",
            f"{CAT} → torch.hstack([each.mT for each in outputs]).mT",
            f"{CAT} → torch.cat(outputs[1:] + outputs[:1], dim=-1)",
            f"{OUTPUTS} → list(map(lambda head: head(query, key, value, mask), self.heads))",
            f"{OUTPUTS} → [head(query, key, value, mask) for head in reversed(self.heads)]",
            f"{MODULES} → nn.Sequential(*[Attention(d_model, d_model // num_heads) for _ in range(num_heads)])",
            f"{MODULES} → nn.ModuleDict({{str(i): Attention(d_model, d_model // num_heads) for i in range(num_heads)}}) && in self.heads → in self.heads.values()",
        ],
        wrong={
            f"{MODULES} → [Attention(d_model, d_model // num_heads) for _ in range(num_heads)]": "self.heads is a plain list",
            f"{MODULES} → nn.ModuleList([Attention(d_model, d_model // num_heads)] * num_heads)": "PyTorch finds the matrices of one head",
            f"{MODULES} → nn.ModuleList([Attention(d_model, d_model) for _ in range(num_heads)])": "A head makes 8:",
            f"{MODULES} → nn.ModuleList([Attention(d_model, num_heads) for _ in range(num_heads)])": "a head is 8 wide; yours is 3",
            f"{CAT} → torch.cat(outputs, dim=1)": "join the heads along the last axis",
            f"{CAT} → outputs[-1]": "as many numbers as one head has",
            f"{CAT} → torch.cat(outputs)": "join the heads along the last axis",
            "bias=False) → bias=False),": "self.output_projection is a plain tuple",
            "nn.Linear(d_model, d_model, bias → nn.Linear(d_model // num_heads, d_model // num_heads, bias": "output_projection goes from d_model to d_model",
            f"{MODULES} → tuple(Attention(d_model, d_model // num_heads) for _ in range(num_heads))": "finds no layers: use nn.ModuleList",
            f"{CAT} → sum(outputs)": "as many numbers as one head has",
            f"{CAT} → torch.stack(outputs, dim=1).reshape(query.shape)": "mixes positions",
            f"{CAT} → torch.stack(outputs).reshape(query.shape)": "mixes sentences",
            f"{MODULES} → {{i: Attention(d_model, d_model // num_heads) for i in range(num_heads)}} && in self.heads → in self.heads.values()": "self.heads is a plain dict",
            f"{CAT} → torch.stack(outputs, dim=-1).flatten(-2)": "The heads are joined number by number",
            f"{CAT} → torch.cat([sum(outputs) / 3] * 3, dim=-1)": "An average mixes the heads again",
            f"{CAT} → torch.cat([sum(outputs)] * 3, dim=-1)": "A sum mixes the heads again",
            "return self.output_projection(joined) → return joined": "The output projection is missing",
            "return self.output_projection(joined) → return self.output_projection(joined) * 0 + joined": "The output projection is missing",
            "return self.output_projection(joined) → self.output_projection(joined)": "Your function returns nothing",
            "key, value, mask) → key, value, mask if mask is None else mask[:1])": "or queries have their own",
            "key, value, mask) → key, value, mask if mask is None else mask[..., :1, :])": "or queries have their own",
            "for _ in range(num_heads) → for _ in range(3)": "some size in your code is fixed",
            "Attention(d_model, d_model // num_heads) → Attention(d_model, 8)": "some size in your code is fixed",
            "Attention(d_model, d_model // num_heads) → Attention(d_model, 32)": "a head is 8 wide; yours is 32",
            "key, value, mask) → key, value, mask if mask is None else mask.unsqueeze(1))": "with a mask, too = (2, 5, 24); yours is",
            "key, value, mask) → key, value)": "The mask changes nothing: does each head get it?",
            "key, value, mask) → key, value, None if mask is None else ~mask)": "The polarity is inverted",
            "bias=False → bias=True": "The paper has no bias here",
            "        self.output_projection = nn.Linear(d_model, d_model, bias=False) → ": "The output projection is missing: nn",
            "super().__init__() → pass": "Begin __init__ with super().__init__()",
            f"{OUTPUTS} → [self.heads[0](query, key, value, mask) for head in self.heads]": "The same head stands there several times",
            f"{OUTPUTS} → [head(query, query, query, mask) for head in self.heads]": "every head gets query three times",
            f"{OUTPUTS} → [head(query, value, value, mask) for head in self.heads]": "key has no effect",
            f"{OUTPUTS} → [head(query, key, key, mask) for head in self.heads]": "value has no effect",
            "self.output_projection(joined) → joined @ self.output_projection.weight": "stores the transpose",
            f"{OUTPUTS} → [head(query, value, key, mask) for head in self.heads]": "A head gets query, key and value in this order",
            f"{MODULES} → nn.ModuleList([Attention(d_model, d_model / num_heads) for _ in range(num_heads)])": "A size is a whole number, and yours is not",
            f"{MODULES} → nn.ModuleList([Attention(d_model // num_heads, d_model // num_heads) for _ in range(num_heads)]) && {OUTPUTS} → [head(q, k, v, mask) for head, q, k, v in zip(self.heads, *(x.chunk(3, -1) for x in (query, key, value)))]": "A head reads the whole vector of a word",
            f"nn.Linear(d_model, d_model, bias → nn.Linear(d_model // num_heads, d_model, bias && {CAT} → sum(outputs)": "output_projection goes from d_model to d_model",
        },
    ),
    "4.2": Answers(
        HEADS,
        right=[
            INHERITED,
            ALONE,
            LOOP,
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
            f"{ATTEND} → heads = {SDPA}",
            "return self.output_projection(joined) → return joined @ self.output_projection.weight.T",
            "return self.output_projection(joined) → return torch.einsum('bqi,oi->bqo', joined, self.output_projection.weight)",
            "return self.output_projection(joined) → w = self.output_projection.weight.unflatten(1, (self.num_heads, -1)); return torch.einsum('bhqd,ohd->bqo', heads, w)",
            "num_heads = num_heads → heads_count = num_heads && self.num_heads → self.heads_count",
            f"{ATTEND} → heads = torch.stack([F.scaled_dot_product_attention(query[:, i], key[:, i], value[:, i], None if mask is None else mask.expand(len(query), self.num_heads, query.size(2), key.size(2))[:, i]) for i in range(self.num_heads)], 1)",
        ],
        wrong={
            f"{SPLIT} → x.view(x.size(0), self.num_heads, x.size(1), -1)": "view and reshape cut in the order of memory",
            "math.sqrt(query.size(-1)) → math.sqrt(self.num_heads)": "that is not √d_head",
            "math.sqrt(query.size(-1)) → math.sqrt(key.size(-2))": "that is not √d_head",
            f"{SPLIT} → x.unflatten(-1, (self.num_heads, -1))": "Python stops at `scores = query @ key.transpo",
            f"{SPLIT} → x.unflatten(-1, (-1, self.num_heads)).transpose(1, 2)": "your class cuts 8 heads.",
            "h = 4\n"
            + HEADS.replace(
                "(self.num_heads, -1)", "(h, -1)"
            ): "takes h from the notebook around it, where it is 4",
            "x = torch.ones(10, 128)\n"
            + HEADS.replace(
                "_projection(query)", "_projection(x)"
            ): "takes x from the notebook around it, where it is a Tensor (10, 128)",
            "d_head = 32\n"
            + HEADS.replace(
                "query.size(-1)", "d_head"
            ): "takes d_head from the notebook around it, where it is 32",
            "mask = None\n"
            + HEADS.replace(
                "mask=None", "hidden=None"
            ): "takes mask from the notebook around it, where it is None",
            f"math.sqrt(query.size(-1)) → 1 && {JOIN} → heads.reshape(heads.size(0), heads.size(2), -1)": "The scores are not divided by √d_head.",
            "scores.softmax(dim=-1) → scores.softmax(dim=-2) && return self.output_projection(joined) → return joined + 0 * self.output_projection(joined)": "The softmax runs over the queries",
            "self.key_projection(key) → self.value_projection(key) && self.value_projection(value) → self.key_projection(value)": "Projections have changed places",
            "(self.num_heads, -1) → (-1, self.num_heads) && math.sqrt(query.size(-1)) → math.sqrt(self.query_projection.in_features // self.num_heads)": "your class cuts 8 heads.",
            "query @ key.transpose(-2, -1) → query @ key.reshape(*key.shape[:2], key.size(3), key.size(2))": "A reshape is no transpose",
            "query = self.split(self.query_projection(query))\n        key = self.split(self.key_projection(key))\n        value = self.split(self.value_projection(value)) → query, key, value = (self.split(each(query)) for each in (self.query_projection, self.key_projection, self.value_projection))": "A projection reads the wrong input",
            "self.query_projection(query) → query @ self.query_projection.weight": "nn.Linear stores the transpose",
            "self.output_projection(joined) → joined @ self.output_projection.weight": "nn.Linear stores the transpose",
            f"{ATTEND} → weights = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).softmax(-1)\n        heads = (weights if mask is None else weights * mask) @ value": "not weights after it",
            "if mask is not None: → if mask:": "if mask is not None",
            "(self.num_heads, -1) → (4, -1)": "With num_heads=3 your class cuts 4 heads.",
            "(self.num_heads, -1) → (3, -1)": "some size in your code is fixed",
            "math.sqrt(query.size(-1)) → math.sqrt(8)": "some size in your code is fixed",
            f"{JOIN} → heads.transpose(1, 2).reshape(heads.size(0), -1, 24)": "some size in your code is fixed",
            "self.num_heads = num_heads → self.num_heads, self.d_head = num_heads, d_model / num_heads && (self.num_heads, -1) → (self.num_heads, self.d_head)": "or divided with /",
            f"{SPLIT} → x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)": "A head must be one piece of d_head numbers;",
            f"{JOIN} → heads.transpose(1, 2).flatten(-2).squeeze(0)": "one sentence: (1, query, d_model) = (1,",
            f"{JOIN} → heads.flatten(1, 2)": "join the heads along the last axis",
            f"{JOIN} → heads.reshape(heads.size(0), heads.size(2), -1)": "The heads are joined without moving them",
            f"{JOIN} → heads.transpose(1, 2).view(heads.size(0), heads.size(2), -1)": "Python stops at `joined = heads.transpose(1, ",
            f"{JOIN} → heads.flatten(-2)": "move the heads behind the positions",
            f"{JOIN} → heads.mean(dim=1)": "as many numbers as one head has",
            f"{JOIN} → heads.permute(0, 2, 3, 1).flatten(-2)": "The heads are joined number by number: each",
            f"{JOIN} → heads.flip(1).transpose(1, 2).flatten(-2)": "The heads are joined in another order",
            f"{SPLIT} → x.unflatten(-1, (self.num_heads, -1)) && {JOIN} → heads.flatten(-2)": "positions are not the last axis but one",
            f"{SPLIT} → x.view(x.size(0), self.num_heads, x.size(1), -1) && {JOIN} → heads.reshape(heads.size(0), heads.size(2), -1)": "view and reshape cut in the order of memory",
            "return self.output_projection(joined) → return joined": "The output projection is missing",
            "return self.output_projection(joined) → self.output_projection(joined)": "Your function returns nothing",
            "~mask, → ~mask[:1] if mask.dim() == 4 else ~mask,": "or queries have their own",
            "scores.masked_fill(~mask, → scores.masked_fill(~(mask if mask.dim() > 3 else mask.unsqueeze(1)),": "as it is, it broadcasts",
            "scores.masked_fill(~mask, → scores.masked_fill(~(mask if mask.dim() != 2 else mask[:, None, None]),": "as it is, it broadcasts",
            "~mask, → ~mask[..., :1, :],": "or queries have their own",
            "torch.finfo(scores.dtype).min → -1e9": "the lowest of each type",
            "torch.finfo(scores.dtype).min → 0": "nothing is left of their weights",
            "torch.finfo(scores.dtype).min → -50": "Where scores are large",
            "torch.finfo(scores.dtype).min → -100": "Where scores are large",
            f"{ATTEND} → scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)); weights = scores.softmax(-1)\n        if mask is not None:\n            weights = weights.masked_fill(~mask, torch.finfo(weights.dtype).min)\n        heads = weights @ value": "not weights after it",
            LOOP.replace(
                "mask if mask.dim() < 4 else mask[:, head if mask.size(1) > 1 else 0]",
                "mask[:, head]",
            ): "wrong with a mask (1, 7): it broadcasts",
            "if mask is not None → if False": "the softmax still gets every score",
            "scores = scores.masked_fill → scores.masked_fill": "it returns a new tensor",
            f"{ATTEND} → heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=self.num_heads**-0.5)": "that is not √d_head",
            f"{ATTEND} → heads = F.scaled_dot_product_attention(query, key, value, attn_mask=None if mask is None else ~mask)": "The polarity is inverted: where mask is",
            f"{ATTEND} → heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1)": "The scores are not divided by √d_head.",
            f"{ATTEND} → heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=query.size(1)**-0.5*query.size(-1)**-0.5)": "The scores are divided by √d_model; each",
            f"{ATTEND} → heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=mask is None)": "Already with num_heads=1 the numbers are wrong",
            "bias=False → bias=True": "The paper has no bias here:",
            "self.output_projection → self.w_o": "self.output_projection must be an",
            "self.query_projection = nn.Linear(d_model, d_model → self.query_projection = nn.Linear(d_model, d_model // num_heads": "query_projection is for all heads side by",
            "self.value_projection = nn.Linear(d_model, d_model → self.value_projection = nn.Linear(d_model, num_heads": "value_projection is for all heads side by",
            f"{ATTEND} → heads = torch.stack([F.scaled_dot_product_attention(query[:, i], key[:, i], value[:, i]) for i in range(self.num_heads)], 1)": "the softmax still gets every score",
            INHERITED.split("    def split")[0]: "gets no gradient",
            "self.value_projection(value) → self.key_projection(value)": "value_projection.weight gets no",
            "query @ key.transpose → key @ query.transpose": "Python stops at `heads = scores.softmax(dim=-1",
            "self.query_projection(query) → self.query_projection(self.query_projection(query))": "Already with num_heads=1 the numbers are wrong",
            LOOP.replace(
                "math.sqrt(self.d)", "math.sqrt(self.d * self.h)"
            ): "The scores are divided by √d_model; each",
            ALONE.replace(
                "scores.softmax(-1)", "scores.softmax(-2)"
            ): "The softmax runs over the queries: the keys",
            ALONE.replace(
                "scores.softmax(-1)", "scores.softmax(1)"
            ): "The softmax runs over the heads: the keys",
            ALONE.replace("math.sqrt(self.d)", "self.d"): "The scores are divided by d_head: take",
            ALONE.replace(
                "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)", "scores * mask"
            ): "Right without a mask, wrong with one: before",
            ALONE.replace(
                "torch.finfo(scores.dtype).min", "-math.inf"
            ): "without allowed keys gets NaN",
            ALONE.replace("(~mask,", "(~mask[:, :1],"): "Right with a mask (1, 1, 1, 7), wrong",
            ALONE.replace("scores.softmax(-1)", "scores"): "The softmax is missing",
            ALONE.replace("(~mask,", "(~mask.unsqueeze(1),"): "as it is, it broadcasts",
            ALONE.replace(
                "value_projection(value)", "value_projection(key)"
            ): "A projection reads the wrong input:",
            ALONE.replace(
                "q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)"
            ): "Python stops at `out = (scores.softmax(-1) @ ",
            LOOP.replace(
                "            outputs.append", "        outputs.append"
            ): "as many numbers as one head has",
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
            "torch.cat([w_o[16:32], w_o[:16], w_o[32:]])": "You moved rows. Stored as (out, in), a",
            "torch.cat([w_o[:, 16:32], w_o[:, :16], w_o[:, 32:]], dim=1).T": "Yours is transposed",
            "torch.cat([w_o[:, 32:], w_o[:, 16:32], w_o[:, :16]], dim=1)": "That swaps heads 1 and 3: the order must be",
            "torch.cat([w_o[:, :16], w_o[:, 32:], w_o[:, 16:32]], dim=1)": "That swaps heads 2 and 3: we count heads",
            "w_o[:, [1, 0, *range(2, 48)]]": "A head is 16 columns wide, not one.",
            "w_o.unflatten(1, (16, 3))[:, :, [1, 0, 2]].flatten(1)": "columns have changed, from 0 to 46",
            "w_o.T": "Yours is transposed",
            "torch.cat([w_o[16:32], w_o[:16], w_o[32:]]).T": "Yours is transposed",
            "w_o.roll(16, dims=0)": "You moved rows.",
            "torch.cat([w_o[16:32], w_o[16:]])": "You moved rows.",
            "torch.cat([w_o[16:32], w_o[:16], w_o[32:]])[:, [*range(16, 32), *range(16), *range(32, 48)]]": "only whole columns may",
            "torch.cat([w_o[:, 16:32], w_o[:, :16]], dim=1)": "The shape must be (out, in) = (48, 48);",
            "torch.cat([w_o[:, 16:32], w_o[:, 16:32], w_o[:, 32:]], dim=1)": "a slice of a tensor is not a copy",
            "torch.cat([w_o[:, :16], w_o[:, :16], w_o[:, 32:]], dim=1)": "The columns of head 2 are lost.",
            "torch.linalg.inv(w_o)": "only whole columns may",
            "w_o.roll(16, dims=1)": "The order is now 3, 1, 2",
            "[1, 0, 2]": "The answer is a tensor (out, in); yours is",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(list_checks) | checks_of(checks),
    ANSWERS,
    exercise_43=lambda: {"w_o": torch.randn(48, 48)},
)
