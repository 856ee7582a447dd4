"""What a computation costs: operations, seconds and bytes; and two ways to make it faster.

Used in notebooks/18_speed_and_scale.ipynb.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import transformer_edu
from transformer_edu.generation.translator import Translator
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.transformer import Transformer
from transformer_edu.pretrained.ctranslate2_engine import fast_translator
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.training.checkpoint import load_history

LONGEST_WAIT = 300  # seconds for a run
LONGEST_END = 40  # seconds for a run to end when asked to; torchrun gives its processes 30
# Of a small training that is the same in one process and in several.
SMALL_RUN = (
    "--task numbers --threads 1 --d-model 32 --heads 2 --layers 1 --d-ff 64 --dropout 0 "
    "--precision float32 --steps 40 --schedule linear --warmup 20 --evaluate-every 40 "
    "--evaluate-on 8"
)
# Where torchrun begins to report on its processes, after all that they have said.
REPORT = re.compile(r"^[EW]\d{4} .*/elastic/multiprocessing/api\.py", re.MULTILINE)


def operations(call: Callable[..., object], *given: object) -> int:
    """The multiplications and additions of all matrix products while ``call`` runs.

    A product of matrices (m, n) and (n, p) has 2 · m · n · p. Attention is written out, because the
    fused kernel of a CPU is not counted. The number is the same on every device.

    Args:
        call: What to count.
        given: What it is called with.
    """
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        call(*given)
    return counter.get_total_flops()


def seconds(
    call: Callable[..., Tensor | tuple[Tensor, ...]], *given: object, rounds: int = 5
) -> float:
    """The seconds of the fastest of several calls.

    Args:
        call: Returns a tensor, or several. One number is read, so that a GPU has to finish.
        given: What it is called with.
        rounds: How often to call, at least 1.
    """
    durations = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = call(*given)
        first = result[0] if isinstance(result, tuple) else result
        first.detach().flatten()[0].item()
        durations.append(time.perf_counter() - start)
    return min(durations)


def saved_bytes(
    call: Callable[..., object], *given: object, model: nn.Module | None = None, **named: object
) -> int:
    """The bytes that autograd keeps for the backward pass while ``call`` runs.

    A view keeps the whole storage that it shares with other tensors; each storage counts once.

    Args:
        call: Returns what the backward pass would begin with.
        given, named: What it is called with.
        model: Its weights do not count.
    """
    weights = model.parameters() if model is not None else ()
    own = {StorageWeakRef(weight.untyped_storage()) for weight in weights}
    kept: dict[StorageWeakRef, int] = {}  # a reference, because an address may be used again

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[StorageWeakRef(storage)] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        _result = call(*given, **named)  # as long as it lives, so do the tensors that it needs
    return sum(size for storage, size in kept.items() if storage not in own)


def next_logits(model: Transformer, given: Tensor, memory: Tensor, cache: DecoderCache) -> Tensor:
    """The logits after the last of the given tokens, shape (batch, vocabulary).

    Args:
        model: The cache, if it is not None, is of this model.
        given: Token ids that the cache does not hold, shape (batch, position).
        memory: What the encoder returned.
        cache: What was decoded before.
    """
    decoded = model.decode(given, memory, source_mask=None, cache=cache)
    return model.project(decoded[:, -1])


@torch.no_grad()
def operations_a_byte(model: Transformer, sentences: int, tokens: int) -> float:
    """Operations of one cached step of the decoder for each byte of the weights that it reads.

    Args:
        model: Its memory's keys and values are in the cache before the step.
        sentences: Rows of the batch.
        tokens: New tokens of each row: several in prefill, one in decode.
    """
    table = model.target_embedding.table.weight
    ids = torch.full((sentences, tokens), model.config.end_id, device=table.device)
    memory, cache = model.encode(ids), DecoderCache(num_layers=model.config.decoder_depth)
    next_logits(model, ids[:, :1], memory, cache)
    read = sum(weight.nbytes for weight in (table, *model.decoder.parameters()))
    return operations(next_logits, model, ids, memory, cache) / read


def engines(translator: Translator) -> dict[str, Translator]:
    """The translator, and the same one in CTranslate2, in float32 and in int8, each by its name.

    Where CTranslate2 is not installed, or cannot multiply int8, a printed sentence says so.

    Args:
        translator: Its model decides where to compute.
    """
    found = {"PyTorch": translator}
    try:
        for kind in ("float32", "int8"):
            found[f"CTranslate2, {kind}"] = fast_translator(translator, compute_type=kind)
    except (ModuleNotFoundError, ValueError) as error:
        print(error)
    return found


def losses_of_a_run(*, processes: int, options: str = SMALL_RUN) -> list[float] | None:
    """The losses of ``python -m transformer_edu.training``; ``torchrun`` starts several processes.

    The processes compute on the CPU, with one thread each. The run's folder is deleted.

    Args:
        processes: How many share the work, at least 1.
        options: Those of the command, without ``--out``.

    Returns:
        The loss of every step. None where the run fails or takes more than LONGEST_WAIT seconds,
        and a printed sentence says so.
    """
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"]
    launcher = [*torchrun, "--nproc-per-node", str(processes)] if processes > 1 else []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *launcher, "-m", "transformer_edu.training", *options.split()]
        process = subprocess.Popen(
            [*command, "--out", str(Path(folder, "run"))],
            env=os.environ | _settings(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        try:
            said, _ = process.communicate(timeout=LONGEST_WAIT)
            reason = _last_error(REPORT.split(said)[0]) or f"exit status {process.returncode}"
            if process.returncode == 0:
                reason = ""
        except subprocess.TimeoutExpired:
            reason = f"no end within {LONGEST_WAIT:g} seconds"
        finally:
            _end(process)
        if reason:
            count = "one process" if processes == 1 else f"{processes} processes"
            print(f"The run in {count} failed here: {reason}. The text below says what it shows.")
            return None
        run = load_history(RunFolder(Path(folder, "run")).checkpoint)
    return [step.loss for step in run.steps]


def _end(process: subprocess.Popen) -> None:
    """End a process if it still runs, first by asking."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(LONGEST_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _last_error(said: str) -> str:
    """The last line that names an error, such as ``ValueError: …``, or else the last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "rror: " in line), "".join(lines[-1:]))


def _settings() -> dict[str, str]:
    """Environment variables of the processes of a run."""
    here = str(Path(transformer_edu.__file__).parents[1])  # so that each process finds it
    folders = [here, os.environ.get("PYTHONPATH", "")]
    return {
        "TRANSFORMER_EDU_DEVICE": "cpu",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, folders)),
        "USE_LIBUV": "0",  # torch for Windows is built without it
    }
