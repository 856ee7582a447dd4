"""Lesson 07: right answers of many kinds are accepted, and each mistake is named."""

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.encoder import checks

LAYER = """
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.around_self_attention = AddAndNorm(d_model, dropout)
        self.around_feed_forward = AddAndNorm(d_model, dropout)

    def forward(self, x, mask=None):
        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, mask))
        return self.around_feed_forward(x, self.feed_forward)
"""
BOTH = """x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, mask))
        return self.around_feed_forward(x, self.feed_forward)"""
FIRST = "self.around_self_attention(x, lambda y: self.self_attention(y, y, y, mask))"
SECOND = "self.around_feed_forward(x, self.feed_forward)"
INNER = "lambda y: self.self_attention(y, y, y, mask)"
IN_PLACE = """    class InPlace(AddAndNorm):
        def forward(self, x, sublayer):
            out = self.dropout(sublayer(x))
            out += x
            return self.norm(out)
"""
STACK = """
class Encoder(nn.Module):
    def __init__(self, num_layers, *sizes):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(*sizes) for _ in range(num_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x
"""
HELD = "nn.ModuleList([EncoderLayer(*sizes) for _ in range(num_layers)])"
RUN = "        for layer in self.layers:\n            x = layer(x, mask)\n        return x"
COUNT = """
def count_used_layers(encoder, x):
    layers, before, used = encoder.layers, encoder(x), 0
    for index in range(len(layers)):
        encoder.layers = nn.ModuleList([*layers[:index], *layers[index + 1 :]])
        used += not torch.allclose(encoder(x), before)
    encoder.layers = layers
    return used
"""
CALLS = """
def count_used_layers(encoder, x):
    calls = []
    hooks = [layer.register_forward_hook(lambda *_: calls.append(1)) for layer in encoder.layers]
    encoder(x)
    for hook in hooks:
        hook.remove()
    return len(calls)
"""
ANSWERS = {
    "7.1": Answers(
        LAYER,
        right=[
            "= FeedForward(d_model, d_ff) → = FeedForward(d_model, d_ff); self.feed_forward.dropout = nn.Dropout(0.0)",
            f"x = {FIRST} → y = {FIRST} && return self.around_feed_forward(x → return self.around_feed_forward(y",
            f"{BOTH} → return self.around_feed_forward({FIRST}, self.feed_forward)",
            f"{SECOND} → self.around_feed_forward(x, lambda y: self.feed_forward(y))",
            f"{SECOND} → self.around_feed_forward(x, self.feed_forward.forward)",
            f"{INNER} → lambda y: self.self_attention(y, y, y, mask=mask)",
            f"class EncoderLayer(nn.Module): → class EncoderLayer(nn.Module):\n{IN_PLACE} && = AddAndNorm( → = self.InPlace(",
            f"{INNER} → lambda y: self.self_attention(query=y, key=y, value=y, mask=mask)",
            f"{INNER} → lambda query: self.self_attention(query, query, query, mask)",
            f"{INNER} → lambda y: self.self_attention.forward(y, y, y, mask)",
            f"{INNER} → lambda y, m=mask: self.self_attention(y, y, y, m)",
            f"x = {FIRST} → def attend(y): return self.self_attention(y, y, y, mask)\n        x = self.around_self_attention(x, attend)",
            f"x = {FIRST} → x = self.around_self_attention(x, sublayer={INNER})",
            f"x = {FIRST} → x = self.around_self_attention(x, lambda y: self.self_attention(*[y] * 3, mask))",
            f"x = {FIRST} → x = self.attend(x, mask) && def forward → def attend(self, x, mask):\n        return {FIRST}\n\n    def forward",
            "mask=None → allowed=None && y, mask) → y, allowed)",
            "AddAndNorm(d_model, dropout) → AddAndNorm(d_model=d_model, dropout=dropout)",
            "MultiHeadAttention(d_model, num_heads) → MultiHeadAttention(d_model=d_model, num_heads=num_heads)",
            "d_model → width && num_heads → heads && d_ff → wide",
            "self.around_self_attention = AddAndNorm(d_model, dropout)\n        self.around_feed_forward = AddAndNorm(d_model, dropout) → self.around_self_attention, self.around_feed_forward = (AddAndNorm(d_model, dropout) for _ in range(2))",
            "(x, self.feed_forward) → (x=x, sublayer=self.feed_forward)",
        ],
        wrong={
            f"{FIRST} → self.around_self_attention(x, lambda y: self.drop(self.self_attention(y, y, y, mask))) && super().__init__() → super().__init__(); self.drop = nn.Dropout(dropout)": "Numbers are dropped twice",
            f"{FIRST} → self.around_self_attention(x, lambda y: F.dropout(self.self_attention(y, y, y, mask), self.rate)) && super().__init__() → super().__init__(); self.rate = dropout": "Numbers are dropped twice",
            "def forward(self, → @torch.no_grad()\n    def forward(self,": "The gradient is not that of your output",
            f"{SECOND} → self.around_feed_forward(x.detach(), self.feed_forward)": "The gradient is not that of your output",
            f"x = {FIRST} → y = {FIRST} && {SECOND} → self.around_feed_forward(y, lambda v: self.feed_forward(x))": "and not what around_feed_forward calls your",
            "y, y, y, mask) → y, y, y)": "self_attention gets nothing as its mask.",
            f"x = {FIRST} → pass": "self.around_self_attention is never called;",
            f"return {SECOND} → return x": "self.around_feed_forward is never called;",
            f"return {SECOND} → {SECOND}": "Your function returns nothing",
            f"{BOTH} → x = self.around_feed_forward(x, self.feed_forward); return {FIRST}": "run in the order feed_forward, self_attention. The paper's",
            f"{BOTH} → return self.feed_forward(self.self_attention(x, x, x, mask))": "self.around_self_attention is never called;",
            f"{BOTH} → x = x + self.self_attention(x, x, x, mask); return x + self.feed_forward(x)": "self.around_self_attention is never called;",
            f"{FIRST} → self.self_attention(x, x, x, mask)": "self.around_self_attention is never called;",
            f"{SECOND} → self.feed_forward(x)": "self.around_feed_forward is never called;",
            f"{FIRST} → self.around_feed_forward(x, {INNER}) && return {SECOND} → return self.around_self_attention(x, self.feed_forward)": "Each belongs around the sub-layer of its name.",
            f"{SECOND} → self.around_self_attention(x, self.feed_forward)": "self.around_self_attention is called 2",
            f"x = {FIRST} → y = {FIRST}": "around_feed_forward must get what",
            f"{FIRST} → self.around_self_attention(x, self.self_attention)": "around_self_attention calls its sub-layer with one argument",
            f"{FIRST} → self.around_self_attention({INNER}, x)": "around_self_attention gets x first, then",
            f"{SECOND} → self.around_feed_forward(self.feed_forward, x)": "around_feed_forward gets x first, then",
            f"{FIRST} → self.around_self_attention(x, x)": "around_self_attention gets a tensor in the place of a",
            f"{FIRST} → self.around_self_attention(x, self.self_attention(x, x, x, mask))": "around_self_attention gets a tensor in the place of a",
            f"{SECOND} → self.around_feed_forward(x, self.feed_forward(x))": "around_feed_forward gets a tensor in the place of a",
            f"{BOTH} → n = self.around_self_attention.norm(x); x = x + self.self_attention(n, n, n, mask); return x + self.feed_forward(self.around_feed_forward.norm(x))": "self.around_self_attention is never called;",
            f"{BOTH} → x = x + self.around_self_attention.norm(self.self_attention(x, x, x, mask)); return x + self.around_feed_forward.norm(self.feed_forward(x))": "self.around_self_attention is never called;",
            f"{BOTH} → a, f = self.around_self_attention, self.around_feed_forward\n        x = a.norm(x + self.self_attention(x, x, x, mask))\n        return f.norm(x + self.feed_forward(x))": "self.around_self_attention is never called;",
            f"x = {FIRST} → x = {FIRST}; x = {FIRST}": "self.around_self_attention is called 2",
            f"{FIRST} → self.around_self_attention.norm(x + self.around_self_attention.dropout(self.self_attention(x, x, x, mask)))": "self.around_self_attention is never called;",
            f"{BOTH} → a, f = self.around_self_attention, self.around_feed_forward\n        x = a.norm(x + a.dropout(self.self_attention(x, x, x, mask)))\n        return f.norm(x + f.dropout(self.feed_forward(x)))": "self.around_self_attention is never called;",
            "AddAndNorm(d_model, dropout) → AddAndNorm(d_model)": "dropout does not arrive: both",
            "self.around_feed_forward = AddAndNorm(d_model, dropout) → self.around_feed_forward = self.around_self_attention": "around_self_attention and",
            "self.around_feed_forward = AddAndNorm(d_model, dropout) → self.around_feed_forward = AddAndNorm(d_model)": "dropout does not arrive: both",
            "AddAndNorm(d_model, dropout) → nn.LayerNorm(d_model) && x = self.around → y = x; x = self.around && (x, lambda → ((lambda && y, y, y, mask)) → y, y, y, mask))(x) + x)": "dropout does not arrive: both",
            "self_attention → attention": "__init__ must set self.self_attention to a",
            "self.feed_forward → self.ffn": "__init__ must set self.feed_forward to a",
            "around_feed_forward → norm_2": "__init__ must set self.around_feed_forward",
            "MultiHeadAttention(d_model, num_heads) → MultiHeadAttention(d_model, 1)": "Every part is called as it should be, but",
            "MultiHeadAttention(d_model, num_heads) → MultiHeadAttention(num_heads, d_model)": "self_attention.query_projection.weight has",
            "FeedForward(d_model, d_ff) → FeedForward(d_ff, d_model)": "feed_forward.widen.weight has the shape (6,",
            "FeedForward(d_model, d_ff) → nn.Linear(d_model, d_model)": "Your layer has no",
            f"{INNER} → lambda _: self.self_attention(x, x, x, mask)": "as for the query, key, value of self_attention",
            f"{SECOND} → self.around_feed_forward(x, lambda y: self.feed_forward(x))": "as for the input of feed_forward",
            f"x = {FIRST} → attended = self.self_attention(x, x, x, mask)\n        x = self.around_self_attention(x, lambda y: attended)": "The function that around_self_attention",
            f"{INNER} → lambda y: y + self.self_attention(y, y, y, mask)": "adds its argument; around_self_attention adds it, too.",
            f"{SECOND} → self.around_feed_forward(x, lambda y: self.feed_forward(y).relu())": "must return what feed_forward returns",
            "mask=None → mask": "Your answer could not be used: its",
            "y, y, y, mask) → y, x, x, mask)": "as for the key, value of self_attention",
            "y, y, y, mask) → x, y, y, mask)": "as for the query of self_attention",
            "y, mask) → y, ~mask if mask is not None else None)": "self_attention gets ~mask as its",
            "super().__init__() → pass": "Begin __init__ with super().__init__().",
            "self.feed_forward = FeedForward(d_model, d_ff) → pass": "__init__ must set self.feed_forward to a",
        },
    ),
    "7.2": Answers(
        STACK,
        right=[
            f"{HELD} → nn.ModuleList(EncoderLayer(*sizes) for _ in range(num_layers))",
            f"{HELD} → nn.ModuleList(); [self.layers.append(EncoderLayer(*sizes)) for _ in range(num_layers)]",
            f"{HELD} → nn.ModuleList(); self.layers.extend([EncoderLayer(*sizes) for _ in range(num_layers)])",
            f"{HELD} → nn.ModuleList(map(lambda _: EncoderLayer(*sizes), range(num_layers)))",
            f"{HELD} → nn.Sequential(*[EncoderLayer(*sizes) for _ in range(num_layers)])",
            f"self.layers = {HELD} → import copy\n        self.layers = nn.ModuleList(copy.deepcopy(l) for l in [EncoderLayer(*sizes)] * num_layers)",
            f"self.layers = {HELD} → layers = []\n        for _ in range(num_layers):\n            layers.append(EncoderLayer(*sizes))\n        self.layers = nn.ModuleList(layers)",
            f"self.layers = {HELD} → n = num_layers\n        self.layers = nn.ModuleList()\n        while len(self.layers) < n:\n            self.layers.append(EncoderLayer(*sizes))",
            "*sizes): → d_model, num_heads, d_ff, dropout=0.1): && (*sizes) → (d_model, num_heads, d_ff, dropout)",
            "*sizes) → *args, **kw) && EncoderLayer(*args, **kw) → EncoderLayer(*args, **kw)",
            "num_layers → n && *sizes → *rest",
            f"{RUN} →         for i in range(len(self.layers)):\n            x = self.layers[i](x, mask)\n        return x",
            f"{RUN} →         for layer in self.layers:\n            x = layer(x, mask=mask)\n        return x",
            f"{RUN} →         for _, layer in enumerate(self.layers):\n            x = layer.forward(x, mask)\n        return x",
            f"{RUN} →         import functools\n        return functools.reduce(lambda y, layer: layer(y, mask), self.layers, x)",
            f"{RUN} →         h = x\n        for layer in self.layers:\n            h = layer(h, mask)\n        return h",
            f"{RUN} →         for layer in self.layers.children():\n            x = layer(x, mask)\n        return x",
            f"{RUN} →         def go(x, layers):\n            return go(layers[0](x, mask), layers[1:]) if layers else x\n        return go(x, list(self.layers))",
            f"{RUN} →         outputs = [x]\n        for layer in self.layers:\n            outputs.append(layer(outputs[-1], mask))\n        return outputs[-1]",
            f"{RUN} →         i = 0\n        while i < len(self.layers):\n            x, i = self.layers[i](x, mask), i + 1\n        return x",
            "mask=None → allowed=None && (x, mask) → (x, allowed)",
        ],
        wrong={
            "        for layer →         x = self.drop(x)\n        for layer && super().__init__() → super().__init__(); self.drop = nn.Dropout(sizes[3])": "Numbers are dropped twice",
            "super().__init__() → super().__init__(); self.norm = nn.LayerNorm(sizes[0])": "no weights but its layers'; yours has norm.weight",
            f"{HELD} → [EncoderLayer(*sizes) for _ in range(num_layers)]": "PyTorch does not look into Python lists:",
            f"{HELD} → tuple(EncoderLayer(*sizes) for _ in range(num_layers))": "PyTorch does not look into Python lists:",
            f"{HELD} → nn.ModuleList([EncoderLayer(*sizes)] * num_layers)": "Two entries are the same layer, with the",
            f"{HELD} → nn.ModuleList([EncoderLayer(*sizes)])": "There must be 4 layers; yours has 1.",
            f"{HELD} → nn.ModuleList([EncoderLayer(*sizes) for _ in range(num_layers - 1)])": "There must be 4 layers; yours has 3.",
            f"{HELD} → nn.ModuleList([EncoderLayer(*sizes) for _ in range(6)])": "There must be 4 layers; yours has 6.",
            f"{HELD} → EncoderLayer(*sizes)": "__init__ must set self.layers to an",
            f"{HELD} → nn.ModuleDict({{str(i): EncoderLayer(*sizes) for i in range(num_layers)}})": "__init__ must set self.layers to an",
            f"{HELD} → nn.ModuleList([EncoderLayer for _ in range(num_layers)])": "Python stops at `self.layers = nn.ModuleList(",
            "EncoderLayer(*sizes) → EncoderLayer(*sizes[:3])": "dropout does not arrive: both",
            "EncoderLayer(*sizes) → EncoderLayer(sizes)": "Python stops at `self.layers = nn.ModuleList(",
            "EncoderLayer(*sizes) → FeedForward(sizes[0], sizes[2])": "dropout does not arrive: both",
            "self.layers → self.blocks": "__init__ must set self.layers to an",
            "layer(x, mask) → layer(x)": "Layer 1 gets nothing in the place of mask.",
            "            x = layer(x, mask) →             out = layer(x, mask) && return x → return out": "Layer 2 must get what layer 1 returns; not",
            "x = layer(x, mask)\n        return x → x = layer(x, mask)\n            return x": "Each layer must run once, in order; yours",
            "x = layer(x, mask) → layer(x, mask)": "Layer 2 must get what layer 1 returns; not",
            "x = layer(x, mask) → x = x + layer(x, mask)": "Layer 2 must get what layer 1 returns, unchanged.",
            "in self.layers → in reversed(self.layers)": "Each layer must run once, in order; yours",
            "in self.layers → in []": "forward runs none of self.layers",
            "in self.layers → in self.layers[1:]": "Each layer must run once, in order; yours",
            "in self.layers → in self.layers[:-1]": "Each layer must run once, in order; yours",
            "in self.layers → in [self.layers[0]] * len(self.layers)": "Each layer must run once, in order; yours",
            f"{RUN} →         return self.layers(x)": "Python stops at `return self.layers(x)`: NotI",
            f"{RUN} →         return [layer(x, mask) for layer in self.layers]": "Layer 2 must get what layer 1 returns; not",
            f"{RUN} →         return sum(layer(x, mask) for layer in self.layers)": "Layer 2 must get what layer 1 returns; not",
            f"{RUN} →         return self.layers[0](x, mask)": "Each layer must run once, in order; yours",
            f"{RUN} →         for layer in self.layers:\n            x = layer(x, mask)": "Your function returns nothing",
            "mask=None → mask": "Your answer could not be used: its",
            "return x → return F.layer_norm(2 * x + 1, x.shape[-1:]) * 2": "forward must return what the last layer",
            "super().__init__() → pass": "Begin __init__ with super().__init__().",
            "in self.layers → in [*self.layers, *self.layers]": "Each layer must run once, in order; yours",
        },
    ),
    "7.3": Answers(
        "5",
        right=[
            "5.0",
            "torch.tensor(5)",
            "math.ceil(9 / 2)",
            "-(-9 // 2)",
            "next(n for n in range(99) if 1 + 2 * n >= 10)",
        ],
        wrong={
            "1": "One layer is enough only when every word",
            "9": "That would be right for one neighbor to",
            "10": "Count steps, not words: from word 1 to word",
            "4": "How far do four layers reach? Word 1",
            "4.5": "The answer is a whole number; yours is 4.5.",
            "2": "Count the steps from word 1 to word 10;",
            "3": "Count the steps from word 1 to word 10;",
            "6": "Count the steps from word 1 to word 10;",
            "18": "Count the steps from word 1 to word 10;",
            "'5'": "The answer is a whole number; yours is '5'.",
            "-5": "Count the steps from word 1 to word 10;",
        },
    ),
    "7.4": Answers(
        COUNT,
        right=[
            "used += not torch.allclose(encoder(x), before) → used += int((encoder(x) - before).abs().max() > 1e-6)",
            "encoder.layers = nn.ModuleList([*layers[:index], *layers[index + 1 :]]) → encoder.layers = nn.ModuleList([l for i, l in enumerate(layers) if i != index])",
            """
def count_used_layers(encoder, x):
    used, whole = 0, encoder(x)
    for index in range(len(encoder.layers)):
        smaller = copy.deepcopy(encoder)
        del smaller.layers[index]
        used += not torch.allclose(smaller(x), whole)
    return used
""",
            """
def count_used_layers(encoder, x):
    whole = encoder(x)
    used = 0
    for index, layer in enumerate(list(encoder.layers)):
        encoder.layers.pop(index)
        used += int(not torch.allclose(encoder(x), whole))
        encoder.layers.insert(index, layer)
    return used
""",
            """
@torch.no_grad()
def count_used_layers(encoder, x):
    def without(index):
        class Skip(nn.Module):
            def forward(self, x, *mask):
                return x
        layer, encoder.layers[index] = encoder.layers[index], Skip()
        output = encoder(x)
        encoder.layers[index] = layer
        return output
    whole = encoder(x)
    return sum(not torch.equal(without(index), whole) for index in range(len(encoder.layers)))
""",
        ],
        wrong={
            "return used → return len(layers)": "For an encoder of 4 layers whose every",
            "    encoder.layers = layers\n → ": "Your test leaves the encoder changed: put",
            "+= not torch → += torch": "In a healthy encoder all 4 layers count;",
            "return used → return 1": "In a healthy encoder all 4 layers count;",
            "return used → return used > 0": "The answer is a whole number; yours is True.",
            "    return used → ": "Your function returns nothing",
            "in range(len(layers)) → in range(1, len(layers))": "In a healthy encoder all 4 layers count;",
            "*layers[:index], *layers[index + 1 :] → *layers[:index]": "Leave out a single layer, and compare",
            "*layers[:index], *layers[index + 1 :] → *layers[index + 1 :]": "Leave out a single layer, and compare",
            "*layers[:index], *layers[index + 1 :] → *encoder.layers[1:]": "Leave out a single layer, and compare",
            "*layers[:index], *layers[index + 1 :] → *encoder.layers[1:] &&     encoder.layers = layers\n → ": "Your test leaves the encoder changed: put",
            "*layers[:index], *layers[index + 1 :] → layers[index]": "For an encoder of 4 layers whose every",
            "encoder.layers = nn.ModuleList([*layers[:index], *layers[index + 1 :]]) → del encoder.layers[index]": "Python stops at `del encoder.layers[index]`: ",
            "return used → return sum(p.requires_grad for p in encoder.parameters())": "In a healthy encoder all 4 layers count;",
            "nn.ModuleList([*layers[:index], *layers[index + 1 :]]) → [*layers[:index], *layers[index + 1 :]]": "Python stops at `encoder.layers = [*layers[:i",
            CALLS: "or their calls, do not show",
            "return used → return [used]": "The answer is a whole number; yours is [4].",
            "encoder.layers = nn.ModuleList([*layers[:index], *layers[index + 1 :]]) → for p in layers[index].parameters(): p.data.zero_()": "Your test leaves the encoder changed: put",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS
)
