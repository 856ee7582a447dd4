"""A folder of a Marian model is a translator: with Hugging Face's numbers, texts and beams."""

import hashlib
import io
import json
import sys
from pathlib import Path

import pytest
import torch

from tests.random_marian import generate, random_marian, transformers, with_exact_positions
from transformer_course.a_published_model.small_marian import PAIRS, train_marian, untrained_marian
from transformer_edu.generation.__main__ import main
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.sampling import sample
from transformer_edu.generation.translator import Translator, write_all
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.pretrained.marian_folder import (
    MarianTokenizer,
    load_marian,
    save_marian,
)
from transformer_edu.training.checkpoint_file import CheckpointError

pytest.importorskip("sentencepiece")

# sacremoses would only matter for its own normalization, which the tokenizer does not call.
pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")

TEXTS = [source for source, _ in PAIRS]
LENGTH = 30
DEPTHS = [(0, 2, 2), (1, 3, 1), (2, 1, 2), (3, 2, 1)]  # a seed, then the layers of both stacks


@pytest.fixture(scope="module")
def trained() -> Translator:
    translator = untrained_marian()
    losses = train_marian(translator)
    assert losses[-1] < 0.1 < losses[0]
    return translator


@pytest.fixture(scope="module")
def folder(trained, tmp_path_factory) -> Path:
    """A folder that we have written."""
    folder = tmp_path_factory.mktemp("marian") / "small"
    save_marian(folder, trained)
    return folder


def theirs_in(folder: Path) -> tuple[torch.nn.Module, object]:
    """The library's model and tokenizer of a folder."""
    model = transformers.MarianMTModel.from_pretrained(folder, attn_implementation="eager")
    return model.eval(), transformers.MarianTokenizer.from_pretrained(folder)


def write_theirs(folder: Path, small: Path, seed: int, layers: tuple[int, int]) -> None:
    """A random model and a tokenizer, written by the library's own save_pretrained."""
    tokenizer = transformers.MarianTokenizer.from_pretrained(small)
    padding_id = tokenizer.pad_token_id
    marian = random_marian(
        seed,
        encoder_layers=layers[0],
        decoder_layers=layers[1],
        vocab_size=len(tokenizer),
        pad_token_id=padding_id,
        decoder_start_token_id=padding_id,
        eos_token_id=tokenizer.eos_token_id,
        max_position_embeddings=64,
    )
    marian.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="module", params=DEPTHS, ids=str)
def theirs(request, folder, tmp_path_factory) -> Path:
    """A folder that Hugging Face's library has written."""
    seed, *layers = request.param
    path = tmp_path_factory.mktemp("theirs")
    write_theirs(path, folder, seed, tuple(layers))
    return path


def padded(translator: Translator, texts: list[str]) -> torch.Tensor:
    rows = [torch.tensor(translator.tokenizer.encode(text)) for text in texts]
    padding_id = translator.model.config.padding_id
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding_id)


@torch.no_grad()
def test_a_folder_of_the_library_gives_its_logits(theirs):
    translator, (marian, tokenizer) = load_marian(theirs), theirs_in(theirs)
    batch = tokenizer(TEXTS, return_tensors="pt", padding=True)
    source_ids = padded(translator, TEXTS)
    assert torch.equal(batch["input_ids"], source_ids)
    assert (source_ids == translator.model.config.padding_id).any()
    target_ids = torch.full((len(TEXTS), 3), translator.model.config.start_id)
    target_ids[:, 1:] = source_ids[:, :2]
    logits = translator.model(source_ids, target_ids)
    expected = marian(**batch, decoder_input_ids=target_ids).logits
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-4)
    translator.model.double()
    logits = translator.model(source_ids, target_ids)
    expected = with_exact_positions(marian)(**batch, decoder_input_ids=target_ids).logits
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("cached", [True, False])
def test_greedy_search_writes_what_the_library_writes(theirs, cached):
    translator, (marian, _) = load_marian(theirs), theirs_in(theirs)
    translator.model.double()  # in float32, a nearly equal token may win
    with_exact_positions(marian)
    source_ids = padded(translator, TEXTS)
    found = greedy_search(translator.model, source_ids, max_length=LENGTH, cached=cached)
    # The library's max_length counts the start token.
    asked = {"num_beams": 1, "max_length": LENGTH + 1, "use_cache": cached}
    assert found == generate(marian, source_ids, **asked)


@pytest.mark.parametrize("cached", [True, False])
def test_a_beam_writes_what_the_library_writes(theirs, cached):
    # Without a length penalty, of which each has its own formula, both search for the same.
    translator, (marian, _) = load_marian(theirs), theirs_in(theirs)
    translator.model.double()
    with_exact_positions(marian)
    source_ids = padded(translator, TEXTS)
    asked = {"max_length": LENGTH, "cached": cached}
    found = beam_search(translator.model, source_ids, width=4, alpha=0, **asked)
    expected = generate(
        marian,
        source_ids,
        num_beams=4,
        max_new_tokens=LENGTH,
        length_penalty=0.0,
        early_stopping="never",
        use_cache=cached,
    )
    assert [best.token_ids for (best,) in found] == expected


def test_beams_differ_from_greedy_search_and_in_length(folder, tmp_path):
    lengths, differences = set(), 0
    for seed, *layers in DEPTHS:
        write_theirs(tmp_path, folder, seed, tuple(layers))
        translator = load_marian(tmp_path)
        source_ids = padded(translator, TEXTS)
        found = beam_search(translator.model, source_ids, width=4, alpha=0, max_length=LENGTH)
        best = [hypotheses[0].token_ids for hypotheses in found]
        greedy = greedy_search(translator.model, source_ids, max_length=LENGTH)
        differences += sum(one != other for one, other in zip(best, greedy, strict=True))
        lengths |= set(map(len, best))
    assert differences > 5, "the two searches are compared on sources where they agree"
    assert len(lengths) > 2


@pytest.mark.parametrize("width", [1, 4])
def test_a_trained_model_translates_as_the_library_does(folder, width):
    translator, (marian, tokenizer) = load_marian(folder), theirs_in(folder)
    asked = {"num_beams": width, "max_new_tokens": LENGTH}
    if width > 1:
        asked |= {"length_penalty": 0.0, "early_stopping": "never"}
    batch = tokenizer(TEXTS, return_tensors="pt", padding=True)
    # The folder's own settings say that padding is never written, and where a target starts.
    expected = tokenizer.batch_decode(marian.generate(**batch, **asked), skip_special_tokens=True)
    found = translator.translate_all(TEXTS, width=width, alpha=0.0)
    assert found == expected == [target for _, target in PAIRS]
    # Of sentences that it has not learned it makes nonsense, but the same nonsense.
    translator.model.double()
    with_exact_positions(marian)
    strange = ["Die Frau isst im Garten einen Apfel.", "WO IST DIE KATZE?", "☃ rennt"]
    source_ids = padded(translator, strange)
    if width == 1:
        rows = greedy_search(translator.model, source_ids, max_length=LENGTH)
    else:
        given = {"width": width, "alpha": 0, "max_length": LENGTH}
        rows = [best.token_ids for (best,) in beam_search(translator.model, source_ids, **given)]
    assert rows == generate(marian, source_ids, **asked)


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS[:3],
        " two  spaces\tand a tab ",
        "Grüße, ☃!",
        "A",
        "MEN",
        "a < b << c",
        ">>deu<< A dog.",
    ],
)
def test_texts_are_cut_as_the_library_cuts_them(trained, folder, text):
    theirs = transformers.MarianTokenizer.from_pretrained(folder)
    ids = trained.tokenizer.encode(text)
    assert ids == theirs(text)["input_ids"]
    assert trained.tokenizer.tokens(ids) == theirs.convert_ids_to_tokens(ids)
    target = theirs(text_target=text)["input_ids"]
    assert [*trained.tokenizer.encode_target(text), trained.model.config.end_id] == target
    assert trained.tokenizer.decode(target) == theirs.decode(target, skip_special_tokens=True)


def test_any_ids_become_the_text_that_the_library_makes_of_them(trained, folder):
    theirs = transformers.MarianTokenizer.from_pretrained(folder)
    # Pieces of the source alone, with a space or without: target.spm does not know them.
    known = trained.tokenizer._cutters[1]
    lacked = [i for i, name in enumerate(theirs.encoder) if known.piece_to_id(name) == 0]
    assert any(theirs.decoder[i].startswith("▁") for i in lacked)
    random = torch.Generator().manual_seed(0)
    for _ in range(300):
        length = int(torch.randint(1, 9, (), generator=random))
        ids = torch.randint(len(trained.tokenizer), (length,), generator=random).tolist()
        expected = theirs.decode(ids, skip_special_tokens=True)
        assert trained.tokenizer.decode(ids) == expected


@pytest.fixture
def two_vocabularies(trained) -> MarianTokenizer:
    """The trained tokenizer with a vocabulary for each language."""
    held = []
    for cutter in trained.tokenizer._cutters:
        pieces = ["</s>", "<unk>", *(cutter.id_to_piece(i) for i in range(3, 60)), "<pad>"]
        held.append({piece: number for number, piece in enumerate(pieces)})
    return MarianTokenizer(held[0], trained.tokenizer.cutters, held[1])


@torch.no_grad()
def test_two_vocabularies_are_read_and_written(two_vocabularies, trained, tmp_path):
    ids = {"padding_id": 59, "start_id": 59, "end_id": 0}
    marian = {"bias": True, "activation": "silu", "position_order": "halves", "max_length": 40}
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": 1, "d_ff": 16}
    torch.manual_seed(0)
    config = TransformerConfig(
        vocabulary_size=60, target_vocabulary_size=60, **ids, **marian, **sizes
    )
    save_marian(tmp_path, Translator(Transformer(config).eval(), two_vocabularies))
    ours, (marian, tokenizer) = load_marian(tmp_path), theirs_in(tmp_path)
    assert tokenizer.separate_vocabs
    assert ours.tokenizer.vocabulary != ours.tokenizer.target_vocabulary
    for text in TEXTS:
        assert ours.tokenizer.encode(text) == tokenizer(text)["input_ids"]
        target = tokenizer(text_target=text)["input_ids"]
        assert [*ours.tokenizer.encode_target(text), 0] == target
        assert ours.tokenizer.decode(target) == tokenizer.decode(target, skip_special_tokens=True)
    source_ids = padded(ours, TEXTS)
    ours.model.double()
    expected = generate(with_exact_positions(marian), source_ids, num_beams=1, max_length=21)
    assert greedy_search(ours.model, source_ids, max_length=20) == expected
    vocabulary = tmp_path / "target_vocab.json"
    edit(vocabulary, new=60)
    with pytest.raises(CheckpointError, match="size, padding and end of .*target_vocab.json must"):
        load_marian(tmp_path)
    edit(vocabulary, new="7")
    with pytest.raises(CheckpointError, match="target_vocab.json must hold the ids 0, 1, … once"):
        load_marian(tmp_path)
    vocabulary.unlink()
    with pytest.raises(FileNotFoundError, match="must hold target_vocab.json, got none"):
        load_marian(tmp_path)
    save_marian(tmp_path, trained)  # of one vocabulary: the other's does not stay
    assert load_marian(tmp_path).tokenizer.target_vocabulary == trained.tokenizer.vocabulary
    assert not theirs_in(tmp_path)[1].separate_vocabs


def test_a_language_code_is_one_token_if_the_vocabulary_has_it(trained):
    own = trained.tokenizer
    vocabulary = own.vocabulary | {">>deu<<": len(own)}
    coded = MarianTokenizer(vocabulary, own.cutters).encode(">>deu<< A dog.")
    assert coded == [len(own), *own.encode(" A dog.")]
    assert own.encode(">>deu<< A dog.")[0] == own.vocabulary["<unk>"]
    assert own.encode("") == []


def test_what_we_write_comes_back_bit_for_bit(trained, folder, tmp_path):
    again = load_marian(folder)
    assert again.model.config.bias and again.model.config.activation == "silu"
    before = trained.model.state_dict()
    assert all(torch.equal(w, before[name]) for name, w in again.model.state_dict().items())
    save_marian(tmp_path / "new" / "folder", again)
    for path in folder.iterdir():
        assert (tmp_path / "new" / "folder" / path.name).read_bytes() == path.read_bytes()


def test_loading_draws_no_random_number_and_changes_no_file(folder):
    held = {path: path.read_bytes() for path in folder.iterdir()}
    before = torch.get_rng_state()
    translator = load_marian(folder)
    assert torch.equal(torch.get_rng_state(), before)
    assert {path: path.read_bytes() for path in folder.iterdir()} == held
    assert not translator.model.training


@pytest.mark.parametrize("search", [greedy_search, beam_search, sample])
def test_padding_is_never_written(trained, search):
    model = load_marian_copy(trained.model)
    padding_id = model.config.padding_id
    with torch.no_grad():
        model.output_projection.bias[padding_id] = 99.0
    steps = []
    given = {} if search is sample else {"after_step": steps.append}
    rows = search(model, torch.tensor([[5, 6, 0], [7, 0, padding_id]]), max_length=6, **given)
    found = rows if search is not beam_search else [best.token_ids for (best,) in rows]
    assert all(1 <= len(row) <= 6 and padding_id not in row for row in found)
    for step in steps if search is greedy_search else []:
        assert (step[:, 0] == padding_id).all() and (step[:, 1:] != padding_id).all()
    for step in steps if search is beam_search else []:
        assert all(each.token_id != padding_id for each in sum(step.branches, []))


def load_marian_copy(model: Transformer) -> Transformer:
    copy = Transformer(model.config).eval()
    copy.load_state_dict(model.state_dict())
    return copy


def test_a_text_in_capitals_is_read_as_it_is(folder, monkeypatch):
    read = []
    monkeypatch.setattr(MarianTokenizer, "encode", lambda self, text: read.append(text) or [])
    assert load_marian(folder).translate("A DOG.") == ""
    assert read == ["A DOG."]


def test_a_right_checksum_is_accepted(folder):
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert load_marian(folder, sha256=found).translate(TEXTS[0]) == PAIRS[0][1]


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def as_pickle(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04N.")


WHOLE = "model.safetensors must be a whole safetensors file, got one that is damaged or of another"
DAMAGE = {
    "bart": (
        lambda f: edit(f / "config.json", model_type="bart"),
        "model_type must be marian, got b",
    ),
    "t5": (lambda f: edit(f / "config.json", model_type="t5"), "model_type must be marian, got t5"),
    "mbart": (lambda f: edit(f / "config.json", model_type="mbart"), "be marian, got mbart"),
    "pickle": (
        as_pickle,
        "must hold model.safetensors, got only pytorch_model.bin, a pickle, which",
    ),
    "disguised pickle": (
        lambda f: (f / "model.safetensors").write_bytes(b"\x80\x04N."),
        WHOLE,
    ),
    "truncated": (lambda f: cut_in_half(f / "model.safetensors"), WHOLE),
    "empty": (lambda f: (f / "model.safetensors").write_bytes(b""), WHOLE),
    "no weights": (
        lambda f: (f / "model.safetensors").unlink(),
        "must hold model.safetensors, got n",
    ),
    "no config": (lambda f: (f / "config.json").unlink(), "must hold config.json, got none"),
    "no tokenizer": (lambda f: (f / "source.spm").unlink(), "must hold source.spm, got none"),
    "no target tokenizer": (
        lambda f: (f / "target.spm").unlink(),
        "must hold target.spm, got none",
    ),
    "no vocabulary": (lambda f: (f / "vocab.json").unlink(), "must hold vocab.json, got none"),
    "shapes": (lambda f: edit(f / "config.json", d_model=32), "must be floats of shape"),
    "words": (lambda f: edit(f / "config.json", vocab_size=101), "floats of shape (101, 64)"),
    "layers": (
        lambda f: edit(f / "config.json", encoder_layers=1),
        "must be those of the settings",
    ),
    "deep": (
        lambda f: edit(f / "config.json", decoder_layers=3),
        "must include model.decoder.layers",
    ),
    "giant": (
        lambda f: edit(f / "config.json", max_position_embeddings=3 * 10**6),
        "max_length must be at most 131,072, got 3,000,000",
    ),
    "wide": (
        lambda f: edit(f / "config.json", d_model=2 * 10**8),
        "must be floats of shape",
    ),
    "no json": (lambda f: (f / "config.json").write_text("{"), "must hold an object in JSON"),
    "list": (
        lambda f: (f / "vocab.json").write_text("[]"),
        "must hold an object in JSON, got somet",
    ),
    "gap": (lambda f: edit(f / "vocab.json", new=999), "must hold the ids 0, 1, … once each"),
    "text ids": (
        lambda f: edit(f / "vocab.json", new="7"),
        "must hold the ids 0, 1, … once each, got",
    ),
    "one word more": (
        lambda f: edit(f / "vocab.json", new=len(json.loads((f / "vocab.json").read_text()))),
        "size, padding and end of",
    ),
    "empty source tokenizer": (
        lambda f: (f / "source.spm").write_bytes(b""),
        "source.spm must be a SentencePiece model",
    ),
    "empty target tokenizer": (
        lambda f: (f / "target.spm").write_bytes(b""),
        "target.spm must be a SentencePiece model",
    ),
    "spm": (
        lambda f: (f / "target.spm").write_text("?"),
        "target.spm must be a SentencePiece model",
    ),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=DAMAGE)
def test_bad_folders_are_refused_in_one_sentence_and_left_as_they_are(
    folder, tmp_path, damage, message
):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    damage(tmp_path)
    held = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    before = torch.get_rng_state()
    with pytest.raises((ValueError, OSError, MemoryError)) as caught:
        load_marian(tmp_path)
    assert message in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == held
    assert torch.equal(torch.get_rng_state(), before)


def test_a_wrong_checksum_is_refused(folder):
    with pytest.raises(CheckpointError, match="^sha256 of .*model.safetensors must be 00ff, got "):
        load_marian(folder, sha256="00ff")


@pytest.mark.parametrize(
    ("kind", "config"),
    [("Bart", "BartConfig"), ("T5", "T5Config"), ("MBart", "MBartConfig")],
)
def test_a_real_folder_of_another_architecture_is_refused(folder, tmp_path, kind, config):
    sizes = {"vocab_size": 17, "d_model": 12, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 3}
    sizes |= {
        f"{s}_{n}": v
        for s in ("encoder", "decoder")
        for n, v in (("layers", 1), ("attention_heads", 3), ("ffn_dim", 8))
    }
    build = getattr(transformers, f"{kind}ForConditionalGeneration")
    build(getattr(transformers, config)(**sizes)).save_pretrained(tmp_path)
    for name in ("vocab.json", "source.spm", "target.spm"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(CheckpointError, match=f"model_type must be marian, got {kind.lower()}$"):
        load_marian(tmp_path)


def test_without_sentencepiece_it_is_said_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ModuleNotFoundError, match="^sentencepiece must be installed .*data.*$"):
        load_marian(folder)


def test_what_is_no_path_is_refused(trained):
    for ask in (load_marian, lambda path: save_marian(path, trained)):
        with pytest.raises(TypeError, match="folder must be a path, got 7"):
            ask(7)


def test_a_translator_of_another_kind_is_not_written(trained, tmp_path):
    with pytest.raises(TypeError, match="tokenizer must be a MarianTokenizer, got Tokenizer"):
        save_marian(tmp_path / "new", load_pretrained())
    model = Transformer(TransformerConfig.tiny(vocabulary_size=len(trained.tokenizer)))
    with pytest.raises(TypeError, match="tokenizer must be a MarianTokenizer, got Transformer"):
        save_marian(tmp_path / "new", trained.model)
    with pytest.raises(ValueError, match="position_order must be halves in a Marian model"):
        save_marian(tmp_path / "new", Translator(model, trained.tokenizer))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("options", [["--beam", "1"], ["--beam", "3", "--alpha", "0"]])
def test_the_command_translates_with_a_folder(folder, trained, monkeypatch, capsys, options):
    text = "\n".join([TEXTS[0], "", TEXTS[4]])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["--marian", str(folder), *options]) == 0
    assert capsys.readouterr().out.split("\n") == [PAIRS[0][1], "", PAIRS[4][1], ""]


def test_the_command_tells_of_a_bad_folder_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert main(["--marian", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"error: {tmp_path} must hold config.json, got none\n"
    with pytest.raises(SystemExit):
        main(["run", "--marian", str(tmp_path)])


def test_sources_of_any_length_are_written_as_if_they_were_alone(folder):
    model, encode = load_marian(folder).model, load_marian(folder).tokenizer.encode
    sources = [encode(text) for text in TEXTS]
    alone = [write_all(model, [source], end_loops=False)[0] for source in sources]
    assert write_all(model, sources, end_loops=False) == alone
