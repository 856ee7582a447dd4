"""A curve that is drawn while a loop runs: it hands out every batch and ends gently."""

import signal

import pytest
from IPython.utils.capture import capture_output

from transformer_edu.teaching import live_curve as module
from transformer_edu.teaching.live_curve import live_curve


@pytest.fixture
def draw_at_once(monkeypatch):
    """Every step is drawn, however short the last one was."""
    monkeypatch.setattr(module, "LEAST_PAUSE", 0)
    monkeypatch.setattr(module, "PAUSE", 0)


def run_loop(batches, losses, *, stop_at=None):
    """A loop whose loss is its batch; the stop button is pressed at one of them."""
    with capture_output() as captured:
        for batch in live_curve(batches, losses, {"floor": 0.5}):
            if batch == stop_at:
                signal.raise_signal(signal.SIGINT)
            losses.append(batch)
    return captured


def words(captured):
    return [output.data["text/plain"] for output in captured.outputs]


def test_every_batch_is_handed_out_and_the_end_is_drawn():
    losses = []
    captured = run_loop([4.0, 3.0, 2.0], losses)
    assert losses == [4.0, 3.0, 2.0]
    (said,) = words(captured)
    assert said.startswith("3 steps: the loss goes from 4.00 to 2.00")
    assert "floor is 0.50" in said
    (picture,) = captured.outputs
    assert picture.metadata["image/png"]["alt"] == said
    assert captured.stdout == ""


def test_while_it_runs_the_title_says_the_step_and_the_time_left(draw_at_once):
    said = words(run_loop([4.0, 3.0, 2.0], []))
    assert [text.split(",")[0] for text in said[:-1]] == ["Step 1 of 3", "Step 2 of 3"]
    assert all("here" in text for text in said[:-1])


def test_an_interrupt_ends_the_loop_after_its_step_with_a_sentence():
    losses = []
    captured = run_loop([4.0, 3.0, 2.0], losses, stop_at=3.0)
    assert losses == [4.0, 3.0], "the step of the interrupt is taken whole"
    assert words(captured)[-1].startswith("Stopped after step 2 of 3")
    assert captured.stdout.startswith("You stopped the training.")
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_an_error_in_the_loop_gives_interrupts_back():
    handler = signal.getsignal(signal.SIGINT)

    def fail():
        for batch in live_curve([1.0, 2.0], []):
            raise LookupError(batch)

    with pytest.raises(LookupError):
        fail()
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_curve_goes_on_where_earlier_losses_end():
    losses = [9.0]
    captured = run_loop([4.0, 3.0], losses)
    assert words(captured)[-1].startswith("3 steps: the loss goes from 9.00 to 3.00")
