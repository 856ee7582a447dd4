"""Memory that was freed is used again, where the C library can be told."""

import platform
import subprocess
import sys

import pytest

from transformer_edu.training.machine.memory import (
    NotEnoughMemoryError,
    enough_memory,
    keep_freed_memory,
)

COUNT_PAGES = """
import resource
import torch
from transformer_edu.training.machine.memory import keep_freed_memory

def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        torch.ones(16, 2**20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

pages()
fresh = pages()
assert keep_freed_memory()
pages()
print(fresh, pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_the_system_is_asked_for_fewer_pages():
    command = [sys.executable, "-c", COUNT_PAGES]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    fresh, kept = map(int, result.stdout.split())
    assert kept < fresh / 5


def test_another_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert keep_freed_memory() is False


@pytest.mark.parametrize(
    ("said", "got"),
    [
        (
            "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 15 GiB",
            "no room for 20.00 GiB",
        ),
        ("MPS backend out of memory. Tried to allocate 1.50 GB on private pool", "1.50 GB"),
        ("DefaultCPUAllocator: not enough memory: you tried to allocate 64 bytes.", "64 bytes"),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate", "too little"),
        ("Storage size calculation overflowed with sizes=[9, 9]", "too little"),
    ],
)
def test_torch_s_words_for_a_lack_of_memory_are_known_on_every_device(said, got):
    message = f"memory must suffice for a test, got .*{got}; be modest$"
    with pytest.raises(NotEnoughMemoryError, match=message), enough_memory("a test", "be modest"):
        raise RuntimeError(said)


def test_the_innermost_purpose_is_told_and_other_errors_are_left_alone():
    inner = enough_memory("the inner")
    with pytest.raises(MemoryError, match="the inner"), enough_memory("the outer"), inner:
        bytearray(10**18)
    with pytest.raises(RuntimeError, match="^shapes$"), enough_memory("a test"):
        raise RuntimeError("shapes")
