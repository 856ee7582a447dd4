"""Beam search finds what exhaustive search finds, and counts as it says that it counts."""

import itertools
import math
import zlib
from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from tests.generation.test_greedy import SOURCES, Copyist, padded, transformer
from transformer_edu.generation.beam import beam_search, best_continuations
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.hypotheses import BeamStep, Hypothesis
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

ALPHAS = [0, 0.6, 1, 2]


class Surprising(nn.Module):
    """Answers every beginning of a target with logits of its own, drawn once and for all.

    It refuses to say what follows the end token.
    """

    def __init__(self, vocabulary: int, *, scale: float = 1.5, seed: int = 0) -> None:
        super().__init__()
        self.vocabulary, self.scale, self.seed = vocabulary, scale, seed
        self.calls = 0

    def logits_after(self, source: list[int], written: list[int]) -> Tensor:
        if END_ID in written:
            raise AssertionError(f"asked what follows the end: {written}")
        key = zlib.crc32(repr((self.seed, [i for i in source if i], written)).encode())
        generator = torch.Generator().manual_seed(key)
        logits = torch.randn(self.vocabulary, generator=generator, dtype=torch.float64)
        return logits * self.scale

    def source_mask(self, source_ids: Tensor) -> Tensor:
        return (source_ids != PADDING_ID)[:, None, None]

    def encode(self, source_ids: Tensor, *, source_mask: Tensor) -> Tensor:
        return source_ids

    def decode(self, target_ids: Tensor, memory: Tensor, *, source_mask: Tensor) -> Tensor:
        self.calls += 1
        rows = zip(memory.tolist(), target_ids[:, 1:].tolist(), strict=True)
        return torch.stack([self.logits_after(*row) for row in rows]).unsqueeze(1)

    def project(self, decoded: Tensor) -> Tensor:
        return decoded


class Rounded(Surprising):
    """Of whole logits, so that many are equal."""

    def logits_after(self, source: list[int], written: list[int]) -> Tensor:
        return super().logits_after(source, written).round()


def read(produced: list[int]) -> list[int]:
    return [token for token in produced if token not in (START_ID, END_ID, PADDING_ID)]


def by_hand(produced: list[int], log_probability: float, alpha: float) -> Hypothesis:
    """The documented score of what was written, its end token included."""
    return Hypothesis(
        token_ids=read(produced),
        score=log_probability / ((5 + len(produced)) / 6) ** alpha,
        log_probability=log_probability,
        finished=produced[-1] == END_ID,
    )


def every_hypothesis(
    model: Surprising, source: list[int], *, max_length: int, alpha: float
) -> list[Hypothesis]:
    """Exhaustive search: all that can be written, best first."""
    found, unfinished = [], [([], 0.0)]
    for length in range(1, max_length + 1):
        longer = [
            ([*written, token], total + own)
            for written, total in unfinished
            for token, own in enumerate(model.logits_after(source, written).log_softmax(0).tolist())
        ]
        unfinished = [each for each in longer if each[0][-1] != END_ID]
        complete = longer if length == max_length else [e for e in longer if e[0][-1] == END_ID]
        found += [by_hand(*each, alpha) for each in complete]
    return sorted(found, key=lambda each: -each.score)


def patient_beam(
    model: Surprising, source: list[int], *, width: int, max_length: int, alpha: float
) -> list[Hypothesis]:
    """Beam search for one sentence in plain lists, which never stops early."""
    found, beams = [], [([], 0.0)]
    for length in range(1, max_length + 1):
        longer = [
            ([*written, token], total + own)
            for written, total in beams
            for token, own in enumerate(model.logits_after(source, written).log_softmax(0).tolist())
        ]
        kept = sorted(longer, key=lambda each: -each[1])[:width]
        beams = [each for each in kept if each[0][-1] != END_ID]
        complete = kept if length == max_length else [e for e in kept if e[0][-1] == END_ID]
        found += [by_hand(*each, alpha) for each in complete]
    return sorted(found, key=lambda each: -each.score)


def assert_same(found: list[Hypothesis], expected: list[Hypothesis]) -> None:
    assert [each.token_ids for each in found] == [each.token_ids for each in expected]
    assert [each.finished for each in found] == [each.finished for each in expected]
    for name in ("score", "log_probability"):
        values = ([getattr(each, name) for each in side] for side in (found, expected))
        torch.testing.assert_close(*map(torch.tensor, values))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("vocabulary", "max_length"), [(5, 3), (4, 4), (7, 2), (6, 1)])
def test_a_beam_that_is_wide_enough_finds_what_exhaustive_search_finds(
    vocabulary, max_length, alpha
):
    model, num_best = Surprising(vocabulary), 5
    found = beam_search(
        model,
        padded(SOURCES),
        width=vocabulary**max_length,
        alpha=alpha,
        num_best=num_best,
        max_length=max_length,
    )
    for source, hypotheses in zip(SOURCES, found, strict=True):
        everything = every_hypothesis(model, source, max_length=max_length, alpha=alpha)
        assert_same(hypotheses, everything[:num_best])


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("width", "num_best"), [(1, 1), (2, 1), (3, 3), (5, 2)])
def test_stopping_early_loses_nothing(width, num_best, alpha):
    max_length = 9
    for seed in range(6):
        model = Surprising(6, seed=seed)
        expected = [
            patient_beam(model, source, width=width, max_length=max_length, alpha=alpha)
            for source in SOURCES
        ]
        found = beam_search(
            model,
            padded(SOURCES),
            width=width,
            alpha=alpha,
            num_best=num_best,
            max_length=max_length,
        )
        for hypotheses, of_source in zip(found, expected, strict=True):
            assert_same(hypotheses, of_source[:num_best])


@pytest.mark.parametrize("alpha", ALPHAS)
def test_writing_stops_as_soon_as_no_beam_can_beat_what_is_complete(alpha):
    model = Copyist({4: [], 9: [5, 6], 10: [7]})
    model.project = lambda decoded: decoded * 9  # the next best token has 1/8000 of the best's
    found = beam_search(model, padded(SOURCES), alpha=alpha)
    assert [each[0].token_ids for each in found] == [[], [5, 6], [7]]
    assert model.lengths == [1, 2, 3]


def test_a_longer_target_may_win_long_after_a_shorter_one_has_ended():
    class Hesitant(Surprising):
        """Ends at once with probability 0.6, else writes on and is sure of every token."""

        def logits_after(self, source: list[int], written: list[int]) -> Tensor:
            script = [5, 6, 7, 8, 9, 10, END_ID]
            probabilities = torch.zeros(self.vocabulary)
            probabilities[script[len(written)]] = 1.0 if written else 0.4
            probabilities[END_ID] += 0.0 if written else 0.6
            return probabilities.log()

    model = Hesitant(11)
    best = {alpha: beam_search(model, padded([[4]]), alpha=alpha)[0][0] for alpha in (0, 2)}
    assert best[0].token_ids == []
    assert best[2].token_ids == [5, 6, 7, 8, 9, 10]
    assert best[2].log_probability == pytest.approx(math.log(0.4))
    assert best[0].log_probability == pytest.approx(math.log(0.6))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("end_id", [END_ID, 7])
def test_every_score_is_the_documented_formula_of_its_hypothesis(alpha, end_id):
    model, max_length, num_best = transformer(1).double().eval(), 6, 4
    with torch.no_grad():  # so that what is read is what was written
        model.output_projection.bias[[PADDING_ID, START_ID]] = -1e4
    found = beam_search(
        model,
        padded(SOURCES),
        alpha=alpha,
        num_best=num_best,
        max_length=max_length,
        end_id=end_id,
    )
    for source, hypotheses in zip(SOURCES, found, strict=True):
        assert len(hypotheses) == num_best
        for each in hypotheses:
            produced = each.token_ids + [end_id] * each.finished
            assert len(produced) <= max_length
            assert each.finished or len(produced) == max_length
            target_ids = torch.tensor([[START_ID, *produced]])
            with torch.no_grad():
                logits = model(torch.tensor([source]), target_ids[:, :-1])[0]
            total = -F.cross_entropy(logits, target_ids[0, 1:], reduction="sum").item()
            assert each.log_probability == pytest.approx(total)
            assert each.score == pytest.approx(total / ((5 + len(produced)) / 6) ** alpha)
        scores = [each.score for each in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({(*each.token_ids, each.finished) for each in hypotheses}) == num_best


@pytest.mark.parametrize("alpha", [0, 2])
def test_a_beam_of_one_is_greedy_search(alpha):
    for seed in range(4):
        model = transformer(seed)
        for end_id in (END_ID, 7):
            asked = {"max_length": 12, "end_id": end_id}
            found = beam_search(model, padded(SOURCES), width=1, alpha=alpha, **asked)
            greedy = greedy_search(model, padded(SOURCES), **asked)
            assert [hypothesis.token_ids for (hypothesis,) in found] == greedy


def test_a_beam_of_one_is_greedy_search_where_many_tokens_are_equally_likely():
    for seed in range(20):
        model = Rounded(9, seed=seed, scale=0.7)
        found = beam_search(model, padded(SOURCES), width=1, max_length=8)
        for source, (hypothesis,) in zip(SOURCES, found, strict=True):
            written = []
            while len(written) < 8 and END_ID not in written:
                written.append(int(model.logits_after(source, written).argmax()))
            assert hypothesis.token_ids == read(written)


def test_equally_likely_hypotheses_are_decided_alike_alone_and_together():
    for seed in range(10):
        model = Rounded(9, seed=seed, scale=0.7)
        together = beam_search(model, padded(SOURCES), num_best=3, max_length=8)
        alone = [
            beam_search(model, padded([source]), num_best=3, max_length=8)[0] for source in SOURCES
        ]
        assert together == alone


@pytest.mark.parametrize(("alpha", "end_id"), [(0, END_ID), (0.6, END_ID), (0.6, 7)])
def test_a_sentence_does_not_depend_on_the_others_on_their_order_or_on_padding(alpha, end_id):
    for seed in range(2):
        model = transformer(seed).double()
        asked = {"alpha": alpha, "num_best": 2, "end_id": end_id}
        together = beam_search(model, padded(SOURCES), **asked)
        backwards = beam_search(model, padded(SOURCES[::-1]), **asked)[::-1]
        longer = beam_search(model, F.pad(padded(SOURCES), (0, 3), value=PADDING_ID), **asked)
        alone = [beam_search(model, padded([source]), **asked)[0] for source in SOURCES]
        for other in (backwards, longer, alone):
            for hypotheses, expected in zip(other, together, strict=True):
                assert_same(hypotheses, expected)


def test_where_fewer_hypotheses_exist_fewer_are_returned():
    found = beam_search(Surprising(4), padded(SOURCES), width=9, num_best=9, max_length=1)
    assert [len(hypotheses) for hypotheses in found] == [4, 4, 4]


def test_what_is_impossible_is_never_written():
    class Strict(Surprising):
        def logits_after(self, source: list[int], written: list[int]) -> Tensor:
            logits = super().logits_after(source, written)
            return logits.index_fill(0, torch.tensor([3, 5]), -torch.inf)

    model = Strict(6)
    found = beam_search(model, padded(SOURCES), width=30, num_best=30, max_length=2)
    possible = 1 + 3 * 4  # the end at once; or padding, start or 4, and then any of these four
    for source, hypotheses in zip(SOURCES, found, strict=True):
        expected = every_hypothesis(model, source, max_length=2, alpha=0.6)[:possible]
        assert_same(hypotheses, expected)


def test_hypotheses_are_counted_in_float32_at_least():
    totals = torch.tensor([[-1.0, -torch.inf], [-2.0, -3.0]])
    logits = torch.randn(4, 7, generator=torch.Generator().manual_seed(0))
    for given, counted in (
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ):
        kept = best_continuations(totals, logits.to(given), 2)
        assert kept.totals.dtype == counted
        own = logits.to(given).to(counted).log_softmax(-1)
        rows = torch.arange(2).unsqueeze(1) * 2 + kept.parents
        expected = totals.gather(1, kept.parents) + own[rows, kept.token_ids]
        torch.testing.assert_close(kept.totals, expected.to(counted))


# What is handed to after_step


def search_with_record(model: nn.Module, **asked: object) -> tuple[list, list[BeamStep]]:
    steps = []
    found = beam_search(model, padded(SOURCES), after_step=steps.append, **asked)
    return found, steps


def branches_of(steps: list[BeamStep], sentence: int) -> list[list]:
    return [
        step.branches[step.sentences.index(sentence)]
        for step in steps
        if sentence in step.sentences
    ]


def test_the_tree_of_hypotheses_can_be_drawn_from_the_record():
    model, width, alpha = Surprising(6), 3, 0.6
    found, steps = search_with_record(model, width=width, alpha=alpha, max_length=7)
    assert found == beam_search(model, padded(SOURCES), width=width, alpha=alpha, max_length=7)
    assert [step.step for step in steps] == list(range(1, len(steps) + 1))
    for sentence, source in enumerate(SOURCES):
        paths, complete = [[]], []
        for step, branches in enumerate(branches_of(steps, sentence), start=1):
            assert 0 < len(branches) <= width
            grown = []
            for branch in branches:
                path = [*paths[branch.parent], branch.token_id]
                logs = [
                    model.logits_after(source, path[:i]).log_softmax(0)[path[i]].item()
                    for i in range(step)
                ]
                expected = by_hand(path, sum(logs), alpha)
                assert branch.log_probability == pytest.approx(expected.log_probability)
                assert branch.score == pytest.approx(expected.score)
                assert branch.finished == expected.finished
                assert not (branch.finished and branch.continues)
                if branch.finished or step == 7:
                    complete.append(expected)
                grown.append(path)
            totals = [branch.log_probability for branch in branches]
            assert totals == sorted(totals, reverse=True)
            paths = grown
        assert_same(found[sentence], [max(complete, key=lambda each: each.score)])


def test_only_branches_that_go_on_are_parents_and_a_decided_sentence_has_none():
    _, steps = search_with_record(Surprising(6, seed=3), width=3, max_length=7)
    for sentence in range(len(SOURCES)):
        branches = branches_of(steps, sentence)
        for before, after in itertools.pairwise(branches):
            assert any(branch.continues for branch in before)
            assert all(before[branch.parent].continues for branch in after)
        assert not any(branch.continues for branch in branches[-1])
    assert len({len(branches_of(steps, sentence)) for sentence in range(len(SOURCES))}) > 1


def test_a_record_is_plain_and_stays_as_it_was():
    _, steps = search_with_record(Surprising(6), width=3, max_length=4)
    with pytest.raises(AttributeError):
        steps[0].step = 2
    assert steps[0].sentences == [0, 1, 2]
    kinds = {type(value) for value in steps[0].branches[0][0]}
    assert kinds == {int, float, bool}


def test_what_is_done_to_a_record_does_not_disturb_the_search():
    model, source_ids = Surprising(6), padded(SOURCES)
    found = beam_search(model, source_ids, after_step=lambda step: step.sentences.clear())
    assert found == beam_search(model, source_ids)


# What another library writes


MARIAN_LENGTH, MARIAN_VOCABULARY = 9, 13


def draw_sources(count: int, generator: torch.Generator) -> list[Tensor]:
    lengths = torch.randint(2, MARIAN_LENGTH, (count,), generator=generator).tolist()
    return [
        torch.randint(4, MARIAN_VOCABULARY, (length,), generator=generator) for length in lengths
    ]


def train_to_forget(model: Transformer, generator: torch.Generator) -> None:
    """Teach a copy that leaves out a third of the tokens: there is no telling which."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(80):
        sources, targets = draw_sources(32, generator), []
        for source in sources:
            heard = source[torch.rand(len(source), generator=generator) > 1 / 3][
                : MARIAN_LENGTH - 1
            ]
            targets.append(torch.cat([torch.tensor([START_ID]), heard, torch.tensor([END_ID])]))
        target_ids = pad_sequence(targets, batch_first=True)
        logits = model(pad_sequence(sources, batch_first=True), target_ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), target_ids[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.fixture(scope="module")
def twins() -> tuple[Transformer, Callable[..., list[list[int]]]]:
    """A Transformer that has learnt a little, and how Hugging Face's library writes with it."""
    from tests.random_marian import as_marian, generate

    torch.manual_seed(0)
    config = TransformerConfig(
        vocabulary_size=MARIAN_VOCABULARY,
        d_model=12,
        num_heads=3,
        num_layers=2,
        d_ff=20,
        dropout=0.0,
        bias=True,
        position_order="halves",
        max_length=MARIAN_LENGTH,
    )
    ours = Transformer(config)
    train_to_forget(ours, torch.Generator().manual_seed(0))
    # Ours hides padding that it has written from itself, Marian does not.
    ours.output_projection.bias.data[[PADDING_ID, START_ID]] = -1e4
    return ours, partial(generate, as_marian(ours.double().eval()), max_new_tokens=MARIAN_LENGTH)


@pytest.fixture
def source_ids() -> Tensor:
    return pad_sequence(draw_sources(50, torch.Generator().manual_seed(1)), batch_first=True)


@pytest.mark.slow
def test_greedy_search_writes_what_hugging_face_writes(twins, source_ids):
    ours, write_theirs = twins
    written = greedy_search(ours, source_ids, max_length=MARIAN_LENGTH)
    assert written == write_theirs(source_ids, num_beams=1)


@pytest.mark.slow
def test_a_beam_of_four_writes_what_hugging_face_writes(twins, source_ids):
    # Its length penalty is another formula: without one, both look for the same.
    ours, write_theirs = twins
    found = beam_search(ours, source_ids, width=4, alpha=0, max_length=MARIAN_LENGTH)
    written = [hypothesis.token_ids for (hypothesis,) in found]
    theirs = write_theirs(source_ids, num_beams=4, length_penalty=0.0, early_stopping="never")
    assert written == theirs
    assert len({len(token_ids) for token_ids in written}) > 2
    assert written != greedy_search(ours, source_ids, max_length=MARIAN_LENGTH)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"width": 0}, ValueError, "width must be at least 1, got 0"),
        ({"width": 1001}, ValueError, "width must be at most 1,000, got 1,001"),
        ({"width": 2.5}, TypeError, "width must be a whole number, got 2.5"),
        ({"num_best": 0}, ValueError, "num_best must be at least 1, got 0"),
        ({"num_best": 5}, ValueError, "num_best must be at most width, got 5 and 4"),
        ({"alpha": -1}, ValueError, "alpha must be a finite number of at least 0, got -1"),
        ({"alpha": 1e9}, ValueError, "alpha must be smaller for hypotheses of 55 tokens"),
    ],
)
def test_what_is_no_beam_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        beam_search(transformer(0), padded(SOURCES), **changes)
