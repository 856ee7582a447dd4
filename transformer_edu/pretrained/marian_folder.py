"""Published Marian models: a folder of files becomes a Translator, and a Translator such a folder.

    translator = load_marian("opus-mt-en-de")
    print(translator.translate("A dog runs across the grass."))

The folder is what transformers writes and reads: ``config.json``, ``model.safetensors``,
``vocab.json``, ``source.spm``, ``target.spm``, and for two vocabularies ``target_vocab.json``. None
of it is run. SentencePiece (Kudo and Richardson 2018, https://aclanthology.org/D18-2012) cuts text.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import safetensors.torch
from safetensors import SafetensorError

from transformer_edu.generation.translator import Translator
from transformer_edu.training.checkpoint_file import CheckpointError
from transformer_edu.training.machine.atomic_files import read_json, replace_file, require_path
from transformer_edu.training.machine.failures import enough_memory, import_extra
from transformer_edu.variants.marian_weights import from_marian, to_marian

CONFIG, WEIGHTS, VOCABULARY = "config.json", "model.safetensors", "vocab.json"
TARGET_VOCABULARY, TOKENIZER = "target_vocab.json", "tokenizer_config.json"  # of two vocabularies
GENERATION = "generation_config.json"  # what transformers' own generate asks for
CUTTERS = ("source.spm", "target.spm")  # the SentencePiece models of the two languages
MARIAN_FILES = (CONFIG, WEIGHTS, VOCABULARY, *CUTTERS)
PICKLE = "pytorch_model.bin"
END, UNKNOWN, PADDING = SPECIAL = ("</s>", "<unk>", "<pad>")
SPACE = "▁"  # how SentencePiece writes it


class MarianTokenizer:
    """Source texts to token ids, and target ids to text: two SentencePiece models.

    The id of a piece is the vocabulary's, not that of its SentencePiece model. A text may begin
    with a language code such as ``>>fra<<``, as models with several target languages expect.

    Args:
        vocabulary: The id of each piece: 0, 1, … without gaps.
        cutters: The files of the source's and the target's SentencePiece model.
        target_vocabulary: The same for targets; None for one vocabulary.

    Raises:
        ModuleNotFoundError: If the library sentencepiece is not installed.
        ValueError: If a vocabulary has gaps or lacks </s>, <unk> or <pad>, or a file is not a
            SentencePiece model.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        cutters: tuple[bytes, bytes],
        target_vocabulary: Mapping[str, int] | None = None,
    ) -> None:
        library = import_extra("sentencepiece")
        self.vocabulary, self.cutters = dict(vocabulary), cutters
        self.target_vocabulary = dict(target_vocabulary or vocabulary)
        held = {VOCABULARY: self.vocabulary, TARGET_VOCABULARY: self.target_vocabulary}
        for file, names in held.items():
            ids = names.values()
            if any(type(i) is not int for i in ids) or set(ids) != set(range(len(ids))):
                raise ValueError(f"{file} must hold the ids 0, 1, … once each, got others")
            for name in SPECIAL:
                if name not in names:
                    raise ValueError(f"{file} must hold {name}, got none")
        self.names = sorted(self.vocabulary, key=self.vocabulary.get)
        self.pieces = [name.replace(SPACE, " ").encode() for name in self.names]  # as bytes
        self._target_names = sorted(self.target_vocabulary, key=self.target_vocabulary.get)
        self._cutters = [library.SentencePieceProcessor() for _ in CUTTERS]
        for name, cutter, content in zip(CUTTERS, self._cutters, cutters, strict=True):
            try:
                cutter.load_from_serialized_proto(content)
            except RuntimeError:
                wanted = f"{name} must be a SentencePiece model"
                raise ValueError(f"{wanted}, got another file") from None

    def __len__(self) -> int:
        """Number of a source's ids: the model's vocabulary_size."""
        return len(self.names)

    def encode(self, text: str) -> list[int]:
        """The ids of a source text and, unlike our own tokenizer's, the end token's after them.

        A piece that the vocabulary lacks is <unk>. An empty text has no ids.
        """
        ids = self._ids(text, self._cutters[0], self.vocabulary)
        return [*ids, self.vocabulary[END]] if ids else []

    def encode_target(self, text: str) -> list[int]:
        """The ids of a target text, without the end token's."""
        return self._ids(text, self._cutters[1], self.target_vocabulary)

    def decode(self, token_ids: Sequence[int]) -> str:
        """The target text of ids, without </s>, <unk> and <pad>."""
        words = [name for i in token_ids if (name := self._target_names[i]) not in SPECIAL]
        return self._cutters[1].decode_pieces(words).replace(SPACE, " ").strip()

    def tokens(self, token_ids: Sequence[int]) -> list[str]:
        """Every id's piece to look at, of a source if there are two vocabularies."""
        return [self.names[token_id] for token_id in token_ids]

    def _ids(self, text: str, cutter: object, vocabulary: dict[str, int]) -> list[int]:
        code, ends, rest = text.partition("<<")
        if text.startswith(">>") and ends:
            pieces = [code + ends, *cutter.encode(rest, out_type=str)]
        else:
            pieces = cutter.encode(text, out_type=str)
        return [vocabulary.get(piece, vocabulary[UNKNOWN]) for piece in pieces]


def load_marian(folder: str | os.PathLike, *, sha256: str | None = None) -> Translator:
    """Read a published Marian model and its tokenizer; nothing in the folder is run.

    The searches generate as transformers' generate does for these models: from the padding token,
    which is never generated, to the end token. Three things differ. There, ``max_length`` counts
    the start token too, a target that reaches it gets an end token, and the score of a hypothesis
    is log_probability / length^length_penalty. With alpha and length_penalty 0 both find the same.

    Args:
        folder: With the files named above.
        sha256: The checksum that model.safetensors must have, in hexadecimal; None for any.

    Returns:
        A translator on the CPU, in evaluation mode. Its tokenizer is a MarianTokenizer.

    Raises:
        TypeError: If folder is not a path.
        ModuleNotFoundError: If the library sentencepiece is not installed.
        OSError: If a file is missing or cannot be read.
        ValueError: If a file is damaged or of another architecture, or they do not belong together.
    """
    require_path("folder", folder)
    folder = Path(folder)
    _require_files(folder)
    settings, vocabulary = (_read_object(folder / name) for name in (CONFIG, VOCABULARY))
    other, asked = folder / TARGET_VOCABULARY, folder / TOKENIZER
    if not other.exists() and asked.exists() and _read_object(asked).get("separate_vocabs"):
        raise FileNotFoundError(f"{folder} must hold {TARGET_VOCABULARY}, got none")
    target_vocabulary = _read_object(other) if other.exists() else None
    with enough_memory(f"the model in {folder}"):
        content = (folder / WEIGHTS).read_bytes()
        found = hashlib.sha256(content).hexdigest()
        if sha256 not in (None, found):
            raise CheckpointError(f"sha256 of {folder / WEIGHTS} must be {sha256}, got {found}")
        try:
            model = from_marian(settings, safetensors.torch.load(content))
            files = tuple((folder / name).read_bytes() for name in CUTTERS)
            tokenizer = MarianTokenizer(vocabulary, files, target_vocabulary)
        except SafetensorError:
            wanted, got = "a whole safetensors file", "one that is damaged or of another format"
            raise CheckpointError(f"{folder / WEIGHTS} must be {wanted}, got {got}") from None
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"{folder} must hold a Marian model: {error}") from None
    read = {VOCABULARY: model.config.vocabulary_size, TARGET_VOCABULARY: model.config.output_size}
    both = (tokenizer.vocabulary, tokenizer.target_vocabulary)
    for (name, size), ids in zip(read.items(), both, strict=True):
        wanted = (size, model.config.padding_id, model.config.end_id)
        if (got := (len(ids), ids[PADDING], ids[END])) != wanted:
            what = f"size, padding and end of {folder / name}"
            raise CheckpointError(f"{what} must be {wanted}, got {got}")
    return Translator(model, tokenizer, normalize=False)


def save_marian(folder: str | os.PathLike, translator: Translator) -> None:
    """Write a translator as a folder for load_marian, and for transformers.

    Args:
        folder: Made if it does not exist; files of the same names are replaced.
        translator: With a model that to_marian takes, and a MarianTokenizer.

    Raises:
        TypeError: If folder is not a path, or the tokenizer is of another kind.
        ValueError: If the model has a switch that no Marian model has.
        OSError: If a file cannot be written.
    """
    require_path("folder", folder)
    folder, tokenizer = Path(folder), getattr(translator, "tokenizer", translator)
    if not isinstance(tokenizer, MarianTokenizer):
        raise TypeError(f"tokenizer must be a MarianTokenizer, got {type(tokenizer).__name__}")
    settings, tensors = to_marian(translator.model)
    writing = "pad_token_id", "eos_token_id", "decoder_start_token_id", "forced_eos_token_id"
    generation = {name: settings[name] for name in writing}
    generation |= {"bad_words_ids": [[settings["pad_token_id"]]], "renormalize_logits": True}
    files = {CONFIG: settings, GENERATION: generation, VOCABULARY: tokenizer.vocabulary}
    separate = tokenizer.target_vocabulary != tokenizer.vocabulary
    files |= {TOKENIZER: {"separate_vocabs": separate}}
    files |= {TARGET_VOCABULARY: tokenizer.target_vocabulary} if separate else {}
    distinct = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    contents = {WEIGHTS: safetensors.torch.save(distinct, metadata={"format": "pt"})}  # the largest
    contents |= {name: json.dumps(held, indent=1).encode() for name, held in files.items()}
    contents |= dict(zip(CUTTERS, tokenizer.cutters, strict=True))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        replace_file(folder / name, [content])
    if not separate:
        (folder / TARGET_VOCABULARY).unlink(missing_ok=True)  # load_marian would read it


def _require_files(folder: Path) -> None:
    """Refuse a folder in which a file is missing, or that holds its weights as a pickle only."""
    if (folder / PICKLE).exists() and not (folder / WEIGHTS).exists():
        raise CheckpointError(
            f"{folder} must hold {WEIGHTS}, got only {PICKLE}, a pickle, which can run code when "
            "it is read: take a revision of the model that has safetensors"
        )
    for name in MARIAN_FILES:
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} must hold {name}, got none")


def _read_object(path: Path) -> dict[str, object]:
    """The object in a JSON file."""
    with suppress(ValueError):
        if isinstance(held := read_json(path), dict):
            return held
    raise CheckpointError(f"{path} must hold an object in JSON, got something else")
