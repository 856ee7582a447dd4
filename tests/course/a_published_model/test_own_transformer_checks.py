"""Lesson 20: a reader's own Transformer runs a folder that another library has written."""

import re
from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.course.a_published_model import own_classes
from tests.random_marian import random_marian, transformers
from tools.exercises import exercise_indices, number_of, solution_of
from tools.notebooks import lesson_paths, read
from transformer_course import our_transformer
from transformer_course.a_published_model.own_transformer_checks import check_my_marian
from transformer_course.a_published_model.small_marian import PAIRS, train_marian, untrained_marian
from transformer_course.asking.answer import AnswerError
from transformer_edu.generation.translator import Translator
from transformer_edu.pretrained.marian_folder import load_marian, save_marian

NOTEBOOK = read(next(path for path in lesson_paths() if path.name.startswith("20_")))
ANSWERS = {
    number_of(NOTEBOOK, index): solution_of(NOTEBOOK, index) for index in exercise_indices(NOTEBOOK)
}


def answer_in(translator: Translator, parts: object, source: str = ANSWERS["20.4"]) -> nn.Module:
    """What the solution returns in the lesson, with these classes."""
    names = {"torch": torch, "nn": nn, "parts": parts, "model": translator.model}
    names |= {"device": torch.device("cpu"), "padding": translator.model.config.padding_id}
    exec(ANSWERS["20.1"] + "\n" + source, names)  # noqa: S102
    return names["my_marian"]


@pytest.fixture(scope="module")
def trained() -> Translator:
    translator = untrained_marian()
    train_marian(translator)
    return translator


@torch.no_grad()
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("layers", [(2, 2), (3, 1)], ids=str)
def test_classes_written_by_hand_run_a_folder_of_the_library(trained, tmp_path, seed, layers):
    save_marian(tmp_path, trained)
    tokenizer = transformers.MarianTokenizer.from_pretrained(tmp_path)
    ids = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
    ids["decoder_start_token_id"] = tokenizer.pad_token_id
    marian = random_marian(
        seed, encoder_layers=layers[0], decoder_layers=layers[1], vocab_size=len(tokenizer), **ids
    )
    marian.save_pretrained(tmp_path)
    translator = load_marian(tmp_path)
    mine = answer_in(translator, own_classes)()
    assert not [part for part in mine.modules() if type(part).__module__.startswith("transformer_")]
    sources = [tokenizer(german)["input_ids"][:8] for german, _ in PAIRS[:3]]
    rows = [torch.tensor(row[: 8 - 2 * number]) for number, row in enumerate(sources)]
    padding = tokenizer.pad_token_id
    source_ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding)
    target_ids = torch.tensor([[padding, 5, 8], [padding, 6, 9], [padding, 11, 12]])
    expected = marian(
        input_ids=source_ids,
        attention_mask=(source_ids != padding).long(),
        decoder_input_ids=target_ids,
    ).logits
    torch.testing.assert_close(mine(source_ids, target_ids), expected, rtol=1e-5, atol=1e-5)


def test_the_readers_transformer_translates_with_the_library_s_words(trained, tmp_path):
    save_marian(tmp_path, trained)
    translator = load_marian(tmp_path)
    mine = answer_in(translator, own_classes)()
    mine.config = translator.model.config
    texts = [german for german, _ in PAIRS]
    written = replace(translator, model=mine).translate_all(texts, width=1)
    assert written == [english for _, english in PAIRS]


@pytest.mark.parametrize("parts", [own_classes, our_transformer], ids=["own", "the course's"])
def test_a_right_answer_is_correct(trained, parts, capsys):
    check_my_marian(answer_in(trained, parts), translator=trained)
    assert capsys.readouterr().out == "Exercise 20.4 is correct.\n"


WRONG = {
    "changes the tensor that it gets": ("real[:, 0] = True", "token_ids[:, 0] = 5"),
    "its activation is SiLU": ("nn.functional.silu", "torch.relu"),
    "first all sines": ("to_halves(mine.positions.table)", "mine.positions.table"),
    "hides another token than id": ("mine.source_mask = my_mask", "pass"),
    "hides the first token of the target": ("real[:, 0] = True", "pass"),
    "There is no encoder.layers.0.self_attention.query_projection.bias": (
        "load_state_dict(model.state_dict())",
        "load_state_dict({n: w for n, w in model.state_dict().items() if n in mine.state_dict()})",
    ),
    "does not have the model's weights": ("mine.load_state_dict(model.state_dict())", "pass"),
    "layers in all, yours has": (
        "del mine.decoder.layers[c.decoder_depth :]",
        "strict = False",
    ),
    "your own Transformer of lesson 9": ("return mine.to(device).eval()", "return model"),
}


@pytest.mark.parametrize(("hint", "change"), WRONG.items(), ids=WRONG)
def test_a_wrong_answer_gets_its_own_hint(trained, hint, change):
    old, new = change
    source = ANSWERS["20.4"]
    assert old in source
    source = source.replace(old, new)
    if "no encoder" in hint:
        source = re.sub(r"            part.bias = .*\n", "            pass\n", source)
    if "in all" in hint:
        source = source.replace("state_dict())", "state_dict(), strict=False)")
    with pytest.raises(AnswerError) as refusal:
        check_my_marian(answer_in(trained, our_transformer, source), translator=trained)
    assert hint in str(refusal.value)
    assert "from the notebook" not in str(refusal.value), "a function without arguments must"
