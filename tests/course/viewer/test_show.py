"""The viewer shows a whole model or any weights, and comes with a picture for where none runs."""

import base64
import json
import re

import matplotlib.pyplot as plt
import pytest
import torch
from torch import Tensor

from tests.published import caught_bundles, published_page
from transformer_course.drawing import display as display_module
from transformer_course.looking.recording import record_attention
from transformer_course.viewer import show as module
from transformer_course.viewer.show import view_attention, view_weights
from transformer_edu.model.transformer import Transformer, TransformerConfig

LAYERS, HEADS, SOURCE, TARGET = 2, 4, 5, 3
TOKENS = {"source_tokens": list("abcde"), "target_tokens": ["<s>", "x", "y"]}
QUERY_TOKENS, KEY_TOKENS = ["das", "Haus"], ["the", "old", "house"]
WEIGHTS = torch.tensor([[[1.0, 0, 0], [0, 0, 0]], [[0.1, 0.2, 0.7], [0.0, 0.4, 0.6]]])
LABELS = {"query_tokens": QUERY_TOKENS, "key_tokens": KEY_TOKENS, "title": "what attends where"}


@pytest.fixture
def attention() -> dict[str, Tensor]:
    config = TransformerConfig.tiny(num_layers=LAYERS, num_heads=HEADS, vocabulary_size=11)
    model = Transformer(config).eval()
    with record_attention(model) as recorded:
        model(torch.randint(4, 11, (2, SOURCE)), torch.randint(4, 11, (2, TARGET)))
    return recorded


@pytest.fixture
def published(monkeypatch) -> list[dict]:
    return caught_bundles(monkeypatch, display_module)


def data_in(page: str) -> dict:
    (found,) = re.findall(r"<script type='application/json'[^>]*>(.*?)</script>", page, re.DOTALL)
    return json.loads(found)


def codes_of(shown: dict) -> Tensor:
    codes = bytearray(base64.b64decode(shown["packed"]))
    return torch.frombuffer(codes, dtype=torch.uint16).to(torch.float32)


def test_all_attention_that_a_model_used_is_on_the_page(attention):
    data = data_in(published_page(view_attention, attention, **TOKENS, sentence=1))
    assert len(data["maps"]) == 3 * LAYERS
    cross = next(each for each in data["maps"] if each["kind"] == "Cross-attention")
    shown = codes_of(cross).view(HEADS, TARGET, SOURCE) / data["steps"]
    used = attention["decoder.layers.0.cross_attention"][1]
    torch.testing.assert_close(shown, used, rtol=0, atol=1 / data["steps"])


def test_the_future_is_hidden_by_zeros(attention):
    name = "decoder.layers.0.self_attention"
    data = data_in(published_page(view_attention, attention, **TOKENS, start=name, view="grid"))
    shown = codes_of(data["maps"][data["start"]["map"]]).view(HEADS, TARGET, TARGET)
    assert (shown.triu(diagonal=1) == 0).all() and (shown.tril()[:, :, 0] > 0).all()


def test_a_row_of_the_decoder_is_named_after_what_it_reads_and_writes(attention):
    data = data_in(published_page(view_attention, attention, **TOKENS))
    rows = {each["kind"]: data["tokens"][each["queries"]]["writes"] for each in data["maps"]}
    assert rows == {
        "Encoder self-attention": None,
        "Decoder self-attention": ["x", "y", "…"],
        "Cross-attention": ["x", "y", "…"],
    }


def test_the_first_state_can_be_chosen(attention):
    name = "decoder.layers.1.cross_attention"
    page = published_page(view_attention, attention, **TOKENS, start=name, head=3, view="grid")
    assert "Cross-attention, layer 2, head 3 of 4" in page
    first = "Encoder self-attention, layer 1, head 1 of 4"
    assert first in published_page(view_attention, attention, **TOKENS)


def test_one_bundle_holds_the_viewer_the_picture_and_the_words(attention, published):
    plt.close("all")
    view_attention(attention, **TOKENS)
    view_weights(WEIGHTS, **LABELS, head=2, view="grid")
    model, single = published
    for bundle in published:
        assert base64.b64decode(bundle["data"]["image/png"]).startswith(b"\x89PNG")
        assert bundle["data"]["text/html"].count(bundle["data"]["image/png"]) == 1
        assert bundle["data"]["text/html"].count("<iframe") == 1
        assert bundle["metadata"]["image/png"]["alt"] == bundle["data"]["text/plain"]
    assert model["data"]["text/plain"].startswith(
        "What every token attends to, a still picture. Encoder self-attention, layer 1, head 1 of"
    )
    assert single["data"]["text/plain"] == (
        "what attends where, a still picture. Attention, head 2 of 2. "
        "Largest weights: das to house (0.70), Haus to house (0.60)"
    )
    assert plt.get_fignums() == []


def test_a_query_that_looks_at_nothing_is_said_to(published):
    view_weights(WEIGHTS, **LABELS)
    assert published[0]["data"]["text/plain"].endswith("das to the (1.00), Haus to nothing")


def test_the_picture_and_the_words_are_of_the_chosen_state(attention, published, monkeypatch):
    drawn = []
    monkeypatch.setattr(module, "plot_still", lambda *given: drawn.append(given) or plt.figure())
    name = "decoder.layers.1.cross_attention"
    view_attention(attention, **TOKENS, start=name, head=3, view="grid")
    ((shown, *state, title),) = drawn
    assert (shown.name, state) == (name, [2, "grid"])
    place, favourite = title.splitlines()[1], int(attention[name][0, 2, 0].argmax())
    assert place == "Cross-attention, layer 2, head 3 of 4"
    said = f"{place}. Largest weights: <s> → x to {TOKENS['source_tokens'][favourite]} ("
    assert said in published[0]["data"]["text/plain"]


def test_a_sentence_of_a_batch_is_shown_as_if_it_were_alone():
    batch = torch.stack([WEIGHTS, WEIGHTS.flip(0)])
    alone = published_page(view_weights, WEIGHTS.flip(0), **LABELS)
    assert published_page(view_weights, batch, **LABELS, sentence=1) == alone


@pytest.mark.parametrize(("count", "end"), [(12, "(1.00)"), (13, "(1.00), …")])
def test_the_words_of_a_long_text_are_cut(published, count, end):
    tokens = [f"t{index}" for index in range(count)]
    labels = {"query_tokens": tokens, "key_tokens": tokens, "title": "many"}
    view_weights(torch.eye(count)[None], **labels)
    assert published[0]["data"]["text/plain"].endswith(f"t11 to t11 {end}")


@pytest.mark.parametrize("view", ["lines", "grid"])
@pytest.mark.parametrize("token", ["日本", "$x_1$", "<b>", "\u202e", "🙂", "", "\ud800"], ids=ascii)
def test_any_token_can_be_shown_without_a_warning(published, recwarn, token, view):
    labels = LABELS | {"key_tokens": [token, "old", "house"]}
    view_weights(WEIGHTS, **labels, view=view)
    assert len(published) == 1 and not recwarn.list


def test_two_viewers_of_the_same_weights_are_the_same_bytes(published):
    view_weights(WEIGHTS, **LABELS)
    view_weights(WEIGHTS, **LABELS)
    assert published[0] == published[1]


@pytest.mark.parametrize("even", [True, False], ids=["even", "sharp"])
def test_a_large_model_fits_into_a_megabyte(even):
    length, layers, heads = 40, 4, 4
    tokens = [f"token{index}" for index in range(length)]
    scores = torch.zeros if even else lambda *shape: 5 * torch.randn(*shape)
    attention = {
        name.format(layer): scores(1, heads, length, length).softmax(dim=-1)
        for layer in range(layers)
        for name in (
            "encoder.layers.{}.self_attention",
            "decoder.layers.{}.self_attention",
            "decoder.layers.{}.cross_attention",
        )
    }
    page = published_page(view_attention, attention, source_tokens=tokens, target_tokens=tokens)
    assert len(page.encode()) < 1_000_000


def test_layers_of_any_model_can_be_shown_together():
    data = data_in(
        published_page(view_weights, {"first": WEIGHTS, "second": WEIGHTS.flip(0)}, **LABELS)
    )
    assert [each["layer"] for each in data["maps"]] == ["first", "second"]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"start": "encoder.layers.7"}, ValueError, "start must be one of encoder.layers.0.self_a"),
        ({"head": 5}, ValueError, "head must be at most 4, got 5"),
        ({"head": 0}, ValueError, "head must be at least 1, got 0"),
        ({"head": "1"}, TypeError, "head must be a whole number, got '1'"),
        ({"view": "tree"}, ValueError, "view must be one of lines, grid, got 'tree'"),
        ({"view": None}, ValueError, "view must be one of lines, grid, got None"),
        ({"source_tokens": []}, ValueError, "source_tokens must be 1 to 128 tokens, got 0"),
    ],
    ids=["start", "head 5", "head 0", "head 1", "view", "no view", "no tokens"],
)
def test_what_is_not_there_is_refused_and_nothing_published(
    attention, published, changes, error, message
):
    with pytest.raises(error, match=message):
        view_attention(attention, **(TOKENS | changes))
    assert not published


def test_a_title_is_shown_as_it_is_written():
    page = published_page(view_weights, WEIGHTS, **(LABELS | {"title": "a & <b>\nc \ud800"}))
    assert r"<h1>a &amp; &lt;b&gt;\nc \ud800</h1>" in page
    assert page.encode()


@pytest.mark.parametrize("title", ["", " ", None])
def test_weights_without_a_title_are_refused(title):
    with pytest.raises(ValueError, match="title must be a sentence to read off, got"):
        view_weights(WEIGHTS, **(LABELS | {"title": title}))
