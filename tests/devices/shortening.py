"""Make a lesson short: its models learn for a few steps, and its figures are not drawn.

A shortened lesson still builds, moves, trains and asks each of its models. What only a trained
model can keep is not required then: an assertion whose message sends the reader back to the
training ("… run the training cell again") is computed, and its answer is dropped. All other
assertions, and all other errors, count as ever.
"""

import ast
import copy
import functools
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from nbformat import NotebookNode
from PIL import Image
from torch import nn

from transformer_course import speed_and_scale
from transformer_course.drawing import display
from transformer_course.from_2017_to_today import language_modeling
from transformer_course.speed_and_scale import costs
from transformer_course.transformer import trained_model_checks
from transformer_edu.data import batches
from transformer_edu.data.batches import Batch
from transformer_edu.generation.translator import Translator
from transformer_edu.training import loop
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.state import TrainingRun

ADVICE = "again"  # run … again
TIMES = "seconds"
CHANGED = (ADVICE, TIMES, ".backward(")
LARGE = 512  # one batch holds all sentences


class Shortened(ast.NodeTransformer):
    """Computes what is claimed of a trained model and requires nothing; trains and times less."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def visit_For(self, node: ast.For) -> ast.stmt:  # noqa: N802
        """``for _ in range(300)`` around a backward pass becomes a few steps."""
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(count))]):
                if ".backward(" in ast.unparse(node):
                    node.iter.args = [ast.Constant(min(count, self.steps))]
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:  # noqa: N802
        """``[… seconds … for _ in range(3)]`` times once."""
        match node.generators[0].iter:
            case ast.Call(func=ast.Name(id="range")) as counted if TIMES in ast.unparse(node.elt):
                counted.args = [ast.Constant(1)]
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:  # noqa: N802
        """``assert claim, advice`` becomes ``claim``."""
        return ast.Expr(node.test) if node.msg is not None and _advises(node.msg) else node


def _advises(message: ast.expr) -> bool:
    """Whether a message has the advice in it, as text or under a name like ``again``."""
    return ADVICE in ast.unparse(message)


def shortened(notebook: NotebookNode, steps: int) -> NotebookNode:
    """A copy of the notebook that requires nothing of a trained model, with short loops."""
    untrained = copy.deepcopy(notebook)
    for cell in untrained.cells:
        if cell.cell_type == "code" and any(sign in cell.source for sign in CHANGED):
            cell.source = ast.unparse(Shortened(steps).visit(ast.parse(cell.source)))
    return untrained


def shorten(steps: int) -> None:
    """In the lesson's process, before its imports: a model learns for so many steps at most.

    ``fit`` takes all its steps, with whatever belongs to them, but the later ones change no weight,
    and the evaluation after them is not repeated. A loop in a lesson gets so many batches from
    ``epoch``, and a language model so many pieces of its text; ``shortened`` cuts the loops that
    only count. What a lesson times is called once; what it starts in processes of its own computes
    on the CPU, and is left out. Exercise 9.3 takes any Transformer. Translations are made in one
    batch: on the pretend device, the number of operations counts, and not their size.
    """
    windows = language_modeling.windows
    find_gradients, seed_dropout, epoch = loop.find_gradients, loop._seed_dropout, batches.epoch
    evaluate, evaluated, seconds = loop.evaluate, {}, costs.seconds

    @functools.wraps(find_gradients)
    def find_first_gradients(
        model: nn.Module, batch: Batch, config: TrainingConfig, run: TrainingRun, *others: object
    ) -> float:
        if len(run.steps) < steps:
            return find_gradients(model, batch, config, run, *others)
        if len(run.steps) == steps:
            model.zero_grad()  # the optimizer leaves what has no gradient
        return run.steps[-1].loss

    def seed_first_dropout(model: nn.Module, seed: int, step: int, process: int) -> None:
        if step <= steps:
            seed_dropout(model, seed, step, process)

    def evaluate_while_it_changes(
        model: nn.Module, *pairs: object, step: int, **other: object
    ) -> Evaluation:
        if model in evaluated:
            return replace(evaluated[model], step=step)
        found = evaluate(model, *pairs, step=step, **other)
        if step >= steps:
            evaluated[model] = found
        return found

    @functools.wraps(epoch)
    def begin_epoch(*pairs: object, **options: object) -> Iterator[Batch]:
        return islice(epoch(*pairs, **options), steps)

    language_modeling.windows = lambda *text, **options: islice(windows(*text, **options), steps)
    loop.find_gradients, loop._seed_dropout = find_first_gradients, seed_first_dropout
    loop.evaluate = evaluate_while_it_changes
    Translator.translate_all.__kwdefaults__["batch_size"] = LARGE
    for place in (costs, speed_and_scale):  # a lesson imports from its room
        place.seconds = lambda call, *given, rounds=1: seconds(call, *given, rounds=1)
        place.losses_of_a_run = lambda **settings: None
    batches.epoch, display._image = begin_epoch, _blank
    trained_model_checks.ENOUGH = 0.0, 0.0  # of what exercise 9.3 requires of a trained model
    trained_model_checks.OFTEN = 0.0  # of the first batches


def _blank(figure: Figure, dots_per_inch: int = 1) -> Image.Image:
    """In place of a figure's pixels, which every other test of lessons draws."""
    plt.close(figure)
    return Image.new("RGB", (1, 1))
