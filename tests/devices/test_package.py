"""The package computes the same on another device as on the CPU, whichever is torch's default."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.devices.pretend import NAME
from transformer_course.pattern_with_torch.pattern import pattern_task
from transformer_edu.data.batches import make_batch
from transformer_edu.data.toy_tasks import copy_task, number_words_task, reverse_task
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.sampling import sample
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.embeddings import sinusoidal_positions
from transformer_edu.model.pytorch import from_pytorch, to_pytorch
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.training.checkpoint import load_model, save_model
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.evaluation import evaluate
from transformer_edu.training.loop import fit
from transformer_edu.training.loss import token_accuracy, token_loss
from transformer_edu.training.machine.device import (
    DEVICE_VARIABLE,
    describe_device,
    pick_device,
    random_state_restored,
)

VOCABULARY_SIZE = 20
PAIRS = [([4, 5, 6, 7], [7, 6, 5]), ([8, 9], [9, 8, 10, 11, 12]), ([13, 14, 15], [4])]
TASK = reverse_task(
    num_symbols=5, shortest=2, longest=4, train_size=60, validation_size=8, test_size=8
)
SHORT = TrainingConfig(steps=6, batch_size=16, evaluate_every=4, seed=3, progress=False)


@pytest.fixture
def model() -> Transformer:
    """Drawn on the CPU, with dropout."""
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 24, "dropout": 0.1}
    with torch.device("cpu"):
        return Transformer(TransformerConfig(vocabulary_size=VOCABULARY_SIZE, **sizes)).eval()


@pytest.fixture
def twin(model, device) -> Transformer:
    """The same on the device."""
    return copy.deepcopy(model).to(device)


def source_ids() -> Tensor:
    return make_batch(PAIRS).source_ids


def test_the_device_refuses_what_a_gpu_refuses(device):
    there, here = torch.ones(2, 3, device=device), torch.ones(2, 3)
    for mix in (
        lambda: there + here,
        lambda: there @ here.mT,
        lambda: torch.cat([there, here]),
        lambda: here[there.bool()],
        lambda: F.embedding(torch.tensor([1]), there),
        lambda: torch.rand(2, device=device, generator=torch.Generator()),
    ):
        with pytest.raises(RuntimeError, match=f"{NAME}|CPU"):
            mix()
    with pytest.raises(TypeError, match=r"call \.cpu\(\) first"):
        there.numpy()
    assert (there * 2).cpu().equal(here * 2)
    assert there[torch.tensor([1])].shape == (1, 3)  # a GPU is indexed from the CPU
    assert (there + torch.tensor(1.0)).device == device  # and takes single numbers


def test_pick_device_finds_the_device_by_its_name(device, monkeypatch):
    monkeypatch.setenv(DEVICE_VARIABLE, NAME)
    assert pick_device().type == device.type
    assert describe_device(pick_device()) == f"the device {NAME}"


def test_a_model_gives_the_same_logits(model, twin, default):
    batch = make_batch(PAIRS)
    there = batch.to(next(twin.parameters()).device)
    expected = model(batch.source_ids, batch.decoder_input_ids)
    logits = twin(there.source_ids, there.decoder_input_ids)
    assert logits.device == there.source_ids.device
    torch.testing.assert_close(logits.cpu(), expected)


def test_a_model_is_built_on_the_default_device_and_its_tied_weights_stay_one(device):
    with device:
        built = Transformer(TransformerConfig.tiny(vocabulary_size=VOCABULARY_SIZE))
        positions = sinusoidal_positions(7, 6)
    assert {each.device for each in (*built.parameters(), *built.buffers())} == {device}
    assert positions.cpu().equal(sinusoidal_positions(7, 6))
    moved = Transformer(TransformerConfig.tiny(vocabulary_size=VOCABULARY_SIZE)).to(device)
    assert moved.output_projection.weight is moved.target_embedding.table.weight


def test_a_model_may_be_moved_again_while_a_graph_holds_it_and_run_under_autocast(twin, device):
    batch = make_batch(PAIRS).to(device)
    with torch.autocast(NAME, dtype=torch.bfloat16):
        logits = twin(batch.source_ids, batch.decoder_input_ids)
    weight = twin.output_projection.weight
    twin.to(device)
    logits.sum().backward()
    assert weight.grad.device == device
    assert twin.cpu().output_projection.weight is weight


def test_step_by_step_with_a_cache_the_logits_are_those_of_one_pass(twin, device):
    batch = make_batch(PAIRS).to(device)
    mask = twin.source_mask(batch.source_ids)
    memory = twin.encode(batch.source_ids, source_mask=mask)
    cache = DecoderCache(num_layers=2)
    columns = batch.decoder_input_ids.split(1, dim=1)
    steps = [twin.decode(ids, memory, source_mask=mask, cache=cache) for ids in columns]
    at_once = twin.decode(batch.decoder_input_ids, memory, source_mask=mask)
    torch.testing.assert_close(torch.cat(steps, dim=1), at_once)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize(
    "search",
    [
        greedy_search,
        lambda *given, **asked: beam_search(*given, width=3, num_best=2, **asked),
        lambda *given, **asked: sample(*given, generator=5, **asked),
        lambda *given, **asked: sample(*given, generator=5, top_k=7, top_p=0.8, **asked),
        lambda *given, **asked: sample(*given, generator=torch.Generator(), **asked),
    ],
    ids=["greedy", "beam", "sample", "top k and top p", "generator"],
)
def test_every_search_writes_the_same(model, twin, device, default, search, cached):
    asked = {"max_length": 9, "cached": cached}
    written = search(twin, source_ids().to(device), **asked)
    with torch.device("cpu"):
        expected = search(model, source_ids(), **asked)
    if search is not greedy_search and hasattr(expected[0][0], "score"):
        written, expected = (
            [[each.token_ids for each in found] for found in all_found]
            for all_found in (written, expected)
        )
    assert written == expected


def test_every_loss_is_the_same(device, default):
    labels = make_batch(PAIRS).label_ids
    logits = torch.randn(
        (*labels.shape, VOCABULARY_SIZE), generator=torch.Generator(), device="cpu"
    )
    for loss in (
        token_loss,
        token_accuracy,
        lambda logits, labels: token_loss(logits, labels, label_smoothing=0.1),
    ):
        found = loss(logits.to(device), labels.to(device))
        assert found.device == device
        torch.testing.assert_close(found.cpu(), loss(logits, labels))


@pytest.mark.parametrize(
    "changes",
    [{}, {"batch_tokens": 40}, {"accumulate": 2, "label_smoothing": 0.1}],
    ids=["pairs", "tokens", "accumulated"],
)
def test_training_takes_the_same_steps(model, twin, device, default, changes):
    config = SHORT if not changes else TrainingConfig(**(vars(SHORT) | changes))
    run, expected = fit(twin, TASK, config), fit(model, TASK, config)
    for one, other in zip(run.steps, expected.steps, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-4)
    assert run.evaluations[-1].loss == pytest.approx(expected.evaluations[-1].loss, rel=1e-4)
    found, wanted = (evaluate(each, TASK.test).loss for each in (twin, model))
    assert found == pytest.approx(wanted, rel=1e-4)
    assert {weight.device for weight in twin.parameters()} == {device}


def test_a_run_that_is_resumed_on_the_device_ends_as_one_without_a_break(twin, tmp_path, device):
    whole, first, second = (copy.deepcopy(twin) for _ in range(3))
    expected = fit(whole, TASK, SHORT)

    def stop(run):
        if len(run.steps) == 5:
            raise KeyboardInterrupt

    fit(first, TASK, SHORT, checkpoint=tmp_path / "run", after_step=stop)
    run = fit(second, TASK, SHORT, resume=tmp_path / "run")
    assert run.steps == expected.steps
    for one, other in zip(second.parameters(), whole.parameters(), strict=True):
        assert one.device == device and one.equal(other)


def test_random_numbers_of_the_device_go_on_as_if_nobody_had_drawn(device):
    torch.manual_seed(3)
    expected = torch.rand(4, device=device)
    torch.manual_seed(3)
    with random_state_restored():
        torch.rand(9, device=device)
    assert torch.rand(4, device=device).equal(expected)


def test_a_model_is_stored_from_the_device_and_loaded_to_the_cpu(twin, model, tmp_path, default):
    save_model(tmp_path / "model", twin)
    loaded = load_model(tmp_path / "model")
    for one, other in zip(loaded.parameters(), model.parameters(), strict=True):
        assert one.equal(other)  # which is refused between two devices


@pytest.mark.parametrize(
    "make",
    [
        lambda: copy_task(train_size=30, validation_size=8, test_size=8),
        lambda: number_words_task(train_size=30, validation_size=8, test_size=8),
        lambda: pattern_task(train_size=30, validation_size=8, test_size=8),
    ],
    ids=["copy", "number words", "pattern"],
)
def test_a_task_is_the_same_whatever_the_default_is(device, make):
    with device:
        task = make()
    assert task.train == make().train
    assert task.test == make().test


def test_torch_s_own_twin_stays_on_the_device(twin, device):
    layer = twin.encoder.layers[0]
    theirs = to_pytorch(layer)
    back = from_pytorch(theirs)
    x = torch.randn(2, 5, 16).to(device)
    assert isinstance(theirs, nn.TransformerEncoderLayer)
    torch.testing.assert_close(theirs(x), layer(x))
    torch.testing.assert_close(back(x), layer(x))


def test_the_translator_in_the_package_loads_on_any_device(device, default):
    there, here = load_pretrained(device=device), load_pretrained()
    assert {weight.device for weight in there.model.parameters()} == {device}
    assert {weight.device.type for weight in here.model.parameters()} == {"cpu"}
    text = "A dog runs across the grass."
    for asked in ({}, {"width": 3}):
        assert there.translate(text, **asked) == here.translate(text, **asked)
