"""The whole model: its configuration, its parts put together, its parameters (§3, Figure 1)."""

import dataclasses
import gc
import itertools
import math
import shutil
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model import masks, transformer
from transformer_edu.model.masks import causal_mask, padding_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig, initialise

BATCH, SOURCE, TARGET, VOCABULARY, TARGET_VOCABULARY = 3, 6, 4, 13, 17
SIZES = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20, "dropout": 0.0}
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8, 9], [5, 4, 7, 0, 0, 0], [12, 9, 9, 4, 0, 0]])
TARGET_IDS = torch.tensor([[1, 5, 8, 10], [1, 6, 0, 0], [1, 11, 12, 0]])

SWITCHES = [
    dict(zip(("norm_first", "final_norm", "bias", "tie_embeddings"), values, strict=True))
    for values in itertools.product([False, True], repeat=4)
]


def build(**changes: object) -> Transformer:
    """A small model; changes override its sizes and switches."""
    return Transformer(TransformerConfig(**({"vocabulary_size": VOCABULARY} | SIZES | changes)))


# Configuration


def test_a_config_cannot_be_changed_and_takes_no_bare_values():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TransformerConfig().d_model = 8
    with pytest.raises(TypeError, match="positional"):
        TransformerConfig(37_000)


def test_the_defaults_are_the_base_model():
    assert TransformerConfig.base() == TransformerConfig()


@pytest.mark.parametrize("preset", ["tiny", "base", "big"])
def test_a_preset_takes_changes(preset):
    config = getattr(TransformerConfig, preset)(vocabulary_size=99, norm_first=True)
    assert (config.vocabulary_size, config.norm_first) == (99, True)
    unchanged = getattr(TransformerConfig, preset)()
    assert dataclasses.replace(config, vocabulary_size=37_000, norm_first=False) == unchanged


@pytest.mark.parametrize(
    ("norm_first", "final_norm", "expected"),
    [
        (False, None, False),
        (True, None, True),
        (False, True, True),
        (True, False, False),
    ],
)
def test_the_final_norm_is_on_with_pre_norm_unless_said_otherwise(norm_first, final_norm, expected):
    model = build(norm_first=norm_first, final_norm=final_norm)
    assert model.config.has_final_norm == expected
    for stack in (model.encoder, model.decoder):
        assert isinstance(stack.final_norm, nn.LayerNorm) == expected


# Parts put together


@pytest.mark.parametrize("switches", SWITCHES, ids=lambda s: str([*s.values()]))
def test_the_model_gives_a_score_for_every_token_at_every_target_position(switches):
    model = build(target_vocabulary_size=TARGET_VOCABULARY, **switches)
    assert model(SOURCE_IDS, TARGET_IDS).shape == (BATCH, TARGET, TARGET_VOCABULARY)


def test_forward_is_encode_then_decode_then_project():
    model = build()
    source_mask = model.source_mask(SOURCE_IDS)
    memory = model.encode(SOURCE_IDS)
    assert memory.shape == (BATCH, SOURCE, 12)
    decoded = model.decode(TARGET_IDS, memory, source_mask=source_mask)
    assert decoded.shape == (BATCH, TARGET, 12)
    assert torch.equal(model.project(decoded), model(SOURCE_IDS, TARGET_IDS))


def test_the_parts_are_those_of_figure_one():
    model = build()
    vectors = model.positions(model.source_embedding(SOURCE_IDS))
    memory = model.encoder(vectors, mask=padding_mask(SOURCE_IDS))
    vectors = model.positions(model.target_embedding(TARGET_IDS))
    decoded = model.decoder(
        vectors,
        memory,
        target_mask=padding_mask(TARGET_IDS) & causal_mask(TARGET),
        source_mask=padding_mask(SOURCE_IDS),
    )
    weight, bias = model.output_projection.weight, model.output_projection.bias
    torch.testing.assert_close(model(SOURCE_IDS, TARGET_IDS), decoded @ weight.T + bias)


def test_masks_of_ones_own_replace_the_usual_ones():
    model = build()
    usual = model(SOURCE_IDS, TARGET_IDS)
    same = model(
        SOURCE_IDS,
        TARGET_IDS,
        source_mask=padding_mask(SOURCE_IDS),
        target_mask=padding_mask(TARGET_IDS) & causal_mask(TARGET),
    )
    assert torch.equal(same, usual)
    everything = torch.tensor(True)
    blind = model(SOURCE_IDS, TARGET_IDS, source_mask=everything, target_mask=everything)
    assert not torch.allclose(blind, usual)


def test_the_ids_of_a_call_are_checked_once(monkeypatch):
    checked = []
    for module in (masks, transformer):
        monkeypatch.setattr(
            module, "require_token_ids", lambda name, *_, **__: checked.append(name)
        )
    build()(SOURCE_IDS, TARGET_IDS)
    assert checked == ["source_ids", "target_ids"]


def test_the_config_says_what_padding_is():
    model = build(padding_id=9)
    source_mask = model.source_mask(SOURCE_IDS)
    assert torch.equal(source_mask[:, 0, 0], SOURCE_IDS != 9)
    changed = SOURCE_IDS.where(SOURCE_IDS != 9, 9)
    assert torch.equal(model(changed, TARGET_IDS), model(SOURCE_IDS, TARGET_IDS))


# Parameters


def test_a_joint_vocabulary_has_one_table_for_source_target_and_output():
    model = build()
    assert model.source_embedding is model.target_embedding
    assert model.output_projection.weight is model.target_embedding.table.weight


def test_two_vocabularies_share_the_targets_table_with_the_output_alone():
    model = build(target_vocabulary_size=TARGET_VOCABULARY)
    assert model.source_embedding.table.weight.shape == (VOCABULARY, 12)
    assert model.target_embedding.table.weight.shape == (TARGET_VOCABULARY, 12)
    assert model.output_projection.weight is model.target_embedding.table.weight


def test_without_tying_there_are_three_tables():
    model = build(tie_embeddings=False)
    tables = [
        model.source_embedding.table.weight,
        model.target_embedding.table.weight,
        model.output_projection.weight,
    ]
    assert len({id(table) for table in tables}) == 3


@pytest.mark.parametrize("switches", SWITCHES, ids=lambda s: str([*s.values()]))
def test_every_parameter_is_there_once_and_learns(switches):
    model = build(**switches)
    model(SOURCE_IDS, TARGET_IDS).logsumexp(dim=-1).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        # A bias on the keys moves every score of a row alike: softmax does not see it.
        assert parameter.grad.abs().max() > 0 or name.endswith("key_projection.bias"), name
    assert len({id(parameter) for parameter in model.parameters()}) == len(list(model.parameters()))


@pytest.mark.parametrize("switches", SWITCHES, ids=lambda s: str([*s.values()]))
def test_saved_weights_bring_back_the_same_model(switches):
    model, other = build(**switches), build(**switches)
    assert not torch.equal(other(SOURCE_IDS, TARGET_IDS), model(SOURCE_IDS, TARGET_IDS))
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(SOURCE_IDS, TARGET_IDS), model(SOURCE_IDS, TARGET_IDS))


def test_initialising_leaves_embeddings_and_zeroes_biases():
    model = nn.Sequential(nn.Linear(40, 60), nn.Embedding(5, 4))
    before = model[1].weight.clone()
    initialise(model)
    assert torch.equal(model[0].bias, torch.zeros(60))
    assert torch.equal(model[1].weight, before)


def test_layers_start_different_and_biases_at_zero():
    model = build(num_layers=3, bias=True)
    assert len(model.encoder.layers) == len(model.decoder.layers) == 3
    matrices = [p for name, p in model.named_parameters() if p.dim() == 2 and "table" not in name]
    assert len({matrix.sum().item() for matrix in matrices}) == len(matrices)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert (parameter == 0).all(), name


def test_matrices_start_within_xaviers_range_and_embeddings_outside_it():
    model = build(d_model=64, num_heads=4, d_ff=256, vocabulary_size=3000)
    for name, matrix in model.named_parameters():
        if matrix.dim() != 2:
            continue
        limit = math.sqrt(6 / sum(matrix.shape))
        if "table" in name:
            assert matrix.std().item() == pytest.approx(1 / 8, rel=0.02)
        else:
            assert matrix.abs().max().item() == pytest.approx(limit, rel=0.02)
            assert matrix.std().item() == pytest.approx(limit / math.sqrt(3), rel=0.05)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("tie_embeddings", [False, True])
def test_a_fresh_model_knows_about_as_little_as_a_guess(norm_first, tie_embeddings):
    sizes = {"vocabulary_size": 1000, "d_model": 64, "num_heads": 4, "d_ff": 128}
    model = build(**sizes, norm_first=norm_first, tie_embeddings=tie_embeddings)
    source_ids, target_ids = torch.randint(4, 1000, (2, 16, 20))
    logits = model(source_ids, target_ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), target_ids[:, 1:].flatten())
    # Logits that vary by one around zero cost half a nat more than equal ones.
    assert loss.item() == pytest.approx(math.log(1000) + 0.5, abs=0.5)


@pytest.mark.parametrize("changes", [{}, {"tie_embeddings": False}, {"bias": True}])
def test_the_same_seed_gives_the_same_model(changes):
    models = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        models.append(build(**changes).state_dict())
    for name, value in models[0].items():
        assert torch.equal(value, models[1][name])
    assert any(not torch.equal(value, models[2][name]) for name, value in models[0].items())


# What a forward pass leaves behind


def test_a_forward_pass_leaves_nothing_on_the_model():
    model = build(dropout=0.1)

    def tensors() -> set[int]:
        held = (value for module in model.modules() for value in vars(module).values())
        registered = [*model.parameters(), *model.buffers()]
        return {id(value) for value in (*held, *registered) if isinstance(value, Tensor)}

    before = tensors()
    logits = model(SOURCE_IDS, TARGET_IDS)
    graph, batch = weakref.ref(logits), SOURCE_IDS.clone()
    model(batch, TARGET_IDS)
    batch_alive = weakref.ref(batch)
    del logits, batch
    gc.collect()
    assert graph() is None
    assert batch_alive() is None
    assert tensors() == before


def test_dropout_acts_in_training_alone():
    model = build(dropout=0.3)
    training = [model(SOURCE_IDS, TARGET_IDS) for _ in range(2)]
    assert not torch.allclose(*training)
    model.eval()
    assert torch.equal(model(SOURCE_IDS, TARGET_IDS), model(SOURCE_IDS, TARGET_IDS))


def test_eval_mode_is_train_mode_without_dropout():
    model = build()
    training = model(SOURCE_IDS, TARGET_IDS)
    torch.testing.assert_close(model.eval()(SOURCE_IDS, TARGET_IDS), training)


def test_the_same_seed_drops_the_same_numbers():
    model = build(dropout=0.3)
    outputs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        outputs.append(model(SOURCE_IDS, TARGET_IDS))
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.allclose(outputs[0], outputs[2])


# Compilation


@pytest.mark.slow
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_the_whole_model_compiles_into_one_graph(norm_first, training):
    torch.compiler.reset()
    model = build(norm_first=norm_first).train(training)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    expected = model(SOURCE_IDS, TARGET_IDS)
    actual = compiled(SOURCE_IDS, TARGET_IDS)
    torch.testing.assert_close(actual, expected)
    if training:
        expected.sum().backward()
        gradients = [parameter.grad.clone() for parameter in model.parameters()]
        model.zero_grad()
        actual.sum().backward()
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            torch.testing.assert_close(parameter.grad, gradient)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, from inside its compiler
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_the_default_compiler_gives_the_same_numbers():
    torch.compiler.reset()
    model = build(num_layers=1).eval()
    with torch.no_grad():
        compiled = torch.compile(model, fullgraph=True)(SOURCE_IDS, TARGET_IDS)
        torch.testing.assert_close(compiled, model(SOURCE_IDS, TARGET_IDS))
