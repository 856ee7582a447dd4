"""The norms of the layers' gradients are those of autograd, and the model is not changed."""

import pytest
import torch

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.inspect.gradient_norms import gradient_norms
from transformer_edu.training.data.batches import Batch, make_batch
from transformer_edu.training.loss import token_loss

LAYERS = 3
PLACES = ["embeddings", *(f"{s} {n + 1}" for s in ("encoder", "decoder") for n in range(LAYERS))]


@pytest.fixture
def batch() -> Batch:
    return make_batch([([4, 5, 6], [7, 8]), ([6, 9, 4, 5, 8], [4]), ([5], [6, 7, 8, 9])])


def made_model(**changes: object) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": LAYERS, "d_ff": 12, "dropout": 0.5}
    return Transformer(TransformerConfig(vocabulary_size=10, **sizes | changes))


def learn(model: Transformer, batch: Batch) -> None:
    """Leave the gradients of the batch in the model, without dropout."""
    logits = model.eval()(batch.source_ids, batch.decoder_input_ids)
    token_loss(logits, batch.label_ids).backward()


@pytest.mark.parametrize("norm_first", [False, True])
def test_each_layers_length_is_that_of_its_own_gradients(norm_first, batch):
    model = made_model(norm_first=norm_first, final_norm=False)
    norms = gradient_norms(model.train(), batch)
    assert list(norms) == PLACES
    learn(model, batch)
    for stack in ("encoder", "decoder"):
        for number, layer in enumerate(getattr(model, stack).layers, start=1):
            gradients = torch.cat([weight.grad.flatten() for weight in layer.parameters()])
            assert norms[f"{stack} {number}"] == pytest.approx(float(gradients.norm()))


@pytest.mark.parametrize(
    "switches",
    [{}, {"norm_first": True}, {"tie_embeddings": False}, {"target_vocabulary_size": 11}],
    ids=["paper", "pre-norm", "untied", "two vocabularies"],
)
def test_all_squares_sum_to_the_square_of_the_whole_gradient(switches, batch):
    model = made_model(**switches)
    norms = gradient_norms(model, batch)
    learn(model, batch)
    whole = torch.nn.utils.clip_grad_norm_(model.parameters(), torch.inf)
    assert sum(norm**2 for norm in norms.values()) == pytest.approx(float(whole) ** 2, rel=1e-5)


def test_a_final_normalisation_counts_with_the_last_layer(batch):
    model = made_model(norm_first=True)
    norms = gradient_norms(model, batch)
    learn(model, batch)
    for stack in (model.encoder, model.decoder):
        weights = [*stack.layers[-1].parameters(), *stack.final_norm.parameters()]
        whole = torch.cat([weight.grad.flatten() for weight in weights]).norm()
        name = f"{'encoder' if stack is model.encoder else 'decoder'} {LAYERS}"
        assert norms[name] == pytest.approx(float(whole))


def test_a_weight_that_the_loss_does_not_reach_adds_nothing(batch):
    model = made_model()
    expected = gradient_norms(model, batch)
    model.spare = torch.nn.Linear(2, 3)
    assert gradient_norms(model, batch) == expected


def test_the_model_stays_as_it_was(batch):
    model = made_model().train()
    learn(model, batch)
    model.train()
    model.encoder.layers[1].eval()
    gradients = [weight.grad.clone() for weight in model.parameters()]
    modes = [module.training for module in model.modules()]
    random_state = torch.get_rng_state()
    assert gradient_norms(model, batch) == gradient_norms(model, batch)
    assert [module.training for module in model.modules()] == modes
    for weight, gradient in zip(model.parameters(), gradients, strict=True):
        assert torch.equal(weight.grad, gradient)
    assert torch.equal(torch.get_rng_state(), random_state)


def test_a_small_model_computes_on_one_thread_so_that_every_machine_finds_the_same(batch):
    model, seen = made_model(), []
    model.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        gradient_norms(model, batch)
        assert (seen, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


def test_it_works_where_gradients_are_off(batch):
    model = made_model()
    expected = gradient_norms(model, batch)
    with torch.no_grad():
        assert gradient_norms(model, batch) == expected
        assert not torch.is_grad_enabled()


def test_a_frozen_layer_has_none(batch):
    model = made_model()
    model.decoder.layers[1].requires_grad_(False)
    norms = gradient_norms(model, batch)
    assert norms["decoder 2"] == 0
    assert norms["decoder 1"] > 0


def test_padding_changes_nothing(batch):
    pair = [([4, 5, 6], [7, 8])]
    one = gradient_norms(made_model(), make_batch(pair))
    padded = make_batch([*pair, ([6, 9, 4, 5, 8], [4, 5, 6, 7])])
    alone = Batch(padded.source_ids[:1], padded.decoder_input_ids[:1], padded.label_ids[:1])
    assert gradient_norms(made_model(), alone) == pytest.approx(one, rel=1e-4)
