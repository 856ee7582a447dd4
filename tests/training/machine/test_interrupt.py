"""An interrupt waits for the end of the block, and only there."""

import signal
import threading

import pytest

from transformer_edu.training.machine.interrupt import noted_interrupts, postponed_interrupt


def test_an_interrupt_inside_the_block_comes_after_it():
    done = []
    with pytest.raises(KeyboardInterrupt), postponed_interrupt():
        signal.raise_signal(signal.SIGINT)
        done.append("the rest of the block")
    assert done == ["the rest of the block"]


def test_afterwards_an_interrupt_works_as_before():
    handler = signal.getsignal(signal.SIGINT)
    with postponed_interrupt():
        pass
    assert signal.getsignal(signal.SIGINT) is handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_interrupts_can_be_noted_instead_of_raised():
    with noted_interrupts() as interrupts:
        assert not interrupts
        signal.raise_signal(signal.SIGINT)
        assert interrupts == [signal.SIGINT]


def test_in_another_thread_the_block_just_runs():
    done = []

    def work():
        with postponed_interrupt():
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]
