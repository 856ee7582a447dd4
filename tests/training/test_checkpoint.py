"""A run that stopped and went on is, bit for bit, the run that never stopped."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.small_model import same, small_transformer, weights
from transformer_edu.data.toy_tasks import copy_task, reverse_task
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.checkpoint import (
    choices,
    distinct_weights,
    load_checkpoint,
    load_history,
    load_model,
    require_same,
    save_model,
)
from transformer_edu.training.checkpoint_file import (
    CheckpointError,
    read_checkpoint_file,
    write_checkpoint_file,
)
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.loop import fit, paper_adam
from transformer_edu.training.machine.failures import NotEnoughMemoryError
from transformer_edu.training.muon import Muon
from transformer_edu.training.state import TrainingRun, TrainingState

TASK = reverse_task(
    num_symbols=5, shortest=2, longest=4, train_size=60, validation_size=8, test_size=8
)
# 60 pairs in batches of 16 are 4 batches an epoch: the 10 steps end in the middle of the third.
CONFIG = TrainingConfig(steps=10, batch_size=16, evaluate_every=4, warmup_steps=3, seed=3)


def transformer(seed: int = 0, **changes: object) -> Transformer:
    return small_transformer(seed=seed, **{"dropout": 0.2} | changes)


def stop_after(steps: int) -> Callable[[TrainingRun], None]:
    """Press Ctrl-C when so many steps are taken."""

    def after_step(run: TrainingRun) -> None:
        if len(run.steps) == steps:
            raise KeyboardInterrupt

    return after_step


Whole = tuple[TrainingRun, list[Tensor]]


def uninterrupted(config: TrainingConfig = CONFIG, **changes: object) -> Whole:
    """A run that never stopped, and the weights in the end."""
    model = transformer(**changes)
    return fit(model, TASK, config), weights(model)


@pytest.fixture(scope="module")
def whole() -> Whole:
    return uninterrupted()


def assert_goes_on(
    path: Path, whole: Whole, config: TrainingConfig = CONFIG, **changes: object
) -> None:
    """The checkpoint leads to the same run and the same weights."""
    model = transformer(seed=99, **changes)  # whatever it knows is replaced
    assert fit(model, TASK, config, resume=path) == whole[0]
    assert same(weights(model), whole[1])


@pytest.fixture(scope="module")
def stopped(tmp_path_factory) -> bytes:
    """The checkpoint of a run stopped after step 6, in the middle of its second epoch."""
    path = tmp_path_factory.mktemp("stopped") / "run.checkpoint"
    fit(transformer(), TASK, CONFIG, after_step=stop_after(6), checkpoint=path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path, stopped) -> Path:
    """A file with that checkpoint."""
    path = tmp_path / "run.checkpoint"
    path.write_bytes(stopped)
    return path


@pytest.mark.parametrize("steps", [1, 3, 4, 6, 10])
def test_a_run_that_goes_on_is_the_run_that_never_stopped(tmp_path, whole, steps):
    path = tmp_path / "run.checkpoint"
    stopped = fit(transformer(), TASK, CONFIG, after_step=stop_after(steps), checkpoint=path)
    assert stopped.interrupted
    assert len(stopped.steps) == steps
    torch.rand(7)
    assert_goes_on(path, whole)


@pytest.mark.parametrize("kind", [Muon, paper_adam])
def test_so_is_a_run_with_another_optimizer_and_so_is_its_file(tmp_path, kind):
    path, runs = tmp_path / "run.checkpoint", []
    for last, resume in ((10, None), (6, None), (10, path)):
        model = transformer(dropout=0.0)
        optimizer = kind(model, 0.01)
        after = {"after_step": stop_after(last), "checkpoint": path, "resume": resume}
        run = fit(model, TASK, CONFIG, optimizer=optimizer, **after)
        runs.append((run, weights(model), path.read_bytes()))
    (whole, end, file), _, (resumed, resumed_end, resumed_file) = runs
    assert resumed.steps == whole.steps
    assert same(resumed_end, end)
    assert resumed_file == file


@pytest.mark.parametrize(
    ("changes", "sizes"),
    [
        ({"accumulate": 3, "label_smoothing": 0.1}, {"tie_embeddings": False}),
        ({"precision": "bfloat16"}, {"target_vocabulary_size": 11}),
        ({"precision": "float16"}, {}),
        ({"schedule": lambda step: 1 / step, "largest_gradient": None}, {}),
        ({"batch_size": 7, "evaluate_every": 1}, {"norm_first": True, "bias": True}),
        ({"batch_size": 100}, {}),
        ({"batch_tokens": 48}, {}),
    ],
    ids=lambda changes: " and ".join(changes),
)
def test_so_is_a_run_with_other_choices(tmp_path, changes, sizes):
    path, config = tmp_path / "run.checkpoint", replace(CONFIG, **changes)
    fit(transformer(**sizes), TASK, config, after_step=stop_after(6), checkpoint=path)
    assert_goes_on(path, uninterrupted(config, **sizes), config, **sizes)


@pytest.mark.parametrize(
    "make_optimizer",
    [
        lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
        lambda model: torch.optim.AdamW(model.parameters(), lr=1e-2, amsgrad=True),
        lambda model: torch.optim.Adam(
            [
                {"params": model.encoder.parameters(), "lr": 1e-3},
                {"params": model.decoder.parameters(), "lr": 1e-2, "betas": (0.8, 0.9)},
            ]
        ),
    ],
    ids=["momentum", "AdamW", "two groups"],
)
def test_so_is_one_with_another_optimizer(tmp_path, make_optimizer):
    path, model = tmp_path / "run.checkpoint", transformer()
    expected = fit(model, TASK, CONFIG, optimizer=make_optimizer(model))
    other = transformer()
    optimizer = make_optimizer(other)
    stop = stop_after(6)
    fit(other, TASK, CONFIG, optimizer=optimizer, after_step=stop, checkpoint=path)
    third = transformer(seed=99)
    assert fit(third, TASK, CONFIG, optimizer=make_optimizer(third), resume=path) == expected
    assert same(weights(third), weights(model))
    # In the same session the same optimizer may go on too.
    assert fit(other, TASK, CONFIG, optimizer=optimizer, resume=path) == expected
    assert same(weights(other), weights(model))


def test_so_is_one_whose_gradients_overflowed_float16_before(tmp_path):
    path, config = tmp_path / "run.checkpoint", replace(CONFIG, precision="float16")

    def enlarged(seed: int) -> Transformer:
        # Gradients 200 times as large exceed 65,504 at first: the factor is halved, and again.
        model = transformer(seed)
        model.output_projection.register_full_backward_pre_hook(
            lambda module, gradients: tuple(200 * gradient for gradient in gradients)
        )
        return model

    expected_model, model = enlarged(0), enlarged(99)
    expected = fit(expected_model, TASK, config)
    fit(enlarged(0), TASK, config, after_step=stop_after(6), checkpoint=path)
    assert read_checkpoint_file(path)[1]["scaler"]["scale"] < 2**16
    assert fit(model, TASK, config, resume=path) == expected
    assert same(weights(model), weights(expected_model))


def test_a_run_may_stop_again_and_again(tmp_path, whole):
    path = tmp_path / "run.checkpoint"
    fit(transformer(), TASK, CONFIG, after_step=stop_after(1), checkpoint=path)
    for steps in (2, 5, 6, 9):
        model = transformer(seed=steps)
        fit(model, TASK, CONFIG, after_step=stop_after(steps), checkpoint=path, resume=path)
    assert_goes_on(path, whole)


@pytest.mark.parametrize("where", ["forward", "evaluation"])
def test_an_interrupt_anywhere_saves_whole_steps(tmp_path, whole, where):
    path, model, calls = tmp_path / "run.checkpoint", transformer(), []

    def interrupt(layer, inputs, output):
        calls.append(layer.training)
        in_evaluation = where == "evaluation" and not layer.training
        if in_evaluation or (where == "forward" and len(calls) == 3):
            hook.remove()
            raise KeyboardInterrupt

    hook = model.output_projection.register_forward_hook(interrupt)
    stopped = fit(model, TASK, CONFIG, checkpoint=path)
    assert len(stopped.steps) == {"forward": 2, "evaluation": 4}[where]
    assert not stopped.evaluations
    assert_goes_on(path, whole)


def test_it_is_saved_after_every_evaluation_and_at_the_end(tmp_path, monkeypatch):
    path, saved = tmp_path / "run.checkpoint", []
    monkeypatch.setattr(
        "transformer_edu.training.loop.save_checkpoint",
        lambda where, state: saved.append((where, len(state.run.steps))),
    )
    fit(transformer(), TASK, CONFIG, checkpoint=path)
    assert saved == [(path, 4), (path, 8), (path, 10)]


def test_an_interrupt_before_the_first_step_replaces_no_old_checkpoint(path):
    def interrupt(*_):
        raise KeyboardInterrupt

    before, model = path.read_bytes(), transformer()
    model.encoder.register_forward_hook(interrupt)
    assert fit(model, TASK, CONFIG, checkpoint=path).interrupted
    assert path.read_bytes() == before


def test_a_layer_that_is_there_twice_is_refused_because_the_config_has_it_once(tmp_path):
    model = transformer()
    model.encoder.layers.append(model.encoder.layers[0])
    with pytest.raises(ValueError, match=r"must share the weights that its config does, got encod"):
        save_model(tmp_path / "model", model)
    assert not (tmp_path / "model").exists()


def test_tied_weights_are_stored_once_and_stay_tied(path):
    tensors, _ = read_checkpoint_file(path)
    tables = [
        name
        for name, tensor in tensors.items()
        if name.startswith("weights.") and tensor.shape == (12, 16)
    ]
    assert tables == ["weights.source_embedding.table.weight"]
    model = transformer(seed=99)
    fit(model, TASK, CONFIG, resume=path)
    for loaded in (model, load_model(path)):
        assert loaded.output_projection.weight is loaded.source_embedding.table.weight
        assert loaded.target_embedding is loaded.source_embedding


def test_a_trained_model_can_be_loaded_to_be_used(tmp_path):
    path, model = tmp_path / "run.checkpoint", transformer()
    fit(model, TASK, CONFIG, checkpoint=path)
    before = torch.get_rng_state()
    loaded = load_model(path)
    assert torch.get_rng_state().equal(before)
    assert not loaded.training
    assert loaded.config == model.config
    assert same(weights(loaded), weights(model))
    source_ids = torch.tensor([[5, 6, 7], [8, 9, 0]])
    assert greedy_search(loaded, source_ids) == greedy_search(model, source_ids)


def forget_later_fields(tensors: dict, record: dict) -> None:
    """Make a file what it was before the config had these fields."""
    later = ("num_decoder_layers", "start_id", "end_id", "activation", "position_order")
    for name in (*later, "num_decoder_heads", "decoder_d_ff", "scale_embeddings"):
        del record["choices"]["model"][name]


def test_a_model_from_before_a_field_existed_is_loaded(path):
    model = load_model(path)
    rewritten(path, forget_later_fields)
    again = load_model(path)
    assert again.config == model.config
    assert same(weights(again), weights(model))


def test_a_run_from_before_a_field_existed_goes_on(path, whole):
    rewritten(path, forget_later_fields)
    assert_goes_on(path, whole)


def other_task(**changes: int):
    sizes = {"num_symbols": 5, "shortest": 2, "longest": 4, "train_size": 60}
    return reverse_task(**sizes | {"validation_size": 8, "test_size": 8} | changes)


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=CONFIG.learning_rate)


def other_betas(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=CONFIG.learning_rate, eps=1e-9, fused=True)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": {"num_heads": 4}}, "model.num_heads must be 2 as in .*, got 4"),
        ({"model": {"tie_embeddings": False}}, "model.tie_embeddings must be True"),
        ({"config": {"steps": 11}}, "training.steps must be 10 as in .*, got 11"),
        ({"config": {"seed": 4}}, "training.seed must be 3"),
        ({"config": {"batch_tokens": 49}}, "training.batch_tokens must be None as in .*, got 49"),
        ({"config": {"schedule": lambda step: 1.0}}, "training.schedule must be linear as in"),
        ({"task": {"seed": 1}}, "^task must have the texts that .* has learned from, got changed"),
        ({"optimizer": sgd}, "optimizer.class must be Adam as in .*, got SGD"),
        ({"optimizer": other_betas}, r"optimizer.group 0.betas must be \[0.9, 0.98\]"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_checkpoint_of_another_run_is_refused_and_nothing_is_changed(path, changes, field):
    content = path.read_bytes()
    model = transformer(seed=99, **changes.get("model", {}))
    task = other_task(**changes.get("task", {}))
    config = replace(CONFIG, **changes.get("config", {}))
    optimizer = changes.get("optimizer", lambda model: paper_adam(model, config.learning_rate))(
        model
    )
    before, settings = weights(model), copy.deepcopy(optimizer.state_dict())
    with pytest.raises(CheckpointError, match=field) as caught:
        fit(model, task, config, optimizer=optimizer, checkpoint=path, resume=path)
    assert str(path) in str(caught.value)
    assert same(weights(model), before)
    assert optimizer.state_dict() == settings
    assert path.read_bytes() == content


def test_another_schedule_is_refused(tmp_path):
    path = tmp_path / "run.checkpoint"
    config = replace(CONFIG, schedule=lambda step: 1 / step)
    fit(transformer(), TASK, config, checkpoint=path)
    other = replace(CONFIG, schedule=lambda step: 1 / step if step < 5 else 0.0)
    message = "training.schedule must give the learning rates of .* at step 5, got 0.0"
    with pytest.raises(CheckpointError, match=message):
        fit(transformer(), TASK, other, resume=path)


def test_progress_may_be_shown_or_not(path, capsys):
    config = replace(CONFIG, progress=True)
    assert len(fit(transformer(), TASK, config, resume=path).steps) == 10
    assert "10/10" in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text"])
def test_a_damaged_checkpoint_is_refused_and_the_state_is_what_it_was(path, damage):
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(
        {
            "cut": content[:middle],
            "flipped": content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :],
            "empty": b"",
            "text": b"once upon a time",
        }[damage]
    )
    model = transformer(seed=99)
    state = TrainingState(model, TASK, CONFIG, paper_adam(model, CONFIG.learning_rate))
    before, settings = weights(model), copy.deepcopy(state.optimizer.state_dict())
    for load in (lambda: load_checkpoint(path, state), lambda: load_model(path)):
        with pytest.raises(CheckpointError, match=r"run\.checkpoint must be"):
            load()
    assert same(weights(model), before)
    assert (state.optimizer.state_dict(), state.run) == (settings, TrainingRun())


def rewritten(path: Path, change: Callable[[dict, dict], None]) -> None:
    """The checkpoint with other content and a checksum that fits."""
    tensors, record = read_checkpoint_file(path)
    change(tensors, record)
    write_checkpoint_file(path, tensors, record)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, r: r.update(format_version=2), "format_version of .* must be 1, got 2"),
        (lambda t, r: t.pop("weights.output_projection.bias"), "weights.output_projection.bias"),
        (lambda t, r: t.update({"weights.more": torch.ones(2)}), "weights.more must be .*got None"),
        (
            lambda t, r: t.update({"weights.output_projection.bias": torch.ones(11)}),
            r"bias must be torch.float32 \(11,\) as in .*, got torch.float32 \(12,\)",
        ),
        (lambda t, r: t.pop("history.steps"), "got one with a part missing"),
        (lambda t, r: r.pop("scaler"), "got one with a part missing"),
        (lambda t, r: r.update(choices=3), "got one with a part missing"),
    ],
)
def test_what_fits_its_checksum_but_not_the_model_is_refused(path, change, message):
    rewritten(path, change)
    model = transformer(seed=99)
    before = weights(model)
    with pytest.raises(CheckpointError, match=message):
        fit(model, TASK, CONFIG, resume=path)
    assert same(weights(model), before)


def test_only_a_transformer_can_be_loaded_without_its_class(path):
    rewritten(path, lambda t, r: r["choices"]["model"].update({"class": "Perceptron"}))
    with pytest.raises(CheckpointError, match="its class must be one of Transformer, got 'Percep"):
        load_model(path)


def test_where_nothing_can_be_saved_no_step_is_taken(tmp_path):
    model = transformer()
    before = weights(model)
    with pytest.raises(FileNotFoundError, match="checkpoint must lie in a folder that exists"):
        fit(model, TASK, CONFIG, checkpoint=tmp_path / "missing" / "run.checkpoint")
    with pytest.raises(TypeError, match="checkpoint must be a path, got 5"):
        fit(model, TASK, CONFIG, checkpoint=5)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        fit(model, TASK, CONFIG, resume=tmp_path / "nowhere")
    assert same(weights(model), before)


def test_the_history_can_be_read_without_a_model(path):
    run = load_history(path)
    assert [record.step for record in run.steps] == [1, 2, 3, 4, 5, 6]
    assert [found.step for found in run.evaluations] == [4]


def test_a_model_saved_alone_comes_back(tmp_path):
    model = transformer()
    save_model(tmp_path / "model", model)
    loaded = load_model(tmp_path / "model")
    assert loaded.config == model.config
    assert same(weights(loaded), weights(model))
    assert loaded.output_projection.weight is loaded.target_embedding.table.weight
    assert not loaded.training


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_a_model_saved_in_half_precision_comes_back_in_float32(tmp_path, half):
    model = transformer()
    save_model(tmp_path / "whole", model)
    save_model(tmp_path / "half", model, dtype=half)
    loaded = weights(load_model(tmp_path / "half"))
    assert same(loaded, [weight.to(half).float() for weight in weights(model)])
    sizes = [(tmp_path / name).stat().st_size for name in ("half", "whole")]
    assert sizes[0] < 0.7 * sizes[1]


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.bool, torch.complex64, torch.float8_e5m2, int, "float16", True]
)
def test_a_model_is_not_saved_in_a_type_that_cannot_be_loaded(path, dtype):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"^dtype must be one of .*torch.float64, got "):
        save_model(path, transformer(), dtype=dtype)
    assert path.read_bytes() == before


def test_a_model_whose_own_type_cannot_be_loaded_is_not_saved(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="dtype must be one of .*, got torch.float8_e5m2"):
        save_model(path, transformer().to(torch.float8_e5m2))
    assert path.read_bytes() == before


class Subclass(Transformer):
    """Its class is in the file, and load_model builds no other than Transformer."""


def test_a_model_that_could_not_be_built_again_is_not_saved(path):
    before, changed, subclass = path.read_bytes(), transformer(), transformer()
    changed.encoder.layers[0].feed_forward.widen = nn.Linear(16, 30)
    message = r"widen.weight must be torch.float32 \(30, 16\) as in this model, got .* \(24, 16\)"
    with pytest.raises(ValueError, match=message):
        save_model(path, changed)
    subclass.__class__ = Subclass
    with pytest.raises(TypeError, match="model must be a Transformer, got Subclass"):
        save_model(path, subclass)
    assert path.read_bytes() == before


@pytest.mark.parametrize("other", [torch.float64, torch.float16])
def test_a_model_of_two_types_comes_back_in_float32(tmp_path, other):
    model = transformer()
    model.encoder.to(other)
    save_model(tmp_path / "model", model)
    expected = [weight.to(torch.float32) for weight in weights(model)]
    assert same(weights(load_model(tmp_path / "model")), expected)


@pytest.mark.parametrize("saved", [torch.float32, torch.float64])
@pytest.mark.parametrize("default", [torch.float32, torch.float64])
def test_a_model_comes_back_in_its_own_type_whatever_the_default_is(tmp_path, saved, default):
    model = transformer().to(saved).eval()
    save_model(tmp_path / "model", model)
    torch.set_default_dtype(default)
    try:
        loaded = load_model(tmp_path / "model")
    finally:
        torch.set_default_dtype(torch.float32)
    assert same(weights(loaded), weights(model))
    ids = torch.tensor([[4, 5, 6]])
    assert loaded(ids, ids[:, :2]).equal(model(ids, ids[:, :2]))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"num_layers": 10**9}, r"num_layers of .* must be at most \d+, .*, got 1000000000"),
        ({"d_ff": 10**15}, r" as in .*, got torch.float32 \(.*1000000000000000.*\)"),
        ({"d_ff": 10**23}, "memory must suffice for the model in .*, got too little"),
        ({"d_model": 10**9}, r"weights.* as in .*, got torch.float32 \(.*1000000000.*\)"),
        ({"max_length": 10**14}, "max_length must be at most 131,072, got 100,000,000,000,000"),
    ],
    ids=["layers", "inner width", "overflow", "width", "positions"],
)
def test_a_file_that_asks_for_a_giant_is_refused_before_it_is_built(path, sizes, message):
    rewritten(path, lambda t, r: r["choices"]["model"].update(sizes))
    with pytest.raises((CheckpointError, NotEnoughMemoryError), match=message):
        load_model(path)


def test_what_is_no_transformer_is_not_saved_and_what_has_no_history_is_refused(tmp_path):
    with pytest.raises(TypeError, match="model must be a Transformer, got Linear"):
        save_model(tmp_path / "model", nn.Linear(2, 3))
    save_model(tmp_path / "model", transformer())
    with pytest.raises(CheckpointError, match="model must hold a history, got none"):
        load_history(tmp_path / "model")


SAME_RUN_TASK = copy_task(
    num_symbols=5, longest=3, shortest=2, train_size=9, validation_size=3, test_size=2
)


def test_every_field_of_both_configs_is_among_the_choices_but_what_changes_nothing():
    model = small_transformer()
    config = TrainingConfig(schedule=lambda step: 1.0, progress=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    found = choices(TrainingState(model, SAME_RUN_TASK, config, optimizer))
    assert found["model"].keys() == {"class", *vars(model.config)}
    assert found["training"].keys() == {"loss_scaling", *vars(config)} - {"progress"}
    assert found["training"]["schedule"] == "a function"
    assert json.loads(json.dumps(found)) == found


def test_a_model_without_a_config_has_its_class_alone():
    model = nn.Linear(2, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert choices(TrainingState(model, SAME_RUN_TASK, TrainingConfig(), optimizer))["model"] == {
        "class": "Linear"
    }


def test_the_learning_rate_that_counts_is_the_one_before_the_schedule():
    model = small_transformer()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    state = TrainingState(model, SAME_RUN_TASK, TrainingConfig(), optimizer)
    before = choices(state)
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.1)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.05)
    assert choices(state) == before
    assert before["optimizer"]["group 0"]["lr"] == 0.5


def test_a_tied_tensor_is_named_once_and_its_other_names_point_to_it():
    distinct, tied = distinct_weights(small_transformer())
    first = "source_embedding.table.weight"
    assert tied == {"target_embedding.table.weight": first, "output_projection.weight": first}
    assert not distinct.keys() & tied.keys()
    assert distinct_weights(small_transformer(tie_embeddings=False))[1] == {}


@pytest.mark.parametrize(
    ("saved", "own", "message"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "run.a.b must be 1 as in file, got 2"),
        ({"a": {"b": 1}}, {"a": {}}, "run.a.b must be 1 as in file, got None"),
        ({}, {"c": 3}, "run.c must be None as in file, got 3"),
        ({"a": 1}, {"a": True}, "run.a must be 1 as in file, got True"),
        ({"a": {"b": 1}}, {"a": 1}, "run.a must be {'b': 1} as in file, got 1"),
    ],
)
def test_the_first_difference_is_named(saved, own, message):
    with pytest.raises(CheckpointError, match=message):
        require_same("file", saved, own, "run.")


def test_equal_choices_pass_whatever_their_order():
    require_same("file", {"a": 1, "b": float("nan")}, {"b": float("nan"), "a": 1}, "")
