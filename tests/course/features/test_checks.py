"""Lesson 22: right answers pass, and each usual wrong answer is named."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.asking.answer import AnswerError
from transformer_course.features import checks as lesson_22
from transformer_course.features.autoencoder import SparseAutoencoder

TOKENS = ["dogs", "cats", "the", "dog", "birds", "cat", "cars", "the", "runs"]
ACTIVITY = torch.tensor([2.0, 1.0, 0.0, 0.1, 1.5, 0.0, 1.0, 0.0, 0.0])
CHECKS = checks_of(lesson_22)
STORY = CHECKS["22.3"]
CHECKS |= {"22.3": partial(STORY, activity=ACTIVITY, tokens=TOKENS)}


def with_parts(encode, *, forward=None, sizes=None, bias=True):
    """A class like the reader's with another encode, forward or other layers."""

    class Answer(nn.Module):
        def __init__(self, d_model, num_features, active):
            super().__init__()
            self.active = active
            one, other = sizes or (d_model, num_features)
            self.encoder = nn.Linear(one, other, bias=bias)
            self.decoder = nn.Linear(num_features, d_model)

        def encode(self, x):
            return encode(self, x)

        def forward(self, x):
            return forward(self, x) if forward else self.decoder(self.encode(x))

    return Answer


class WithABuffer(SparseAutoencoder):
    def __init__(self, d_model, num_features, active):
        super().__init__(d_model, num_features, active)
        self.register_buffer("seen", torch.zeros(num_features))


def kept(features, count, axis=-1):
    largest = features.topk(count, dim=axis)
    return torch.zeros_like(features).scatter(axis, largest.indices, largest.values)


def right(self, x):
    return kept(F.relu(self.encoder(x - self.decoder.bias)), self.active)


def with_a_threshold(self, x):
    features = self.encoder(x - self.decoder.bias).relu()
    least = features.topk(self.active, dim=-1).values[..., -1:]
    return features * (features >= least)


def top_before_relu(self, x):
    return kept(self.encoder(x - self.decoder.bias), self.active).relu()


def three_kept(self, x):
    return kept(self.encoder(x - self.decoder.bias).relu(), 3)


def on_the_cpu(self, x):
    largest = (features := self.encoder(x - self.decoder.bias).relu()).topk(self.active, dim=-1)
    return torch.zeros(features.shape).scatter(-1, largest.indices, largest.values)


def bias_detached(self, x):
    return kept(self.encoder(x - self.decoder.bias.detach()).relu(), self.active)


def all_features(self, x):
    return self.encoder(x - self.decoder.bias).relu()


def of_the_batch(self, x):
    return kept(all_features(self, x), self.active, axis=0)


def along_axis_one(self, x):
    return kept(all_features(self, x), self.active, axis=1)


def flattened(self, x):
    return right(self, x.reshape(-1, x.size(-1)))


def by_size(self, x):
    raw = self.encoder(x - self.decoder.bias)
    return torch.where(kept(raw.abs(), self.active) > 0, raw, 0)


def without_bias(self, x):
    return kept(self.encoder(x).relu(), self.active)


def with_the_bias_added(self, x):
    return kept(self.encoder(x + self.decoder.bias).relu(), self.active)


def only_which(self, x):
    return (right(self, x) > 0).float()


def without_relu(self, x):
    return kept(self.encoder(x - self.decoder.bias), self.active)


def nothing_cut(self, x):
    return self.encoder(x - self.decoder.bias)


def one_too_many(self, x):
    return kept(all_features(self, x), self.active + 1)


def below_zero(self, x):
    return right(self, x) - 1


def doubled(self, x):
    return 2 * right(self, x)


def repaired(yes, no):
    above, ties = yes[:, None] > no, yes[:, None] == no
    return (above.float() + ties.float() / 2).mean()


def in_loops(yes, no):
    pairs = [(one > other) + (one == other) / 2 for one in yes for other in no]
    return float(sum(pairs) / len(pairs))


def one_by_one(yes, no):
    points = [(a > b) + (a == b) / 2 for a, b in zip(yes, no, strict=False)]
    return sum(points) / len(points)


def ties_lost(yes, no):
    return (yes[:, None] > no).float().mean()


def ties_won(yes, no):
    return (yes[:, None] >= no).float().mean()


def exchanged(yes, no):
    return repaired(no, yes)


def means(yes, no):
    return yes.mean() - no.mean()


test_right = right_answers(
    CHECKS,
    [
        ("22.1", SparseAutoencoder),
        ("22.1", with_parts(right)),
        ("22.1", with_parts(with_a_threshold)),
        ("22.1", with_parts(top_before_relu)),
        ("22.1", WithABuffer),
        ("22.2", repaired),
        ("22.2", in_loops),
        ("22.3", ["dogs", "cats", "birds", "cars"]),
        ("22.3", ("dogs", "cats", "birds", "cars", "unicorns")),
    ],
)

test_wrong = wrong_answers(
    CHECKS,
    [
        ("22.1", with_parts(all_features), "All features above 0 are kept"),
        ("22.1", with_parts(of_the_batch), "of the batch, not of each token"),
        ("22.1", with_parts(along_axis_one), "along the last axis, dim=-1"),
        ("22.1", with_parts(flattened), "shape must be"),
        ("22.1", with_parts(by_size), "apply the ReLU first"),
        ("22.1", with_parts(without_bias), "The bias of the decoder is missing"),
        ("22.1", with_parts(with_the_bias_added), "You add the bias of the decoder"),
        ("22.1", with_parts(only_which), "which features are active, not how much"),
        ("22.1", with_parts(nothing_cut), "nothing is set to 0"),
        ("22.1", with_parts(without_relu), "may not be below 0"),
        ("22.1", with_parts(one_too_many), "more than 3 active features"),
        ("22.1", with_parts(below_zero), "may not be below 0"),
        ("22.1", with_parts(doubled), "not those of the formula"),
        ("22.1", with_parts(right, sizes=(11, 5)), "the decoder back"),
        ("22.1", with_parts(right, bias=False), "needs its bias"),
        (
            "22.1",
            with_parts(right, forward=lambda self, x: self.encode(x)),
            "The shape must be",
        ),
        ("22.1", with_parts(right, forward=lambda self, x: x), "forward is not the decoder's"),
        ("22.1", nn.Identity, "must set self.encoder"),
        ("22.1", with_parts(three_kept), "take self.active for k"),
        ("22.1", with_parts(on_the_cpu), "It runs on the CPU only"),
        ("22.1", with_parts(bias_detached), "The gradient is not that"),
        ("22.2", one_by_one, "makes a table of all pairs"),
        ("22.2", lambda yes, no: max(repaired(yes, no), 1 - repaired(yes, no)), "2.5 of 12 pairs"),
        ("22.2", lambda yes, no: repaired(yes.int(), no.int()), "2.5 of 12 pairs"),
        ("22.2", ties_lost, "Ties still count as lost"),
        ("22.2", ties_won, "Ties count as won"),
        ("22.2", exchanged, "The sides are exchanged"),
        ("22.2", means, "makes a table of all pairs"),
        ("22.3", ["dogs"], "at least 4 are needed"),
        ("22.3", [1, 2], "a list of words"),
        ("22.3", set(TOKENS), "nothing could refute it"),
        ("22.3", ["dogs", "the", "runs", "cat"], "Refuted: 3 of 4 words never excite"),
        ("22.3", ["dogs", "birds", "the", "runs"], "Only 2 of your words excite"),
    ],
)


@pytest.mark.parametrize(
    ("activity", "hint"),
    [
        ([2.0, 1.0, 0.0, 0.1, 1.5, 0.0, 1.0, 0.0, 9.0], "active at 'runs', too"),
        ([2.0, 1.0, 0.0, 0.5, 1.0, 0.5, 0.3, 0.0, 0.5], "The AUC of your story is"),
        ([9.0, 0.1, 0.0, 0.0, 0.1, 0.0, 0.1, 0.0, 0.0], "this feature is a single word"),
    ],
)
def test_a_story_that_other_words_refute_is_refused(activity, hint):
    with pytest.raises(AnswerError, match=hint):
        STORY(["dogs", "cats", "birds", "cars"], activity=torch.tensor(activity), tokens=TOKENS)
