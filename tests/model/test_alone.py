"""The folder ``model`` is a package of its own: copied into another project, it trains there."""

import shutil
import subprocess
import sys

from tools.notebooks import ROOT

STEP = """
import importlib, pathlib, sys

sys.modules["transformer_edu"] = None  # importing it is an error
sys.path.insert(0, str(pathlib.Path.cwd()))

import torch
import torch.nn.functional as F

from attention_is_all.transformer import Transformer, TransformerConfig

for path in pathlib.Path("attention_is_all").glob("*.py"):
    importlib.import_module(f"attention_is_all.{path.stem}")

torch.manual_seed(0)
sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 32, "dropout": 0.0}
model = Transformer(TransformerConfig(vocabulary_size=11, **sizes))
source_ids, target_ids = torch.randint(3, 11, (4, 6)), torch.randint(3, 11, (4, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def loss():
    logits = model(source_ids, target_ids[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), target_ids[:, 1:].flatten())


before = loss()
before.backward()
optimizer.step()
print(before.item(), loss().item())
assert not any(name.startswith("transformer_edu.") for name in sys.modules)
"""


def test_the_folder_alone_trains_under_another_name(tmp_path):
    model = ROOT / "transformer_edu" / "model"
    without_bytecode = shutil.ignore_patterns("__pycache__")
    shutil.copytree(model, tmp_path / "attention_is_all", ignore=without_bytecode)
    # -I: neither the folder that the tests run in nor PYTHONPATH is searched
    command = [sys.executable, "-I", "-B", "-c", STEP]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    before, after = map(float, ran.stdout.split())
    assert after < before
