"""Judges give the score that the task is known by."""

import torch

from tests.small_model import small_transformer
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.data.vocabulary import Vocabulary
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.runs.judging import BleuJudge, ExactMatchJudge
from transformer_edu.training.runs.saved_translator import Words

EVALUATION = Evaluation(step=3, loss=1.5, token_accuracy=0.5, exact_match=0.25)
WORDS = Words(Vocabulary(["a", "b", "c", "d", "e", "f", "g"]))


def model() -> Transformer:
    return small_transformer(len(WORDS), seed=3, max_length=20)


def test_exact_match_was_measured_by_the_evaluation():
    assert ExactMatchJudge()(model(), EVALUATION) == 0.25


def test_bleu_is_that_of_greedy_translations():
    sources = ["a b c d", "g f", "e e a b c", "b c d e f g"]
    rows = [torch.tensor([WORDS.encode(source)]) for source in sources]
    written = [WORDS.decode(greedy_search(model(), row, end_loops=True)[0]) for row in rows]
    assert any(written)
    judge = BleuJudge(WORDS, list(zip(sources, written, strict=True)))
    assert judge(model(), EVALUATION) > 99.9
    other = BleuJudge(WORDS, list(zip(sources, sources, strict=True)))
    assert other(model(), EVALUATION) == corpus_bleu(written, sources).score < 50
