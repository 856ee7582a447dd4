"""The tree shows every branch that was kept, and what became of it."""

import numpy as np
import pytest

from transformer_course.generation.search_tree import (
    BEST,
    DROPPED,
    KEPT,
    branches_by_step,
    describe_beam_tree,
    finished_sentences,
    path_to,
    plot_beam_tree,
    plot_lengths,
)
from transformer_course.generation.table_model import TableModel
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.hypotheses import BeamStep, length_penalty
from transformer_edu.model.special_ids import START_ID

TABLE = {
    "": {"it": 0.45, "there": 0.35, "$rain$": 0.2},
    "it": {"is": 0.38, "was": 0.36, "rains": 0.26},
    "it is": {"raining": 0.55, "cold": 0.45},
    "there": {"is": 0.8, "was": 0.2},
    "there is": {"rain": 0.6, "snow": 0.4},
    "$rain$": {"falls": 0.9, "fell": 0.1},
}
MODEL = TableModel(TABLE)
TOKENS = MODEL.vocabulary.tokens


def records(width: int = 2, alpha: float = 0.0, sources: int = 1) -> list[BeamStep]:
    steps: list[BeamStep] = []
    source_ids = MODEL.source_ids.expand(sources, 1)
    beam_search(MODEL, source_ids, width=width, alpha=alpha, after_step=steps.append)
    return steps


def drawn(steps: list[BeamStep], until: int | None = None) -> dict[tuple[int, int], tuple]:
    """What stands at (step, rank): the token, its number, how bold it is."""
    axes = plot_beam_tree(steps, tokens=TOKENS, title="t", until=until).axes[0]
    found: dict[tuple[int, int], tuple] = {}
    for text in axes.texts:
        x, y = text.get_position()
        found.setdefault((round(x), round(y)), ())
        found[round(x), round(y)] += (text.get_text(), text.get_weight())
    return {place: (texts[0], texts[2], texts[1]) for place, texts in found.items()}


def test_every_branch_stands_at_its_step_and_rank_with_its_log_probability():
    steps = records()
    nodes = drawn(steps)
    assert len(nodes) == 1 + sum(len(each.branches[0]) for each in steps)
    for step in steps:
        for rank, branch in enumerate(step.branches[0]):
            token, number, _ = nodes[step.step, rank]
            assert token == TOKENS[branch.token_id].replace("$", r"\$")
            assert float(number.replace("−", "-")) == pytest.approx(
                branch.log_probability, abs=0.006
            )


def test_an_end_token_shows_the_score_and_not_the_log_probability():
    steps = records(alpha=1.0)
    last = steps[-1].branches[0][0]
    assert last.finished and last.score != last.log_probability
    shown = drawn(steps)[len(steps), 0][1]
    assert float(shown.replace("−", "-")) == pytest.approx(last.score, abs=0.006)


def test_the_path_to_the_best_is_bold_and_what_was_dropped_is_not():
    # With a beam of 2, "it is" is kept at step 2 and beaten at step 3.
    nodes = drawn(records())
    assert nodes[1, 0] == ("it", "−0.80", DROPPED.weight)
    assert nodes[2, 1][::2] == ("is", DROPPED.weight)
    assert [nodes[place][2] for place in ((1, 1), (2, 0), (3, 0), (4, 0))] == [BEST.weight] * 4
    assert nodes[3, 1][::2] == ("snow", KEPT.weight)


def test_halfway_everything_that_lives_is_kept_and_the_size_is_that_of_the_whole():
    steps = records()
    half = plot_beam_tree(steps, tokens=TOKENS, title="t", until=1)
    whole = plot_beam_tree(steps, tokens=TOKENS, title="t")
    assert tuple(half.get_size_inches()) == tuple(whole.get_size_inches())
    assert half.axes[0].get_xlim() == whole.axes[0].get_xlim()
    nodes = drawn(steps, until=1)
    assert set(nodes) == {(0, 0), (1, 0), (1, 1)}
    assert nodes[1, 0][2] == nodes[1, 1][2] == KEPT.weight


def test_every_branch_has_a_box_and_an_edge_and_those_of_the_best_are_thick():
    steps = records()
    axes = plot_beam_tree(steps, tokens=TOKENS, title="t").axes[0]
    edges, boxes = (list(shapes.get_linewidths()) for shapes in axes.collections)
    branches = sum(len(each.branches[0]) for each in steps)
    assert (len(boxes), len(edges)) == (1 + branches, branches)
    assert (boxes.count(BEST.line_width), edges.count(BEST.line_width)) == (5, 4)
    assert edges == sorted(edges)  # the thickest lies on top


def test_the_words_name_what_is_kept_and_what_has_finished():
    said = describe_beam_tree(records(), tokens=TOKENS, until=3)
    assert "step 3 of 4" in said and "there is rain (-1.78), there is snow (-2.19)" in said
    assert said.endswith("finished, best first: nothing")
    said = describe_beam_tree(records(), tokens=TOKENS)
    assert said.endswith("there is rain </s> (score -1.78), there is snow </s> (score -2.19)")


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_best_finished_sentence_is_what_the_search_returns(alpha):
    ((best,),) = beam_search(MODEL, MODEL.source_ids, width=3, alpha=alpha)
    found = max(finished_sentences(records(width=3, alpha=alpha)), key=lambda each: each.score)
    assert found.token_ids == best.token_ids
    assert (found.score, found.log_probability) == (best.score, best.log_probability)


def test_a_sentence_is_read_along_its_path():
    steps = records()
    columns = branches_by_step(steps)
    for sentence in finished_sentences(steps):
        ids = [columns[step][place].token_id for step, place in enumerate(sentence.places)]
        assert ids[0] == START_ID and ids[1:-1] == sentence.token_ids
        assert columns[len(ids) - 1][sentence.places[-1]].finished


def test_the_path_to_a_branch_goes_through_its_parents():
    columns = branches_by_step(records())
    for place, branch in enumerate(columns[2]):
        assert path_to(columns, 2, place) == [0, branch.parent, place]


def test_of_several_sources_the_first_is_read():
    alone, together = (
        branches_by_step(records()),
        branches_by_step(records(sources=2)),
    )
    assert alone == together


def test_a_source_that_is_decided_before_the_others_has_no_later_branches():
    steps = records()
    others = [BeamStep(step=each.step, sentences=[3], branches=each.branches[:1]) for each in steps]
    assert len(branches_by_step([*steps[:1], *others[1:]])) == 2


def test_a_width_of_one_has_one_path():
    assert {*finished_sentences(records(width=1))[0].places} == {0}


OUTPUTS = {"narrow": (8, -2.6), "$wide$": (4, -2.5), "empty": (1, -2.0)}


def test_the_curves_go_through_the_winners_and_above_all_others():
    axes = plot_lengths(OUTPUTS, alpha=0.6).axes[0]
    for line, alpha, winner in zip(axes.lines, (0.0, 0.6), ("empty", "narrow"), strict=False):
        scores = {name: p / length_penalty(n, alpha) for name, (n, p) in OUTPUTS.items()}
        assert max(scores, key=scores.get) == winner
        heights = {name: np.interp(n, *line.get_data()) for name, (n, _) in OUTPUTS.items()}
        assert heights[winner] == pytest.approx(OUTPUTS[winner][1], abs=1e-3)
        others = OUTPUTS.keys() - {winner}
        assert all(heights[name] > OUTPUTS[name][1] for name in others)


def test_every_output_is_a_point_with_its_name():
    axes = plot_lengths(OUTPUTS, alpha=0.6).axes[0]
    points = [(*line.get_xdata(), *line.get_ydata()) for line in axes.lines[2:]]
    assert points == list(OUTPUTS.values())
    names = [line.get_label() for line in axes.lines[2:]]
    assert names == ["narrow", r"\$wide\$", "empty"]
    assert len({line.get_marker() for line in axes.lines[2:]}) == len(OUTPUTS)


def test_the_title_and_the_words_tell_the_lengths_of_both_winners():
    figure = plot_lengths(OUTPUTS, alpha=0.6)
    said = "α = 0: length 1 wins; α = 0.6: length 8 wins"
    assert figure.axes[0].get_title(loc="left") == said
    assert figure.get_label() == f"{said}. narrow: 8 tokens, -2.6; $wide$: 4 tokens, -2.5; " + (
        "empty: 1 tokens, -2.0"
    )
