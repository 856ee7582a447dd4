"""Memory that was freed is used again, where the C library can be told."""

import platform
import subprocess
import sys

import pytest

from transformer_edu.training.memory import keep_freed_memory

COUNT_PAGES = """
import resource
import torch
from transformer_edu.training.memory import keep_freed_memory

def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
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
