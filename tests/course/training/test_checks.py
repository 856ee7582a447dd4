"""Lesson 10: right answers pass, and each usual wrong answer is named."""

import math

import torch
import torch.nn.functional as F

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.training import checks as lesson_10
from transformer_edu.training.config import inverse_square_root
from transformer_edu.training.loss import token_loss

CHECKS = checks_of(lesson_10)


def step_like(loss_of=None, *, zero=True, train=True, move=True, order="right", answer="loss"):
    """A training step with the mistakes asked for."""

    def right_loss(model, batch):
        return token_loss(model(batch.source_ids, batch.decoder_input_ids), batch.label_ids)

    def one_step(model, batch, optimizer):
        if train:
            model.train()
        loss = (loss_of or right_loss)(model, batch)
        if order == "step first":
            optimizer.step()
        if zero:
            optimizer.zero_grad()
        loss.backward()
        if move and order == "right":
            optimizer.step()
        return {
            "loss": loss,
            "number": loss.item(),
            "nothing": None,
            "one": 1.0,
            "many": torch.ones(2, 3),
        }[answer]

    return one_step


def softmaxed(model, batch):
    logits = model(batch.source_ids, batch.decoder_input_ids)
    return token_loss(logits.softmax(dim=-1), batch.label_ids)


def unshifted(model, batch):
    return token_loss(model(batch.source_ids, batch.label_ids), batch.label_ids)


def padded(model, batch):
    logits = model(batch.source_ids, batch.decoder_input_ids)
    return F.cross_entropy(logits.flatten(0, 1), batch.label_ids.flatten())


def friends(model, batch):
    logits = model(batch.source_ids, batch.label_ids)
    return F.cross_entropy(logits.softmax(dim=-1).flatten(0, 1), batch.label_ids.flatten())


def halved(model, batch):
    return token_loss(model(batch.source_ids, batch.decoder_input_ids), batch.label_ids) / 2


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("10.1", lesson_10.smoothing_floor(37_000, 0.1)),
        ("10.1", 1.38),
        ("10.1", torch.tensor(1.377)),
        ("10.2", lambda s, d, w: inverse_square_root(s, d_model=d, warmup_steps=w)),
        ("10.2", lambda s, d, w: torch.tensor(d**-0.5 * min(s**-0.5, s * w**-1.5))),
        ("10.3", step_like()),
        ("10.3", step_like(answer="number")),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("10.1", lesson_10.smoothing_floor(37_000, 0.1) / math.log(2), "natural logarithm"),
        ("10.1", lesson_10.smoothing_floor(37_000, 0.1) / math.log(10), "base 10"),
        ("10.1", -lesson_10.smoothing_floor(37_000, 0.1), "negative logarithm"),
        ("10.1", -math.log(0.9), "the cost of the correct token"),
        ("10.1", -0.9 * math.log(0.9), "All other tokens add theirs"),
        ("10.1", -0.1 * math.log(0.1 / 37_000), "correct token's part is missing"),
        ("10.1", math.log(37_000), "knows nothing"),
        ("10.1", lesson_10.smoothing_floor(64, 0.1), "for 64 tokens"),
        ("10.1", 0, "probability 1"),
        ("10.1", 3, "36,999 small ones"),
        ("10.1", math.nan, "is a number"),
        ("10.1", None, "is a number"),
        ("10.1", True, "is a number"),
        ("10.2", lambda s, d, w: d**-0.5 * max(s**-0.5, s * w**-1.5), "take min"),
        ("10.2", lambda s, d, w: d**0.5 * min(s**-0.5, s * w**-1.5), "smaller steps"),
        ("10.2", lambda s, d, w: min(s**-0.5, s * w**-1.5), "width is missing"),
        ("10.2", lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-0.5), "must meet"),
        ("10.2", lambda s, d, w: d**-0.5 * min(w**-0.5, s * w**-1.5), "rises and then stays"),
        ("10.2", lambda s, d, w: d**-0.5 * s**-0.5, "only falls"),
        ("10.2", lambda s, d, w: d**-0.5 * min((s + 1) ** -0.5, (s + 1) * w**-1.5), "one step"),
        ("10.2", lambda s, d, w: 0.1, "For step 9.* rate is 0.03558; yours is 0.1"),
        ("10.2", lambda s, d, w: d**-0.5 * s * w**-1.5, "For step 90.* 0.01318; yours is 0.3558"),
        ("10.2", lambda s, d, w: math.nan, "The answer is a number"),
        ("10.2", lambda s, d, w: 1 / 0, "ZeroDivisionError"),
        ("10.2", 0.1, "is a function"),
        ("10.3", step_like(softmaxed), "already has a softmax"),
        ("10.3", step_like(unshifted), "reads the labels"),
        ("10.3", step_like(padded), "loss includes padding"),
        ("10.3", step_like(zero=False), "previous step are still there"),
        ("10.3", step_like(unshifted, zero=False), "2 mistakes are left.*reads the labels"),
        ("10.3", step_like(order="step first"), "first backward"),
        ("10.3", step_like(move=False), "No weight has changed"),
        ("10.3", step_like(friends), "3 mistakes are left.*softmax inside"),
        ("10.3", step_like(friends, zero=False, train=False), "4 mistakes are left.*softmax"),
        ("10.3", step_like(halved), "in another way.*line by line"),
        ("10.3", step_like(train=False), "model.train"),
        ("10.3", step_like(answer="nothing"), "returns nothing"),
        ("10.3", step_like(answer="one"), "Return its loss"),
        ("10.3", step_like(answer="many"), r"The answer is a number; yours is shape \(2, 3\)"),
        ("10.3", lambda model, batch, optimizer: 1.0, "never calls the model"),
        ("10.3", lambda model, batch: 1.0, "arguments are not the scaffold"),
    ],
)
