"""A curve that is drawn while a loop runs: it hands out every batch and ends gently."""

import base64
import signal

import pytest
import torch

from transformer_course.training import loss_while_training as module
from transformer_course.training.loss_while_training import live_curve


@pytest.fixture
def shown(monkeypatch):
    """What is displayed, with its keywords."""
    bundles = []
    monkeypatch.setattr(
        module, "display", lambda data, **keywords: bundles.append((data, keywords))
    )
    return bundles


@pytest.fixture
def draw_at_once(monkeypatch):
    """Every step is drawn, however short the last one was."""
    monkeypatch.setattr(module, "LEAST_PAUSE", 0)
    monkeypatch.setattr(module, "PAUSE", 0)


def run_loop(batches, losses, *, stop_at=None):
    """A loop whose loss is its batch; the stop button is pressed at one of them."""
    for batch in live_curve(batches, losses, {"floor": 0.5}):
        if batch == stop_at:
            signal.raise_signal(signal.SIGINT)
        losses.append(batch)


def words(shown):
    return [data["text/plain"] for data, _ in shown]


def test_every_batch_is_handed_out_and_the_end_is_drawn(shown, capsys, monkeypatch):
    monkeypatch.setattr(module, "LEAST_PAUSE", 60)  # nothing is drawn on the way, however slow
    losses = []
    run_loop([4.0, 3.0, 2.0], losses)
    assert losses == [4.0, 3.0, 2.0]
    ((data, keywords),) = shown
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    said = data["text/plain"]
    assert said.startswith("3 steps: the loss goes from 4.00 to 2.00")
    assert "floor is 0.50" in said
    assert keywords["metadata"]["image/png"]["alt"] == said
    assert keywords["raw"] and not keywords["update"]
    assert capsys.readouterr().out == ""


def test_while_it_runs_the_title_says_the_step_and_the_time_left(shown, draw_at_once):
    run_loop([4.0, 3.0, 2.0], [])
    said = words(shown)
    assert [text.split(",")[0] for text in said[:-1]] == ["Step 1 of 3", "Step 2 of 3"]
    assert all("s left." in text for text in said[:-1])


def test_each_picture_replaces_the_one_before(shown, draw_at_once):
    run_loop([4.0, 3.0, 2.0], [])
    run_loop([4.0, 3.0], [])
    assert [keywords["update"] for _, keywords in shown] == [False, True, True, False, True]
    first, second = (
        {keywords["display_id"] for _, keywords in part} for part in (shown[:3], shown[3:])
    )
    assert len(first) == len(second) == 1
    assert first != second


def test_an_interrupt_ends_the_loop_after_its_step_with_a_sentence(shown, capsys):
    losses = []
    run_loop([4.0, 3.0, 2.0], losses, stop_at=3.0)
    assert losses == [4.0, 3.0], "the step of the interrupt is taken whole"
    assert words(shown)[-1].startswith("Stopped after step 2 of 3")
    assert capsys.readouterr().out.startswith("You stopped the training.")
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_loop_that_is_left_says_at_which_step(shown):
    losses = []
    for batch in live_curve([4.0, 3.0, 2.0], losses):
        losses.append(batch)
        if batch < 4:
            break
    assert words(shown)[-1].startswith("Stopped in step 2 of 3")


def test_a_curve_goes_on_where_earlier_losses_end(shown):
    run_loop([4.0, 3.0], [9.0])
    assert words(shown)[-1].startswith("3 steps: the loss goes from 9.00 to 3.00")


def test_a_loop_may_write_some_losses_or_none_and_nobody_has_stopped_it(shown, capsys):
    losses = []
    for number, batch in enumerate(live_curve([4.0, 3.0, 2.0, 1.0], losses)):
        if number % 2:
            losses.append(batch)
    for _ in live_curve([4.0, 3.0], []):
        pass
    some, none = words(shown)
    assert some.startswith("4 steps: the loss goes from 3.00 to 1.00. The loss of 2 of 4 steps")
    assert none.startswith("2 steps: losses holds no loss")
    assert capsys.readouterr().out == ""


def test_a_loss_may_be_a_tensor_but_not_keep_its_graph(shown):
    weight = torch.ones(1, requires_grad=True)
    run_loop([weight.detach(), weight.detach()[0]], [])
    assert words(shown)[-1].startswith("2 steps: the loss goes from 1.00 to 1.00")
    for loss, got in ((weight.sum(), "a tensor with a gradient"), (None, "None")):
        losses = []
        with pytest.raises(TypeError, match=rf"append loss\.item\(\), got {got}$"):
            run_loop([loss, loss], losses)
        assert len(losses) == 1, "it is refused after the first step"


@pytest.mark.parametrize(
    ("batches", "error", "message"),
    [
        ((each for each in [4.0]), TypeError, "batches must have a length.* got a generator"),
        ([], ValueError, "batches must hold at least one batch, got none"),
    ],
)
def test_batches_without_a_length_and_no_batches_are_refused(batches, error, message, shown):
    with pytest.raises(error, match=message):
        run_loop(batches, [])
    assert shown == []


def test_an_error_in_the_loop_gives_interrupts_back():
    handler = signal.getsignal(signal.SIGINT)

    def fail():
        for batch in live_curve([1.0, 2.0], []):
            raise LookupError(batch)

    with pytest.raises(LookupError):
        fail()
    assert signal.getsignal(signal.SIGINT) is handler
