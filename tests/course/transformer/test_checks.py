"""Lesson 09: right answers pass, and each usual wrong answer is named."""

import pytest
import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.our_transformer import PositionalEncoding, TokenEmbedding, Transformer
from transformer_course.transformer import checks as lesson_09
from transformer_course.transformer.checks import check_one_probe_fails, check_transformer

CHECKS = checks_of(lesson_09)


class Scaffold(nn.Module):
    def __init__(self, vocabulary_size, d_model, num_heads, num_layers, d_ff, dropout=0.1):
        super().__init__()
        ...

    def forward(self, source_ids, target_ids):
        return ...


class HalfWritten(Transformer):
    def decode(self, target_ids, memory, source_mask):
        return ...


def changed(after_init=None, **methods):
    """Our Transformer with something done after __init__, or with other methods."""

    class Answer(Transformer):
        def __init__(self, *sizes, **more):
            super().__init__(*sizes, **more)
            if after_init is not None:
                after_init(self)

    for name, method in methods.items():
        setattr(Answer, name, method)
    return Answer


def copy_the_table(model):
    model.output_projection.weight = nn.Parameter(model.source_embedding.table.weight.data.clone())


def share_the_data(model):
    model.output_projection.weight = nn.Parameter(model.source_embedding.table.weight.data)


def own_output_table(model):
    model.output_projection = nn.Linear(*model.source_embedding.table.weight.shape[::-1])


def own_target_table(model):
    shape = model.source_embedding.table.weight.shape
    model.target_embedding = TokenEmbedding(*shape)


def xavier_everywhere(model):
    for weight in model.parameters():
        if weight.dim() == 2:
            nn.init.xavier_uniform_(weight)


def no_xavier(model):
    for module in (*model.encoder.modules(), *model.decoder.modules()):
        if isinstance(module, nn.Linear):
            module.reset_parameters()


def open_future(model, target_ids, memory, source_mask):
    mask = model.source_mask(target_ids)
    return model.decoder(model.embed(target_ids), memory, mask, source_mask)


def open_cross_attention(model, target_ids, memory, source_mask):
    return Transformer.decode(model, target_ids, memory, None)


def without_target_positions(model, target_ids, memory, source_mask):
    length = target_ids.size(1)
    past = torch.ones(length, length, dtype=torch.bool).tril()
    x = model.embedding_dropout(model.target_embedding(target_ids))
    return model.decoder(x, memory, past, source_mask)


def only_one_half(model, source_ids, target_ids):
    mask = model.source_mask(source_ids)
    memory = model.source_embedding(source_ids)
    return model.project(model.decode(target_ids, memory, mask))


def with_softmax(model, source_ids, target_ids):
    return Transformer.forward(model, source_ids, target_ids).softmax(dim=-1)


def with_log_softmax(model, source_ids, target_ids):
    return Transformer.forward(model, source_ids, target_ids).log_softmax(dim=-1)


def encode_elsewhere(model, source_ids, source_mask):
    return Transformer.encode(model, source_ids, source_mask) * 2


def forward_by_itself(model, source_ids, target_ids):
    mask = model.source_mask(source_ids)
    memory = Transformer.encode(model, source_ids, mask)
    return model.project(model.decode(target_ids, memory, mask))


def see_all(model, source_ids):
    return torch.ones_like(source_ids, dtype=torch.bool)[:, None, None, :]


def see_none_of_the_future_or_the_source(model, source_ids):
    return (source_ids == 0)[:, None, None, :]


def without_positions(model, token_ids):
    return model.embedding_dropout(model.source_embedding(token_ids))


def unscaled(model, token_ids):
    return model.embedding_dropout(model.positions(model.source_embedding.table(token_ids)))


class Learned(nn.Module):
    def __init__(self, d_model, max_length=32):
        super().__init__()
        self.table = nn.Embedding(max_length, d_model)

    def forward(self, x):
        return x + self.table.weight[: x.size(1)]


def positions(forward):
    return type("LearnedPositions", (Learned,), {"forward": forward})


MEASURED = {"sinusoids": [1.0, 0.99, 1.0], "learned": [0.98, 1.0, 1]}

test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("9.1", Transformer),
        ("9.3", changed(source_mask=see_all)),
        ("9.4", (Learned, MEASURED)),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("9.1", Transformer(9, 8, 2, 1, 12), "class Transformer itself"),
        ("9.1", changed(lambda model: delattr(model, "positions")), "set self.positions"),
        ("9.1", changed(project=None), "method project is missing"),
        ("9.1", changed(source_mask=see_none_of_the_future_or_the_source), "True where a token"),
        ("9.1", changed(copy_the_table), "holds a copy"),
        ("9.1", changed(share_the_data), "not its .data"),
        ("9.1", changed(own_output_table), "output_projection has a table of its own"),
        ("9.1", changed(own_target_table), "target_embedding has a table of its own"),
        ("9.1", changed(xavier_everywhere), "no longer starts with"),
        ("9.1", changed(no_xavier), "Xavier's standard deviation"),
        ("9.1", changed(lambda model: setattr(model, "extra", nn.Linear(2, 2))), "does not, extra"),
        ("9.1", changed(decode=open_future), "sees its own future"),
        ("9.1", changed(decode=open_cross_attention), "cross-attention sees the padding"),
        ("9.1", changed(decode=without_target_positions), "target has no positions"),
        ("9.1", changed(forward=only_one_half), "encode them first"),
        ("9.1", changed(forward=with_softmax), "the softmax belongs"),
        ("9.1", changed(forward=with_log_softmax), "the log-softmax belongs"),
        ("9.1", changed(embed=without_positions), "positions are missing"),
        ("9.1", changed(embed=unscaled), "not multiplied"),
        (
            "9.1",
            changed(encode=encode_elsewhere, forward=forward_by_itself),
            "one after the other, differ",
        ),
        ("9.1", changed(encode=encode_elsewhere), "computes different logits"),
        ("9.3", Transformer, "finds no illness"),
        ("9.3", changed(decode=open_future), "something different: no causal mask"),
        ("9.3", changed(source_mask=see_all, embed=without_positions), "more is broken"),
        ("9.3", nn.Linear, "could not be used"),
        ("9.4", Learned, "is a pair"),
        ("9.4", (PositionalEncoding, MEASURED), "does not learn"),
        ("9.4", (positions(lambda own, x: own.table.weight[: x.size(1)]), MEASURED), "shape must"),
        (
            "9.4",
            (positions(lambda own, x: x * 0 + own.table.weight[: x.size(1)]), MEASURED),
            "Add the rows",
        ),
        (
            "9.4",
            (positions(lambda own, x: x + own.table.weight[: len(x), None]), MEASURED),
            "count along dim 1",
        ),
        ("9.4", (positions(lambda own, x: x + own.table.weight[0]), MEASURED), "the same vector"),
        (
            "9.4",
            (positions(lambda own, x: x + own.table.weight[-x.size(1) :]), MEASURED),
            "shorter sequence",
        ),
        (
            "9.4",
            (positions(lambda own, x: x + own.table.weight[: x.size(1)].detach()), MEASURED),
            "No gradient|could not be used",
        ),
        ("9.4", (Learned, {"learned": [1, 1, 1]}), "two entries"),
        ("9.4", (Learned, {"learned": 1.0, "sinusoids": [1, 1, 1]}), "not enough"),
        ("9.4", (Learned, MEASURED | {"learned": [198, 200, 199]}), "not counts"),
    ],
)


@pytest.mark.parametrize("scaffold", [Scaffold, HalfWritten])
def test_a_scaffold_waits(scaffold, capsys):
    check_transformer(scaffold)
    assert capsys.readouterr().out.startswith("Exercise 9.1 is waiting for you")


def test_a_class_without_methods_waits(capsys):
    check_one_probe_fails(type("Broken", (Transformer,), {}))
    assert capsys.readouterr().out.startswith("Exercise 9.3 is waiting for you")


@pytest.mark.parametrize(("number", "answer"), [("9.1", Transformer), ("9.4", (Learned, MEASURED))])
def test_a_check_leaves_the_random_numbers_alone(number, answer):
    before = torch.random.get_rng_state()
    CHECKS[number](answer)
    torch.testing.assert_close(torch.random.get_rng_state(), before)
