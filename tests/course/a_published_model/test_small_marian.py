"""The small Marian model learns its ten sentences, the same way each time."""

import pytest
import torch

from transformer_course.a_published_model.small_marian import (
    PAIRS,
    damaged_folders,
    small_marian_folder,
    train_marian,
    train_marian_tokenizer,
    untrained_marian,
)
from transformer_edu.pretrained.marian_folder import load_marian

pytest.importorskip("sentencepiece")


def test_it_learns_to_translate_its_sentences_from_german():
    translator = untrained_marian()
    losses = train_marian(translator)
    assert losses[-1] < 0.02 < 2 < losses[0]
    sources, targets = zip(*PAIRS, strict=True)
    assert translator.translate_all(sources) == list(targets)
    assert sources[0].startswith("Ein Hund") and targets[0].startswith("A dog")


def test_the_seed_decides_the_weights_and_changes_are_the_configs():
    first, same, other = (untrained_marian(seed=seed, d_ff=20) for seed in (3, 3, 4))
    weights, again, different = (each.model.state_dict() for each in (first, same, other))
    assert all(torch.equal(weight, again[name]) for name, weight in weights.items())
    assert not all(torch.equal(weight, different[name]) for name, weight in weights.items())
    assert first.model.config.d_ff == 20 and first.model.config.decoder_depth == 1


def test_a_step_of_training_follows_the_mean_loss_of_the_real_tokens():
    translator = untrained_marian()
    model, target = translator.model, translator.target_ids
    logs, count = 0.0, 0
    with torch.no_grad():
        for source, english in PAIRS:
            labels = torch.tensor([*target(english), model.config.end_id])
            read = torch.tensor([[model.config.start_id, *target(english)]])
            logits = model(torch.tensor([translator.tokenizer.encode(source)]), read)[0]
            logs -= logits.log_softmax(dim=-1)[range(len(labels)), labels].sum().item()
            count += len(labels)
    (loss,) = train_marian(translator, steps=1)
    assert loss == pytest.approx(logs / count, rel=1e-4)


def test_too_little_text_makes_no_tokenizer():
    for sources, size in (([], 90), (["a b c d e f g"], 3)):
        with pytest.raises(ValueError, match="^the texts must suffice for a tokenizer: "):
            train_marian_tokenizer(sources, ["a"] * 9, vocabulary_size=size)


def test_the_same_texts_make_the_same_tokenizer():
    trained, again = untrained_marian(), untrained_marian().tokenizer
    assert again.cutters == trained.tokenizer.cutters
    assert again.vocabulary == trained.tokenizer.vocabulary


def test_the_folder_holds_a_trained_model():
    translator = load_marian(small_marian_folder(torch.device("cpu")))
    german, english = PAIRS[0]
    assert translator.translate(german) == english


def test_each_damaged_folder_is_refused_for_its_own_reason():
    reasons = {}
    for what, folder in damaged_folders().items():
        with pytest.raises((OSError, ValueError)) as error:
            load_marian(folder)
        reasons[what] = str(error.value)
    assert "got bart" in reasons["another architecture"]
    assert "pickle" in reasons["weights as a pickle"]
    assert "source.spm" in reasons["no tokenizer"]
