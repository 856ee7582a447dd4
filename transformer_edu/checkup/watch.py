"""What torch computes inside a model, seen without knowing the model.

While a Watch is on, PyTorch takes no fast path, and functions of torch.nn.functional drop nothing.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

HIDDEN = 1e4  # a score below -HIDDEN is masked
SCALINGS = {"mul", "mul_", "div", "div_", "__mul__", "__rmul__", "__truediv__"}
PRODUCTS = {"matmul", "bmm", "einsum", "baddbmm", "__matmul__"}
RESHAPES = {"view", "reshape", "unflatten", "flatten"}
INDEXED = {"embedding", "__getitem__", "__setitem__", "index_select", "gather", "take", "one_hot"}
INDEXED |= {"scatter", "scatter_", "cross_entropy", "nll_loss"}


class Bounds(TorchFunctionMode):
    """Inside the block an index beyond a table raises IndexError on every device.

    On a GPU it would do so later, and nothing could be computed there until Python is restarted.
    """

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        """Compute what was asked for if the CPU can, too, with the indices and any numbers."""
        given = args, kwargs or {}
        if getattr(function, "__name__", "") in INDEXED:
            twins = tree_map_only(Tensor, _on_the_cpu, given)
            function(*twins[0], **twins[1])
        return function(*args, **given[1])


def _on_the_cpu(tensor: Tensor) -> Tensor:
    return torch.empty_like(tensor, device="cpu") if tensor.is_floating_point() else tensor.cpu()


class Watch(TorchFunctionMode):
    """Notes embeddings, attentions and reshapes of the calls inside the block.

    Args:
        streams: Token ids, each (batch, position). Zeros are added to their embeddings, which
            collect gradients: ``deltas``, the batch first whatever the model's order.
    """

    def __init__(self, streams: Sequence[Tensor] = ()) -> None:
        super().__init__()
        self.streams, self.lengths = streams, {each.size(1) for each in streams}
        self.deltas: list[list[Tensor]] = [[] for _ in streams]
        self.tables: list[list[int]] = [[] for _ in streams]  # sizes of the tables that read them
        self.last_position, self.reuses_positions = 0, False  # of tables read by 0, 1, 2, …
        self.found: dict[str, str] = {}  # illnesses, and where
        self.attentions, self.masked = 0, []  # whether each self-attention hides the future
        self.squares: list[Tensor] = []  # its scores, NaN where hidden, if they are few
        self.spread = 0.0  # how far a query's scores differ from its first, as a share of all
        self.deviation = self.undivided = 0.0  # the largest of scores, and of those not divided
        self._factors, self._width = set(), 0  # since the last softmax; of the last product

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        """Compute what was asked for, and note it."""
        name, kwargs = getattr(function, "__name__", ""), kwargs or {}
        given = [*args, *kwargs.values()]
        if "dropout" in name:
            return given[0]
        for each in {"dropout_p", "training"} & {*kwargs}:  # attention drops by itself
            kwargs = kwargs | {each: 0.0 if each == "dropout_p" else False}
        args = (*args[:4], 0.0, *args[5:]) if args[4:] and name.startswith("scaled_dot") else args
        result = function(*args, **kwargs)
        if name == "embedding":
            return self._embedded(result, *given[:2])
        if name in SCALINGS:
            numbers = [x for x in given[:2] if not isinstance(x, Tensor) or x.numel() == 1]
            self._factors |= {abs(float(each)) for each in numbers}
        elif name in PRODUCTS:
            self._factors.add(kwargs.get("alpha", 0.0))
            tensors = [x for x in given if isinstance(x, Tensor) and x.dim() > 1]
            self._width = tensors[-2].size(-1) if len(tensors) > 1 else 0
        elif name == "softmax":
            self._softmax(given[0].detach().float(), kwargs.get("dim", [*args, None][1]))
        elif name == "scaled_dot_product_attention":
            self._attended(*given[:2], kwargs, [*args, None, None, None, None][3])
        elif name in RESHAPES and isinstance(given[0], Tensor):
            was, now = tuple(given[0].shape), tuple(result.shape)
            if mixes_positions(was, now, self.lengths):
                self.found.setdefault("a reshape mixes positions", f"{name} of {was} as {now}")
        self.attentions += name == "multi_head_attention_forward"
        return result

    def _embedded(self, vectors: Tensor, first: Tensor, second: Tensor) -> Tensor:
        ids, table = (second, first) if first.is_floating_point() else (first, second)
        for stream, deltas, tables in zip(self.streams, self.deltas, self.tables, strict=True):
            for same in (stream, stream.T):
                if ids.numel() == same.numel() and ids.reshape(same.shape).equal(same.to(ids)):
                    tables.append(table.size(0))
                    zeros = vectors.new_zeros(*stream.shape, vectors.size(-1)).requires_grad_()
                    deltas.append(zeros)
                    zeros = zeros if same is stream else zeros.transpose(0, 1)
                    return vectors + zeros.reshape(vectors.shape)
        if vectors.dim() > 1 and vectors.size(-2) in self.lengths:
            steps = ids.reshape(-1, vectors.size(-2))[0].diff()
            if (steps[: len(steps) // 2] == 1).all():
                self.last_position = max(self.last_position, table.size(0))
                self.reuses_positions |= bool((steps < 1).any())
        return vectors

    def _softmax(self, scores: Tensor, axis: int | None) -> None:
        places = [i for i, size in enumerate(scores.shape) if size in self.lengths]
        if scores.dim() > 2 and len(places) > 1:
            if axis is None or axis % scores.dim() != places[-1]:  # keys come after the queries
                words = f"softmax over axis {axis} of {tuple(scores.shape)}"
                self.found.setdefault("softmax over the wrong axis", words)
            self._note(scores)

    def _attended(self, query: Tensor, key: Tensor, how: dict, mask: Tensor | None) -> None:
        mask, scale = how.get("attn_mask", mask), how.get("scale") or query.size(-1) ** -0.5
        keys = key.repeat_interleave(query.size(1) // key.size(1), dim=1) if key.dim() > 3 else key
        scores = query.detach().float() @ keys.detach().float().mT * scale
        if how.get("is_causal"):
            mask = torch.ones_like(scores[0, 0]).bool().tril()
        if mask is not None:
            is_flag = mask.dtype == torch.bool
            scores = scores.masked_fill(~mask, -torch.inf) if is_flag else scores + mask.detach()
        self._width = query.size(-1)
        self._factors.add(scale)
        self._note(scores)

    def _note(self, scores: Tensor) -> None:
        """Note scores, which something must have divided by √width, whole or in two halves."""
        factors, width, self._factors = self._factors, self._width, set()
        if not self.streams or not (seen := scores.abs() < HIDDEN).any():
            return
        self.attentions += 1
        if scores.shape[-2:] == (self.streams[0].size(1),) * 2:
            self.masked.append(not seen.triu(1).any())
            self.squares += [scores.masked_fill(~seen, torch.nan)] if scores.numel() < 1e6 else []
        spread = (scores - scores[..., :1])[seen].abs().max() / scores[seen].abs().max()
        self.spread, deviation = max(self.spread, spread.item()), scores[seen].std().item()
        self.deviation = max(self.deviation, deviation)
        ways = [max(width, 1) ** power for power in (0.5, -0.5, 0.25, -0.25)]
        if width > 1 and not any(abs(each / way - 1) < 1e-3 for each in factors for way in ways):
            self.undivided = max(self.undivided, deviation)


def mixes_positions(before: tuple[int, ...], after: tuple[int, ...], lengths: set[int]) -> bool:
    """Whether a reshape puts numbers of several positions together, where a transpose is meant.

    From (batch, position, width) to (batch, heads, position, …) or back, or to (position, batch).
    """
    if len(before) == len(after) and before[:2] == after[1::-1] and before[2:] == after[2:]:
        return len(before) > 1 and before[0] != before[1] and bool(lengths & {*before[:2]})
    few, many = sorted((before, after), key=len)
    if len(few) != 3 or few[1] not in lengths or 1 in (*few[:2], *many[:2]):
        return False
    if len(many) == 4:  # heads, position
        return many[0] == few[0] and many[2] == few[1] != many[1]
    return len(many) == 3 and many[1] == few[1] and many[0] != few[0]
