"""Lesson 11: right repairs pass, however they are written; each mistake gets its hint."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.course.diagnosis.friends import FriendsAddAndNorm, FriendsFeedForward, friends_loss
from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.diagnosis import checks as lesson_11
from transformer_course.our_transformer import AddAndNorm, FeedForward

CHECKS = checks_of(lesson_11)


def norm_over(dim, variance_dim=None):
    """The friend's Add & Norm with other axes."""

    class Answer(FriendsAddAndNorm):
        def forward(self, x, sublayer):
            x = x + self.dropout(sublayer(x))
            centered = x - x.mean(dim=dim, keepdim=True)
            variance = centered.square().mean(dim=variance_dim or dim, keepdim=True)
            return self.gain * centered / (variance + 1e-5).sqrt() + self.bias

    return Answer


def norm_like(forward):
    """The friend's Add & Norm with another forward."""
    return type("Answer", (FriendsAddAndNorm,), {"forward": forward})


def layer_norm(own, x):
    return F.layer_norm(x, x.shape[-1:], own.gain, own.bias)


def by_standard_deviation(own, x, sublayer):
    x = x + own.dropout(sublayer(x))
    return own.gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + own.bias


def without_keepdim(own, x, sublayer):
    x = x + own.dropout(sublayer(x))
    return own.gain * (x - x.mean(dim=-1)) + own.bias


class WithoutGain(nn.Module):
    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return F.layer_norm(x + self.dropout(sublayer(x)), x.shape[-1:])


def feed_forward(forward):
    """The friend's feed-forward network with another forward."""
    return type("Answer", (FriendsFeedForward,), {"forward": forward})


class InOne(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        layers = nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model)
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


def without_root(own, x, sublayer):
    x = x + own.dropout(sublayer(x))
    centered = x - x.mean(dim=-1, keepdim=True)
    return own.gain * centered / centered.square().mean(dim=-1, keepdim=True) + own.bias


class WithModule(FeedForward):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__(d_model, d_ff)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.narrow(self.drop(F.relu(self.widen(x))))


def only_in_training(own, x):
    hidden = own.widen(x).relu()
    if own.training:
        hidden = F.dropout(hidden, p=own.dropout)
    return own.narrow(hidden)


def without_scale(own, x):
    hidden = own.widen(x).relu()
    if own.training:
        hidden = hidden * (torch.rand_like(hidden) > own.dropout)
    return own.narrow(hidden)


def loss_like(ignored=0, *, shift=1, change=lambda logits: logits, after=lambda loss: loss):
    """A loss with the mistake asked for."""

    def loss(model, source_ids, target_ids):
        reads, labels = target_ids[:, : target_ids.size(1) - shift], target_ids[:, shift:]
        logits = change(model(source_ids, reads))
        return after(F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=ignored))

    return loss


def loss_with_a_mask(model, source_ids, target_ids):
    labels = target_ids[:, 1:]
    log_p = model(source_ids, target_ids[:, :-1]).log_softmax(dim=-1)
    real = labels != 0
    return -log_p.gather(-1, labels.unsqueeze(-1)).squeeze(-1)[real].mean()


def loss_summed(model, source_ids, target_ids):
    logits, labels = model(source_ids, target_ids[:, :-1]), target_ids[:, 1:]
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0, reduction="sum")


def loss_over_all_places(model, source_ids, target_ids):
    logits, labels = model(source_ids, target_ids[:, :-1]), target_ids[:, 1:]
    losses = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    return (losses * (labels != 0)).mean()


def probe_like(*, target=False, padding=(0, 3), value=0, change=lambda x: x.abs().max()):
    """A padding probe with the mistake asked for."""

    def probe(model, source_ids, target_ids):
        with torch.no_grad():
            before = model(source_ids, target_ids)
            if target:
                after = model(source_ids, F.pad(target_ids, padding))[:, : target_ids.size(1)]
            else:
                after = model(F.pad(source_ids, padding, value=value), target_ids)
        return change(after - before)

    return probe


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("11.1", norm_over(-1)),
        ("11.1", norm_over(2)),
        ("11.1", AddAndNorm),
        ("11.1", norm_like(by_standard_deviation)),
        ("11.1", norm_like(lambda own, x, sublayer: layer_norm(own, x + own.dropout(sublayer(x))))),
        ("11.2", WithModule),
        ("11.2", InOne),
        ("11.2", feed_forward(only_in_training)),
        (
            "11.2",
            feed_forward(
                lambda own, x: own.narrow(
                    F.dropout(own.widen(x).relu(), own.dropout, training=own.training)
                )
            ),
        ),
        (
            "11.2",
            feed_forward(
                lambda own, x: F.dropout(own.narrow(own.widen(x).relu()), own.dropout, own.training)
            ),
        ),
        ("11.3", probe_like()),
        ("11.3", probe_like(change=lambda x: x.abs().max().item())),
        ("11.4", loss_like()),
        ("11.4", loss_with_a_mask),
        ("11.4", loss_summed),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("11.1", FriendsAddAndNorm, "the future leaks around the mask"),
        ("11.1", norm_over((1, 2)), "Over which axis is each mean"),
        ("11.1", norm_over(-1, 1), "the future leaks around the mask"),
        ("11.1", norm_over(0), "rows of the batch share"),
        ("11.1", norm_like(without_keepdim), "keepdim=True"),
        ("11.1", norm_like(lambda own, x, f: layer_norm(own, f(x))), "residual is gone"),
        ("11.1", norm_like(lambda own, x, f: layer_norm(own, x)), "not added to x"),
        ("11.1", norm_like(lambda own, x, f: x + own.dropout(f(x))), "the norm comes last"),
        (
            "11.1",
            norm_like(lambda own, x, f: x + f(F.layer_norm(x, x.shape[-1:]))),
            "norm comes last",
        ),
        ("11.1", norm_like(without_root), "You divided by the variance"),
        ("11.1", norm_like(lambda own, x, f: x + layer_norm(own, f(x))), "after the addition"),
        ("11.1", norm_like(lambda own, x, f: layer_norm(own, x + f(x))), "no longer dropped"),
        ("11.1", WithoutGain, "a gain and a bias"),
        ("11.1", nn.Identity, "d_model|residual|not added|could not be used|arguments"),
        ("11.1", AddAndNorm(12), "class RepairedAddAndNorm itself"),
        ("11.2", FriendsFeedForward, "two calls still differ"),
        ("11.2", feed_forward(FeedForward.forward), "nothing is dropped any more"),
        ("11.2", feed_forward(without_scale), "divided by"),
        (
            "11.2",
            feed_forward(
                lambda own, x: own.narrow(F.dropout(own.widen(x).relu(), 0.1, own.training))
            ),
            "the rate that is given",
        ),
        ("11.2", feed_forward(lambda own, x: own.narrow(own.widen(x))), "narrow.relu.widen"),
        ("11.2", FeedForward, "Keep the arguments"),
        ("11.3", probe_like(target=True), "pad the source, not the target"),
        ("11.3", probe_like(padding=(3, 0)), "append it"),
        ("11.3", probe_like(value=1), "Padding has the id 0"),
        ("11.3", probe_like(change=lambda x: x.mean()), "You took the mean"),
        ("11.3", lambda model, source_ids, target_ids: 0.0, "finds nothing"),
        ("11.3", lambda model, source_ids, target_ids: 7.0, "largest absolute change"),
        ("11.3", lambda model, source_ids, target_ids: None, "returns nothing"),
        ("11.3", 3, "is a function"),
        ("11.4", friends_loss, "never learns to stop"),
        ("11.4", loss_like(ignored=-100), "labels that are padding"),
        ("11.4", loss_like(shift=0), "tokens that it has to predict"),
        ("11.4", loss_like(change=lambda logits: logits.softmax(dim=-1)), "wants logits"),
        ("11.4", loss_like(after=lambda loss: loss.item()), "a tensor with a single number"),
        ("11.4", loss_over_all_places, "mean of the cross-entropy"),
    ],
)


@pytest.mark.parametrize("number", ["11.1", "11.2", "11.4"])
def test_a_repair_that_is_not_written_waits(number, capsys):
    waiting = {
        "11.1": norm_like(lambda own, x, sublayer: ...),
        "11.2": feed_forward(lambda own, x: ...),
        "11.4": lambda model, source_ids, target_ids: ...,
    }
    CHECKS[number](waiting[number])
    assert capsys.readouterr().out.startswith(f"Exercise {number} is waiting for you")
