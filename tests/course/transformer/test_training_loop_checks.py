"""Lesson 09's training loop: right loops pass, and each usual mistake is named."""

import pytest
import torch
import torch.nn.functional as F

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from tools.exercises import exercise_indices, number_of, solution_of
from tools.notebooks import ROOT, read
from transformer_course.transformer import training_loop_checks as training_loop
from transformer_course.transformer.training_loop_checks import check_learn, our_learn

CHECKS = checks_of(training_loop)
pytestmark = pytest.mark.slow  # every answer is trained


def loop(model, batches, *, reads="decoder_input_ids", labels="label_ids", pad=0, order="zbs"):
    """The reader's loop; order is zero_grad, backward and step by their first letters."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for batch in batches:
        logits = model(batch.source_ids, getattr(batch, reads))
        loss = F.cross_entropy(logits.transpose(1, 2), getattr(batch, labels), ignore_index=pad)
        for step in order:
            {"z": optimizer.zero_grad, "b": loss.backward, "s": optimizer.step}[step]()
        losses.append(loss.item())
    return losses


def loop_with_tensors(model, batches):
    return [torch.tensor(loss) for loss in loop(model, batches)]


def loop_of_sums(model, batches):
    losses = loop(model, batches)
    return [sum(losses[: end + 1]) for end in range(len(losses))]


def loop_with_sgd(model, batches):
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=1e-3), []
    for batch in batches:
        logits = model(batch.source_ids, batch.decoder_input_ids)
        loss = F.cross_entropy(logits.transpose(1, 2), batch.label_ids, ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def loop_with_new_optimizers(model, batches):
    return [loss for batch in batches for loss in loop(model, [batch])]


def loop_with_softmax(model, batches):
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=1e-3), []
    for batch in batches:
        probabilities = model(batch.source_ids, batch.decoder_input_ids).softmax(dim=-1)
        loss = F.cross_entropy(probabilities.transpose(1, 2), batch.label_ids, ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("9.2", loop),
        ("9.2", our_learn),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("9.2", lambda model, batches: 0.5, "Return a list of losses"),
        ("9.2", loop_with_tensors, "loss.item"),
        ("9.2", lambda *given: loop(*given, pad=-100), "counts padding"),
        ("9.2", lambda *given: loop(*given, reads="label_ids"), "reads its own answer"),
        ("9.2", lambda *given: loop(*given, labels="decoder_input_ids"), "labels are the decoder"),
        ("9.2", lambda *given: loop(*given, order="bs"), "add up"),
        ("9.2", lambda *given: loop(*given, order="zb"), "does not learn"),
        ("9.2", lambda *given: loop(*given, order="bzs"), "does not learn"),
        ("9.2", loop_with_new_optimizers, "new optimizer"),
        ("9.2", loop_with_softmax, "leave the softmax out"),
        ("9.2", loop_with_sgd, "That is SGD"),
        ("9.2", loop_of_sums, "One sum over all"),
        ("9.2", lambda *given: loop(*given, order="zbss"), "others than those"),
        ("9.2", lambda *given: [float("nan")] * 6, "NaN"),
    ],
)


def test_the_solution_trains_as_our_loop_does(capsys):
    (path,) = (ROOT / "notebooks").glob("09_*.ipynb")
    notebook = read(path)
    index = next(i for i in exercise_indices(notebook) if number_of(notebook, i) == "9.2")
    names = {"torch": torch, "F": F}
    exec(solution_of(notebook, index), names)
    check_learn(names["learn"])
    assert capsys.readouterr().out == "Exercise 9.2 is correct.\n"


def test_the_check_leaves_the_random_numbers_alone():
    before = torch.random.get_rng_state()
    check_learn(loop)
    torch.testing.assert_close(torch.random.get_rng_state(), before)
