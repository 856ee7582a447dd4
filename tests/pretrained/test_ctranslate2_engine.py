"""The engine computes what our model does, and its translator writes what our searches write."""

import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from tests.small_model import same, small_transformer, weights
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_course.texts.sentences import ALL_PAIRS
from transformer_edu.data.everyday import HELD_OUT, held_out
from transformer_edu.data.multi30k import load_multi30k
from transformer_edu.generation.hypotheses import length_penalty
from transformer_edu.generation.translator import Translator
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.model.transformer import Transformer
from transformer_edu.pretrained import ctranslate2_engine as module
from transformer_edu.pretrained.ctranslate2_engine import (
    FastTranslator,
    export_ctranslate2,
    fast_translator,
)
from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.training.bleu import corpus_bleu

ctranslate2 = pytest.importorskip("ctranslate2")

LENGTH = 12  # positions of a model, and so the most that a search writes
MARIAN = {"position_order": "halves", "activation": "silu", "bias": True}
MARIAN |= {"padding_id": 12, "start_id": 12, "end_id": 0}
MODELS = {
    "the paper's": {},
    "pre-norm": {"norm_first": True},
    "pre-norm without a last norm": {"norm_first": True, "final_norm": False},
    "post-norm with a last norm": {"final_norm": True},
    "biases": {"bias": True},
    "an output matrix of its own": {"tie_embeddings": False},
    "two vocabularies": {"target_vocabulary_size": 17},
    "sines before cosines, GELU": {"position_order": "halves", "activation": "gelu"},
    "GPT-2's GELU": {"activation": "gelu_tanh"},
    "a shallow decoder": {"num_layers": 3, "num_decoder_layers": 1},
    "Marian's": MARIAN,
    "other sizes in the decoder": {"num_decoder_heads": 4, "decoder_d_ff": 12},
    "embeddings that are not scaled": {"scale_embeddings": False},
    "Marian's own GELU": {"activation": "quick_gelu"},
}
# A model whose targets differ from source to source, with positions for long ones.
LONG = {"norm_first": True, "tie_embeddings": False, "max_length": 80}
SOURCES = ["4 5 6 7 8", "9", "3 8 8 4 10 11 7 5 6", "6 6", "10 4 11", "5 9 7 3", "8 3"]
TARGETS = ["4 5 9", "7", "8 8 3 11 10", "6 5 4 3 7 8", "5 4", "9 9", "3"]


class Numbers:
    """A tokenizer of texts that are ids."""

    def encode(self, text: str) -> list[int]:
        return [int(word) for word in text.split()]

    def decode(self, token_ids) -> str:
        return " ".join(map(str, token_ids))


def random_translator(**changes: object) -> Translator:
    """Every weight and every bias of its model is random; padding is improbable."""
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": 2, "max_length": LENGTH}
    model = small_transformer(13, **sizes | changes).eval()
    for name, weight in model.named_parameters():
        nn.init.normal_(weight, mean=float(name.endswith("norm.weight")), std=0.5)
    if model.config.start_id != model.config.padding_id:
        model.output_projection.bias.data[PADDING_ID] = -99.0
    return Translator(model, Numbers())


def engine_tokens(texts: list[str]) -> list[list[str]]:
    return [text.split() for text in texts]


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_every_token_has_the_probability_that_our_model_gives_it(name):
    translator = random_translator(**MODELS[name])
    model, config = translator.model, translator.model.config
    engine = fast_translator(translator).engine
    results = engine.score_batch(engine_tokens(SOURCES), engine_tokens(TARGETS))
    for source, target, result in zip(SOURCES, TARGETS, results, strict=True):
        source_ids, target_ids = Numbers().encode(source), Numbers().encode(target)
        logits = model(torch.tensor([source_ids]), torch.tensor([[config.start_id, *target_ids]]))
        if config.start_id == config.padding_id:  # no search writes it
            logits[..., config.padding_id] = -torch.inf
        labels = torch.tensor([*target_ids, config.end_id]).unsqueeze(1)
        expected = logits[0].log_softmax(dim=-1).gather(1, labels).squeeze(1)
        torch.testing.assert_close(torch.tensor(result.log_probs), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("end_loops", [True, False])
@pytest.mark.parametrize(
    "changes", [{"bias": True}, {"max_length": LENGTH}, {"seed": 1}, {"bias": True, "seed": 1}]
)
def test_greedy_search_writes_the_same_tokens_with_loops_and_to_the_last_position(
    changes, end_loops
):
    translator = random_translator(**LONG | changes)
    texts, asked = [*SOURCES, ""], {"width": 1, "end_loops": end_loops, "batch_size": 3}
    expected = translator.translate_all(texts, **asked)
    assert fast_translator(translator).translate_all(texts, **asked) == expected
    assert len(set(expected)) > 3 and expected[-1] == ""


# A source of one token allows 12 tokens if loops are ended, else 51; the end token counts.
NO_LOOP = "4 5 6 7 8 9 10 11 12 3 4 6"


@pytest.mark.parametrize(
    ("written", "end_loops", "kept"),
    [
        ("5 6 2", True, "5 6"),
        ("5 1 6 2", True, "5 6"),  # the start token
        ("5 5 5 2", True, None),
        ("5 5 5 2", False, "5 5 5"),
        ("5 5 2", True, "5 5"),
        ("3 8 9 8 9 8 9 4 2", True, None),
        (NO_LOOP, True, NO_LOOP),
        (f"{NO_LOOP} 2", True, None),
        (f"{NO_LOOP} 2", False, NO_LOOP),
        (f"{'5 ' * 50}2", False, ("5 " * 50).strip()),
        (f"{'5 ' * 51}2", False, None),
        ("5 0 6 2", False, None),  # padding
    ],
)
def test_our_search_writes_what_has_a_loop_is_too_long_or_holds_padding(written, end_loops, kept):
    translator = random_translator(**LONG)
    result = SimpleNamespace(hypotheses=[written.split()], scores=[])
    engine = SimpleNamespace(translate_batch=lambda tokens, **settings: [result])
    fast = FastTranslator(translator.model, translator.tokenizer, engine=engine)
    ours = translator.translate("9", end_loops=end_loops)
    assert fast.translate("9", end_loops=end_loops) == (ours if kept is None else kept) != ""
    assert ours != kept


def test_a_target_may_be_empty_and_the_settings_stay():
    translator = replace(random_translator(**LONG), normalize=False)
    translator.model.output_projection.bias.data[END_ID] = 99.0
    fast = fast_translator(translator)
    assert fast.translate_all(SOURCES) == [""] * len(SOURCES)
    assert fast.normalize is False


@torch.no_grad()
def test_a_score_is_the_mean_over_the_tokens_of_a_hypothesis_the_end_token_included(monkeypatch):
    translator, results, best = random_translator(**LONG), [], module.best_hypothesis

    def noted(result: object, alpha: float) -> list[int]:
        results.append(result)
        return best(result, alpha)

    monkeypatch.setattr(module, "best_hypothesis", noted)
    fast_translator(translator).translate_all(SOURCES, width=3)
    assert len(results) == len(SOURCES)
    for source, result in zip(SOURCES, results, strict=True):
        source_ids = torch.tensor([Numbers().encode(source)])
        for tokens, score in zip(result.hypotheses, result.scores, strict=True):
            ids = torch.tensor([START_ID, *map(int, tokens)])
            logits = translator.model(source_ids, ids[:-1].unsqueeze(0))[0]
            expected = logits.log_softmax(dim=-1).gather(1, ids[1:].unsqueeze(1)).mean()
            assert score == pytest.approx(expected.item(), abs=1e-4)
    assert any(tokens[-1] == str(END_ID) for result in results for tokens in result.hypotheses)


def test_the_engine_writes_what_has_no_loop(monkeypatch):
    texts = [source for source, _ in ALL_PAIRS[:12]]
    translator = load_pretrained()
    expected = translator.translate_all(texts)
    fast = fast_translator(translator)

    def only_checks(model: nn.Module, sources: list[list[int]], **asked: object) -> list[list[int]]:
        assert sources == []
        return []

    monkeypatch.setattr(module, "write_all", only_checks)
    assert fast.translate_all(texts) == expected


def test_a_model_that_starts_with_padding_never_writes_it():
    translator = random_translator(**MARIAN)
    bias, padding_id = translator.model.output_projection.bias, MARIAN["padding_id"]
    bias.data[padding_id] = 9.0  # otherwise the most probable token
    engine = fast_translator(translator).engine
    results = engine.translate_batch(engine_tokens(SOURCES), max_decoding_length=LENGTH)
    assert all(str(padding_id) not in result.hypotheses[0] for result in results)
    assert bias[padding_id] == 9.0


def test_the_hypothesis_with_our_best_score_is_taken():
    # A score of the engine is the mean of the tokens' log-probabilities, the end token included.
    result = SimpleNamespace(
        hypotheses=[["4", "2"], ["5", "6", "7", "8", "2"]], scores=[-0.5, -0.4]
    )
    taken = set()
    for alpha in (0.0, 0.5, 1.0, 2.0):
        scores = {-1.0 / length_penalty(2, alpha): [4, 2]}
        scores[-2.0 / length_penalty(5, alpha)] = [5, 6, 7, 8, 2]
        taken.add(len(module.best_hypothesis(result, alpha)))
        assert module.best_hypothesis(result, alpha) == scores[max(scores)]
    assert taken == {2, 5}


def test_a_folder_is_read_by_the_engine_itself_and_the_model_stays_as_it_was(tmp_path):
    translator = random_translator(tie_embeddings=False, norm_first=True)
    translator.model.output_projection.bias.data[START_ID] = -99.0  # our searches leave it out
    translator.model.double().train()
    before, folder = weights(translator.model), tmp_path / "new" / "folder"
    export_ctranslate2(translator, folder)
    asked = {"beam_size": 1, "max_decoding_length": LENGTH, "min_decoding_length": 0}
    results = ctranslate2.Translator(str(folder)).translate_batch(engine_tokens(SOURCES), **asked)
    written = [" ".join(result.hypotheses[0]) for result in results]
    assert written == translator.translate_all(SOURCES, width=1, end_loops=False)
    assert same(weights(translator.model), before) and translator.model.training


def test_the_weights_are_converted_to_int8_by_the_engine():
    translator = random_translator()
    assert fast_translator(translator).engine.compute_type == "float32"
    assert fast_translator(translator, compute_type="int8").engine.compute_type.startswith("int8")


@pytest.mark.slow
def test_a_thousand_sentences_have_the_same_tokens_and_int8_costs_little():
    captions = load_multi30k().validation
    texts = [source for kind in HELD_OUT for source, _ in held_out(kind)][:500]
    texts += [source for source, _ in captions[: 1000 - len(texts)]]
    translator = load_pretrained()
    fast = fast_translator(translator)
    assert len(texts) == 1000
    assert fast.translate_all(texts, width=1) == translator.translate_all(texts, width=1)
    pairs = zip(
        fast.translate_all(texts, width=4), translator.translate_all(texts, width=4), strict=True
    )
    assert sum(theirs == ours for theirs, ours in pairs) > 980
    sources, references = zip(*captions, strict=True)
    engines = {kind: fast_translator(translator, compute_type=kind) for kind in ("float32", "int8")}
    bleu = {
        kind: corpus_bleu(each.translate_all(sources, width=1), references).score
        for kind, each in engines.items()
    }
    assert bleu["int8"] > bleu["float32"] - 0.5


class OwnFeedForward(FeedForward):
    """Looks like the library's."""


def with_a_part_of_its_own() -> Transformer:
    model = random_translator().model
    model.encoder.layers[1].feed_forward = OwnFeedForward(d_model=12, d_ff=24)
    return model


def with_a_hook() -> Transformer:
    model = random_translator().model
    model.decoder.layers[0].register_forward_hook(lambda *given: None)
    return model


def with_another_epsilon() -> Transformer:
    model = random_translator().model
    model.decoder.layers[0].around_feed_forward.norm.eps = 1e-6
    return model


class OwnTransformer(Transformer):
    """Looks like the library's."""


@pytest.mark.parametrize(
    ("build", "got"),
    [
        (lambda: OwnTransformer(random_translator().model.config), "OwnTransformer as model"),
        (lambda: PytorchTransformer(small_transformer().config), "PytorchTransformer as model"),
        (with_a_part_of_its_own, "OwnFeedForward as encoder.layers.1.feed_forward"),
        (with_a_hook, "DecoderLayer as decoder.layers.0"),
        (with_another_epsilon, "LayerNorm as decoder.layers.0.around_feed_forward.norm"),
    ],
)
def test_a_model_that_the_engine_would_compute_otherwise_is_refused(tmp_path, build, got):
    message = f"model must be a Transformer with its own parts, no hooks, got {got}"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        export_ctranslate2(Translator(build(), Numbers()), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda folder: export_ctranslate2(random_translator(), 5), "folder must be a path, got 5"),
        (
            lambda folder: export_ctranslate2(random_translator(), folder),
            "folder must be new or empty",
        ),
        (
            lambda folder: fast_translator(random_translator(), compute_type="int3"),
            "one of float32",
        ),
        (
            lambda folder: export_ctranslate2(random_translator().model, folder),
            "translator must be a Translator, got Transformer",
        ),
        (lambda folder: fast_translator("runs/x"), "translator must be a Translator, got str"),
        (
            lambda folder: fast_translator(random_translator()).translate("4", width=0),
            "width must be at least 1, got 0",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(tmp_path, call, message):
    (tmp_path / "file").touch()
    with pytest.raises((TypeError, ValueError, OSError), match=message) as error:
        call(tmp_path)
    assert "\n" not in str(error.value)


def test_on_a_full_disk_the_folder_is_named_and_empty_for_the_next_try(tmp_path, monkeypatch):
    def half(spec: object, folder: str) -> None:
        (tmp_path / "model.bin").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(ctranslate2.specs.TransformerSpec, "save", half)
        with pytest.raises(OSError, match=re.escape(f"No space left on device: '{tmp_path}'")):
            export_ctranslate2(random_translator(), tmp_path)
    export_ctranslate2(random_translator(), tmp_path)
    assert (tmp_path / "model.bin").stat().st_size > 1000


def test_a_fast_translator_can_be_made_from_a_fast_one():
    fast = fast_translator(random_translator(**LONG))
    assert fast_translator(fast).translate_all(SOURCES) == fast.translate_all(SOURCES)


@pytest.mark.parametrize(
    "call", [fast_translator, lambda translator: export_ctranslate2(translator, "new")]
)
def test_without_the_library_a_sentence_says_how_to_install_it(monkeypatch, call):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    wanted = 'pip install "transformer-edu[fast]"'
    with pytest.raises(ModuleNotFoundError, match=re.escape(wanted)):
        call(random_translator())
