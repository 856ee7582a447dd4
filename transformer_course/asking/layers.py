"""What lessons 7 and 8 check in the reader's layers and stacks, with the package's weights."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import AnswerError, ask, close, copied, require_class

ROLES = ("query", "key", "value", "mask")
D_MODEL, NUM_HEADS, D_FF, DROPOUT = 6, 3, 8, 0.25


def build_module(answer: object, name: str, *sizes: float) -> nn.Module:
    """An object of the reader's class."""
    require_class(answer, name)
    return answer(*sizes)


def carry_over(package: nn.Module, own: nn.Module) -> None:
    """Copy the package's weights into a layer of the reader's, by name."""
    weights = package.state_dict()
    missing = [name for name in weights if name not in own.state_dict()]
    if missing:
        raise AnswerError(
            f"Your layer has no {missing[0]}. Use the names of the scaffold and the classes of "
            "the lessons before."
        )
    for name, weight in weights.items():
        shape = tuple(own.state_dict()[name].shape)
        if shape != tuple(weight.shape):
            raise AnswerError(
                f"{name} has the shape {shape}; it must be {tuple(weight.shape)}. Does every part "
                "get its sizes in the right order?"
            )
    own.load_state_dict(weights)


def package_layers(kind: type[nn.Module], count: int, *, seed: int) -> list[nn.Module]:
    """Layers whose norms differ, too, without touching the reader's random numbers."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        sizes = {"d_model": D_MODEL, "num_heads": NUM_HEADS, "d_ff": D_FF, "dropout": 0.0}
        layers = [kind(**sizes) for _ in range(count)]
        for norm in (each for layer in layers for each in layer.modules()):
            if isinstance(norm, nn.LayerNorm):
                nn.init.uniform_(norm.weight, 0.5, 2)
    return layers


def require_parts(layer: nn.Module, names: Sequence[str], whence: str) -> None:
    """Refuse a layer that lacks one of these modules, or has one of them twice.

    Args:
        layer: The reader's.
        names: What ``__init__`` must set.
        whence: Where the modules come from, after "must set self.name to a module".
    """
    for name in names:
        if not isinstance(getattr(layer, name, None), nn.Module):
            raise AnswerError(f"__init__ must set self.{name} to a module{whence}")
    for one, other in combinations(names, 2):
        if getattr(layer, one) is getattr(layer, other):
            raise AnswerError(
                f"{one} and {other} are the same module: each sub-layer needs its own."
            )


def rates_around(module: nn.Module) -> set[float]:
    """How much the Add & Norms in a module drop."""
    parts = dict(module.named_modules()).items()
    return {each.p for name, each in parts if isinstance(each, nn.Dropout) and "around_" in name}


def require_dropout(module: nn.Module, places: str, *inputs: Tensor) -> None:
    """Refuse a module, built with DROPOUT, that does not hand its dropout on to these places.

    Refuse also one that drops anything else of what it makes of these inputs.
    """
    if rates_around(module) != {DROPOUT}:
        raise AnswerError(f"dropout does not arrive: {places} need it.")
    for name, each in module.named_modules():
        if isinstance(each, nn.Dropout) and each.p:  # a part of the reader's may have one at 0
            each.p = 0.0 if "around_" in name else DROPOUT
    outputs = []
    with torch.random.fork_rng(devices=[]), suppress(Exception):  # errors are told later
        outputs = [module(*(x.clone() for x in inputs)) for _ in range(2)]
    are_two = outputs and all(isinstance(each, Tensor) for each in outputs)
    if are_two and not close(*outputs):
        raise AnswerError(
            "Numbers are dropped twice: each Add & Norm drops those of its sub-layer's output, and "
            "nothing else does."
        )


def require_layers(stack: nn.Module, count: int, name: str) -> None:
    """Refuse a stack that is not registered, of another length, or one layer several times."""
    layers = getattr(stack, "layers", None)
    if isinstance(layers, list | tuple):
        kind = type(stack).__name__.lower()
        raise AnswerError(
            f"PyTorch does not look into Python lists: your {kind} has 0 parameters. "
            "There is an nn.Module that holds a list of modules."
        )
    if not isinstance(layers, nn.ModuleList | nn.Sequential):
        raise AnswerError("__init__ must set self.layers to an nn.ModuleList.")
    if len(layers) != count:
        raise AnswerError(f"There must be {count} layers; yours has {len(layers)}.")
    if others := [name for name in stack.state_dict() if not name.startswith("layers.")]:
        raise AnswerError(f"A stack has no weights but its layers'; yours has {others[0]}.")
    if any(one is other for one, other in combinations(layers, 2)):
        raise AnswerError(
            f"Two entries are the same layer, with the same weights: call {name}(*sizes) "
            "once for each."
        )


@dataclass
class Call:
    """One call of a part: what it got, in the order of its arguments, and what it returned."""

    name: str
    given: list[object]
    output: object = None


def calls_of(module: nn.Module, names: Sequence[str], inputs: Sequence[object]) -> list[Call]:
    """The calls of a module's parts while it answers, in order, and at last its own.

    Where an error ends the answer, the last call has the error as its output.
    """
    calls = []

    def recorded(name: str, forward: Callable) -> Callable:
        def record(*given: object, **named: object) -> object:
            bound = inspect.signature(forward).bind(*given, **named)
            bound.apply_defaults()
            calls.append(call := Call(name, [*bound.args, *bound.kwargs.values()]))
            output = forward(*given, **named)  # an Add & Norm may change it in place
            call.output = copied(output)
            return output

        return record

    parts = {name: module.get_submodule(name) for name in names}
    for name, part in parts.items():
        part.forward = recorded(name, part.forward)
    own = Call("", [*inputs])
    try:
        own.output = ask(module, *map(copied, inputs))
    except AnswerError:
        raise
    except Exception as error:
        own.output = error
    finally:
        for part in parts.values():
            del part.forward
    return [*calls, own]


def require_wired(
    layer: nn.Module,
    flow: Mapping[str, tuple[str, Sequence[object]]],
    inputs: Mapping[str, object],
) -> None:
    """Refuse a layer that does not lead x through its sub-layers, each inside its Add & Norm.

    Args:
        layer: The reader's, without dropout.
        flow: In order, by the name of an Add & Norm: its sub-layer, and what that gets after x
            (or instead of it, where the first is not None), by the names of inputs.
        inputs: What forward gets, by its name; x first.
    """
    names = [name for around, (part, _) in flow.items() for name in (around, part)]
    *calls, own = calls_of(layer, names, [*inputs.values()])
    found = {call.name: call for call in calls}
    if not isinstance(own.output, Exception):
        for name in names:
            count = sum(call.name == name for call in calls)
            if count != 1:
                times = "never called" if count == 0 else f"called {count} times"
                raise AnswerError(f"self.{name} is {times}; the layer must call it once.")
    for who, kind, told in (
        ("sub-layers", [part for part, _ in flow.values()], "The paper's order is different."),
        ("Add & Norms", list(flow), "Each belongs around the sub-layer of its name."),
    ):
        order = [call.name for call in calls if call.name in kind]
        if order != kind[: len(order)]:
            raise AnswerError(f"Your {who} run in the order {', '.join(order)}. {told}")
    x, whence = inputs["x"], "x"
    for around, (part, wanted) in flow.items():
        if around not in found or part not in found:
            break
        if not _same(found[around].given[0], x):
            raise AnswerError(f"{around} must get {whence}, and gets something else.")
        for role, given, name in zip(ROLES, found[part].given, wanted, strict=False):
            if not _same(given, x if name == "x" else inputs[name]):
                got = whence if _same(given, x) else _name_of(given, inputs)
                if len(wanted) == 1:
                    given_to = f"what {around} calls your function with"
                    raise AnswerError(f"{part} gets {got}, and not {given_to}.")
                raise AnswerError(f"{part} gets {got} as its {role}.")
        if found[around].output is None:  # the error came before
            break
        sublayer = found[part].output
        if not _same(
            found[around].output, getattr(layer, around)(x, lambda _, y=sublayer: y.clone())
        ):
            made = found[around].given[1](x)
            if isinstance(made, Tensor) and not _same(made, sublayer):
                adds = _same(made, x + sublayer)
                raise AnswerError(
                    f"The function that {around} gets adds its argument; {around} adds it, too."
                    if adds
                    else f"The function that {around} gets must return what {part} returns."
                )
            raise AnswerError(f"{around} must be called with x and {part}.")
        x, whence = found[around].output, f"what {around} returns"
    if isinstance(own.output, Exception):
        for around, (part, _) in flow.items():
            if around in found and found[around].output is None:
                _require_function(around, found[around].given, getattr(layer, part), part)
        raise own.output
    if not _same(own.output, x):
        raise AnswerError(f"forward must return {whence}.")
    other = inputs["x"].flip(-1)
    held = [inputs["x"], *(found[around].output for around in flow)]  # what a name x may mean
    for around, (part, wanted) in flow.items():
        function, sublayer = found[around].given[1], getattr(layer, part)
        given = [other if name == "x" else inputs[name] for name in wanted]
        if not _same(function(other), sublayer(*given)):
            roles = _roles_of_another(function(other), sublayer, given, other, held)
            where = f", as for the {roles} of {part}" if roles else ""
            raise AnswerError(
                f"The function that {around} gets must use its argument everywhere, not a "
                f"tensor of the code around it{where}. "
                "With the norms first (pre-norm), the sub-layer gets norm(x)."
            )


def _roles_of_another(
    made: object, sublayer: nn.Module, given: list, argument: Tensor, held: Sequence[Tensor]
) -> str:
    """Which inputs of a sub-layer are one of the held tensors, where they should be the argument.

    It is what explains the output that was made; nothing if that is none of these.
    """
    places = [place for place, each in enumerate(given) if each is argument]
    for count in range(1, len(places) + 1):
        for some in combinations(places, count):
            for x in held:
                tried = [x if place in some else each for place, each in enumerate(given)]
                if _same(made, sublayer(*tried)):
                    return ", ".join(ROLES[each] for each in some) if given[1:] else "input"
    return ""


def _require_function(around: str, given: Sequence[object], part: nn.Module, name: str) -> None:
    """Refuse what an Add & Norm cannot call with one argument, after it has stopped."""
    x, sublayer = given[:2]
    if callable(x):
        raise AnswerError(f"{around} gets x first, then the function; yours gets a function first.")
    if isinstance(sublayer, Tensor):
        raise AnswerError(
            f"{around} gets a tensor in the place of a function. It calls its sub-layer itself."
        )
    if sublayer is part and "attention" in name:
        raise AnswerError(
            f"{around} calls its sub-layer with one argument, x. {name} needs query, key, value "
            "and mask: write a function of one argument around it."
        )


def require_chain(stack: nn.Module, inputs: Mapping[str, object]) -> None:
    """Refuse a stack that does not lead x through its layers in order, with the other inputs.

    Args:
        stack: The reader's, which holds its layers in ``layers``.
        inputs: What forward gets, by its name; x first. Every layer gets the others unchanged.
    """
    names = [f"layers.{index}" for index in range(len(stack.layers))]
    *calls, own = calls_of(stack, names, [*inputs.values()])
    order = [int(call.name.split(".")[1]) + 1 for call in calls]
    x = inputs["x"]
    for place, call in enumerate(calls):
        if not _same(call.given[0], x):
            got = next((name for name in inputs if _same(call.given[0], inputs[name])), None)
            before = f"what layer {order[place - 1]} returns" if place else "x"
            instead = f"; not {got}" if got else ", unchanged"
            raise AnswerError(f"Layer {order[place]} must get {before}{instead}.")
        for given, (name, other) in zip(call.given[1:], list(inputs.items())[1:], strict=False):
            if not _same(given, other):
                got = _name_of(given, inputs)
                raise AnswerError(f"Layer {order[place]} gets {got} in the place of {name}.")
        x = call.output
    if isinstance(own.output, Exception):
        raise own.output
    if order != list(range(1, len(names) + 1)):
        if not order:
            raise AnswerError("forward runs none of self.layers.")
        inside = " Is the return inside the loop?" if order == [1] else ""
        raise AnswerError(f"Each layer must run once, in order; yours run {order}.{inside}")
    if not _same(own.output, x):
        raise AnswerError("forward must return what the last layer returns.")


def require_same(received: object, expected: Tensor) -> None:
    """Refuse what well-wired parts make of the package's weights, if the package makes another."""
    if not (isinstance(received, Tensor) and close(received, expected)):
        raise AnswerError(
            "Every part is called as it should be, but the numbers differ from the package's: do "
            "the parts get their sizes, num_heads too?"
        )


def _name_of(given: object, inputs: Mapping[str, object]) -> str:
    """Which of the inputs this is, in words."""
    if given is None:
        return "nothing"
    names = [name for name in inputs if _same(given, inputs[name])]
    if isinstance(given, Tensor) and given.dtype == torch.bool:
        names += [f"~{name}" for name in inputs if _same(~given, inputs[name])]
    return names[0] if names else "something else"


def _same(one: object, other: object) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return close(one, other)
    return one is other
