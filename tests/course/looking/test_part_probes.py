"""The probes of attention and weights find what is hidden, uncounted or doubled."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_course.looking.part_probes import (
    probe_attention_rows,
    probe_parameters,
    probe_tied_weights,
)
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.transformer import Transformer, TransformerConfig

SOURCE = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 7, 0, 0]])
TARGET = torch.tensor([[1, 6, 5, 4], [1, 9, 0, 0]])
D_MODEL, VOCABULARY = 16, 11


def transformer(**changes: object) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": D_MODEL, "num_heads": 2, "num_layers": 2, "d_ff": 24}
    return Transformer(TransformerConfig(vocabulary_size=VOCABULARY, **sizes | changes))


class Readable(nn.Module):
    """The smallest model that answers with logits: one vector per target token."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, D_MODEL)
        self.output = nn.Linear(D_MODEL, VOCABULARY)

    def forward(self, source_ids, target_ids):
        return self.output(self.table(target_ids))


class PlainList(Readable):
    """Layers in a Python list, as in system S1: nothing of them is registered."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(D_MODEL, D_MODEL) for _ in range(3)]

    def forward(self, source_ids, target_ids):
        x = self.table(target_ids)
        for layer in self.layers:
            x = layer(x)
        return self.output(x)


class DropsWeights(MultiHeadAttention):
    """Shows its weights after dropout."""

    def attention_weights(self, query, key, *, mask=None):
        return F.dropout(super().attention_weights(query, key, mask=mask), 0.3, self.training)


class SoftmaxOverQueries(MultiHeadAttention):
    def attention_weights(self, query, key, *, mask=None):
        return super().attention_weights(key, query).transpose(-2, -1)


@pytest.mark.parametrize("kind", [DropsWeights, SoftmaxOverQueries])
def test_rows_that_do_not_sum_to_one_are_found_and_the_layer_is_named(kind):
    model = transformer()
    model.encoder.layers[1].self_attention.__class__ = kind
    for training in (True, False):
        result = probe_attention_rows(model.train(training), SOURCE, TARGET)
        assert result.passed is False
        assert "encoder.layers.1.self_attention" in result.sentence


def test_a_model_without_our_attention_is_not_judged_by_it():
    result = probe_attention_rows(Readable(), SOURCE, TARGET)
    assert result.passed is None
    assert "no MultiHeadAttention" in result.sentence


def test_layers_in_a_plain_list_are_found_and_named():
    result = probe_parameters(PlainList(), SOURCE, TARGET)
    assert result.passed is False
    assert result.sentence.startswith("layers is not registered")


@pytest.mark.parametrize(
    "hidden",
    [
        {"a": nn.Linear(2, 2)},
        (nn.Linear(2, 2),),
        [torch.zeros(2, 2, requires_grad=True)],
        torch.zeros(3, D_MODEL),
    ],
    ids=["modules in a dict", "modules in a tuple", "tensors in a list", "a table of positions"],
)
def test_whatever_stands_in_a_plain_attribute_is_found(hidden):
    model = nn.ModuleDict({"inner": Readable()})
    model.forward = lambda source, target: model["inner"](source, target)
    assert probe_parameters(model, SOURCE, TARGET).passed
    model["inner"].positions = hidden
    result = probe_parameters(model, SOURCE, TARGET)
    assert result.passed is False
    assert result.sentence.startswith("inner.positions is not registered")


def test_a_weight_without_a_gradient_is_found():
    model = Readable()
    model.forgotten = nn.Linear(2, 2)
    result = probe_parameters(model, SOURCE, TARGET)
    assert result.passed is False
    assert "forgotten.weight gets no gradient" in result.sentence
    for weight in model.forgotten.parameters():
        weight.requires_grad_(False)  # frozen on purpose
    assert probe_parameters(model, SOURCE, TARGET).passed


def test_a_graph_that_was_cut_is_found():
    class Cut(Readable):
        def forward(self, source_ids, target_ids):
            return self.output(self.table(target_ids).detach())

    class CutEverywhere(Readable):
        def forward(self, source_ids, target_ids):
            return super().forward(source_ids, target_ids).detach()

    for kind in (Cut, CutEverywhere):
        result = probe_parameters(kind(), SOURCE, TARGET)
        assert result.passed is False
        assert "table.weight gets no gradient" in result.sentence


def test_weights_that_are_not_saved_are_found():
    class Forgetful(Readable):
        def state_dict(self, *args, **kwargs):
            return {"output.weight": self.output.weight}

    result = probe_parameters(Forgetful(), SOURCE, TARGET)
    assert result.passed is False
    assert "table.weight is missing in state_dict" in result.sentence


def test_a_model_without_weights_cannot_learn():
    class Empty(nn.Module):
        def forward(self, source_ids, target_ids):
            return target_ids.unsqueeze(-1).float().expand(-1, -1, VOCABULARY)

    result = probe_parameters(Empty(), SOURCE, TARGET)
    assert result.passed is False
    assert "no weights at all" in result.sentence


def test_gradients_are_looked_for_also_where_they_are_switched_off():
    with torch.no_grad():
        assert probe_parameters(transformer(), SOURCE, TARGET).passed


def test_a_tied_table_is_counted_once():
    result = probe_tied_weights(transformer(), SOURCE, TARGET)
    assert result.passed
    assert result.measured == 2  # output and target, and the source beside them
    counted = sum(weight.numel() for weight in transformer().parameters())
    assert f"{counted:,}" in result.sentence


def test_a_copied_table_is_found_before_and_after_it_drifted():
    model = transformer()
    model.output_projection.weight = nn.Parameter(model.target_embedding.table.weight.clone())
    before = probe_tied_weights(model, SOURCE, TARGET)
    with torch.no_grad():
        model.output_projection.weight += 0.1
    after = probe_tied_weights(model, SOURCE, TARGET)
    assert before.passed is after.passed is False
    for result in (before, after):
        assert "output_projection.weight" in result.sentence


def test_a_learners_copied_table_is_found():
    model = Readable()
    model.output.weight = nn.Parameter(model.table.weight.detach().clone())
    assert probe_tied_weights(model, SOURCE, TARGET).passed is False
    model.output.weight = model.table.weight
    assert probe_tied_weights(model, SOURCE, TARGET).passed


def test_a_model_that_ties_nothing_is_not_judged():
    result = probe_tied_weights(transformer(tie_embeddings=False), SOURCE, TARGET)
    assert result.passed is None
    assert result.sentence == "The model ties no weights."
