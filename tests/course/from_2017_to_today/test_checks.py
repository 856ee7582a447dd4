"""Lesson 19: right answers pass, and each usual wrong answer is named."""

import math

import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.from_2017_to_today import checks as lesson_19

CHECKS = checks_of(lesson_19)


def norm(formula, *, weight=torch.ones, name="weight"):
    """A class like the reader's, whose forward is weight times a formula of x and eps."""

    class Answer(nn.Module):
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.eps = eps
            self.register_parameter(name, nn.Parameter(weight(d_model)))

        def forward(self, x):
            return formula(x, self.eps) * getattr(self, name)

    return Answer


def rms(x, eps):
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt()


class Unweighted(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return rms(x, self.eps)


class WithoutParameter(Unweighted):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        del self.weight


class Waiting(Unweighted):
    def forward(self, x):
        return ...


class Frozen(norm(rms)):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.weight.requires_grad_(False)


def rotation(change=lambda a, b, s, c: (a * c - b * s, b * c + a * s), *, join=None, **angles):
    """A function like the reader's with one thing changed."""
    first, axis, rate = (
        angles.get(name, usual) for name, usual in (("first", 0), ("axis", -2), ("rate", 2))
    )

    def answer(x):
        d_head = x.size(-1)
        position = torch.arange(first, first + x.size(axis)).unsqueeze(1)
        angle = position / 10_000 ** (rate * torch.arange(d_head // 2) / d_head)
        if axis == 1:
            angle = angle.unsqueeze(1)
        turned = change(x[..., ::2], x[..., 1::2], angle.sin(), angle.cos())
        return (join or (lambda pair: torch.stack(pair, dim=-1).flatten(-2)))(turned)

    return answer


def halves(x):
    angle = torch.arange(x.size(-2)).unsqueeze(1) / 10_000 ** (
        torch.arange(0, x.size(-1), 2) / x.size(-1)
    )
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("19.1", norm(rms)),
        ("19.2", rotation()),
        ("19.3", 1),
        ("19.3", torch.tensor(1.0)),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("19.1", norm(rms)(12), "class RMSNorm itself"),
        ("19.1", WithoutParameter, "learns one parameter.*Yours: none"),
        ("19.1", norm(rms, name="scale"), "learns one parameter.*scale"),
        ("19.1", norm(rms, weight=torch.zeros), "begins with ones"),
        ("19.1", Unweighted, "multiply by self.weight"),
        ("19.1", norm(lambda x, eps: nn.functional.layer_norm(x, x.shape[-1:])), "LayerNorm"),
        (
            "19.1",
            norm(lambda x, eps: x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()),
            "standard deviation",
        ),
        ("19.1", norm(lambda x, eps: x / (x.pow(2).mean(-1, keepdim=True) + eps)), "by its root"),
        ("19.1", norm(lambda x, eps: x / x.norm(dim=-1, keepdim=True)), "root of the sum"),
        ("19.1", norm(lambda x, eps: x * x.pow(2).mean(-1, keepdim=True).sqrt()), "divide by it"),
        ("19.1", norm(lambda x, eps: x / x.pow(2).mean(1, keepdim=True).sqrt()), "the positions"),
        ("19.1", norm(lambda x, eps: x / x.pow(2).mean().sqrt()), "whole batch"),
        ("19.1", norm(lambda x, eps: x / (x.pow(2).mean(-1, keepdim=True).sqrt() + eps)), "inside"),
        ("19.1", nn.RMSNorm, "add eps=1e-5 inside the root"),
        ("19.1", norm(lambda x, eps: rms(x, 1e-5)), "use the eps that is given"),
        ("19.1", norm(lambda x, eps: x.div_(x.norm())), "changes the tensor that it gets"),
        ("19.2", lambda x: x.mul_(2), "changes the tensor that it gets"),
        ("19.1", norm(lambda x, eps: x), "over dim=-1"),
        ("19.1", norm(lambda x, eps: rms(x.detach(), eps)), "The gradient is not that"),
        ("19.1", norm(lambda x, eps: rms(x, eps).double()), "must be torch.float32, as"),
        ("19.1", Frozen, "weight is frozen"),
        ("19.2", lambda x: rotation()(x.detach()), "The gradient is not that"),
        ("19.2", lambda x: rotation()(x.double()), "must be torch.float32, as"),
        ("19.2", lambda x: rotation()(x.view(2, 3, 5, 8)), "could not be used"),
        ("19.1", norm(lambda x, eps: x.mean(-1)[:, :, None][:, :, 0]), "could not be used|shape"),
        ("19.2", lambda x: None, "returns nothing"),
        ("19.2", lambda x: x[0], "shape must be"),
        ("19.2", lambda x: x, "Nothing has turned"),
        ("19.2", halves, "as the lesson does"),
        ("19.2", rotation(join=lambda pair: torch.cat(pair, dim=-1)), "two halves"),
        ("19.2", rotation(lambda a, b, s, c: (a * c + b * s, b * c - a * s)), "other direction"),
        ("19.2", rotation(lambda a, b, s, c: (a * c + b * s, b * c + a * s)), "same sign"),
        ("19.2", rotation(first=1), "count from 0"),
        ("19.2", rotation(rate=1), "yours has i/d_head"),
        ("19.2", rotation(axis=1), "number of the head"),
        ("19.2", rotation(lambda a, b, s, c: (b * c + a * s, a * c - b * s)), "second number"),
        ("19.2", rotation(lambda a, b, s, c: (a * c, b * s)), "keeps the length"),
        ("19.2", rotation(rate=3), "the angles are not"),
        ("19.3", 4, "This model has 8"),
        ("19.3", 0.5, "keeps both"),
        ("19.3", 2, "4 bytes for each"),
        ("19.3", 1 / 32, "There are 32"),
        ("19.3", 2**30, "Divide by 2"),
        ("19.3", 2**17, "for one token"),
        ("19.3", 1.073741824, "10⁹ bytes"),
        ("19.3", 1.07, "10⁹ bytes"),
        ("19.3", 7, "Multiply"),
        ("19.3", math.nan, "a number"),
    ],
)


def test_a_scaffold_waits(capsys):
    for number, answer in (("19.1", Waiting), ("19.2", lambda x: ...), ("19.3", ...)):
        CHECKS[number](answer)
        assert capsys.readouterr().out.startswith(f"Exercise {number} is waiting")
