"""The options of the training command become settings; a resumed run keeps its own."""

from dataclasses import fields

import pytest

from transformer_edu.runs.options import build_parser, read_settings
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import TINY, TOY, RunSettings
from transformer_edu.training.config import TrainingConfig


def read(text: str, folder: RunFolder) -> RunSettings:
    return read_settings(build_parser().parse_args([*text.split(), "--out", "x"]), folder)


@pytest.fixture
def new(tmp_path) -> RunFolder:
    return RunFolder(tmp_path / "new")


@pytest.fixture
def begun(tmp_path) -> RunFolder:
    folder = RunFolder(tmp_path / "begun")
    folder.path.mkdir(parents=True)
    folder.write_settings(TOY.changed(seed=4), {})
    return folder


def test_without_options_it_is_the_preset(new):
    assert read("", new) == read("--preset tiny", new) == TINY
    assert read("--task numbers", new) == TOY


def test_every_setting_has_an_option(new):
    parser = build_parser()
    options = {action.dest for action in parser._actions}
    assert {field.name for field in fields(RunSettings)} - {"model", "training"} <= options
    assert {field.name for field in fields(TrainingConfig)} - {"progress"} <= options


def test_every_number_can_be_given(new):
    settings = read(
        "--learning-rate 1e-3 --warmup 7 --batch-tokens 99 --dropout 0 --vocabulary 400 "
        "--layers 2 --norm-first --patience 3 --seed 5",
        new,
    )
    assert settings == TINY.changed(
        learning_rate=1e-3,
        warmup_steps=7,
        batch_tokens=99,
        dropout=0.0,
        vocabulary_size=400,
        num_layers=2,
        norm_first=True,
        patience=3,
        seed=5,
    )


def test_a_resumed_run_keeps_its_settings(begun):
    assert read("--resume", begun) == TOY.changed(seed=4)
    assert read("--resume --seed 4 --preset toy --task numbers", begun) == TOY.changed(seed=4)
    assert read("--resume --patience 2", begun).patience == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--resume --steps 9", "steps must be 500 as in .*begun, got 9"),
        ("--resume --no-norm-first --seed 0", "seed must be 4 as in .*begun, got 0"),
        ("--resume --preset tiny", "preset must be toy as in .*begun, got tiny"),
        ("", "out must be the folder of a new run, got .*begun, which holds one: add --resume"),
        ("--learning-rate 1", "to go on with it, or begin another in another folder"),
        ("--resume --source moved", "source must be left out for the task numbers, got .*moved"),
    ],
)
def test_another_run_in_the_folder_is_refused(begun, options, message):
    with pytest.raises(ValueError, match=message):
        read(options, begun)


def test_a_folder_with_weights_and_no_run_is_called_what_it_is(new):
    new.path.mkdir()
    new.model.touch()
    with pytest.raises(
        ValueError, match="must be the folder of a new run, got .*, which holds mod"
    ):
        read("", new)


@pytest.mark.parametrize("options", ["", "--resume"])
def test_settings_of_something_else_are_called_what_they_are(new, options):
    new.path.mkdir()
    new.settings_file.write_text('{"editor.tabSize": 4}')
    with pytest.raises(ValueError, match=r"settings\.json must hold a run's settings, got some"):
        read(options, new)


def test_there_must_be_a_run_to_resume(new):
    with pytest.raises(FileNotFoundError, match="run must be the folder of a run, got .*new"):
        read("--resume", new)
