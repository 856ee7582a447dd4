"""A checkpoint's file is whole or not there, and no bit of it changes unnoticed."""

import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import safetensors.torch
import torch
from safetensors import safe_open
from torch import Tensor

from transformer_edu.training.checkpoint_file import (
    CheckpointError,
    read_checkpoint_file,
    write_checkpoint_file,
)

TENSORS = {"weights.a": torch.arange(15.0).reshape(3, 5), "kept": torch.tensor([2**53 + 1])}
RECORD = {"format_version": 1, "name": 'quoted "sha256": "0000", ê', "rate": 0.1, "ε": 1e-9}
KILLS = 20

# In a process of its own, because it forks: torch is imported once, not once for each kill.
KILLS_SAVES = """
import os, random, signal, sys, time
import torch
from transformer_edu.training.checkpoint_file import read_checkpoint_file, write_checkpoint_file

torch.set_num_threads(1)
sync = os.fsync
os.fsync = lambda file: (time.sleep(0.01), sync(file))  # there is time to kill it in the middle
path, moment, number = sys.argv[1], random.Random(0), 0.0
for kill in range(int(sys.argv[2])):
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        while True:
            number += 1
            write_checkpoint_file(path, {"all": torch.full((400_000,), number)}, {})
            os.write(tell, b"!")
    os.close(tell)
    os.read(ready, 1)
    time.sleep(moment.uniform(0.001, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left = len(os.listdir(os.path.dirname(path))) - 1
    found = read_checkpoint_file(path)[0]["all"]
    number = found[0].item()
    print(left, len(found), len(found.unique()), number)
"""


@pytest.fixture
def path(tmp_path) -> Path:
    """An existing checkpoint, alone in its folder."""
    write_checkpoint_file(tmp_path / "run.checkpoint", TENSORS, RECORD)
    return tmp_path / "run.checkpoint"


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def same(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    return first.keys() == second.keys() and all(
        first[name].equal(second[name]) and first[name].dtype == second[name].dtype
        for name in first
    )


def test_what_is_written_is_read(path):
    tensors, record = read_checkpoint_file(path)
    assert same(tensors, TENSORS)
    assert record == RECORD
    assert names(path) == ["run.checkpoint"]


def test_what_is_not_there_cannot_be_read(tmp_path):
    for place in ("nowhere", "."):
        with pytest.raises(OSError, match=str(tmp_path / place)):
            read_checkpoint_file(tmp_path / place)


def test_the_order_of_names_changes_no_byte(path):
    content = path.read_bytes()
    turned = (dict(reversed(each.items())) for each in (TENSORS, RECORD))
    write_checkpoint_file(path, *turned)
    assert path.read_bytes() == content


def test_a_file_of_an_earlier_version_with_its_names_in_any_order_is_read(path):
    for record in (RECORD, dict(reversed(RECORD.items()))):
        found = hashlib.sha256(json.dumps(record).encode())
        for name in sorted(TENSORS):
            tensor = TENSORS[name]
            found.update(json.dumps([name, str(tensor.dtype), [*tensor.shape]]).encode())
            found.update(tensor.numpy().tobytes())
        text = json.dumps({"sha256": found.hexdigest()} | record)
        path.write_bytes(safetensors.torch.save(TENSORS, metadata={"transformer_edu": text}))
        assert read_checkpoint_file(path)[1] == record


def test_any_program_that_knows_safetensors_can_read_it(path):
    with safe_open(path, framework="pt") as file:
        assert file.get_tensor("weights.a").equal(TENSORS["weights.a"])
        assert json.loads(file.metadata()["transformer_edu"])["rate"] == 0.1


def test_views_empty_and_shared_tensors_can_be_written(tmp_path):
    table = torch.arange(12.0).reshape(3, 4)
    tensors = {"all": table, "part": table[1:], "turned": table.T, "empty": torch.zeros(0, 3)}
    write_checkpoint_file(tmp_path / "views", tensors, {})
    assert same(read_checkpoint_file(tmp_path / "views")[0], tensors)


def test_the_file_has_the_rights_of_any_new_file(path, tmp_path):
    (tmp_path / "plain").touch()
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_each_of_200_flipped_bits_is_noticed(path):
    content = path.read_bytes()
    for bit in random.Random(0).sample(range(8 * len(content)), 200):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(CheckpointError, match=r"run\.checkpoint must be"):
            read_checkpoint_file(path)
    path.write_bytes(content)
    assert same(read_checkpoint_file(path)[0], TENSORS)


def test_a_flipped_bit_in_any_byte_of_the_header_is_noticed(path):
    content, bits = path.read_bytes(), random.Random(0)
    for byte in range(8 + int.from_bytes(content[:8], "little")):
        for bit in (5, bits.randrange(8)):  # 5 makes a small letter a capital one
            changed = bytearray(content)
            changed[byte] ^= 1 << bit
            path.write_bytes(changed)
            with pytest.raises(CheckpointError):
                read_checkpoint_file(path)


def test_a_file_that_is_cut_or_goes_on_is_refused(path):
    content = path.read_bytes()
    for changed in [content[: n * len(content) // 10] for n in range(10)] + [content + b"\0"]:
        path.write_bytes(changed)
        with pytest.raises(CheckpointError, match=r"run\.checkpoint must be a whole checkpoint"):
            read_checkpoint_file(path)


@pytest.mark.parametrize(
    "content",
    [
        b"dear diary, today I trained a model",
        b"\xff" * 100,
        b"\x08",
        struct.pack("<Q", 2**63) + b"{}",
        safetensors.torch.save(TENSORS),
        safetensors.torch.save(TENSORS, metadata={"transformer_edu": '{"sha256": 3}'}),
    ],
)
def test_what_is_no_checkpoint_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="must be a whole checkpoint of this package"):
        read_checkpoint_file(path)


def test_a_pickle_is_refused_and_not_run(path, tmp_path):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "code was run",))

    torch.save({"weights": Trap()}, path)
    with pytest.raises(CheckpointError, match="of another format"):
        read_checkpoint_file(path)
    assert names(path) == ["run.checkpoint"]


@pytest.mark.parametrize("wrong", [None, 3, b"bytes"])
def test_what_is_no_path_is_refused(wrong):
    for use in (read_checkpoint_file, lambda path: write_checkpoint_file(path, TENSORS, RECORD)):
        with pytest.raises(TypeError, match="path must be a path, got"):
            use(wrong)


def test_the_disk_has_all_of_it_before_it_takes_the_old_file_s_place(path, monkeypatch):
    events = []
    for name in ("fsync", "replace"):
        original = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *a, own=original, name=name: (events.append(name), own(*a))
        )
    write_checkpoint_file(path, TENSORS, RECORD)
    assert events[:2] == ["fsync", "replace"]
    assert events[2:] == (["fsync"] if os.name == "posix" else [])  # of the folder


def test_reading_during_a_save_gives_a_whole_file(path):
    stop = threading.Event()

    def save_on_and_on():
        while not stop.is_set():
            write_checkpoint_file(path, {"all": torch.ones(50_000)}, {})

    thread = threading.Thread(target=save_on_and_on)
    thread.start()
    try:
        for _ in range(50):
            read_checkpoint_file(path)
    finally:
        stop.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork and no kill -9")
def test_kill_9_in_the_middle_of_saves_leaves_a_whole_checkpoint(tmp_path):
    path = tmp_path / "run.checkpoint"
    write_checkpoint_file(path, {"all": torch.zeros(400_000)}, {})
    command = [sys.executable, "-c", KILLS_SAVES, str(path), str(KILLS)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (result.returncode, result.stderr) == (0, "")
    found = [[float(number) for number in line.split()] for line in result.stdout.splitlines()]
    assert len(found) == KILLS
    assert all(length == 400_000 and kinds == 1 for _, length, kinds, _ in found)
    saves = [number for *_, number in found]
    assert 0 < saves[0] < saves[-1]
    assert saves == sorted(saves)
    assert any(left for left, *_ in found)  # some were killed in the middle of a save
    assert max(left for left, *_ in found) <= 1  # the next save removes what a kill left
    write_checkpoint_file(path, TENSORS, RECORD)
    assert names(path) == ["run.checkpoint"]
