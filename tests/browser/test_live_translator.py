"""The translator in a page: from the same files, the same numbers as PyTorch, in a real browser.

Its page has the strictest policy that lets a worker start, and stands on a disk.
"""

import base64
import hashlib
import html
import json
import math
import unicodedata
from contextlib import ExitStack
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from tests.small_model import small_transformer
from transformer_course.live_translator.engine import engine_script
from transformer_course.looking.ablation import heads_switched_off
from transformer_course.looking.recording import record_attention
from transformer_course.texts.sentences import read_pairs
from transformer_edu.data.everyday import HELD_OUT, everyday_pairs, held_out
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.sampling import candidate_probabilities, draw
from transformer_edu.generation.translator import write_all
from transformer_edu.model.attention import split_heads
from transformer_edu.pretrained import loading
from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.training.checkpoint import save_model

SENTENCES, PARTS = 1000, 10
LOGITS, WEIGHTS = 1e-3, 1e-4  # how far from PyTorch's a logit and an attention weight may be
TIE = 1e-4  # nearer than this, rounding decides which of two tokens is the better one

HOSTILE = [
    "<img src=x onerror=\"document.title='taken'\">",
    "</script><script>document.title = 'taken'</script>",
    "javascript:alert(1)",
    "${document.title='taken'}",
    "__proto__ constructor toString",
    "</s><s><pad><unk>",
    "'; DROP TABLE words; --",
    "\u202eEnglish from the right\u202c",
]
STRANGE = [
    "",
    " ",
    "\t\n\u00a0\u2003 \x1c\x85",
    "\ufeffA mark of the byte order.",
    "Ein Mann grüßt höflich über die Straße: Äpfel, Öl, Übermut, ẞ!",
    "A dog 🐕 and a family 👨‍👩‍👧‍👦 smile 😀😀 in 🇩🇪.",
    "THE DOG IS SLEEPING.",
    "IT’S\u00a0A “DOG”…",
    "It′s raining . . .",
    "\u2068I ʻdon\u200c’t\u2069 know − a ‒ b ― 6″ ☀\ufe0f.",
    "I don´t know, it`s the dogʼs ‹bone› ‚here‛.",
    "A \u200emother‐in‐law\u202c, a \u2060ﬁreman, ½ a ﬄuﬀ² and Ｗｉｄｅ letters…",
    "«A cafe\u0301»\u200b is\u00ad\ufeff open .",
    "She said:  „It isn’t a ‘well‑known’ dog – or —\r\na cat.”",
    "ΟΔΥΣΣΕΥΣ ΚΑΙ İSTANBUL",
    "The dog isn't sleeping; the dogs' owner's they've I'll o'clock 'til ''",
    "The flurbelgrompf quaxled a zyx’s brönk.",
    "Chief Wuttke-Szymańska called 0049 30 1234567 at 12:45 — twice…",
    "犬が走っています。 собака бежит. الكلب يجري. कुत्ता दौड़ता है",
    "e\u0301 is not é, a\u0308 is not ä, and \u0308 stands alone",
    "a\u00a0b\u2009c\u3000d\u200be\u180ef\x1cg\x85h\u2028i",
    "  spaces   in \n\n a   row  \t ",
    "1234567890 " * 8 + "½ ² Ⅳ ١٢٣",
    "a" * 100 + " " + "😀" * 70 + " " + "!" * 100,
    "\x00\x01\x7f control \x1b[31m",
    "▁ Ġ <0x0A> \ufffd",
    *HOSTILE,
]

PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>untouched</title>
<meta http-equiv="Content-Security-Policy" content="{policy}"><script>{script}</script></html>"""
FROM_PAGE = """
function packed(value) {
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    let text = "";
    for (let at = 0; at < bytes.length; at += 4096)
      text += String.fromCharCode(...bytes.subarray(at, at + 4096));
    return btoa(text);
  }
  if (Array.isArray(value)) return value.map(packed);
  if (!value || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, packed(each)]));
}
"""


class Engine:
    """The engine of a page, called from Python."""

    def __init__(self, page, folder: Path) -> None:
        self.page = page
        weights = base64.b64encode((folder / "model.safetensors").read_bytes()).decode()
        tokenizer = (folder / "tokenizer.json").read_text("utf-8")
        start = """async ([weights, tokenizer]) => {
            window.engine = await startEngine({ weights: bytesOfBase64(weights), tokenizer });
        }"""
        page.evaluate(start, [weights, tokenizer])

    def read(self, expression: str, given: object = None) -> object:
        """The value of an expression of the page, in which `given` stands for the argument."""
        return self.page.evaluate(f"async (given) => packed(await ({expression}))", given)

    def many(self, method: str, texts: list[str], options: dict | None = None) -> list[dict]:
        """What a method returns for every text."""
        call = f"""(async () => {{
            const results = [];
            for (const text of given[0]) results.push(await engine.{method}(text, given[1]));
            return results;
        }})()"""
        return self.read(call, [texts, options or {}])

    def look(self, text: str, **options: object) -> tuple[dict, dict[str, torch.Tensor]]:
        """What look returns, and its values as tensors."""
        result = self.read("engine.look(...given)", [text, options])
        return result, {name: tensor(value) for name, value in result["values"].items()}


def tensor(value: dict) -> torch.Tensor:
    numbers = np.frombuffer(base64.b64decode(value["data"]), "<f4").reshape(value["shape"])
    return torch.from_numpy(numbers.copy())


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    """A page on a disk with the engine's script; it may load nothing and complain of nothing."""
    script = FROM_PAGE + engine_script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; worker-src blob:"
    path = tmp_path_factory.mktemp("engine") / "page.html"
    path.write_text(PAGE.format(policy=html.escape(policy), script=script), encoding="utf-8")
    complaints = []
    context = chromium.new_context()
    context.set_default_timeout(600_000)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("request", lambda request: complaints.append(f"request: {request.url}"))
    page.goto(path.as_uri())
    complaints.clear()
    yield page
    assert page.title() == "untouched"
    context.close()
    assert [each for each in complaints if not each.startswith("request: blob:")] == []


@pytest.fixture(scope="module")
def engine(page) -> Engine:
    return Engine(page, loading.FOLDER)


@pytest.fixture(scope="module")
def translator():
    return load_pretrained()


@pytest.fixture(scope="module")
def long_text(translator) -> str:
    """Sentences of 512 tokens together."""
    text = ""
    for word in " ".join(english for english, _ in everyday_pairs().test[:200]).split():
        longer = f"{text} {word}".strip()
        text = longer if len(translator.tokenizer.encode(longer)) <= 512 else text
    return text


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Strange texts, hand-written ones, captions, German ones, and generated ones."""
    pairs = [pair for name in ("captions.tsv", "sentences.tsv") for pair in read_pairs(name)]
    ours = [text for pair in pairs for text in pair]
    by_hand = [text for kind in HELD_OUT for text, _ in held_out(kind)]
    found = list(dict.fromkeys([*STRANGE, *ours, *by_hand]))
    more = [english for english, _ in everyday_pairs().test]
    return (found + more)[:SENTENCES]


def ids_of(translator, text: str) -> torch.Tensor:
    return torch.tensor([translator.source_ids(text)])


def logits_of(translator, text: str, target_ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        return translator.model(ids_of(translator, text), torch.tensor([target_ids]))[0]


# ---- texts and tokens ----------------------------------------------------------------------------


def test_every_text_has_the_same_tokens_and_comes_back(engine, translator, texts, long_text):
    random = Random(0)
    alphabet = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cs", "Cn")]
    noise = ["".join(random.choices(alphabet, k=random.randrange(20))) for _ in range(500)]
    spaces = ["".join(random.choices(" \t\n\r\u00a0\x1c\x85\u2003'aé1.", k=12)) for _ in range(500)]
    tokenizer, asked = translator.tokenizer, [*texts, long_text, *noise, *spaces]
    results = engine.many("encode", asked)
    assert [result["ids"] for result in results] == tokenizer.encode_all(asked)
    assert all(result["tokens"] == tokenizer.tokens(result["ids"]) for result in results)
    back = engine.many("decode", [result["ids"] for result in results])
    assert [each["text"] for each in back] == asked


def test_every_id_has_the_same_name_and_any_ids_the_same_text(engine, translator):
    tokenizer, random = translator.tokenizer, Random(1)
    assert engine.read("engine.tokens") == tokenizer.tokens(range(len(tokenizer)))
    # The first ids are bytes: most of what they spell is no text.
    asked = [random.choices(range(400), k=random.randrange(9)) for _ in range(500)]
    found = engine.many("decode", asked)
    assert [each["text"] for each in found] == [tokenizer.decode(ids) for ids in asked]


def test_a_text_is_read_as_the_translator_reads_it(engine, translator):
    found = engine.many("candidates", STRANGE, {"count": 1})
    assert [bool(each["candidates"]) for each in found] == [bool(t.strip()) for t in STRANGE]
    asked = [text for text in STRANGE if text.strip()]
    looked = engine.many("look", asked, {"target": [], "values": ["nothing"]})
    assert [each["sourceIds"] for each in looked] == [translator.source_ids(t) for t in asked]


# ---- what it writes ------------------------------------------------------------------------------


def test_the_neighbors_of_a_token_are_pytorch_s(engine, translator):
    [id_] = translator.tokenizer.encode("teacher")[-1:]
    table = translator.model.source_embedding.table.weight.detach()
    cosines = torch.nn.functional.cosine_similarity(table, table[id_, None], dim=1)
    best = cosines.topk(6)
    found = engine.read("engine.neighbors(given, { count: 5 })", id_)["neighbors"]
    assert [each["id"] for each in found] == best.indices[1:].tolist()
    given = torch.tensor([each["cosine"] for each in found])
    torch.testing.assert_close(given, best.values[1:], atol=1e-3, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_thousand_sentences_are_written_as_by_pytorch(engine, translator, texts, part):
    """The same tokens, and at every step logits that differ by rounding only."""
    assert len(texts) == SENTENCES
    asked = texts[part::PARTS]
    call = """(async () => {
        const results = [];
        for (const text of given) {
            const steps = [], onStep = (step) => steps.push(step.candidates);
            const result = await engine.translate(text, { candidates: 10, onStep });
            results.push({ ...result, steps });
        }
        return results;
    })()"""
    sources = [translator.source_ids(text) for text in asked]
    expected = iter(write_all(translator.model, [source for source in sources if source]))
    ties = []
    for text, source, result in zip(asked, sources, engine.read(call, asked), strict=True):
        assert result["sourceIds"] == source
        if not source:
            assert (result["text"], result["steps"]) == ("", [])
            continue
        written, ids = result["targetIds"], next(expected)
        logits = logits_of(translator, text, [translator.model.config.start_id, *written])
        for step, row in zip(result["steps"], logits, strict=False):
            told = torch.tensor([each["logit"] for each in step])
            own = row[[each["id"] for each in step]]
            possible = told.isfinite()  # what would repeat itself is not
            assert (told - own)[possible].abs().max() < LOGITS, text
        if written == ids:
            assert result["text"] == translator.tokenizer.decode(ids)
        else:
            same = next(n for n in range(len(ids) + 1) if ids[: n + 1] != written[: n + 1])
            best = logits[same].topk(2).values
            assert best[0] - best[1] < TIE, text
            ties.append(text)
    assert len(ties) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_beam_of_five_writes_what_pytorch_s_writes(engine, translator, texts, part):
    asked = [text for text in texts[part :: 5 * PARTS] if text.strip()]
    assert len(asked) > 15
    found = engine.many("translate", asked, {"width": 5, "alpha": 1})
    expected = translator.translate_all(asked, width=5, alpha=1)
    same = [one["text"] == other for one, other in zip(found, expected, strict=True)]
    assert same.count(False) <= 1  # rounding decides between hypotheses that are equally good


def test_every_step_of_a_beam_is_the_same(engine, translator):
    text = "A man in a red shirt is sleeping on the bench, and two dogs wait."
    steps = []
    settings = {"width": 4, "alpha": 0.6, "num_best": 3}
    source_ids = ids_of(translator, text)
    [expected] = beam_search(
        translator.model, source_ids, **settings, end_loops=True, after_step=steps.append
    )
    call = """(async () => {
        const steps = [];
        const options = { width: 4, alpha: 0.6, numBest: 3, onStep: (step) => steps.push(step) };
        return { ...await engine.translate(given, options), steps };
    })()"""
    found = engine.read(call, text)
    assert [each["ids"] for each in found["hypotheses"]] == [each.token_ids for each in expected]
    for one, other in zip(found["hypotheses"], expected, strict=True):
        assert math.isclose(one["score"], other.score, abs_tol=LOGITS)
        assert one["finished"] == other.finished
    assert len(found["steps"]) == len(steps)
    for one, other in zip(found["steps"], steps, strict=True):
        assert one["step"] == other.step
        for branch, same in zip(one["branches"], other.branches[0], strict=True):
            exact = ("parent", "finished", "continues")
            assert [branch[key] for key in exact] == [getattr(same, key) for key in exact]
            assert branch["id"] == same.token_id
            assert math.isclose(branch["logProbability"], same.log_probability, abs_tol=LOGITS)
            assert math.isclose(branch["score"], same.score, abs_tol=LOGITS)


def test_a_beginning_goes_on_as_it_would_have(engine):
    [whole] = engine.many("translate", ["The dog is sleeping in front of the warm stove."])
    begin = whole["targetIds"][:3]
    for options in ({}, {"width": 1, "temperature": 1e-6}):
        options = {"begin": begin, **options}
        [going_on] = engine.many(
            "translate", ["The dog is sleeping in front of the warm stove."], options
        )
        assert going_on["targetIds"] == whole["targetIds"]


def test_another_beginning_gives_another_sentence(engine, translator):
    text, begin = "The dog is sleeping.", translator.tokenizer.encode("Heute")
    [found] = engine.many("translate", [text], {"begin": begin, "width": 3})
    assert found["targetIds"][: len(begin)] == begin
    assert found["text"].startswith("Heute ")


def test_loops_are_ended_as_by_the_translator(engine, translator):
    text = "go " * 12
    [ended] = engine.many("translate", [text])
    [left] = engine.many("translate", [text], {"endLoops": False})
    assert ended["text"] == translator.translate(text, width=1)
    assert left["text"] == translator.translate(text, width=1, end_loops=False)
    assert len(ended["text"]) < len(left["text"])


CUTS = [
    {"temperature": 0.7},
    {"temperature": 1e-30},
    {"top_k": 3, "temperature": 1.5},
    {"top_p": 0.8},
    {"min_p": 0.05},
    {"top_k": 20, "top_p": 0.9, "min_p": 0.01, "temperature": 2.0},
]


def in_javascript(settings: dict) -> dict:
    return {name.replace("_k", "K").replace("_p", "P"): value for name, value in settings.items()}


@pytest.mark.parametrize("settings", CUTS, ids=json.dumps)
def test_temperature_and_cuts_leave_the_same_probabilities(engine, translator, settings):
    text = "The children are"
    logits = logits_of(translator, text, [translator.model.config.start_id])[0]
    expected = candidate_probabilities(logits, **settings)
    options = {"count": len(expected), **in_javascript(settings)}
    [found] = engine.many("candidates", [text], options)
    told = torch.zeros(len(expected))
    for each in found["candidates"]:
        told[each["id"]] = each["probability"]
    assert torch.allclose(told, expected, atol=LOGITS)
    assert ((told > 0) == (expected > 0)).float().mean() > 0.999


def test_the_same_number_draws_the_same_token(engine):
    probabilities = torch.tensor([0.0, 0.2, 0.0, 0.5, 0.3, 0.0])
    numbers = [0.0, 0.19, 0.21, 0.69, 0.71, 0.9999, 1.0]
    call = """(() => {
        const { draw } = transformerEngine();
        return given[1].map((uniform) => draw(Float32Array.from(given[0]), uniform));
    })()"""
    found = engine.read(call, [probabilities.tolist(), numbers])
    rows = probabilities.expand(len(numbers), -1)
    assert found == draw(rows, torch.tensor(numbers)).tolist()


def test_a_seed_draws_the_same_again(engine):
    text, options = "The two women are talking.", {"temperature": 1.5}
    first, again, other = (
        engine.many("translate", [text], {**options, "seed": seed})[0] for seed in (1, 1, 2)
    )
    assert first == again
    assert (first["seed"], other["seed"]) == (1, 2)
    assert first["targetIds"] != other["targetIds"]


# ---- what happens between ------------------------------------------------------------------------

LOOKED_AT = [
    "A man is playing the guitar on the street.",
    "Grüße 😀 to the flurbelgrompf!",
    "x",
]


@pytest.mark.parametrize("text", LOOKED_AT)
def test_every_value_is_the_one_that_pytorch_computes(engine, translator, text):
    model = translator.model
    result, values = engine.look(text)
    assert result["sourceIds"] == translator.source_ids(text)
    [written] = write_all(model, [result["sourceIds"]])
    assert result["targetIds"] == [model.config.start_id, *written]
    expected = pytorch_values(model, result["sourceIds"], result["targetIds"])
    compared = values.keys() & expected.keys()
    assert values.keys() - compared == {
        name for name in values if name.endswith((".scores", ".mask", ".heads", ".rows"))
    } | {f"{side}_{what}" for side in ("source", "target") for what in ("positions", "input")} | {
        "target_embedding"
    }
    assert len(compared) > 100
    for name in compared:
        limit = WEIGHTS if name.endswith(".weights") else LOGITS
        assert values[name].shape == expected[name].shape, name
        assert (values[name] - expected[name]).abs().max() < limit, name


def pytorch_values(model, source_ids: list[int], target_ids: list[int]) -> dict[str, torch.Tensor]:
    """The outputs of a model's modules, and its attention weights, as the engine names them."""
    kept: dict[str, torch.Tensor] = {}
    told = {"query_projection": "queries", "key_projection": "keys", "value_projection": "values"}

    def keep(name: str):
        parent, _, last = name.rpartition(".")

        def hook(module, given, output):
            if last in told:
                heads = split_heads(output, model.config.num_heads)
                kept[f"{parent}.{told[last]}"] = heads[0]
            else:
                kept[name] = output[0]

        return hook

    with torch.no_grad(), ExitStack() as stack:
        for name, module in model.named_modules():
            if name and "." in name or name in ("source_embedding", "output_projection"):
                stack.callback(module.register_forward_hook(keep(name)).remove)
        weights = stack.enter_context(record_attention(model))
        # The source's embedding is the target's too: the hook keeps the last, so the source's last.
        logits = model(torch.tensor([source_ids]), torch.tensor([target_ids]))
        model.source_embedding(torch.tensor([source_ids]))
    kept |= {f"{name}.weights": each[0] for name, each in weights.items()}
    for name in [name for name in kept if name.endswith(".feed_forward.widen")]:
        kept[name.replace(".widen", ".hidden")] = kept.pop(name).relu()
    return kept | {"logits": logits[0]}


def test_the_steps_of_attention_follow_from_each_other(engine):
    _, values = engine.look(LOOKED_AT[0])
    for side in ("source", "target"):
        assert torch.allclose(
            values[f"{side}_input"], values[f"{side}_embedding"] + values[f"{side}_positions"]
        )
        root = values[f"{side}_embedding"] / values[f"{side}_embedding.rows"]
        assert torch.allclose(root, torch.full_like(root, math.sqrt(root.size(1))))
    for name in (
        "encoder.layers.0.self_attention",
        "decoder.layers.1.self_attention",
        "decoder.layers.2.cross_attention",
    ):
        query, key, value, scores, weights, heads = (
            values[f"{name}.{what}"]
            for what in ("queries", "keys", "values", "scores", "weights", "heads")
        )
        assert torch.allclose(scores, query @ key.mT / math.sqrt(query.size(-1)), atol=1e-4)
        mask = values.get(f"{name}.mask")
        assert (mask is not None) == ("decoder" in name and "self" in name)
        if mask is not None:
            assert mask.equal(torch.ones_like(mask).tril())
            scores = scores.masked_fill(mask == 0, -torch.inf)
        assert torch.allclose(weights, scores.softmax(-1), atol=1e-6)
        assert torch.allclose(heads, weights @ value, atol=1e-4)


def test_512_tokens_have_the_same_logits_and_weights(engine, translator, long_text):
    source_ids = translator.source_ids(long_text)
    assert len(source_ids) == 512
    target = source_ids[:40]
    names = ["encoder.layers.3.self_attention.weights", "decoder.layers.3.cross_attention.weights"]
    _, values = engine.look(long_text, target=target, values=[*names, "logits"])
    with record_attention(translator.model) as attention:
        logits = logits_of(translator, long_text, [translator.model.config.start_id, *target])
    assert (values["logits"] - logits).abs().max() < LOGITS
    for name in names:
        assert (values[name] - attention[name.removesuffix(".weights")][0]).abs().max() < WEIGHTS


def test_only_what_is_asked_for_is_kept(engine):
    _, values = engine.look("x", values=["encoder.layers.1.feed_forward", "logits"])
    assert sorted(values) == [
        "encoder.layers.1.feed_forward",
        "encoder.layers.1.feed_forward.hidden",
        "logits",
    ]


# ---- what is switched off, or replaced -----------------------------------------------------------


def off_in_pytorch(model, name: str, stack: ExitStack) -> None:
    """Switch a part of a model off until the stack is left."""
    modules = dict(model.named_modules())
    parent, _, last = name.rpartition(".")
    if parent.endswith(".heads"):
        head = (parent.removesuffix(".heads"), int(last) + 1)
        stack.enter_context(heads_switched_off(model, {head}))
    elif last == "residual":
        around = modules[parent]
        hook = around.register_forward_hook(lambda module, given, output: output - given[0])
        stack.callback(hook.remove)
    elif name in modules:
        hook = modules[name].register_forward_hook(lambda module, given, output: output * 0)
        stack.callback(hook.remove)
    else:
        raise AssertionError(name)


@pytest.mark.parametrize(
    "off",
    [
        ["encoder.layers.0.self_attention.heads.0"],
        ["decoder.layers.3.cross_attention.heads.3", "decoder.layers.3.cross_attention.heads.1"],
        ["decoder.layers.1.cross_attention"],
        ["encoder.layers.2.feed_forward"],
        ["decoder.layers.2.around_self_attention.residual"],
    ],
    ids=" ".join,
)
def test_a_part_that_is_off_changes_the_logits_as_in_pytorch(engine, translator, off):
    text = LOOKED_AT[0]
    assert set(off) <= set(engine.read("engine.switches"))
    result, values = engine.look(text, off=off, values=["logits"])
    whole = logits_of(translator, text, result["targetIds"])
    with ExitStack() as stack:
        for name in off:
            off_in_pytorch(translator.model, name, stack)
        logits = logits_of(translator, text, result["targetIds"])
        written = write_all(translator.model, [result["sourceIds"]])[0]
    assert (values["logits"] - logits).abs().max() < LOGITS
    assert (whole - logits).abs().max() > 0.1
    assert result["targetIds"][1:] == written  # it writes on without that part, too


def test_without_positions_and_without_the_causal_mask(engine, translator):
    text, model = LOOKED_AT[0], translator.model
    target = [model.config.start_id, *translator.tokenizer.encode("Ein Mann spielt")]
    source_ids, target_ids = ids_of(translator, text), torch.tensor([target])
    hook = model.positions.register_forward_hook(lambda module, given, output: given[0])
    logits = logits_of(translator, text, target)
    hook.remove()
    off = ["source_positions", "target_positions"]
    _, values = engine.look(text, target=target[1:], off=off, values=["logits"])
    assert (values["logits"] - logits).abs().max() < LOGITS
    with torch.no_grad():
        all_seen = torch.ones(len(target), len(target), dtype=torch.bool)
        logits = model(source_ids, target_ids, target_mask=all_seen)[0]
    _, values = engine.look(text, target=target[1:], off=["causal_mask"], values=["logits"])
    assert (values["logits"] - logits).abs().max() < LOGITS
    # While it writes, every new token changes what those before it have become.
    given = {"begin": target[1:], "off": ["causal_mask"], "count": 3}
    [found] = engine.many("candidates", [text], given)
    for each in found["candidates"]:
        assert math.isclose(each["logit"], logits[-1, each["id"]], abs_tol=LOGITS)


def test_every_switch_changes_something(engine):
    [whole] = engine.many("candidates", [LOOKED_AT[0]], {"begin": [300, 301], "count": 1})
    switches = engine.read("engine.switches")
    assert len(switches) == len(set(switches))
    for name in switches:
        options = {"begin": [300, 301], "count": 1, "off": [name]}
        assert engine.many("candidates", [LOOKED_AT[0]], options) != [whole], name


def test_another_sentence_s_memory_gives_its_translation(engine):
    one, other = "The dog is sleeping.", "The cat is sleeping."
    looked, values = engine.look(other, values=["encoder.final_norm"])
    memory = values["encoder.final_norm"]
    patches = [
        {"name": "encoder.final_norm", "position": position, "vector": row.tolist()}
        for position, row in enumerate(memory)
    ]
    assert len(looked["sourceIds"]) == len(engine.look(one, values=["logits"])[0]["sourceIds"])
    [found] = engine.many("translate", [one], {"patches": patches})
    assert found["targetIds"] == looked["targetIds"][1:]
    half = patches[:1]
    assert (
        engine.many("translate", [one], {"patches": half})[0]["logProbability"]
        != found["logProbability"]
    )


def test_a_patch_of_the_target_counts_at_its_position_only(engine):
    text, name = LOOKED_AT[0], "decoder.layers.1.around_feed_forward"
    looked, whole = engine.look(text, values=["logits", name])
    patch = {"name": name, "position": 2, "vector": [0.0] * whole[name].size(1)}
    target = looked["targetIds"][1:]
    _, patched = engine.look(text, target=target, patches=[patch], values=["logits"])
    changed = (whole["logits"] - patched["logits"]).abs().amax(dim=1) > 1e-6
    assert changed[:2].tolist() == [False, False]
    assert changed[2:].all()


# ---- the worker ----------------------------------------------------------------------------------


def test_a_call_that_is_no_longer_wanted_is_stopped(engine):
    call = """(async () => {
        const stop = new AbortController(), steps = [];
        const options = { signal: stop.signal, onStep: (step) => {
            steps.push(step);
            stop.abort();
        } };
        const first = await engine.translate(given, options).catch(({ name }) => name);
        const second = await engine.translate(given);
        return { first, steps: steps.length, second: second.text };
    })()"""
    found = engine.read(call, LOOKED_AT[0])
    assert (found["first"], found["steps"]) == ("AbortError", 1)
    assert found["second"] == engine.many("translate", [LOOKED_AT[0]])[0]["text"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("engine.encode('half a character: \\ud800')", "RangeError: text must hold no half"),
        ("engine.translate('word '.repeat(1100))", "TextTooLongError: text must have at most"),
        ("engine.translate('x', { off: ['everything'] })", "RangeError: off must name switches"),
        ("engine.translate('x', { width: 0 })", "RangeError: width must be from 1 to 1000"),
        ("engine.translate('x', { temperature: 0 })", "RangeError: temperature must be above 0"),
        ("engine.translate('x', { begin: [2] })", "RangeError: begin must be fewer than"),
        ("engine.translate('x', { begin: [99999] })", "RangeError: ids must be below"),
        ("engine.decode([99999])", "RangeError: ids must be below"),
        ("engine.look(' ')", "RangeError: text must not be empty"),
        (
            "engine.look('x', { patches: [{ name: 'logits', position: 0, vector: [1] }] })",
            "RangeError: a patch of logits must have",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(engine, call, told):
    found = engine.read(f"{call}.catch((error) => String(error))")
    assert found.startswith(told)


@pytest.mark.parametrize(
    ("weights", "tokenizer", "told"),
    [
        (b"<!DOCTYPE html><p>not found", "{}", "must be a file of safetensors"),
        (b"", "{}", "must be a file of safetensors"),
        (b"\x02" + bytes(7) + b"{}", "{}", "must be a Transformer's"),
        ("cut", "{}", "must be a whole file, got"),
        ("whole", "<p>not found", "the tokenizer must be a saved one"),
        ("whole", '{"format": "another", "merges": []}', "the tokenizer must be a saved one"),
        (
            "whole",
            '{"format": "transformer_edu tokenizer 1", "merges": ["a b"]}',
            "model and tokenizer must have as many tokens",
        ),
    ],
)
def test_other_files_are_refused(page, weights, tokenizer, told):
    whole = (loading.FOLDER / "model.safetensors").read_bytes()
    content = {"whole": whole, "cut": whole[:-1000]}.get(weights, weights)
    call = """async ([weights, tokenizer]) => startEngine({ weights: bytesOfBase64(weights),
        tokenizer }).catch((error) => error.message)"""
    found = page.evaluate(call, [base64.b64encode(content).decode(), tokenizer])
    assert told in found


# ---- other models --------------------------------------------------------------------------------

OTHERS = {
    "the paper's order": {},
    "pre-norm, biases": {"norm_first": True, "bias": True},
    "post-norm with final norms": {"final_norm": True, "num_decoder_layers": 3},
    "two vocabularies": {"target_vocabulary_size": 19, "position_order": "halves"},
    "not scaled, other heads in the decoder": {"scale_embeddings": False, "num_decoder_heads": 4},
    "an odd width": {"d_model": 21, "num_heads": 3, "position_order": "halves"},
    "nothing tied": {"tie_embeddings": False, "num_layers": 2, "d_model": 20, "num_heads": 5},
}


@pytest.mark.parametrize("changes", OTHERS.values(), ids=OTHERS)
def test_a_model_of_other_switches_computes_the_same(page, tmp_path, changes):
    model = small_transformer(14, max_length=30, **changes).eval()
    save_model(tmp_path / "model.safetensors", model)
    source_ids, target_ids = [4, 5, 6, 7, 5], [1, 8, 9, 4]
    call = """async ([weights, source, target]) => {
        const { readWeights, Transformer } = transformerEngine();
        const model = new Transformer(readWeights(bytesOfBase64(weights)));
        return packed(model.project(model.decode([target], model.encode(source))));
    }"""
    content = base64.b64encode((tmp_path / "model.safetensors").read_bytes()).decode()
    found = tensor(page.evaluate(call, [content, source_ids, target_ids]))
    with torch.no_grad():
        expected = model(torch.tensor([source_ids]), torch.tensor([target_ids]))[0]
    assert torch.allclose(found, expected, atol=1e-5)
