"""The score of a run is BLEU over one of its parts."""

import pytest

from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.runs.run_folder import RunFolder
from transformer_edu.training.runs.run_task import load_texts
from transformer_edu.training.runs.saved_translator import load_translator
from transformer_edu.training.runs.scoring import main, score_translator, settings_of_texts


def test_both_scores_are_bleu_of_what_is_written(text_run):
    translator = load_translator(text_run)
    texts = load_texts(RunFolder(text_run).read_settings())
    pairs = [(source, source.title()) for source, _ in texts.test[:4]]
    scores = score_translator(translator, pairs, width=2, alpha=0.0)
    written = [translator.translate(source, width=2, alpha=0.0) for source, _ in pairs]
    references = [target for _, target in pairs]
    assert scores["cased"] == corpus_bleu(written, references)
    assert scores["lower-cased"] == corpus_bleu(written, references, lowercase=True)


def test_the_command_prints_part_scores_and_signatures(text_run, capsys):
    assert main([str(text_run), "--part", "test", "--beam", "1"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("test, 13 sentences, beam 1")
    for line, case in zip(lines, ("mixed", "lc"), strict=True):
        assert line.startswith("BLEU ")
        assert f"case:{case}" in line


def test_exported_weights_mean_multi30k_unless_a_task_is_named(tmp_path, text_run, text_files):
    exported = RunFolder(tmp_path)
    assert settings_of_texts(exported, None, None, None).task == "multi30k"
    source, target = map(str, text_files)
    assert settings_of_texts(exported, "files", source, target).source == source
    run = RunFolder(text_run)
    assert settings_of_texts(run, None, None, None) == run.read_settings()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["nowhere"], "error: run must be a folder with model.safetensors, got nowhere"),
        (["RUN", "--beam", "0"], "error: beam must be at least 1, got 0"),
        (["RUN", "--task", "files"], "error: source must be given for the task files, got None"),
    ],
    ids=["no run", "no beam", "no files"],
)
def test_errors_are_told_in_one_line(text_run, capsys, options, message):
    assert main([str(text_run) if option == "RUN" else option for option in options]) == 1
    assert capsys.readouterr().err.splitlines() == [message]
