"""Lesson 08: right answers of many kinds are accepted, and each mistake is named."""

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.decoder import checks

LAYER = """
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.around_self_attention = AddAndNorm(d_model, dropout)
        self.around_cross_attention = AddAndNorm(d_model, dropout)
        self.around_feed_forward = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, target_mask=None, source_mask=None):
        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, target_mask))
        x = self.around_cross_attention(x, lambda y: self.cross_attention(y, memory, memory, source_mask))
        return self.around_feed_forward(x, self.feed_forward)
"""
INHERITED = """
class DecoderLayer(EncoderLayer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.around_cross_attention = AddAndNorm(d_model, dropout)
"""
FORWARD = LAYER.split("dropout)\n\n")[-1]
FIRST = "x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, target_mask))"
SECOND = "x = self.around_cross_attention(x, lambda y: self.cross_attention(y, memory, memory, source_mask))"
THIRD = "self.around_feed_forward(x, self.feed_forward)"
SELF = "lambda y: self.self_attention(y, y, y, target_mask)"
CROSS = "lambda y: self.cross_attention(y, memory, memory, source_mask)"
THREE = f"{FIRST}\n        {SECOND}\n        return {THIRD}"
STACK = """
class Decoder(nn.Module):
    def __init__(self, num_layers, *sizes):
        super().__init__()
        self.layers = nn.ModuleList([DecoderLayer(*sizes) for _ in range(num_layers)])

    def forward(self, x, memory, target_mask=None, source_mask=None):
        for layer in self.layers:
            x = layer(x, memory, target_mask, source_mask)
        return x
"""
HELD = "nn.ModuleList([DecoderLayer(*sizes) for _ in range(num_layers)])"
RUN = "        for layer in self.layers:\n            x = layer(x, memory, target_mask, source_mask)\n        return x"
CALL = "layer(x, memory, target_mask, source_mask)"
SHIFT = """
def shift(target, start_id, end_id):
    return [start_id, *target], [*target, end_id]
"""
PAIR = "[start_id, *target], [*target, end_id]"
ANSWERS = {
    "8.2": Answers(
        LAYER,
        right=[
            f"{INHERITED}\n{FORWARD}",
            f"{SELF} → lambda y, m=target_mask: self.self_attention(y, y, y, m)",
            "self.self_attention = MultiHeadAttention(d_model, num_heads)\n        self.cross_attention = MultiHeadAttention(d_model, num_heads) → for name in ('self', 'cross'):\n            setattr(self, f'{name}_attention', MultiHeadAttention(d_model, num_heads))",
            f"{THREE} → def attend(attention, memory, mask):\n            return lambda y: attention(y, y if memory is None else memory, y if memory is None else memory, mask)\n        x = self.around_self_attention(x, attend(self.self_attention, None, target_mask))\n        x = self.around_cross_attention(x, attend(self.cross_attention, memory, source_mask))\n        return {THIRD}",
            "        self.cross_attention = MultiHeadAttention(d_model, num_heads)\n →  && self.feed_forward = F → self.cross_attention = MultiHeadAttention(d_model, num_heads); self.feed_forward = F",
            f"{THIRD} → self.around_feed_forward(x, lambda y: self.feed_forward(y))",
            f"{SELF} → lambda z: self.self_attention(z, z, z, mask=target_mask)",
            f"{CROSS} → lambda z: self.cross_attention(z, memory, memory, mask=source_mask)",
            f"{CROSS} → lambda z: self.cross_attention(query=z, key=memory, value=memory, mask=source_mask)",
            f"{SELF} → lambda y: self.self_attention(*[y] * 3, target_mask)",
            f"{THREE} → y = {FIRST[4:]}\n        z = {SECOND[4:].replace('(x, ', '(y, ')}\n        return {THIRD.replace('(x', '(z')}",
            f"{THREE} → return self.around_feed_forward(self.around_cross_attention({FIRST[4:]}, {CROSS}), self.feed_forward)",
            f"{FIRST} → def look(y):\n            return self.self_attention(y, y, y, target_mask)\n        x = self.around_self_attention(x, look)",
            f"{SECOND} → def look(y):\n            return self.cross_attention(y, memory, memory, source_mask)\n        x = self.around_cross_attention(x, look)",
            f"{SECOND} → x = self.look(x, memory, source_mask) && def forward → def look(self, x, memory, source_mask):\n        return {SECOND[4:]}\n\n    def forward",
            "x, memory, target_mask=None, source_mask=None → x, memory, t=None, s=None && target_mask → t && source_mask → s",
            "self, x, memory → self, x, m && memory, memory → m, m",
            "MultiHeadAttention(d_model, num_heads) → MultiHeadAttention(d_model=d_model, num_heads=num_heads)",
            "d_model → width && num_heads → heads && d_ff → wide",
            f"{THREE} → for around, f in [(self.around_self_attention, {SELF}), (self.around_cross_attention, {CROSS}), (self.around_feed_forward, self.feed_forward)]:\n            x = around(x, f)\n        return x",
            "AddAndNorm(d_model, dropout) → AddAndNorm(d_model, dropout=dropout) && cross_attention = MultiHeadAttention(d_model, num_heads) → cross_attention = MultiHeadAttention(num_heads=num_heads, d_model=d_model)",
        ],
        wrong={
            f"{THIRD} → self.around_feed_forward(x, lambda y: self.drop(self.feed_forward(y))) && super().__init__() → super().__init__(); self.drop = nn.Dropout(dropout)": "Numbers are dropped twice",
            f"        {FIRST} →         memory = memory.detach()\n        {FIRST}": "The gradient is not that of your output",
            f"        {FIRST} →         memory *= 1.5\n        {FIRST}": "as its key",
            f"        {SECOND}\n → ": "self.around_cross_attention is never",
            f"{FIRST} → pass": "self.around_self_attention is never called;",
            f"return {THIRD} → return x": "self.around_feed_forward is never called;",
            f"return {THIRD} → {THIRD}": "Your function returns nothing",
            "y, y, y, target_mask) → y, y, y)": "self_attention gets nothing as its mask.",
            "memory, memory, source_mask) → memory, memory)": "cross_attention gets nothing as its mask.",
            "y, y, y, target_mask) → y, y, y, source_mask) && memory, memory, source_mask) → memory, memory, target_mask)": "self_attention gets source_mask as its mask.",
            "y, y, y, target_mask) → y, y, y, source_mask)": "self_attention gets source_mask as its mask.",
            "memory, memory, source_mask) → memory, memory, target_mask)": "cross_attention gets target_mask as its",
            "self.cross_attention(y, → self.cross_attention(x,": "as for the query of cross_attention",
            "y, memory, memory → memory, y, y": "cross_attention gets memory as its query.",
            "y, memory, memory → y, y, y": "cross_attention gets what around_self_attention returns as its",
            "y, memory, memory → y, memory, y": "cross_attention gets what around_self_attention returns as its",
            "y, memory, memory → y, y, memory": "cross_attention gets what around_self_attention returns as its",
            "self.cross_attention(y, → self.self_attention(y,": "self.self_attention is called 2 times; the",
            f"{FIRST}\n        {SECOND} → {SECOND}\n        {FIRST}": "run in the order cross_attention, self_attention, feed_forward. The paper's",
            f"{SECOND}\n        return {THIRD} → {FIRST[:0]}x = {THIRD}\n        return {SECOND[4:]}": "run in the order self_attention, feed_forward, cross_attention. The paper's",
            f"{SECOND} → {SECOND.replace('_cross_attention(x', '_feed_forward(x')} && return {THIRD} → return self.around_cross_attention(x, self.feed_forward)": "Each belongs around the sub-layer of its name.",
            f"{FIRST} → x = self.around_self_attention({SELF}, x)": "around_self_attention gets x first, then",
            f"{SECOND} → x = self.around_cross_attention({CROSS}, x)": "around_cross_attention gets x first, then",
            f"{THIRD} → self.around_feed_forward(self.feed_forward, x)": "around_feed_forward gets x first, then",
            "self.around_cross_attention(x → self.around_self_attention(x": "self.around_self_attention is called 2",
            f"{THREE} → x = self.self_attention(x, x, x, target_mask)\n        x = self.cross_attention(x, memory, memory, source_mask)\n        return self.feed_forward(x)": "self.around_self_attention is never called;",
            f"{SECOND} → x = self.cross_attention(x, memory, memory, source_mask)": "self.around_cross_attention is never",
            f"{SECOND} → x = x + self.cross_attention(x, memory, memory, source_mask)": "self.around_cross_attention is never",
            f"{SECOND} → y = {SECOND[4:]}": "around_feed_forward must get what",
            "self.around_cross_attention = AddAndNorm(d_model, dropout) → self.around_cross_attention = AddAndNorm(d_model)": "dropout does not arrive: all three",
            "AddAndNorm(d_model, dropout) → AddAndNorm(d_model)": "dropout does not arrive: all three",
            "self.around_cross_attention = AddAndNorm(d_model, dropout) → self.around_cross_attention = self.around_self_attention": "around_self_attention and",
            "self.cross_attention = MultiHeadAttention(d_model, num_heads) → self.cross_attention = self.self_attention": "self_attention and cross_attention are the",
            f"{SECOND} → a = self.around_cross_attention\n        x = a.norm(x + a.dropout(self.cross_attention(x, memory, memory, source_mask)))": "self.around_cross_attention is never",
            f"{CROSS} → lambda _: self.cross_attention(x, memory, memory, source_mask)": "The function that around_cross_attention",
            f"{FIRST} → attended = self.self_attention(x, x, x, target_mask)\n        x = self.around_self_attention(x, lambda y: attended)": "The function that around_self_attention",
            f"{CROSS} → lambda y: y + self.cross_attention(y, memory, memory, source_mask)": "adds its argument; around_cross_attention adds it, too.",
            "cross_attention → memory_attention": "__init__ must set self.cross_attention",
            "MultiHeadAttention(d_model, num_heads) → MultiHeadAttention(d_model, 1)": "Every part is called as it should be, but",
            f"{SECOND} → memory = self.around_cross_attention(memory, lambda y: self.cross_attention(y, x, x))": "around_cross_attention must get what",
            "x, memory, target_mask=None, source_mask=None → x, memory, source_mask=None, target_mask=None": "self_attention gets source_mask as its mask.",
            "target_mask=None, source_mask=None → target_mask, source_mask": "Your answer could not be used: its",
            "class DecoderLayer(nn.Module) → class DecoderLayer(EncoderLayer)": "Python stops at `super().__init__()`: TypeErr",
            f"{SECOND} → x = self.around_cross_attention(x, self.cross_attention)": "around_cross_attention calls its sub-layer with one",
            "x, memory, target_mask → memory, x, target_mask": "around_self_attention must get x, and gets",
        },
    ),
    "8.3": Answers(
        STACK,
        right=[
            f"{HELD} → nn.ModuleList(DecoderLayer(*sizes) for _ in range(num_layers))",
            f"{HELD} → nn.ModuleList(); [self.layers.append(DecoderLayer(*sizes)) for _ in range(num_layers)]",
            f"{HELD} → nn.ModuleList(); self.layers.extend([DecoderLayer(*sizes) for _ in range(num_layers)])",
            f"{HELD} → nn.ModuleList(map(lambda _: DecoderLayer(*sizes), range(num_layers)))",
            f"{HELD} → nn.Sequential(*[DecoderLayer(*sizes) for _ in range(num_layers)])",
            f"self.layers = {HELD} → import copy\n        self.layers = nn.ModuleList(copy.deepcopy(l) for l in [DecoderLayer(*sizes)] * num_layers)",
            f"self.layers = {HELD} → layers = []\n        for _ in range(num_layers):\n            layers.append(DecoderLayer(*sizes))\n        self.layers = nn.ModuleList(layers)",
            "*sizes): → d_model, num_heads, d_ff, dropout=0.1): && (*sizes) → (d_model, num_heads, d_ff, dropout)",
            "*sizes) → *args, **kw)",
            "num_layers → n && *sizes → *rest",
            f"{CALL} → layer(x, memory, target_mask=target_mask, source_mask=source_mask)",
            f"{CALL} → layer(x, memory, source_mask=source_mask, target_mask=target_mask)",
            f"{CALL} → layer(x=x, memory=memory, target_mask=target_mask, source_mask=source_mask)",
            f"{CALL} → layer.forward(x, memory, target_mask, source_mask)",
            f"{CALL} → layer(x, *rest) && x, memory, target_mask=None, source_mask=None → x, *rest",
            f"{RUN} →         for i in range(len(self.layers)):\n            x = self.layers[i](x, memory, target_mask, source_mask)\n        return x",
            f"{RUN} →         import functools\n        return functools.reduce(lambda y, layer: layer(y, memory, target_mask, source_mask), self.layers, x)",
            f"{RUN} →         h = x\n        for layer in self.layers:\n            h = layer(h, memory, target_mask, source_mask)\n        return h",
            f"{RUN} →         states = [x]\n        for layer in self.layers:\n            states.append(layer(states[-1], memory, target_mask, source_mask))\n        return states[-1]",
            "x, memory, target_mask=None, source_mask=None → x, m, t=None, s=None && memory, target_mask, source_mask → m, t, s",
            f"{RUN} →         for layer in self.layers.children():\n            x = {CALL}\n        return x",
        ],
        wrong={
            f"{CALL} → layer(x, memory.detach(), target_mask, source_mask)": "The gradient is not that of your output",
            "super().__init__() → super().__init__(); self.norm = nn.LayerNorm(sizes[0])": "no weights but its layers'; yours has norm.weight",
            f"{HELD} → [DecoderLayer(*sizes) for _ in range(num_layers)]": "PyTorch does not look into Python lists:",
            f"{HELD} → nn.ModuleList([DecoderLayer(*sizes)] * num_layers)": "Two entries are the same layer, with the",
            f"{HELD} → nn.ModuleList([DecoderLayer(*sizes)])": "There must be 7 layers; yours has 1.",
            f"{HELD} → nn.ModuleList([DecoderLayer(*sizes) for _ in range(num_layers + 1)])": "There must be 7 layers; yours has 8.",
            f"{HELD} → DecoderLayer(*sizes)": "__init__ must set self.layers to an",
            f"{HELD} → nn.ModuleList([EncoderLayer(*sizes) for _ in range(num_layers)])": "Your layer has no",
            "DecoderLayer(*sizes) → DecoderLayer(*sizes[:3])": "dropout does not arrive: all layers need it.",
            "DecoderLayer(*sizes) → DecoderLayer(sizes)": "Python stops at `self.layers = nn.ModuleList(",
            "self.layers → self.blocks": "__init__ must set self.layers to an",
            f"{CALL} → layer(x, memory, target_mask)": "Layer 1 gets nothing in the place of",
            f"{CALL} → layer(x, memory, None, source_mask)": "Layer 1 gets nothing in the place of",
            f"{CALL} → layer(x, memory)": "Layer 1 gets nothing in the place of",
            f"{CALL} → layer(x, memory, source_mask, target_mask)": "Layer 1 gets source_mask in the place of",
            f"{CALL} → layer(memory, x, target_mask, source_mask)": "Layer 1 must get x; not memory.",
            f"{CALL} → layer(x, x, target_mask, target_mask)": "Layer 1 gets x in the place of",
            f"x = {CALL} → x = memory = {CALL}": "Layer 2 gets something else in the place of",
            f"x = {CALL} → memory = {CALL}": "Layer 2 must get what layer 1 returns; not",
            f"x = {CALL} → {CALL}": "Layer 2 must get what layer 1 returns; not",
            f"x = {CALL} → x = x + {CALL}": "Layer 2 must get what layer 1 returns, unchanged.",
            f"x = {CALL} → out = {CALL} && return x → return out": "Layer 2 must get what layer 1 returns; not",
            f"x = {CALL}\n        return x → x = {CALL}\n            return x": "Each layer must run once, in order; yours",
            "in self.layers → in reversed(self.layers)": "Each layer must run once, in order; yours",
            "in self.layers → in self.layers[1:]": "Each layer must run once, in order; yours",
            "in self.layers → in self.layers[:-1]": "Each layer must run once, in order; yours",
            "in self.layers → in [*self.layers, *self.layers]": "Each layer must run once, in order; yours",
            "return x → return memory": "forward must return what the last layer",
            f"{RUN} →         return [{CALL} for layer in self.layers]": "Layer 2 must get what layer 1 returns; not",
            f"{RUN} →         return self.layers(x, memory, target_mask, source_mask)": "Python stops at `return self.layers(x, memory",
            "        return x → ": "Your function returns nothing",
            "target_mask=None, source_mask=None → target_mask, source_mask": "Your answer could not be used: its",
            "x, memory, target_mask=None, source_mask=None → x, memory, source_mask=None, target_mask=None": "Layer 1 gets source_mask in the place of",
            "super().__init__() → pass": "Begin __init__ with super().__init__().",
        },
    ),
    "8.4": Answers(
        "(2, 8, 7, 10)",
        right=[
            "[2, 8, 7, 10]",
            "torch.Size([2, 8, 7, 10])",
            "torch.zeros(2, 8, 7, 10).shape",
            "tuple([2, 8, 7, 10])",
            "torch.tensor([2, 8, 7, 10])",
        ],
        wrong={
            "(2, 8, 10, 7)": "Rows are queries, and the queries come from",
            "(2, 8, 7, 7)": "That is the decoder's self-attention: the",
            "(2, 8, 10, 10)": "That is the encoder's self-attention: the",
            "(8, 2, 7, 10)": "Right numbers; the batch comes first.",
            "(2, 7, 10)": "The answer is a tuple of four numbers:",
            "(2, 7, 8, 10)": "Right numbers; heads come before the two",
            "(2, 8, 6, 10)": "The decoder reads <s>, too",
            "(2, 8, 8, 10)": "The decoder reads 7 positions: <s> is one",
            "(2, 1, 7, 10)": "How long is each axis",
            "(2, 7, 10, 8)": "How long is each axis",
            "1120": "The answer is a tuple of four numbers:",
            "(2, 8, 7, 64)": "How long is each axis",
            "'2, 8, 7, 10'": "The answer is a tuple of four numbers:",
        },
    ),
    "8.1": Answers(
        SHIFT,
        right=[
            f"{PAIR} → [start_id] + target, target + [end_id]",
            f"{PAIR} → [[start_id, *target], [*target, end_id]]",
            f"return {PAIR} → full = [start_id, *target, end_id]; return full[:-1], full[1:]",
            f"return {PAIR} → inputs = list(target); inputs.insert(0, start_id); labels = list(target); labels.append(end_id); return inputs, labels",
            f"{PAIR} → ((start_id, *target), (*target, end_id))",
            f"{PAIR} → (torch.tensor([start_id, *target]), torch.tensor([*target, end_id]))",
        ],
        wrong={
            f"{PAIR} → [*target, end_id], [*target, end_id]": "Both are the same: the decoder would read",
            f"{PAIR} → [start_id, *target], [start_id, *target]": "Both are the same: the decoder would read",
            f"{PAIR} → [*target, end_id], [start_id, *target]": "The two are swapped: first the decoder",
            f"{PAIR} → [start_id, *target, end_id], [*target, end_id]": "Every input position has one label: both",
            f"{PAIR} → [start_id, *target], target": "both lists must have the same length. Yours have 4 and 3.",
            f"{PAIR} → target, [*target, end_id]": "Every input position has one label: both",
            f"{PAIR} → [start_id, *target[:-1]], target": "The end token must be a label, otherwise",
            f"{PAIR} → [start_id, *target[:-1]], [*target[1:], end_id]": "make 4 labels; you give 3",
            f"{PAIR} → [end_id, *target], [*target, end_id]": "The first prediction comes before any word:",
            f"{PAIR} → [start_id, *target], [*target, start_id]": "The end token must be a label, otherwise",
            f"{PAIR} → [start_id, *target, end_id], [start_id, *target, end_id]": "Both are the same: the decoder would read",
            f"{PAIR} → [start_id, target], [target, end_id]": "A list stands inside a list: [1, [7, 8, 9]].",
            f"{PAIR} → [start_id, *target]": "Return two lists: the decoder input and the",
            f"{PAIR} → target[:-1], target[1:]": "The end token must be a label, otherwise",
            f"return {PAIR} → target.insert(0, start_id); return target, [*target[1:], end_id]": "Your code changes the list that it",
            f"return {PAIR} → {PAIR}": "Your function returns nothing",
            f"german = [4, 5]{SHIFT.replace('target]', 'german]').replace('[*target', '[*german')}": "takes german from the notebook around it, where it is a list",
            f"{PAIR} → [1, *target], [*target, 2]": "Right for ids 1 and 2 only: use start_id",
            f"{PAIR} → [start_id, *reversed(target)], [*target, end_id]": "For the target [7, 8, 9] you give [1, 9, 8,",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS
)
