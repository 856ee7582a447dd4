"""An exported run is small, translates as the run did, and says where it comes from."""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch

from experiments.publishing import everyday_scores
from experiments.publishing import export as module
from experiments.publishing.choosing import Chooser
from experiments.publishing.everyday_scores import EverydayScore
from experiments.publishing.export import export, history_of, main, weights_of
from transformer_edu.data.everyday import HELD_OUT, PHRASES_TO_CHOOSE_BY, held_out
from transformer_edu.data.parallel_text import ParallelText
from transformer_edu.data.tokenizer import train_tokenizer
from transformer_edu.pretrained.loading import CARD, HISTORY
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.run_task import load_texts
from transformer_edu.runs.scoring import score_translator
from transformer_edu.runs.settings import TINY, TOY
from transformer_edu.training.bleu import Bleu
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.checkpoint_file import read_checkpoint_file, write_checkpoint_file
from transformer_edu.training.machine.atomic_files import write_json
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
    width, alpha = re.search(r"with a beam of (\d) and α ([\d.]+):", card).groups()
    asked = {"width": int(width), "alpha": float(alpha)}
    shouted = [(source.upper(), target) for source, target in texts.test]
    for name, pairs in {"test": texts.test, "test in capitals": shouted}.items():
        bleu = score_translator(load_translator(exported.path), pairs, **asked)["cased"]
        line = f"- {name}, beam {width}, cased: **{bleu.score:.1f}** BLEU (`{bleu.signature}`)"
        assert line in card


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("test", "A dog runs!"),
        ("test in capitals", "A DOG RUNS!"),
        ("test in small letters", "a dog runs!"),
        ("test without final marks", "A dog runs"),
        ("validation", "A cat sits."),
    ],
)
def test_sources_are_also_scored_as_people_type_them(part, expected):
    texts = ParallelText([], [("A cat sits.", "Eine Katze")], [("A dog runs!", "Ein Hund")])
    ((source, target),) = module.pairs_of(texts, part)
    assert source == expected and target.startswith("Ein")


@pytest.mark.parametrize(("keep", "last"), [(1, "evaluation"), (2, "2 evaluations")])
def test_the_average_and_the_best_weights_may_be_published(text_run, tmp_path, keep, last):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    before = run.read_history()
    later = ((6000, 97.0), (7000, 96.0), (8000, 97.0), (9000, None))
    write_json(
        run.history_file, [*before, *(before[0] | {"step": s, "bleu": bleu} for s, bleu in later)]
    )
    assert weights_of(run, run.read_settings().changed(keep=keep)) == {
        f"the average of the weights at the last {last}": run.model,
        "the weights at step 6,000": run.best,
    }


@pytest.mark.parametrize("missing", ["model", "best"])
def test_an_unfinished_run_changes_nothing_that_is_published(exported, text_run, tmp_path, missing):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    getattr(run, missing).unlink()
    to = shutil.copytree(exported.path, tmp_path / "to")
    before = {file.name: file.read_bytes() for file in to.iterdir()}
    with pytest.raises(FileNotFoundError, match="run must be a finished one, with .*safetensors"):
        export(run, RunFolder(to))
    assert {file.name: file.read_bytes() for file in to.iterdir()} == before


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("settings.json", lambda content: {"settings": content["settings"]}),
        ("settings.json", lambda content: content | {"versions": ["2.10"]}),
        ("settings.json", lambda content: content | {"versions": {"machine": "some × CPU"}}),
        ("evaluations.json", lambda content: [{"step": 7, "bleu": 1.0}]),
        ("evaluations.json", lambda content: [*content[:-1], content[-1] | {"tokens": None}]),
        ("evaluations.json", lambda content: [*content[:-1], content[-1] | {"seconds": "long"}]),
    ],
)
def test_a_run_damaged_by_hand_is_refused_before_it_is_scored(
    text_run, tmp_path, capsys, name, damage
):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    file = run.path / name
    file.write_text(json.dumps(damage(json.loads(file.read_text("utf-8")))), "utf-8")
    assert main([str(run.path), "--to", str(tmp_path / "to")]) == 1
    wanted = "run must have whole settings.json and evaluations.json"
    assert capsys.readouterr().err == f"error: {wanted}, got others in {run.path}\n"
    assert not (tmp_path / "to").exists()


def test_texts_that_have_changed_since_are_not_called_the_runs(text_run, tmp_path, capsys):
    shutil.copytree(text_run, tmp_path / "x")
    content = json.loads((tmp_path / "x" / "settings.json").read_text())
    changed = tmp_path / "changed.en"
    before = Path(content["settings"]["source"]).read_text()
    changed.write_text(before.replace("one", "two"))
    content["settings"]["source"] = str(changed)
    (tmp_path / "x" / "settings.json").write_text(json.dumps(content))
    assert main([str(tmp_path / "x"), "--to", str(tmp_path / "to")]) == 1
    said = "error: task must have the texts that .*last.safetensors has learned from, got changed"
    assert re.match(said, capsys.readouterr().err) and not (tmp_path / "to").exists()


def test_other_weights_are_not_called_the_average_of_the_last(text_run, tmp_path, capsys):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    shutil.copy(run.weights_at(7), run.model)
    assert main([str(run.path), "--to", str(tmp_path / "to")]) == 1
    wanted = f"error: {run.model} must be the average of the last weights, got others\n"
    assert capsys.readouterr().err == wanted and not (tmp_path / "to").exists()


def test_other_weights_are_not_called_those_of_the_best_step(text_run, tmp_path, capsys):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    records = json.loads(run.history_file.read_text("utf-8"))
    write_json(run.history_file, [*records[:-1], records[-1] | {"bleu": 1.0}])
    assert main([str(run.path), "--to", str(tmp_path / "to")]) == 1
    wanted = f"error: {run.best} must hold the weights of {run.weights_at(7)}, got others\n"
    assert capsys.readouterr().err == wanted and not (tmp_path / "to").exists()


def test_the_best_weights_of_another_run_are_refused(text_run, tmp_path, capsys):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    tensors, about = read_checkpoint_file(run.best)
    step, loss = about["won"]
    run.weights_at(step).unlink(missing_ok=True)  # no longer kept, as in a longer run
    write_checkpoint_file(run.best, tensors, about | {"won": [step, loss + 1]})
    assert main([str(run.path), "--to", str(tmp_path / "to")]) == 1
    wanted = f"error: {run.best} must be the run's own model, got another one\n"
    assert capsys.readouterr().err == wanted and not (tmp_path / "to").exists()


def test_a_tokenizer_of_another_run_is_refused_by_its_name(text_run, tmp_path, capsys):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    train_tokenizer(["ab ab"], vocabulary_size=261).save(run.tokenizer_file)
    assert main([str(run.path), "--to", str(tmp_path / "to")]) == 1
    wanted = f"error: {run.model} must have as many tokens as {run.tokenizer_file}, got "
    assert capsys.readouterr().err.startswith(wanted)
    assert not (tmp_path / "to").exists()


def test_an_interrupt_changes_nothing_that_is_published(exported, text_run, tmp_path, monkeypatch):
    to = shutil.copytree(exported.path, tmp_path / "to")
    (to / CARD).write_text("an older card", "utf-8")
    before = {file.name: file.read_bytes() for file in to.iterdir()}

    def interrupt(*_: object, **__: object) -> dict:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "score_translator", interrupt)  # when all trials are over
    with pytest.raises(KeyboardInterrupt):
        export(RunFolder(text_run), RunFolder(to))
    assert {file.name: file.read_bytes() for file in to.iterdir()} == before


@pytest.mark.parametrize("edited", [True, False])
def test_a_card_that_its_owner_has_edited_is_kept(
    exported, text_run, tmp_path, monkeypatch, edited, capsys
):
    def write(run: RunFolder, draft: RunFolder, *_: object) -> None:
        shutil.copytree(exported.path, draft.path, dirs_exist_ok=True)

    to = shutil.copytree(exported.path, tmp_path / "to")
    card = (to / CARD).read_text("utf-8") + "License: mine.\n" * edited
    (to / CARD).write_text(card, "utf-8")
    monkeypatch.setattr(module, "_write_draft", write)
    export(RunFolder(text_run), RunFolder(to))
    assert (to / CARD).read_bytes() == (exported.path / CARD).read_bytes()
    assert [file.read_text("utf-8") for file in to.glob("*.bak")] == [card] * edited
    assert ("it is kept as README.bak" in capsys.readouterr().out) == edited


@pytest.mark.parametrize("chosen", ["model", "best"])
def test_all_is_chosen_by_validation_never_by_test(text_run, tmp_path, monkeypatch, chosen):
    run, to = RunFolder(text_run), RunFolder(tmp_path / "to")
    texts, wanted = load_texts(run.read_settings()), load_model(getattr(run, chosen))
    tested, tested_targets = [], [target for _, target in texts.test]

    def reaches(chooser, translator, trial):
        """A trial is the better, the nearer α is to 1; with the wanted weights; with width 3."""
        for weights in translator.model.parameters():  # what is scored is what was written
            assert torch.equal(weights, weights.half().float())
        pairs = zip(translator.model.parameters(), wanted.parameters(), strict=True)
        is_wanted = all(torch.equal(one, other.half().float()) for one, other in pairs)
        found = 50 + 10 * is_wanted - abs(trial.alpha - 1) + (trial.width == 3)
        return dict.fromkeys(chooser.by_bleu, found)

    def score(translator, pairs, *, width, alpha):
        part = "test" if [target for _, target in pairs] == tested_targets else "validation"
        tested.append((part, width, alpha))
        return {"cased": Bleu(80.0, "signed")}

    monkeypatch.setattr(Chooser, "scores", reaches)
    monkeypatch.setattr(module, "score_translator", score)
    export(run, to)
    whole = [(part, width, 1.0) for part in ("validation", "test") for width in (1, 3)]
    assert tested == whole + [("test", 3, 1.0)] * len(module.TYPED)
    for one, other in zip(load_model(to.model).parameters(), wanted.parameters(), strict=True):
        assert torch.equal(one, other.half().float())
    card = (tmp_path / "to" / CARD).read_text("utf-8")
    name = list(weights_of(run, run.read_settings()))[chosen == "best"]
    assert f"Published are {name}, searched with a beam of 3 and α 1:" in card
    assert f"; {name}, stored" in card
    assert f"| {name} | 3 | 1 | ended | 61.0 | 61.0 | 61.0 |" in card


def test_the_history_holds_every_choice_and_every_evaluation(exported, text_run):
    run = RunFolder(text_run)
    content = json.loads((exported.path / HISTORY).read_text("utf-8"))
    assert TINY.changed(**content["settings"]) == run.read_settings()
    assert content["evaluations"] == run.read_history()


def test_everyday_sentences_are_chosen_by_and_told_too(text_run, tmp_path, monkeypatch):
    phrases = [(f"p{n}", f"q{n}") for n in range(PHRASES_TO_CHOOSE_BY)]
    validation = [("a", "b"), *phrases]
    everyday = ParallelText([("I sleep.", "Ich schlafe.")], validation, [("c", "d")])
    captions = load_texts(RunFolder(text_run).read_settings())
    corpora = {"multi30k": captions, "everyday": everyday}
    assert Chooser(corpora).by_hand == {"generated": [("a", "b")], "by hand": phrases}
    judged = []

    def score(translator, sentences, known, *, width, alpha, judge):
        assert {"ich", "schlafe", "eins"} <= known
        judged.append((sentences[0][0], width, judge.__name__))
        return EverydayScore(len(sentences), exact=0.25, unbroken=1.0)

    def reaches(chooser, translator, trial):
        return {kind: float(trial.width) for kind in (*chooser.by_bleu, *chooser.by_hand)}

    monkeypatch.setattr(module, "load_corpora", lambda _: corpora)
    monkeypatch.setattr(everyday_scores, "score_everyday", score)
    monkeypatch.setattr(Chooser, "scores", reaches)
    monkeypatch.setattr(module, "score_translator", lambda *_, **__: {"cased": Bleu(50.0, "s")})
    export(RunFolder(text_run), RunFolder(tmp_path / "to"))
    kinds = [("c", "is_right")]
    for kind in HELD_OUT:
        judge = "keeps_word" if kind == "copied" else "is_right"
        kinds.append((held_out(kind)[0][0], judge))
    assert judged == [(first, width, judge) for first, judge in kinds for width in (1, 8)]
    card = (tmp_path / "to" / CARD).read_text("utf-8")
    count = len(held_out())
    assert f"- by hand (everyday life), beam 8: **25.0%** of {count} exactly right, 100.0%" in card
    assert "**25.0%** of 100 with the word" in card


def test_a_record_without_a_score_is_no_evaluation(text_run, tmp_path):
    run = RunFolder(shutil.copytree(text_run, tmp_path / "interrupted"))
    records = run.read_history()
    write_json(run.history_file, [*records, records[-1] | {"step": 8, "bleu": None}])
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


def test_a_file_is_no_folder_to_write_to(text_run, tmp_path, capsys):
    (tmp_path / "card.md").write_text("mine", encoding="utf-8")
    assert main([str(text_run), "--to", str(tmp_path / "card.md")]) == 1
    assert (
        capsys.readouterr().err == f"error: to must be a folder, got the file {tmp_path}/card.md\n"
    )
    assert (tmp_path / "card.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["README.md", "model.safetensors", HISTORY])
def test_a_folder_that_holds_files_of_others_is_refused(text_run, tmp_path, name, capsys):
    (tmp_path / name).write_text("mine", encoding="utf-8")
    assert main([str(text_run), "--to", str(tmp_path)]) == 1
    wanted = "to must be a new folder, or one that this command has written"
    assert capsys.readouterr().err == f"error: {wanted}, got {tmp_path} with {name}\n"
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"
