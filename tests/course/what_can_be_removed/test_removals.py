"""What a translator writes without one head, or all heads of a row, is what it really writes."""

import html
import json
import re
from types import SimpleNamespace

import pytest
import torch

from tests.published import published_element
from tests.small_translator import PAIRS, small_translator
from transformer_course.drawing.display import explorers_kept_back
from transformer_course.looking.ablation import every_head, heads_switched_off
from transformer_course.what_can_be_removed.removals import (
    MOST_HEADS,
    MOST_LAYERS,
    each_removal,
    explore_removals,
    plot_removals,
    removals,
)
from transformer_edu.model.transformer import Transformer, TransformerConfig


@pytest.fixture(scope="module")
def translator():
    return small_translator()


def test_every_head_and_every_row_of_heads_goes_once(translator):
    found = each_removal(translator.model.config)
    assert sorted(head for heads in found if len(heads) == 1 for head in heads) == sorted(
        every_head(translator.model)
    )
    assert [len(heads) for heads in found] == [1, 1, 2] * 6
    assert found[3] == [("decoder.layers.0.self_attention", 1)]  # kind by kind in every layer
    assert found[-1] == [("decoder.layers.1.cross_attention", head) for head in (1, 2)]


def test_the_results_are_what_the_model_writes_and_gives_to_each_sentence_alone(translator):
    model, encode = translator.model, translator.tokenizer.encode
    data = removals(translator, PAIRS)
    assert (data["layers"], data["heads"], len(data["kinds"])) == (2, 2, 3)
    for sentence, (english, german) in zip(data["sentences"], PAIRS, strict=True):
        assert len({text for text, _ in sentence["results"]}) == len(sentence["texts"]) > 2
        target = torch.tensor([[1, *encode(german), 2]])
        for heads, (text, probability) in zip(
            [[], *each_removal(model.config)], sentence["results"], strict=True
        ):
            with heads_switched_off(model, heads), torch.no_grad():
                written = translator.translate(english, width=1)
                logits = model.eval()(torch.tensor([encode(english)]), target[:, :-1])
            right = logits.log_softmax(dim=-1)[0].gather(1, target[0, 1:, None])
            assert sentence["texts"][text]["words"] == written.split()
            assert probability == pytest.approx(right.mean().exp().item(), abs=1e-4)


def test_of_the_readers_sentence_the_whole_models_translation_counts_as_correct(
    translator,
):
    with explorers_kept_back() as kept:
        explore_removals(translator, PAIRS)
    text, shown = kept[0].box.children
    assert kept[0].words.startswith("Without one head, ")
    first = data_in(shown.value)
    assert (first["first"], len(first["sentences"])) == (0, len(PAIRS))
    text.value = PAIRS[1][0]
    assert data_in(shown.value) == {**first, "first": 1}
    text.value = "a man sleeps here"
    written = translator.translate(text.value, width=1)
    own, *others = data_in(shown.value)["sentences"]
    (right,) = removals(translator, [(text.value, written)])["sentences"]
    assert own == right | {"own": True} and others == first["sentences"]
    assert own["reference"] == written == " ".join(own["texts"][0]["words"])
    text.value = " "
    assert shown.value == "<p>There must be a sentence to translate, got none.</p>"


def data_in(element: str) -> dict:
    (srcdoc,) = re.findall(r'srcdoc="([^"]*)"', element)
    (found,) = re.findall(r"data-part='data'>(.*?)</script>", html.unescape(srcdoc), re.DOTALL)
    return json.loads(found)


def test_new_words_are_those_that_the_whole_model_has_not_written_there(translator):
    for sentence in removals(translator, PAIRS)["sentences"]:
        first, *others = sentence["texts"]
        assert first["new"] == []
        for other in others:
            kept = [word for i, word in enumerate(other["words"]) if i not in other["new"]]
            remaining = iter(first["words"])
            assert all(word in remaining for word in kept)  # in this order


def test_the_title_counts_the_translations_that_one_head_does_not_change(translator):
    written = translator.translate_all([english for english, _ in PAIRS], width=1)
    same = 0
    for head in every_head(translator.model):
        with heads_switched_off(translator.model, [head]):
            again = translator.translate_all([english for english, _ in PAIRS], width=1)
        same += sum(one == other for one, other in zip(written, again, strict=True))
    title = f"Without one head, {same} of 24 translations stay the same"
    assert title in published_element(explore_removals, translator, PAIRS)


@pytest.mark.parametrize(("name", "most"), [("num_heads", MOST_HEADS), ("num_layers", MOST_LAYERS)])
def test_a_model_with_more_tiles_than_have_room_is_refused_before_it_runs(name, most):
    sizes = {"d_model": 4 * (most + 1), name: most + 1}
    model = Transformer(TransformerConfig.tiny(**sizes, vocabulary_size=11))
    with pytest.raises(ValueError, match=f"{name} must be at most {most}, got {most + 1}"):
        explore_removals(SimpleNamespace(model=model), [])


def test_a_sentence_without_its_translation_is_refused(translator):
    with pytest.raises(ValueError, match=r"hold \(sentence, translation\), got 'A dog.'"):
        explore_removals(translator, ["A dog."])


@pytest.mark.parametrize("depth", [1, 5])
def test_a_decoder_of_another_depth_than_the_encoder_is_refused_before_it_runs(depth):
    config = TransformerConfig.tiny(vocabulary_size=11, num_decoder_layers=depth)
    refusal = f"^num_decoder_layers must equal num_layers, got {depth} and 4$"
    with pytest.raises(ValueError, match=refusal):
        explore_removals(SimpleNamespace(model=Transformer(config)), [])


def panels(figure):
    return [axes for axes in figure.axes if axes.images and axes.get_label() != "<colorbar>"]


def test_a_removal_has_its_signed_points_with_the_whole_row_in_the_last_column():
    changes = {"encoder": torch.tensor([[0.0, -3.0, 2.0]]), "decoder": torch.zeros(1, 3)}
    figure = plot_removals(changes, sentence="A man.", title="Some heads matter")
    left, right = panels(figure)
    assert [text.get_text() for text in left.texts] == ["0", "−3", "+2"]
    assert [text.get_text() for text in left.get_xticklabels()] == ["1", "2", "all"]
    assert left.images[0].get_clim() == right.images[0].get_clim()
    assert "encoder -3, decoder 0" in figure.get_label()
