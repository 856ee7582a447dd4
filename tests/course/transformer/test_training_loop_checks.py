"""Lesson 09's training loop: right loops pass, and each usual mistake is named."""

import pytest
import torch
import torch.nn.functional as F

from tools.exercises import exercise_indices, number_of, solution_of
from tools.notebooks import ROOT, read
from transformer_course.transformer.training_loop_checks import check_learn

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
