"""The running text is the same every time, and what is held out is not in it."""

import torch

from transformer_edu.model.vocabulary import END_ID
from transformer_edu.training.data.running_text import everyday_text, windows


def sentences(text, ids):
    ends = (ids == END_ID).nonzero().flatten().tolist()
    parts = [ids[a + 1 : b] for a, b in zip([-1, *ends], ends, strict=False)]
    return [text.tokenizer.decode(part.tolist()) for part in parts]


def test_no_held_out_sentence_is_in_the_training_part_and_all_are_sentences():
    text = everyday_text(sentences=300, vocabulary_size=300)
    train, held_out = sentences(text, text.train), sentences(text, text.validation)
    assert (len(train), len(held_out)) == (270, 30)
    assert not set(train) & set(held_out) and len(set(train)) == 270
    assert all(each[-1] in ".!?" for each in train + held_out)
    assert len(text.tokenizer) == 300
    everyday_text.cache_clear()
    assert torch.equal(everyday_text(sentences=300, vocabulary_size=300).train, text.train)


def test_windows_are_pieces_of_the_text_by_seed():
    ids = torch.arange(50)
    batches = list(windows(ids, length=7, batch_size=5, steps=3, seed=1))
    assert [tuple(each.shape) for each in batches] == [(5, 7)] * 3
    for batch in batches:
        assert torch.equal(batch - batch[:, :1], torch.arange(7).expand(5, 7))
    assert not torch.equal(batches[0], batches[1])
    again = windows(ids, length=7, batch_size=5, steps=3, seed=1)
    assert all(map(torch.equal, batches, again))
