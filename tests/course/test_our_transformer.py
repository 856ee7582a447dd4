"""The lessons' own Transformer is the package's and PyTorch's, under the same names."""

import ast
import inspect
from pathlib import Path

import pytest
import torch

from tools.exercises import exercise_indices, number_of, solution_of
from tools.notebooks import ROOT, lesson_paths, read, refusal
from tools.syntax import definitions, imported_modules
from transformer_course import our_transformer
from transformer_course.our_transformer import Transformer
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.pytorch import to_pytorch
from transformer_edu.model.transformer import Transformer as PackageTransformer
from transformer_edu.model.transformer import TransformerConfig

SIZES = {"vocabulary_size": 23, "d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20}
SOURCE = torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, 0, 0]])
TARGET = torch.tensor([[1, 10, 11, 12], [1, 13, 14, 0]])
REAL = TARGET != 0


@pytest.fixture
def package_model() -> PackageTransformer:
    torch.manual_seed(0)
    return PackageTransformer(TransformerConfig(**SIZES)).eval()


@pytest.fixture
def model(package_model) -> Transformer:
    ours = Transformer(**SIZES).eval()
    ours.load_state_dict(package_model.state_dict())
    return ours


def test_same_weights_give_the_logits_of_the_package(model, package_model):
    logits, expected = model(SOURCE, TARGET), package_model(SOURCE, TARGET)
    assert logits.shape == (*TARGET.shape, SIZES["vocabulary_size"])
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-5)


def test_same_weights_give_the_logits_of_pytorch(model, package_model):
    pytorch = to_pytorch(package_model).eval()
    decoded = pytorch(
        model.embed(SOURCE),
        model.embed(TARGET),
        src_key_padding_mask=SOURCE == 0,
        memory_key_padding_mask=SOURCE == 0,
        tgt_mask=torch.ones(4, 4, dtype=torch.bool).triu(1),
    )
    logits = model.project(decoded)
    torch.testing.assert_close(model(SOURCE, TARGET)[REAL], logits[REAL], rtol=0, atol=1e-5)


def test_its_parameters_are_those_of_the_package_and_one_table_serves_three_times(
    model, package_model
):
    named = {name: weight.shape for name, weight in model.named_parameters()}
    assert named == {name: weight.shape for name, weight in package_model.named_parameters()}
    table = model.source_embedding.table.weight
    assert model.target_embedding.table.weight is model.output_projection.weight is table


def test_it_starts_as_the_package_does():
    torch.manual_seed(0)
    sizes = SIZES | {"d_model": 120, "d_ff": 200}
    ours, package = Transformer(**sizes), PackageTransformer(TransformerConfig(**sizes))
    for name, weight in ours.named_parameters():
        if weight.dim() == 2:
            theirs = package.get_parameter(name)
            torch.testing.assert_close(weight.std(), theirs.std(), rtol=0.1, atol=0)


def test_dropout_is_where_the_paper_has_it(model, package_model):
    places = [
        [n for n, m in each.named_modules() if isinstance(m, torch.nn.Dropout)]
        for each in (model, package_model)
    ]
    assert sorted(places[0]) == sorted(places[1])


def test_the_searches_of_the_package_accept_it(model, package_model):
    ours, theirs = (
        greedy_search(each, SOURCE, max_length=6, cached=False) for each in (model, package_model)
    )
    assert ours == theirs


def test_it_is_plain_torch_on_one_page():
    source = inspect.getsource(our_transformer)
    assert set(imported_modules(ast.parse(source))) == {"math", "torch"}
    assert sum(bool(line.strip()) for line in source.splitlines()) <= 175


def test_every_class_is_short_enough_to_be_written_in_a_lesson():
    source = inspect.getsource(our_transformer)
    for each in definitions(ast.parse(source))[:-1]:
        lines = ast.get_source_segment(source, each).splitlines()
        assert sum(bool(line.strip()) for line in lines) <= 25, each.name


def code_lines(cls: type) -> int:
    """The lines of a class that are neither blank nor a comment nor part of a docstring."""
    source = inspect.getsource(cls)
    docstrings = [
        range(node.body[0].lineno, node.body[0].end_lineno + 1)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node)
    ]
    return sum(
        not line.strip().startswith("#") and not any(number in each for each in docstrings)
        for number, line in enumerate(source.splitlines(), start=1)
        if line.strip()
    )


def test_its_layers_and_the_whole_model_are_as_short_as_the_readme_says():
    classes = definitions(ast.parse(inspect.getsource(our_transformer)))
    *layers, whole = [code_lines(getattr(our_transformer, each.name)) for each in classes]
    said = f"at most {max(layers)} lines of code and the whole model in {whole},"
    assert said in (ROOT / "README.md").read_text(encoding="utf-8")


def lesson_of(number: str) -> Path:
    """The notebook with an exercise."""
    return lesson_paths()[int(number.split(".")[0])]


def solution(number: str) -> str:
    """The solution of an exercise, as its lesson has it."""
    notebook = read(lesson_of(number))
    (found,) = (
        solution_of(notebook, index)
        for index in exercise_indices(notebook)
        if number_of(notebook, index) == number
    )
    return found.strip()


def test_the_solution_of_lesson_02_is_the_class_without_its_mask():
    ours = inspect.getsource(our_transformer.Attention)
    with_mask = [line for line in ours.splitlines() if "if mask" in line or "masked_fill" in line]
    assert len(with_mask) == 2
    lines = [line for line in ours.splitlines() if line not in with_mask]
    expected = "\n".join(lines).replace(", mask=None", "")
    assert solution("2.1") == expected


@pytest.mark.parametrize(
    ("number", "name"),
    [
        ("1.1", "TokenEmbedding"),
        ("3.2", "Attention"),
        ("4.2", "MultiHeadAttention"),
        ("5.1", "PositionalEncoding"),
        ("6.1", "FeedForward"),
        ("6.2", "AddAndNorm"),
        ("7.1", "EncoderLayer"),
        ("7.2", "Encoder"),
        ("8.2", "DecoderLayer"),
        ("8.3", "Decoder"),
        ("9.1", "Transformer"),
    ],
)
def test_the_solution_of_an_exercise_is_the_class(number, name):
    words = f"the solution of exercise {number} must be {name} of our_transformer.py"
    page = inspect.getsource(getattr(our_transformer, name)).strip()
    assert solution(number) == page, refusal(lesson_of(number).name, words)
