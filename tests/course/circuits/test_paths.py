"""Scores of roles, and path patching, against what is written out."""

import pytest
import torch

from tests.variants.test_language_model import GPT2, random_model
from transformer_course.circuits.paths import (
    PATHS,
    accuracy_through,
    best_heads,
    decoder_scores,
    head_scores,
    role_scores,
    uniform_score,
)
from transformer_course.circuits.repeats import (
    Repeats,
    copy_accuracy,
    copying_model,
    repeating_texts,
)
from transformer_course.from_2017_to_today.hugging_face import as_gpt2
from transformer_course.looking.ablation import heads_switched_off
from transformer_edu.pretrained.loading import load_pretrained

TEXTS = repeating_texts(20, luck=torch.Generator().manual_seed(5))


def test_scores_are_those_of_hugging_faces_attention_read_on_two_diagonals():
    pytest.importorskip("transformers")
    ours = random_model(GPT2).eval()
    ids = torch.rand(50, 8, generator=torch.Generator().manual_seed(0)).argsort(dim=1)
    texts = Repeats(ids.repeat(1, 3)[:, :17], torch.full((50,), 8))  # sixteen words are read
    theirs = as_gpt2(ours)
    theirs.set_attn_implementation("eager")
    with torch.no_grad():
        layers = theirs(texts.read, output_attentions=True).attentions
    before, after = (  # as they are defined elsewhere: one word back, one word less than a period
        torch.stack(
            [layer.diagonal(back, -2, -1)[..., start:].mean(dim=(0, 2)) for layer in layers]
        )
        for back, start in ((-1, 0), (-7, 1))
    )
    found = head_scores(ours, texts)
    torch.testing.assert_close(found, {"before": before, "after": after}, atol=1e-6, rtol=0)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return copying_model().eval()


def test_a_score_is_the_mean_over_the_queries_that_have_a_key():
    weights = torch.tensor([[[[1.0, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25]]]])
    cells = torch.tensor([[[False, False, False], [True, False, False], [True, True, False]]])
    torch.testing.assert_close(role_scores(weights, cells), torch.tensor([0.5]))


def test_untrained_heads_score_about_as_a_uniform_head(model):
    scores = head_scores(model, TEXTS)
    for role in ("before", "after"):
        assert scores[role].shape == (2, 1)
        assert scores[role] == pytest.approx(uniform_score(TEXTS, role), abs=0.03)
    assert best_heads(model, TEXTS) == (
        ("layers.0.self_attention", 1),
        ("layers.1.self_attention", 1),
    )


def test_all_three_paths_without_no_head_change_nothing(model):
    for path in PATHS:
        assert accuracy_through(model, TEXTS, [], path) == copy_accuracy(model, TEXTS)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_gets_what_its_projection_gives_without_the_head(model, path):
    head = [("layers.0.self_attention", 1)]
    seen = []
    last = model.layers[-1].self_attention
    projection = getattr(last, f"{path}_projection")
    hook = last.output_projection.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    accuracy_through(model, TEXTS, head, path)
    hook.remove()
    without, patched = seen
    with torch.no_grad():
        inputs = []
        hook = last.register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
        model(TEXTS.read)
        whole = projection(inputs[0])
        with heads_switched_off(model, head):
            model(TEXTS.read)
        hook.remove()
    assert not torch.allclose(projection(inputs[1]), whole)
    assert not torch.allclose(without, patched)


def test_nothing_is_left_behind_and_an_unknown_path_is_refused(model):
    before = model(TEXTS.read)
    accuracy_through(model, TEXTS, [("layers.0.self_attention", 1)], "key")
    torch.testing.assert_close(model(TEXTS.read), before)
    with pytest.raises(ValueError, match="path must be one of query, key, value, got 'keys'"):
        accuracy_through(model, TEXTS, [], "keys")


def test_no_head_of_the_translators_decoder_looks_for_repetitions():
    translator = load_pretrained()
    scores, even = decoder_scores(translator, count=20)
    config = translator.model.config
    assert scores.shape == (config.decoder_depth, config.num_heads)
    assert scores.max() < 1.5 * even


def test_a_role_that_no_head_has_is_refused():
    with pytest.raises(ValueError, match="role must be one of before, after, got 'during'"):
        uniform_score(TEXTS, "during")
