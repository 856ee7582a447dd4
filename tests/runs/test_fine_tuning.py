"""A run may go on from a trained translator, with more tokens for the new texts."""

import shutil

import pytest
import torch

from transformer_edu.data.tokenizer import train_tokenizer
from transformer_edu.generation.translator import Translator
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.runs.command import main
from transformer_edu.runs.fine_tuning import extend_tokenizer, with_more_tokens
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import RunSettings
from transformer_edu.training.checkpoint import save_model
from transformer_edu.training.saved_translator import load_translator

OLD = ["a dog runs", "the dog runs", "ein Hund rennt"] * 3
NEW = ["good morning", "guten Morgen", "good good morning"] * 3


@pytest.fixture(scope="module")
def before():
    return train_tokenizer(OLD, vocabulary_size=280)


@pytest.fixture(scope="module")
def after(before):
    return extend_tokenizer(before, NEW, vocabulary_size=290)


def config(tokenizer, **changes):
    sizes = {
        "num_heads": 2,
        "num_layers": 1,
        "d_ff": 16,
        "max_length": 64,
        "dropout": 0.0,
    } | changes
    return TransformerConfig(vocabulary_size=len(tokenizer), d_model=16, **sizes)


def test_old_ids_keep_their_pieces_and_new_texts_take_fewer(before, after):
    assert after.pieces[: len(before)] == before.pieces
    assert len(after) == 290
    assert after.encode("a dog runs") == before.encode("a dog runs")
    assert len(after.encode("good morning")) < len(before.encode("good morning"))
    assert after.decode(after.encode("good morning")) == "good morning"


def test_the_first_new_merge_is_of_the_most_frequent_pair(before):
    one = extend_tokenizer(before, ["xyxyxy xy"] * 2, vocabulary_size=len(before) + 1)
    assert one.pieces[-1] == b"xy"


def test_merges_are_those_of_a_tokenizer_that_is_trained_at_once():
    fresh = train_tokenizer(NEW, vocabulary_size=275)
    begun = train_tokenizer(NEW, vocabulary_size=265)
    extended = extend_tokenizer(begun, NEW, vocabulary_size=275)
    counts = [sum(map(len, each.encode_all(NEW))) for each in (fresh, extended, begun)]
    assert counts[0] == counts[1] < counts[2]


def test_there_are_no_merges_of_what_comes_once(before):
    assert len(extend_tokenizer(before, ["qzxj"], vocabulary_size=300)) == len(before)


def test_a_new_token_begins_as_the_mean_of_those_that_spelled_it(before, after):
    torch.manual_seed(0)
    model = Transformer(config(before))
    grown = with_more_tokens(model, before, after, config(after))
    old, new = model.target_embedding.table.weight, grown.target_embedding.table.weight
    assert torch.equal(new[: len(old)], old)
    number = max(n for n, piece in enumerate(after.pieces) if piece.startswith(b" "))
    spelled = before.encode(after.pieces[number].decode()[1:])  # encode puts the space before it
    assert number >= len(old)
    assert len(spelled) > 1
    assert torch.allclose(new[number], old[spelled].mean(dim=0))


def test_old_texts_are_read_as_before(before, after):
    torch.manual_seed(0)
    model = Transformer(config(before)).eval()
    grown = with_more_tokens(model, before, after, config(after)).eval()
    ids = torch.tensor([before.encode("the dog runs")])
    with torch.no_grad():
        assert torch.allclose(grown(ids, ids)[..., : len(before)], model(ids, ids), atol=1e-5)


def test_new_hidden_units_change_nothing_at_first(before):
    torch.manual_seed(0)
    model = Transformer(config(before)).eval()
    grown = with_more_tokens(model, before, before, config(before, d_ff=40)).eval()
    ids = torch.tensor([before.encode("the dog runs")])
    logits = grown(ids, ids)
    assert torch.allclose(logits, model(ids, ids), atol=1e-5)
    logits[..., 5].sum().backward()
    feed_forward = grown.decoder.layers[0].feed_forward
    assert feed_forward.widen.weight.shape == (40, 16)
    assert feed_forward.narrow.weight.grad[:, 16:].any()  # and they can learn


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"d_ff": 8}, "d_ff 8, got 16"),
        ({"num_heads": 4}, "num_heads 4, got 2"),  # the shapes would be the same
        ({"norm_first": True}, "norm_first True, got False"),
    ],
)
def test_another_size_or_switch_is_refused(before, after, changes, told):
    model = Transformer(config(before))
    with pytest.raises(ValueError, match=f"begin_with must be a model with {told}"):
        with_more_tokens(model, before, after, config(after, **changes))


def test_a_width_that_equals_the_vocabulary_is_no_vocabulary(before, after):
    model = Transformer(config(before, d_ff=len(before)))
    grown = with_more_tokens(model, before, after, config(after, d_ff=len(before)))
    assert grown.target_embedding.table.weight.shape == (len(after), 16)


def test_toy_tasks_have_no_translator_to_begin_with():
    with pytest.raises(ValueError, match="begin_with must be left out for the task copy"):
        RunSettings(task="copy", begin_with="runs/x")


def test_the_command_goes_on_from_a_folder(tmp_path, text_files, before):
    begun = RunFolder(tmp_path / "begun")
    begun.make()
    torch.manual_seed(0)
    save_model(begun.model, Transformer(config(before, max_length=1024)))
    before.save(begun.tokenizer_file)
    source, target = map(str, text_files)
    options = f"""--task files --source {source} --target {target} --begin-with {begun.path}
        --out {tmp_path / "run"} --steps 1 --vocabulary 300 --d-model 16 --heads 2 --layers 1
        --d-ff 16 --learning-rate 1e-9 --evaluate-on 2 --keep 1 --device cpu"""
    assert main(options.split()) == 0
    translator = load_translator(tmp_path / "run")
    assert isinstance(translator, Translator)
    assert len(before) < len(translator.tokenizer) <= 300
    old = load_translator(begun.path).model.target_embedding.table.weight
    new = translator.model.target_embedding.table.weight[: len(old)]
    assert torch.allclose(new, old, atol=1e-5)
    assert RunFolder(tmp_path / "run").read_settings().begin_with == str(begun.path)
    shutil.rmtree(begun.path)  # what is resumed has weights of its own
    assert main(["--out", str(tmp_path / "run"), "--resume"]) == 0
