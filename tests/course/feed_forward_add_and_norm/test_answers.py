"""Lesson 06: right answers of many kinds are accepted, and each mistake is named."""

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.feed_forward_add_and_norm import checks

FEED_FORWARD = """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.narrow(F.relu(self.widen(x)))
"""
NET = "self.narrow(F.relu(self.widen(x)))"
ADD_AND_NORM = """
class AddAndNorm(nn.Module):
    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return self.norm(x + self.dropout(sublayer(x)))
"""
AROUND = "self.norm(x + self.dropout(sublayer(x)))"
ERASE = """
def erase(x):
    return -x
"""
PRE_NORM = """
def repaired(x, norm, sublayer):
    return x + sublayer(norm(x))
"""
ANSWERS = {
    "6.1": Answers(
        FEED_FORWARD,
        right=[
            f"{NET} → self.narrow(self.widen(x).relu())",
            f"{NET} → self.narrow(torch.relu(self.widen(x)))",
            f"{NET} → self.narrow(self.widen(x).clamp(min=0))",
            f"{NET} → self.narrow(torch.maximum(self.widen(x), torch.tensor(0.0)))",
            f"{NET} → self.narrow(self.widen(x).relu_())",
            f"{NET} → self.narrow((h := self.widen(x)) * (h > 0))",
            f"{NET} → self.narrow(torch.where((h := self.widen(x)) > 0, h, 0.0))",
            f"{NET} → self.narrow(nn.ReLU()(self.widen(x)))",
            f"{NET} → self.narrow(F.relu(self.widen(x), inplace=True))",
            f"{NET} → nn.Sequential(self.widen, nn.ReLU(), self.narrow)(x)",
            f"{NET} → F.linear(F.relu(F.linear(x, self.widen.weight, self.widen.bias)), self.narrow.weight, self.narrow.bias)",
            f"{NET} → F.relu(x @ self.widen.weight.T + self.widen.bias) @ self.narrow.weight.T + self.narrow.bias",
            f"{NET} → torch.stack([self.narrow(F.relu(self.widen(row))) for row in x])",
            f"{NET} → torch.stack([self.narrow(F.relu(self.widen(x[..., i, :]))) for i in range(x.size(-2))], dim=-2)",
            f"{NET} → self.narrow(F.relu(self.widen(x.flatten(0, -2)))).view(x.shape)",
            f"return {NET} → hidden = self.widen(x); hidden[hidden < 0] = 0; return self.narrow(hidden)",
            f"return {NET} → hidden = self.widen(x).clone(); hidden = hidden.masked_fill(hidden < 0, 0); return self.narrow(hidden)",
            f"{NET} → self.narrow(self.activation(self.widen(x))) && super().__init__() → super().__init__(); self.activation = nn.ReLU()",
            f"{NET} → self.narrow(F.threshold(self.widen(x), 0, 0))",
            "nn.Linear(d_model, d_ff) → nn.Linear(in_features=d_model, out_features=d_ff, bias=True)",
            f"self.narrow = nn.Linear(d_ff, d_model) → self.narrow = nn.Linear(d_ff, d_model); self.steps = [self.widen, torch.relu, self.narrow] && return {NET} → for f in self.steps: x = f(x)\n        return x",
            "self, d_model, d_ff → self, d_model, d_ff=2048",
            "d_model → width && d_ff → wide && (self, x) → (self, vectors) && widen(x) → widen(vectors)",
            "return self.narrow(F.relu(self.widen(x))) → for f in (self.widen, F.relu, self.narrow): x = f(x)\n        return x",
        ],
        wrong={
            f"{NET} → self.narrow(self.widen(x))": "The ReLU is missing between the two layers.",
            f"{NET} → self.narrow(max(0, self.widen(x)))": "Python's if, and, or, not and max",
            f"{NET} → F.relu(self.narrow(F.relu(self.widen(x))))": "There is one ReLU only, between the two",
            f"{NET} → F.relu(self.narrow(self.widen(x)))": "The ReLU belongs between the two layers,",
            f"{NET} → x + {NET}": "The feed-forward network does not add x:",
            f"{NET} → self.narrow(F.gelu(self.widen(x)))": "When both layers only pass numbers on, your",
            f"{NET} → self.narrow(self.widen(x).sigmoid())": "When both layers only pass numbers on, your",
            f"{NET} → self.narrow(self.widen(x).tanh())": "When both layers only pass numbers on, your",
            f"{NET} → self.narrow(self.widen(x).abs())": "When both layers only pass numbers on, your",
            f"{NET} → self.narrow(F.leaky_relu(self.widen(x), 0.1))": "When both layers only pass numbers on, your",
            f"{NET} → self.narrow(self.widen(x).softmax(-1))": "When both layers only pass numbers on, your",
            f"{NET} → self.narrow(self.widen(F.relu(x)))": "The ReLU acts on x; it belongs between the",
            f"{NET} → self.narrow(F.dropout(F.relu(self.widen(x))))": "Two calls with the same input differ:",
            f"{NET} → F.relu(self.widen(x))": "The shape must be (batch, position,",
            f"{NET} → self.widen(F.relu(self.narrow(x)))": "Python stops at `return self.widen(F.relu(sel",
            f"{NET} → self.narrow(F.relu(self.widen(x.mean(dim=1, keepdim=True)))).expand_as(x)": "The output of a word changes with the other",
            f"{NET} → self.narrow(F.relu6(self.widen(x)))": "Right for small numbers, wrong for large",
            f"{NET} → self.narrow(F.relu(self.widen(x)) ** 2)": "The ReLU is right. What else happens",
            f"{NET} → self.narrow(F.elu(self.widen(x)))": "When both layers only pass numbers on, your",
            f"self.narrow = nn.Linear(d_ff, d_model) → self.narrow = nn.Linear(d_ff, d_model); self.net = nn.Sequential(self.widen, nn.ReLU(), self.narrow) && {NET} → self.net(x)": "A layer has two names, one of them in net.0",
            "super().__init__() → super().__init__(); self.norm = nn.LayerNorm(d_model)": "Your module has weights that it does not need",
            f"{NET} → self.narrow(F.relu(-self.widen(x)))": "When both layers only pass numbers on, your",
            f"{NET} → self.narrow(F.silu(self.widen(x)))": "When both layers only pass numbers on, your",
            f"{NET} → self.narrow(F.relu(self.widen(x) + 1))": "When both layers only pass numbers on, your",
            f"{NET} → F.layer_norm({NET}, x.shape[-1:])": "When both layers only pass numbers on, your",
            f"return {NET} → {NET}": "Your function returns nothing",
            "nn.Linear(d_model, d_ff) → nn.Linear(d_ff, d_model)": "widen must go from 5 to 7 numbers here;",
            "nn.Linear(d_model, d_ff) → nn.Linear(d_model, d_ff, bias=False)": "The paper's feed-forward network has",
            "nn.Linear(d_ff, d_model) → nn.Linear(d_ff, d_model, bias=False)": "The paper's feed-forward network has",
            "nn.Linear(d_model, d_ff) → nn.Linear(d_model, d_model) && nn.Linear(d_ff, d_model) → nn.Linear(d_model, d_model)": "widen must go from 5 to 7 numbers here;",
            "self.widen → self.linear_1 && self.narrow → self.linear_2": "__init__ must set self.widen to an",
            "self.narrow → self.out": "__init__ must set self.narrow to an",
            "super().__init__() → pass": "Begin __init__ with super().__init__().",
            "(nn.Module) → ": "The answer is the class FeedForward itself,",
            f"{NET} → self.narrow(nn.ReLU(self.widen(x)))": "Python stops at `return self.narrow(nn.ReLU(s",
            f"{NET} → {NET}.detach()": "The gradient is not that of your output",
            f"{NET} → self.narrow(F.relu(self.widen(x.detach())))": "The gradient is not that of your output",
            f"return {NET} → F.relu(x, inplace=True); return {NET}": "changes the tensor that it gets",
            f"{NET} → torch.stack([self.narrow(F.relu(self.widen(x[:, i]))) for i in range(x.size(1))], dim=1)": "for a sentence alone",
            f"return {NET} → batch, position, d_model = x.shape; return {NET}": "for a sentence alone",
        },
    ),
    "6.2": Answers(
        ADD_AND_NORM,
        right=[
            f"{AROUND} → self.norm(self.dropout(sublayer(x)) + x)",
            f"{AROUND} → self.norm(torch.add(x, self.dropout(sublayer(x))))",
            f"return {AROUND} → y = sublayer(x); y = self.dropout(y); y = x + y; return self.norm(y)",
            f"{AROUND} → F.layer_norm(x + self.dropout(sublayer(x)), x.shape[-1:], self.norm.weight, self.norm.bias, self.norm.eps)",
            f"{AROUND} → self.norm(x + F.dropout(sublayer(x), self.dropout.p, self.training))",
            f"{AROUND} → self.norm(x + F.dropout(sublayer(x), p=self.dropout.p, training=self.training))",
            f"return {AROUND} → residual = x; out = residual + self.dropout(sublayer(residual)); return self.norm(out)",
            f"{AROUND} → self.norm.forward(x + self.dropout.forward(sublayer(x)))",
            f"return {AROUND} → y = (x + self.dropout(sublayer(x))); m = y.mean(-1, keepdim=True); v = y.var(-1, keepdim=True, unbiased=False); return (y - m) / (v + self.norm.eps).sqrt() * self.norm.weight + self.norm.bias",
            f"return {AROUND} → y = x.clone(); y += self.dropout(sublayer(x)); return self.norm(y)",
            f"{AROUND} → torch.stack([self.norm(a + b) for a, b in zip(x, self.dropout(sublayer(x)))])",
            f"{AROUND} → self.norm(sum([x, self.dropout(sublayer(x))]))",
            f"{AROUND} → nn.Sequential(self.norm)(x + nn.Sequential(self.dropout)(sublayer(x)))",
            f"{AROUND} → self.norm(torch.stack([x, self.dropout(sublayer(x))]).sum(0))",
            "x, sublayer → x, f && sublayer(x) → f(x)",
            "x, sublayer → residual, layer && x + → residual + && sublayer(x) → layer(residual)",
            "nn.LayerNorm(d_model) → nn.LayerNorm([d_model])",
            "nn.LayerNorm(d_model) → nn.LayerNorm(normalized_shape=d_model, eps=1e-5, elementwise_affine=True)",
            "nn.Dropout(dropout) → nn.Dropout(p=dropout)",
            "d_model → width && self, width, dropout=0.1 → self, width, p=0.1 && Dropout(dropout) → Dropout(p)",
            "def forward → def inner(self, x, sublayer):\n        return x + self.dropout(sublayer(x))\n\n    def forward && self.norm(x + self.dropout(sublayer(x))) → self.norm(self.inner(x, sublayer))",
        ],
        wrong={
            f"return {AROUND} → y = sublayer(x); y = self.dropout(x); return self.norm(x + y)": "the norm gets x alone, or x twice",
            f"{AROUND} → self.norm(self.dropout(sublayer(x)))": "The residual connection is missing: x is",
            f"{AROUND} → x + self.dropout(sublayer(x))": "norm.weight gets no gradient",
            f"{AROUND} → x + self.norm(self.dropout(sublayer(x)))": "You normalized the sub-layer's output.",
            f"{AROUND} → x + self.dropout(sublayer(self.norm(x)))": "That is pre-norm: the sub-layer gets",
            f"{AROUND} → self.norm(x) + self.dropout(sublayer(x))": "You normalized x alone. Post-norm",
            f"{AROUND} → self.norm(x + sublayer(x))": "Dropout is never used: apply self.dropout",
            f"{AROUND} → self.norm(self.dropout(x + sublayer(x)))": "Dropout removes x, too; the paper drops",
            f"{AROUND} → self.dropout(self.norm(x + sublayer(x)))": "Dropout is at another place, or drops",
            f"{AROUND} → self.norm(x + sublayer(self.dropout(x)))": "Dropout is at another place, or drops",
            f"{AROUND} → self.norm(self.dropout(x) + sublayer(x))": "Dropout is at another place, or drops",
            f"{AROUND} → self.norm(x + self.dropout(self.dropout(sublayer(x))))": "With dropout=0.25, 44% of the sub-layer's",
            f"{AROUND} → self.norm(x - self.dropout(sublayer(x)))": "The sub-layer's output and x must be added",
            f"{AROUND} → self.norm(x + self.dropout(sublayer(sublayer(x))))": "The sub-layer must be called once; yours is",
            f"{AROUND} → self.norm(x + self.dropout(sublayer))": "Python stops at `return self.norm(x + self.dr",
            f"{AROUND} → self.norm(sublayer(x + self.dropout(x)))": "The sub-layer must get x itself.",
            f"{AROUND} → self.norm(self.norm(x) + self.dropout(sublayer(self.norm(x))))": "That is pre-norm: the sub-layer gets",
            f"{AROUND} → self.norm(x + F.dropout(sublayer(x), 0.1, self.training))": "Dropout is at another place, or drops",
            f"{AROUND} → self.norm(x + F.dropout(sublayer(x), self.dropout.p))": "Two calls with the same input differ:",
            f"return {AROUND} → x += self.dropout(sublayer(x)); return self.norm(x)": "Your code changes the tensor that it gets,",
            f"return {AROUND} → {AROUND}": "Your function returns nothing",
            f"{AROUND} → (self.norm(x + self.dropout(sublayer(x))), x)": "The answer is a tensor (batch, position,",
            "nn.LayerNorm(d_model) → nn.BatchNorm1d(d_model)": "__init__ must set self.norm to an",
            "nn.LayerNorm(d_model) → nn.LayerNorm(d_model, elementwise_affine=False)": "The norm of the paper has a γ and a β:",
            "nn.LayerNorm(d_model) → nn.LayerNorm((3, d_model))": "A norm acts on the d_model numbers of one",
            "nn.LayerNorm(d_model) → nn.LayerNorm(d_model, eps=0.1)": "If the sub-layer returns zeros, norm(x) must",
            f"{AROUND} → self.norm(x * self.dropout(sublayer(x)))": "If the sub-layer returns zeros, norm(x) must",
            f"{AROUND} → self.norm(x) + self.norm(self.dropout(sublayer(x)))": "output apart",
            f"{AROUND} → self.norm(self.norm(x) + self.dropout(sublayer(x)))": "x is normalized twice",
            f"{AROUND} → self.norm(x + self.dropout(sublayer(self.norm(x))))": "must get x itself; yours gets norm(x)",
            f"{AROUND} → self.norm({AROUND})": "The sum is normalized twice",
            "nn.LayerNorm(d_model) → nn.RMSNorm(d_model)": "__init__ must set self.norm to an",
            "nn.LayerNorm(d_model) → nn.LayerNorm(d_model, bias=False)": "The norm of the paper has a γ and a β:",
            "nn.Dropout(dropout) → nn.Dropout(0.1)": "nn.Dropout must get the argument dropout,",
            "nn.Dropout(dropout) → nn.Dropout()": "nn.Dropout must get the argument dropout,",
            "nn.Dropout(dropout) → nn.Dropout(1 - dropout)": "nn.Dropout must get the argument dropout,",
            "self.norm → self.layer_norm": "__init__ must set self.norm to an",
            "(self, x, sublayer) → (self, x) && sublayer(x) → x": "Your answer could not be used: its",
            f"{AROUND} → self.norm(2 * x + self.dropout(sublayer(x)))": "The sub-layer's output and x must be added",
        },
    ),
    "6.3": Answers(
        ERASE,
        right=[
            "return -x → return 0 - x",
            "return -x → return x * -1",
            "return -x → return torch.neg(x)",
            "return -x → return 5 - x",
            "return -x → return x.mean(-1, keepdim=True) - x",
            "return -x → return x.clone().mul_(-1)",
            "return -x → return -1.0 * x + 3",
        ],
        wrong={
            "return -x → return 0 * x": "and the norm of x is not zero.",
            "return -x → return x": "x + x is 2x, and the norm of 2x is that of x.",
            "return -x → return torch.zeros(x.shape)": "and the norm of x is not zero.",
            "return -x → return -2 * x": "still differ, by up to",
            "return -x → return -x.mean()": "The shape must be (batch, position,",
            "return -x → return 1 / x": "still differ, by up to",
            "return -x → return -x.abs()": "still differ, by up to",
            "return -x → return x * float('nan')": "Some numbers are NaN, not a number: from",
            "return -x → return -F.layer_norm(x, x.shape[-1:])": "still differ, by up to",
            "return -x → -x": "Your function returns nothing",
            "return -x → return torch.zeros(3)": "The shape must be (batch, position,",
            "return -x → x *= -1; return x": "Your code changes the tensor that it gets,",
            "return -x → return torch.full_like(x, -1e9)": "still differ, by up to",
            "return -x → return torch.full_like(x, -1e30)": "hides x by rounding",
            "return -x → return x * float('inf')": "or gives NaN",
            "return -x → return -x * 0.5": "still differ, by up to",
        },
    ),
    "6.4": Answers(
        PRE_NORM,
        right=[
            "return x + sublayer(norm(x)) → return sublayer(norm(x)) + x",
            "return x + sublayer(norm(x)) → normed = norm(x); return x + sublayer(normed)",
            "return x + sublayer(norm(x)) → y = x.clone(); y += sublayer(norm(x)); return y",
            "return x + sublayer(norm(x)) → residual = x; x = norm(x); x = sublayer(x); return residual + x",
            "return x + sublayer(norm(x)) → return torch.add(x, sublayer(norm(x)))",
        ],
        wrong={
            "x + sublayer(norm(x)) → norm(x) + sublayer(norm(x))": "That is the friend's version: add the",
            "x + sublayer(norm(x)) → norm(x + sublayer(x))": "That is post-norm: the norm is on the",
            "x + sublayer(norm(x)) → x + norm(sublayer(x))": "The norm is at the wrong end of the branch:",
            "x + sublayer(norm(x)) → sublayer(norm(x))": "The residual connection is missing: add x",
            "x + sublayer(norm(x)) → x + sublayer(x)": "The norm is missing: the sub-layer should",
            "x + sublayer(norm(x)) → norm(x) + sublayer(x)": "If the sub-layer returns zeros, x must come",
            "x + sublayer(norm(x)) → norm(x + sublayer(norm(x)))": "One norm is too many: there is none after",
            "x + sublayer(norm(x)) → x + norm(sublayer(norm(x)))": "One norm is too many: the output",
            "x + sublayer(norm(x)) → x + norm(x)": "If the sub-layer returns zeros, x must come",
            "x + sublayer(norm(x)) → x - sublayer(norm(x))": "output is added to x as it is",
            "x + sublayer(norm(x)) → x + sublayer(norm(norm(x)))": "does not get norm(x)",
            "return x + sublayer(norm(x)) → x += sublayer(norm(x)); return x": "Your code changes the tensor that it gets,",
            "return x + → x +": "Your function returns nothing",
            "x + sublayer(norm(x)) → x + norm": "Python stops at `return x + norm`: TypeError:",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS
)
