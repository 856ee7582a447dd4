"""An exported run is small, translates as the run did, and says where it comes from."""

import json
import re
import shutil
from dataclasses import replace

import pytest

from transformer_edu.training import export as module
from transformer_edu.training.bleu import Bleu
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.export import HISTORY, command_of, export, history_of, main
from transformer_edu.training.options import build_parser, settings_of
from transformer_edu.training.presets import TINY, TOY, RunSettings
from transformer_edu.training.run_folder import RunFolder
from transformer_edu.training.run_task import load_texts
from transformer_edu.training.saved_translator import load_translator
from transformer_edu.training.score import score_translator


@pytest.fixture(scope="module")
def exported(text_run, tmp_path_factory) -> RunFolder:
    folder = RunFolder(tmp_path_factory.mktemp("exported") / "to")
    assert export(RunFolder(text_run), folder, machine="an abacus") > 0
    return folder


def test_weights_take_half_the_bytes_and_lose_little(exported, text_run):
    run = RunFolder(text_run)
    assert exported.model.stat().st_size < 0.7 * run.model.stat().st_size
    before, after = load_model(run.model), load_model(exported.model)
    for one, other in zip(before.parameters(), after.parameters(), strict=True):
        assert one.dtype == other.dtype
        assert (one - other).abs().max() <= 1e-3 * one.abs().max()
    load_translator(exported.path).translate("one hundred")


def test_the_card_tells_the_command_the_cost_and_the_scores(exported, text_run):
    card = (exported.path / "README.md").read_text("utf-8")
    last = RunFolder(text_run).read_history()[-1]
    for fact in ("--steps 7", "--d-model 16", f"{last['tokens']:,} target", "on an abacus"):
        assert fact in card
    texts = load_texts(RunFolder(text_run).read_settings())
    alpha = float(re.search(r"Length penalty α ([\d.]+), the best by validation", card)[1])
    bleu = score_translator(load_translator(exported.path), texts.test, alpha=alpha)["cased"]
    assert f"- test, beam 5, cased: **{bleu.score:.1f}** BLEU (`{bleu.signature}`)" in card


def test_the_length_penalty_is_chosen_by_validation_never_by_test(text_run, tmp_path, monkeypatch):
    texts = load_texts(RunFolder(text_run).read_settings())
    asked = []

    def score(translator, pairs, *, width=5, alpha=0.6):
        part = "test" if pairs == texts.test else "validation"
        asked.append((part, width, alpha))
        # A part is translated the better, the nearer alpha is to another number.
        best = {"validation": 1.0, "test": 1.8}[part]
        return {"cased": Bleu(90 - abs(alpha - best), "signed")}

    monkeypatch.setattr(module, "score_translator", score)
    export(RunFolder(text_run), RunFolder(tmp_path / "to"))
    tested = [each for each in asked if each[0] == "test"]
    assert tested == [("test", 1, 0.6), ("test", 5, 1.0)]
    assert "Length penalty α 1, the best" in (tmp_path / "to" / "README.md").read_text("utf-8")


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


def test_the_command_in_the_card_repeats_the_run(tmp_path):
    settings = replace(TINY, seed=3, dropout=0.1, norm_first=True, patience=5, precision="bfloat16")
    words = command_of(settings).split()[3:]
    chosen = build_parser().parse_args(words)
    assert settings_of(chosen, RunFolder(tmp_path / "new")) == settings


def test_the_command_writes_and_says_how_much(text_run, tmp_path, capsys):
    assert main([str(text_run), "--to", str(tmp_path / "to")]) == 0
    assert re.fullmatch(r".*to: [\d,]+ bytes\n", capsys.readouterr().out)


def test_what_is_too_large_or_a_toy_is_refused(text_run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(module, "LARGEST", 100)
    with pytest.raises(ValueError, match="model must take at most 100 bytes, got"):
        export(RunFolder(text_run), RunFolder(tmp_path / "to"))
    assert not RunFolder(tmp_path / "to").model.exists()
    toy = RunFolder(shutil.copytree(text_run, tmp_path / "toy"))
    toy.write_settings(TOY, {})
    assert main([str(toy.path), "--to", str(tmp_path / "to")]) == 1
    assert capsys.readouterr().err == "error: run must be one of a text task, got 'numbers'\n"
