"""An exported run is small, translates as the run did, and says where it comes from."""

import json
import re
import shutil
from dataclasses import replace

import pytest
import torch

from experiments.publishing import everyday_scores
from experiments.publishing import export as module
from experiments.publishing.everyday_scores import EverydayScore
from experiments.publishing.export import export, history_of, main, weights_of
from transformer_edu.data.everyday import held_out
from transformer_edu.data.parallel_text import ParallelText
from transformer_edu.model.transformer import Transformer
from transformer_edu.pretrained.loading import CARD, HISTORY
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.run_task import load_texts
from transformer_edu.runs.scoring import score_translator
from transformer_edu.runs.settings import TINY, TOY
from transformer_edu.training.bleu import Bleu
from transformer_edu.training.checkpoint import load_model, save_model
from transformer_edu.training.saved_translator import load_translator


@pytest.fixture(scope="module")
def exported(text_run, tmp_path_factory) -> RunFolder:
    folder = RunFolder(tmp_path_factory.mktemp("exported") / "to")
    size = export(RunFolder(text_run), folder, machine="an abacus")
    files = list(folder.path.iterdir())
    assert len(files) == 4
    assert size == sum(file.stat().st_size for file in files)
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
    card = (exported.path / CARD).read_text("utf-8")
    last = RunFolder(text_run).read_history()[-1]
    for fact in ("--steps 7", "--d-model 16", f"{last['tokens']:,} target", "on an abacus"):
        assert fact in card
    texts = load_texts(RunFolder(text_run).read_settings())
    alpha = float(re.search(r"is published, with α ([\d.]+)\.", card)[1])
    bleu = score_translator(load_translator(exported.path), texts.test, alpha=alpha)["cased"]
    assert f"- test, beam 5, cased: **{bleu.score:.1f}** BLEU (`{bleu.signature}`)" in card


@pytest.mark.parametrize(("keep", "last"), [(1, "evaluation"), (2, "2 evaluations")])
def test_the_average_and_the_best_weights_may_be_published(text_run, tmp_path, keep, last):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    before = run.read_history()
    later = ((6000, 97.0), (7000, 96.0), (8000, 97.0), (9000, None))
    run.write_history([*before, *(before[0] | {"step": s, "bleu": bleu} for s, bleu in later)])
    assert weights_of(run, run.read_settings().changed(keep=keep)) == {
        f"the average of the weights at the last {last}": (run.model,),
        "the weights at step 6,000": (run.best,),
    }


def test_so_may_the_mean_with_a_model_of_the_same_sizes_and_tokens(
    exported, text_run, tmp_path, monkeypatch
):
    run, to = RunFolder(text_run), RunFolder(tmp_path / "to")
    begun = RunFolder(shutil.copytree(exported.path, tmp_path / "begun"))
    before, after = load_model(run.best), load_model(run.model)
    save_model(begun.model, before)
    settings = run.read_settings().changed(begin_with=str(begun.path))
    *_, (name, files) = weights_of(run, settings).items()
    assert name.startswith(f"the mean of the weights of {begun.path} and of the last ")
    assert files == (begun.model, run.model)

    monkeypatch.setattr(RunFolder, "read_settings", lambda _: settings)
    monkeypatch.setattr(module, "best_of", lambda trials: trials[-1])
    export(run, to)
    pairs = zip(before.parameters(), after.parameters(), strict=True)
    for half, (one, other) in zip(load_model(to.model).parameters(), pairs, strict=True):
        assert torch.allclose(half, (one + other) / 2, rtol=1e-3, atol=1e-6)
    assert f"- {name}: α 0.6 " in (to.path / CARD).read_text("utf-8")

    save_model(begun.model, Transformer(replace(before.config, d_ff=1)))
    assert len(weights_of(run, settings)) == 2
    save_model(begun.model, before)
    begun.tokenizer_file.write_text("{}", "utf-8")
    assert len(weights_of(run, settings)) == 2
    begun.model.unlink()
    assert len(weights_of(run, settings)) == 2


@pytest.mark.parametrize("missing", ["model", "best"])
def test_an_unfinished_run_changes_nothing_that_is_published(exported, text_run, tmp_path, missing):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    getattr(run, missing).unlink()
    to = shutil.copytree(exported.path, tmp_path / "to")
    before = {file.name: file.read_bytes() for file in to.iterdir()}
    with pytest.raises(FileNotFoundError, match="run must be a finished one, with .*safetensors"):
        export(run, RunFolder(to))
    assert {file.name: file.read_bytes() for file in to.iterdir()} == before


def test_an_interrupt_changes_nothing_that_is_published(exported, text_run, tmp_path, monkeypatch):
    to = shutil.copytree(exported.path, tmp_path / "to")
    (to / CARD).write_text("an older card", "utf-8")
    before = {file.name: file.read_bytes() for file in to.iterdir()}

    def interrupt(*_: object, width: int = 5, **__: object) -> dict:
        if width == 1:  # all trials are over
            raise KeyboardInterrupt
        return {"cased": Bleu(1.0, "signed")}

    monkeypatch.setattr(module, "score_translator", interrupt)
    with pytest.raises(KeyboardInterrupt):
        export(RunFolder(text_run), RunFolder(to))
    assert {file.name: file.read_bytes() for file in to.iterdir()} == before


@pytest.mark.parametrize("chosen", ["model", "best"])
def test_all_is_chosen_by_validation_never_by_test(text_run, tmp_path, monkeypatch, chosen):
    run, to = RunFolder(text_run), RunFolder(tmp_path / "to")
    texts, wanted = load_texts(run.read_settings()), load_model(getattr(run, chosen))
    asked = []

    def score(translator, pairs, *, width=5, alpha=0.6):
        for weights in translator.model.parameters():  # what is scored is what was written
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
    assert "is published, with α 1." in card
    assert f"; {list(weights_of(run, run.read_settings()))[chosen == 'best']}, stored" in card
    assert "- validation, beam 5, cased: **90.0** BLEU" in card


def test_the_history_holds_every_choice_and_every_evaluation(exported, text_run):
    run = RunFolder(text_run)
    content = json.loads((exported.path / HISTORY).read_text("utf-8"))
    assert TINY.changed(**content["settings"]) == run.read_settings()
    assert content["evaluations"] == run.read_history()


def test_the_history_keeps_that_of_the_run_before(exported, text_run, tmp_path):
    run = RunFolder(text_run)
    for begun in (text_run, exported.path):  # a run, or what was published of it
        settings = run.read_settings().changed(begin_with=str(begun))
        history = history_of(run, settings)
        assert history["evaluations"] == run.read_history()
        assert history["began_with"]["evaluations"] == run.read_history()
        assert history["began_with"]["settings"] == run.read_settings().by_name()


def test_everyday_sentences_are_chosen_by_and_told_too(text_run, tmp_path, monkeypatch):
    everyday = ParallelText([("I sleep.", "Ich schlafe.")], [("a", "b")], [("c", "d")])
    captions = load_texts(RunFolder(text_run).read_settings())
    asked = []

    def score(translator, sentences, known, *, width, alpha):
        assert {"ich", "schlafe", "eins"} <= known
        asked.append((sentences[0][0], width, alpha))
        return EverydayScore(len(sentences), exact=float(alpha == 1.4), unbroken=1.0)

    bleu = {"cased": Bleu(50.0, "signed")}
    monkeypatch.setattr(
        module, "load_corpora", lambda _: {"multi30k": captions, "everyday": everyday}
    )
    monkeypatch.setattr(everyday_scores, "score_everyday", score)
    monkeypatch.setattr(module, "score_translator", lambda *_, **__: bleu)
    export(RunFolder(text_run), RunFolder(tmp_path / "to"))
    assert {sentence for sentence, _, _ in asked[:8]} == {"a"}
    assert asked[8:] == [
        (sentence, width, 1.4) for sentence in ("c", held_out()[0][0]) for width in (1, 5)
    ]
    card = (tmp_path / "to" / CARD).read_text("utf-8")
    assert "is published, with α 1.4." in card
    assert f"written by hand, beam 5: **100.0%** of {len(held_out())}" in card


def test_a_record_without_a_score_is_no_evaluation(text_run, tmp_path):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "interrupted"))
    records = run.read_history()
    run.write_history([*records, records[-1] | {"step": 8, "bleu": None}])
    assert history_of(run, run.read_settings())["evaluations"] == records


def test_the_command_writes_and_says_how_much(tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(module, "export", lambda *given, **named: asked.append(named) or 12345)
    assert main(["runs/x", "--to", str(tmp_path), "--machine", "an abacus"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}: 12,345 bytes\n"
    assert asked == [{"machine": "an abacus"}]


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
    with pytest.raises(ValueError, match="run must have a history, got none in .*evaluations"):
        export(run, RunFolder(tmp_path / "to"))
    assert not (tmp_path / "to").exists()
