"""Lesson 08: right answers pass, and each usual wrong answer is named."""

import pytest
import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.decoder import checks as lesson_08
from transformer_course.decoder.checks import check_shift
from transformer_course.our_transformer import (
    Decoder,
    DecoderLayer,
    EncoderLayer,
    MultiHeadAttention,
)
from transformer_edu.model.special_ids import END_ID, START_ID

CHECKS = checks_of(lesson_08)


def layer(forward, base=DecoderLayer):
    """A class like the reader's, with this method forward(self, x, memory, its two masks)."""

    class Answer(base):
        def forward(self, x, memory, target_mask=None, source_mask=None):
            return forward(self, x, memory, target_mask, source_mask)

    return Answer


def attended(self, x, mask=None):
    return self.around_self_attention(x, lambda y: self.self_attention(y, y, y, mask))


def crossed(self, x, memory, mask=None):
    return self.around_cross_attention(x, lambda y: self.cross_attention(y, memory, memory, mask))


def fed(self, x):
    return self.around_feed_forward(x, self.feed_forward)


def whole(self, x, memory, target_mask, source_mask):
    return fed(self, crossed(self, attended(self, x, target_mask), memory, source_mask))


class OneNorm(DecoderLayer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.around_cross_attention = self.around_self_attention


class NoDropout(DecoderLayer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff)


class OtherNames(DecoderLayer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.cross_attention = nn.Module()
        self.cross_attention.across = MultiHeadAttention(*sizes[:2])

    def forward(self, x, memory, target_mask=None, source_mask=None):
        return x


def stack(forward):
    """A class like the reader's Decoder, with this method forward."""
    return layer(forward, base=Decoder)


def holding(hold):
    """A class like the reader's Decoder that holds its layers so; hold(num_layers, *sizes)."""

    class Answer(nn.Module):
        def __init__(self, num_layers, *sizes):
            super().__init__()
            self.layers = hold(num_layers, *sizes)

        def forward(self, x, memory, target_mask=None, source_mask=None):
            for each in self.layers:
                x = each(x, memory, target_mask, source_mask)
            return x

    return Answer


def through(self, x, memory, *masks):
    for each in self.layers:
        x = each(x, memory, *masks)
    return x


def last_counts(self, x, memory, *masks):
    for each in self.layers:
        out = each(x, memory, *masks)
    return out


def memory_is_replaced(self, x, memory, *masks):
    for each in self.layers:
        x = memory = each(x, memory, *masks)
    return x


def shift(target, start_id, end_id):
    return [start_id, *target], [*target, end_id]


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("8.1", DecoderLayer),
        ("8.1", layer(whole)),
        ("8.2", Decoder),
        ("8.2", stack(through)),
        ("8.3", (2, 8, 7, 10)),
        ("8.3", [2, 8, 7, 10]),
        ("8.3", torch.Size([2, 8, 7, 10])),
        ("8.4", shift),
        ("8.4", lambda t, s, e: (torch.tensor([s, *t]), torch.tensor([*t, e]))),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("8.1", DecoderLayer(6, 3, 8), "class DecoderLayer itself"),
        ("8.1", layer(whole, base=EncoderLayer), "set self.cross_attention"),
        ("8.1", OneNorm, "each sub-layer needs its own"),
        ("8.1", OtherNames, "no cross_attention.query_projection.weight"),
        ("8.1", NoDropout, "dropout does not arrive"),
        (
            "8.1",
            layer(
                lambda self, x, m, t, s: fed(
                    self,
                    self.around_cross_attention(
                        attended(self, x, t), lambda y: self.cross_attention(m, y, y)
                    ),
                )
            ),
            "shapes do not fit.*queries come from the target",
        ),
        (
            "8.1",
            layer(lambda self, x, m, t, s: self.cross_attention(m, x, x)),
            "as long as the source",
        ),
        (
            "8.1",
            layer(lambda self, x, m, t, s: fed(self, attended(self, x, t))),
            "cross-attention does not arrive",
        ),
        (
            "8.1",
            layer(
                lambda self, x, m, t, s: fed(
                    self,
                    self.around_cross_attention(
                        attended(self, x, t), lambda y: self.cross_attention(y, y, y)
                    ),
                )
            ),
            "attends to the target",
        ),
        (
            "8.1",
            layer(
                lambda self, x, m, t, s: fed(
                    self,
                    self.around_cross_attention(
                        attended(self, x, t), lambda _: self.cross_attention(x, m, m)
                    ),
                )
            ),
            "not the first x",
        ),
        (
            "8.1",
            layer(lambda self, x, m, t, s: fed(self, crossed(self, x, m))),
            "self-attention does not arrive",
        ),
        (
            "8.1",
            layer(lambda self, x, m, t, s: crossed(self, attended(self, x), m)),
            "feed-forward network is missing",
        ),
        (
            "8.1",
            layer(lambda self, x, m, t, s: fed(self, attended(self, crossed(self, x, m)))),
            "order is different in the paper",
        ),
        (
            "8.1",
            layer(lambda self, x, m, t, s: crossed(self, fed(self, attended(self, x)), m)),
            "comes second",
        ),
        (
            "8.1",
            layer(
                lambda self, x, m, t, s: fed(
                    self,
                    self.around_self_attention(
                        self.around_cross_attention(x, lambda y: self.self_attention(y, y, y)),
                        lambda y: self.cross_attention(y, m, m),
                    ),
                )
            ),
            "exchanged",
        ),
        (
            "8.1",
            layer(
                lambda self, x, m, t, s: fed(self, self.cross_attention(attended(self, x), m, m))
            ),
            "around_cross_attention is missing",
        ),
        ("8.1", layer(lambda self, x, m, t, s: 2 * x), "numbers are not"),
        ("8.1", layer(lambda self, x, m, t, s: None), "returns nothing"),
        ("8.1", layer(lambda self, x, m, t, s: whole(self, x, m, None, None)), "No mask arrives"),
        ("8.1", layer(lambda self, x, m, t, s: whole(self, x, m, None, s)), "target_mask does"),
        ("8.1", layer(lambda self, x, m, t, s: whole(self, x, m, t, None)), "source_mask does"),
        ("8.1", layer(lambda self, x, m, t, s: whole(self, x, m, s, t)), "does not fit"),
        (
            "8.1",
            layer(lambda self, x, m, t, s: whole(self, x, m, t, None if s is None else ~s)),
            "True means may attend",
        ),
        ("8.2", Decoder(2, 6, 3, 8), "class Decoder itself"),
        ("8.2", holding(lambda n, *sizes: None), "to an nn.ModuleList"),
        (
            "8.2",
            holding(lambda n, *sizes: [DecoderLayer(*sizes) for _ in range(n)]),
            "0 parameters",
        ),
        (
            "8.2",
            holding(lambda n, *sizes: nn.ModuleList([DecoderLayer(*sizes)])),
            "must be 7 layers; yours has 1",
        ),
        ("8.2", holding(lambda n, *sizes: nn.ModuleList([DecoderLayer(*sizes)] * n)), "same layer"),
        (
            "8.2",
            holding(lambda n, *sizes: nn.ModuleList(DecoderLayer(*sizes[:3]) for _ in range(n))),
            "dropout does not arrive",
        ),
        (
            "8.2",
            holding(lambda n, *sizes: nn.ModuleList(EncoderLayer(*sizes) for _ in range(n))),
            "could not be used",
        ),
        ("8.2", stack(last_counts), "starts again from the first x"),
        ("8.2", stack(lambda self, x, *_: x), "No layer has changed"),
        ("8.2", stack(lambda self, x, *rest: self.layers[0](x, *rest)), "return inside the loop"),
        ("8.2", stack(memory_is_replaced), "Only the first layer reads the memory"),
        ("8.2", stack(lambda self, *all_: through(self, *all_) * 2), "each layer once"),
        ("8.2", stack(lambda self, x, m, t, s: through(self, x, m, t)), "A mask does not arrive"),
        ("8.2", stack(lambda self, x, m, t, s: through(self, x, m, s, t)), "does not fit"),
        ("8.3", (2, 8, 10, 7), "queries come from the target"),
        ("8.3", (2, 8, 7, 7), "decoder's self-attention"),
        ("8.3", (2, 8, 10, 10), "encoder's self-attention"),
        ("8.3", (2, 8, 8, 10), "<s> is one of them already"),
        ("8.3", (2, 7, 8, 10), "heads come before"),
        ("8.3", (8, 2, 7, 10), "batch comes first"),
        ("8.3", (2, 7, 10, 512), "not one of them"),
        ("8.3", (float("nan"),) * 4, "each of the four axes"),
        ("8.3", (2, 7, 10), "tuple of four numbers"),
        ("8.3", 140, "tuple of four numbers"),
        ("8.3", None, "tuple of four numbers"),
        ("8.4", lambda t, s, e: ([*t, e], [s, *t]), "swapped"),
        ("8.4", lambda t, s, e: ([*t, e], [*t, e]), "Both are the same"),
        ("8.4", lambda t, s, e: ([s, *t], t), "the same length"),
        ("8.4", lambda t, s, e: (t[:-1], t[1:]), "end token must be a label"),
        ("8.4", lambda t, s, e: ([s, *t], [s, *t[1:], e]), "start token is an input"),
        ("8.4", lambda t, s, e: ([e, *t], [*t, e]), "reads the start token"),
        ("8.4", lambda t, s, e: ([s, *t, e], [*t, e, e]), "not an input"),
        ("8.4", lambda t, s, e: ([s, *t[::-1]], [*t, e]), "shift them by one"),
        ("8.4", lambda t, s, e: [s, *t], "two lists"),
        ("8.4", lambda t, s, e: (s, e), "one of yours is int"),
        ("8.4", lambda t, s, e: (["<s>", *t], [*t, "</s>"]), "Ids are numbers"),
        ("8.4", lambda t, s, e: ([s, *t], [*t, "</s>"]), "use start_id and end_id"),
        ("8.4", lambda t, s, e: ([s, *t, float("nan")], [*t, e, e]), "shift them by one"),
        ("8.4", lambda t: t, "TypeError"),
    ],
)


@pytest.mark.parametrize(
    ("number", "base"), [("8.1", DecoderLayer), ("8.1", EncoderLayer), ("8.2", Decoder)]
)
def test_a_scaffold_waits(number, base, capsys):
    CHECKS[number](layer(lambda self, *given: ..., base=base))
    assert (
        capsys.readouterr().out
        == f"Exercise {number} is waiting for you: replace the three dots.\n"
    )


def test_the_ids_of_the_exercise_are_the_vocabularys():
    seen = []
    check_shift(lambda target, *ids: seen.append(ids) or shift(target, *ids))
    assert set(seen) == {(START_ID, END_ID)}
