"""The translator in the package translates, offline, and says what it is."""

import importlib
import shutil
import subprocess
import sys

import pytest

from transformer_edu.pretrained import loading
from transformer_edu.pretrained.loading import (
    FOLDER,
    load_pretrained,
    model_card,
    training_history,
)

WEIGHTS = FOLDER / "model.safetensors"
README = FOLDER.parents[1] / "README.md"


def test_it_translates_a_caption():
    translator = load_pretrained()
    words = translator.translate("Two dogs are playing in the snow.", width=5).lower()
    assert "zwei hunde" in words
    assert "schnee" in words


def test_it_loads_neither_the_training_command_nor_plots_nor_widgets():
    code = "import sys; from transformer_edu import load_pretrained; load_pretrained()"
    code += "; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(told.stdout.split())
    assert "transformer_edu.pretrained.loading" in loaded
    unwanted = {"transformer_edu.runs", "transformer_course", "matplotlib", "ipywidgets", "IPython"}
    assert not unwanted & loaded
    ours = {name for name in loaded if name.startswith("transformer_edu.")}
    assert not [name for name in ours if hasattr(importlib.import_module(name), "argparse")]


def test_all_of_it_takes_at_most_8_megabytes():
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) <= 8_000_000


def test_the_card_says_how_it_was_made_and_how_well_it_does():
    card = model_card()
    for fact in ("-m transformer_edu.training", "seed", "steps", "minutes", "nrefs:1"):
        assert fact in card


def test_the_history_is_that_of_this_model():
    settings, records = training_history()
    config = load_pretrained().model.config
    assert config.vocabulary_size <= settings["vocabulary_size"]
    for name in ("d_model", "num_heads", "num_layers", "d_ff", "dropout", "norm_first"):
        assert getattr(config, name) == settings[name]
    steps = [record["step"] for record in records]
    assert steps == sorted(set(steps)) and steps[-1] <= settings["steps"]
    assert records[-1]["bleu"] > records[0]["bleu"]


def test_the_readme_tells_the_size_and_the_time_of_this_model():
    weights = sum(weight.numel() for weight in load_pretrained().model.parameters())
    size, (_, records) = WEIGHTS.stat().st_size, training_history()
    hours = f"{records[-1]['cpu_seconds'] / 3600:.1f} hours"
    told = f"{weights / 1e6:.2f} million weights, {size / 1e6:.1f} MB, trained in {hours}"
    assert told in " ".join(README.read_text("utf-8").split())


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"settings": 7, "evaluations": []}'])
def test_a_damaged_history_is_refused_by_name(tmp_path, monkeypatch, content):
    (tmp_path / "history.json").write_text(content, "utf-8")
    monkeypatch.setattr(loading, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"history\.json must hold the history of a run, got"):
        training_history()


def test_a_package_without_weights_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"must be a folder with model\.safetensors"):
        load_pretrained()


def test_a_translator_that_was_not_made_says_how_to_make_it(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError, match="must be made first: make everyday"):
        load_pretrained("everyday")


def test_the_name_says_which_translator(tmp_path, monkeypatch):
    shutil.copytree(FOLDER, tmp_path / "everyday", ignore=shutil.ignore_patterns("everyday"))
    (tmp_path / "everyday" / "README.md").write_text("another card", "utf-8")
    monkeypatch.setattr(loading, "FOLDER", tmp_path)
    assert load_pretrained("everyday").translate("A dog runs.")
    assert model_card("everyday") == "another card"


def test_there_is_no_other_translator():
    with pytest.raises(ValueError, match=r"name must be one of multi30k\+everyday, everyday, got"):
        load_pretrained("french")


@pytest.mark.parametrize("device", ["gpu", "cuda:99", 2.5, None])
def test_a_device_that_is_not_here_is_refused(device):
    wanted = r"device must be one of this machine \(cpu\), got"
    with pytest.raises(ValueError, match=f"{wanted} {device!r}$"):
        load_pretrained(device=device)
