"""An exported run is small, translates as the run did, and says where it comes from."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from transformer_edu.training import export as module
from transformer_edu.training.bleu import Bleu
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.export import (
    TERMS,
    command_of,
    describe_run,
    export,
    history_of,
    main,
    weights_of,
)
from transformer_edu.training.options import build_parser, settings_of
from transformer_edu.training.presets import TINY, TOY, RunSettings
from transformer_edu.training.run_folder import CARD, HISTORY, RunFolder
from transformer_edu.training.run_task import load_texts
from transformer_edu.training.saved_translator import load_translator
from transformer_edu.training.score import score_translator


@pytest.fixture(scope="module")
def exported(text_run, tmp_path_factory) -> RunFolder:
    folder = RunFolder(tmp_path_factory.mktemp("exported") / "to")
    size = export(RunFolder(text_run), folder, machine="an abacus")
    files = list(folder.path.iterdir())
    assert len(files) == 4
    assert size == sum(file.stat().st_size for file in files)
    return folder


def made_run(path: Path, settings: RunSettings) -> RunFolder:
    """A run that was never run: every number that its card tells is another."""
    run = RunFolder(path)
    run.make()
    run.write_settings(settings, {"torch": "2.0", "machine": "a loom", "python": "3.0"})
    run.append_record({"step": 1, "tokens": 2, "seconds": 3.0, "cpu_seconds": 4.0, "bleu": 5.0})
    run.append_record(
        {"step": 4321, "tokens": 76543, "seconds": 660.0, "cpu_seconds": 1020.0, "bleu": None}
    )
    for step in (1, 4321):
        (run.weights / f"{step:06d}.safetensors").touch()
    return run


def test_weights_take_half_the_bytes_and_lose_little(exported, text_run):
    run = RunFolder(text_run)
    assert exported.model.stat().st_size < 0.7 * run.model.stat().st_size
    before, after = load_model(run.model), load_model(exported.model)
    for one, other in zip(before.parameters(), after.parameters(), strict=True):
        assert one.dtype == other.dtype
        assert (one - other).abs().max() <= 1e-3 * one.abs().max()
    load_translator(exported.path).translate("one hundred")


def test_the_card_tells_the_command_the_cost_and_the_scores(exported, text_run):
    card = (exported.path / CARD).read_text("utf-8")
    last = RunFolder(text_run).read_history()[-1]
    for fact in ("--steps 7", "--d-model 16", f"{last['tokens']:,} target", "on an abacus"):
        assert fact in card
    texts = load_texts(RunFolder(text_run).read_settings())
    alpha = float(re.search(r"length penalty α ([\d.]+) are the best by validation", card)[1])
    bleu = score_translator(load_translator(exported.path), texts.test, alpha=alpha)["cased"]
    assert f"- test, beam 5, cased: **{bleu.score:.1f}** BLEU (`{bleu.signature}`)" in card


def test_a_card_tells_just_what_the_records_hold(tmp_path):
    settings = replace(TINY, num_layers=3, d_model=36, num_heads=6, d_ff=70, seed=8, keep=9)
    scores = {
        ("validation", 1): {"cased": Bleu(21.04, "a|b"), "lower-cased": Bleu(22.0, "a|lc")},
        ("test", 5): {"cased": Bleu(23.96, "c|d")},
    }
    run = made_run(tmp_path / "run", settings)
    average, best = weights_of(run, settings)
    beams = {(average, 0.6): 30.04, (average, 1.0): 31.96, (best, 0.6): 29.0, (best, 1.0): 31.94}
    card = describe_run(run, settings, scores, beams)
    assert (
        card
        == f"""# A Transformer for multi30k

3 + 3 layers, d_model 36, 6 heads, d_ff 70; trained from scratch. A toy for lessons: it knows \
the words of its training data and little else.

## How it was trained

```
{command_of(settings)}
```

- seed 8, 4,321 steps, 76,543 target tokens; the average of the weights at the last 2 \
evaluations, stored in float16

- 17 CPU-minutes, 11 minutes on the clock, evaluations included, on a loom

- made with torch 2.0, python 3.0

## How well it translates

Weights and length penalty α 1 are the best by validation (beam 5, cased); no choice was made by \
test:

- the average of the weights at the last 2 evaluations: α 0.6 30.0, α 1 32.0
- the weights at step 1: α 0.6 29.0, α 1 31.9

The result, with α 1:

- validation, beam 1, cased: **21.0** BLEU (`a|b`)
- validation, beam 1, lower-cased: **22.0** BLEU (`a|lc`)
- test, beam 5, cased: **24.0** BLEU (`c|d`)

## Data

{TERMS["multi30k"]}
"""
    )
    named = describe_run(run, settings, scores, beams, machine="an abacus")
    assert named == card.replace("on a loom", "on an abacus")
    assert "tokens; the weights at step 1, stored" in describe_run(
        run, settings, scores, beams | {(best, 1.8): 40.0}
    )


def test_the_average_and_the_best_weights_may_be_published(tmp_path):
    run = made_run(tmp_path / "run", TINY)
    run.append_record(run.read_history()[0] | {"step": 6000, "bleu": 7.0})
    run.append_record(run.read_history()[0] | {"step": 7000, "bleu": 6.0})
    assert weights_of(run, replace(TINY, keep=1)) == {
        "the average of the weights at the last 1 evaluations": run.model,
        "the weights at step 6,000": run.best,
    }


@pytest.mark.parametrize("chosen", ["model", "best"])
def test_all_is_chosen_by_validation_never_by_test(text_run, tmp_path, monkeypatch, chosen):
    run, to = RunFolder(text_run), RunFolder(tmp_path / "to")
    texts, wanted = load_texts(run.read_settings()), load_model(getattr(run, chosen))
    asked = []

    def score(translator, pairs, *, width=5, alpha=0.6):
        for weights in translator.model.parameters():  # what is judged is what was written
            assert torch.equal(weights, weights.half().float())
        part = "test" if pairs == texts.test else "validation"
        asked.append((part, width, alpha))
        # A part is translated the better, the nearer alpha is to another number, and the
        # validation part by the wanted weights.
        best = {"validation": 1.0, "test": 1.8}[part]
        pairs = zip(translator.model.parameters(), wanted.parameters(), strict=True)
        is_wanted = all(torch.equal(one, other.half().float()) for one, other in pairs)
        return {"cased": Bleu(80 + 10 * is_wanted - abs(alpha - best), "signed")}

    monkeypatch.setattr(module, "score_translator", score)
    export(run, to)
    tested = [each for each in asked if each[0] == "test"]
    assert tested == [("test", 1, 0.6), ("test", 5, 1.0)]
    written = load_model(to.model)
    for one, other in zip(written.parameters(), wanted.parameters(), strict=True):
        assert torch.equal(one, other.half().float())
    card = (tmp_path / "to" / CARD).read_text("utf-8")
    assert "length penalty α 1 are the best" in card
    assert f"; {list(weights_of(run, run.read_settings()))[chosen == 'best']}, stored" in card
    assert "- validation, beam 5, cased: **90.0** BLEU" in card


def test_the_history_holds_every_choice_and_every_evaluation(exported, text_run):
    run = RunFolder(text_run)
    content = json.loads((exported.path / HISTORY).read_text("utf-8"))
    assert RunSettings(**content["settings"]) == run.read_settings()
    assert content["evaluations"] == run.read_history()


def test_a_record_without_a_score_is_no_evaluation(text_run, tmp_path):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "interrupted"))
    records = run.read_history()
    run.append_record(records[-1] | {"step": 8, "bleu": None})
    assert history_of(run, run.read_settings())["evaluations"] == records


@pytest.mark.parametrize(
    "changes",
    [
        {"dropout": 0.1, "norm_first": True, "patience": 5, "precision": "bfloat16"},
        {"batch_tokens": None, "batch_size": 32},
        {"batch_tokens": None},
        {},
    ],
    ids=["many", "pairs", "as many pairs as ever", "none"],
)
def test_the_command_in_the_card_repeats_the_run(tmp_path, changes):
    settings = replace(TINY, seed=3, **changes)
    words = command_of(settings).split()[3:]
    chosen = build_parser().parse_args(words)
    assert settings_of(chosen, RunFolder(tmp_path / "new")) == settings


def test_the_command_always_names_steps_and_seed():
    assert f" --steps {TINY.steps} --seed {TINY.seed} " in command_of(TINY)


def test_the_command_writes_and_says_how_much(text_run, tmp_path, capsys):
    assert main([str(text_run), "--to", str(tmp_path / "to")]) == 0
    assert re.fullmatch(r".*to: [\d,]+ bytes\n", capsys.readouterr().out)


@pytest.mark.parametrize("error", [ValueError, TypeError, OSError, ImportError])
def test_an_error_is_told_in_one_line(error, tmp_path, monkeypatch, capsys):
    def fail(*_: object, **__: object) -> int:
        raise error("name must be so, got else")

    monkeypatch.setattr(module, "export", fail)
    assert main(["runs/x", "--to", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "error: name must be so, got else\n"


def test_what_is_too_large_or_a_toy_is_refused(exported, text_run, tmp_path, monkeypatch, capsys):
    size = exported.model.stat().st_size + exported.tokenizer_file.stat().st_size
    monkeypatch.setattr(module, "LARGEST", size - 1)
    message = f"model and tokenizer must take at most {size - 1:,} bytes, got {size:,}"
    with pytest.raises(ValueError, match=message):
        export(RunFolder(text_run), RunFolder(tmp_path / "to"))
    assert not RunFolder(tmp_path / "to").model.exists()
    toy = RunFolder(shutil.copytree(text_run, tmp_path / "toy"))
    toy.write_settings(TOY, {})
    assert main([str(toy.path), "--to", str(tmp_path / "to")]) == 1
    assert capsys.readouterr().err == "error: run must be one of a text task, got 'numbers'\n"


def test_the_runs_own_folder_is_refused_before_anything_is_lost(text_run, monkeypatch):
    run = RunFolder(text_run)
    before = run.model.read_bytes()
    with pytest.raises(ValueError, match="to must be another folder than the run's, got "):
        export(run, RunFolder(text_run / ".." / text_run.name))
    assert run.model.read_bytes() == before


def test_a_run_without_a_history_is_refused(text_run, tmp_path):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    run.history_file.unlink()
    with pytest.raises(ValueError, match="run must have a history, got none in .*history"):
        export(run, RunFolder(tmp_path / "to"))
    assert not (tmp_path / "to").exists()
