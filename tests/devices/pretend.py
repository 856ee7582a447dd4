"""A device that is not the CPU, on any machine: its tensors do not mix with those of the CPU.

``switch_on()`` makes torch know the device "pretend". Its tensors compute on the CPU but answer as
a GPU's would: an operation between the two devices is refused, a generator of the CPU draws
nothing for it, NumPy cannot read it, and after an index beyond a table it computes nothing more.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "pretend"
DEVICE = torch.device("privateuseone", 0)  # as torch calls it before it has its name
CPU = torch.device("cpu")

aten = torch.ops.aten
COPIES = {aten._to_copy.default, aten.copy_.default}
JOINS = {aten.cat.default, aten.stack.default}
CHOICE = aten._fused_sdp_choice.default
PLAIN = {int, float, bool, type(None), torch.dtype, torch.device}  # most arguments
INDEXING = {
    aten.index.Tensor,
    aten.index_put.default,
    aten.index_put_.default,
    aten._index_put_impl_.default,
}


class PretendTensor(Tensor):
    """A tensor on the device; ``numbers`` holds the same on the CPU."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, numbers: Tensor) -> "PretendTensor":
        tensor = Tensor._make_wrapper_subclass(
            cls,
            numbers.size(),
            strides=numbers.stride(),
            storage_offset=numbers.storage_offset(),
            dtype=numbers.dtype,
            device=DEVICE,
        )
        tensor.numbers = numbers
        return tensor

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return compute(operation, args, kwargs or {})

    # What torch computes without its dispatcher, and only for its own class.

    def __repr__(self) -> str:
        return f"{self.numbers!r} on {NAME}"

    def __format__(self, form: str) -> str:
        return format(self.numbers, form)

    def __deepcopy__(self, memo: dict) -> Tensor:
        twin = PretendTensor(self.numbers.clone()).requires_grad_(self.requires_grad)
        if isinstance(self, Parameter):
            twin = Parameter(twin, self.requires_grad)
        memo[id(self)] = twin
        return twin

    def tolist(self) -> object:
        return self.numbers.tolist()

    def data_ptr(self) -> int:
        return self.numbers.data_ptr()

    def numpy(self, **options: object) -> None:
        raise TypeError(f"a tensor on {NAME} cannot become an array: call .cpu() first")

    __array__ = numpy


def compute(operation: Callable, args: tuple, kwargs: dict) -> object:
    """Compute on the CPU, and answer with tensors of the device where a GPU would."""
    if operation is CHOICE:
        return 0  # attention is written out
    there: list[PretendTensor] = []
    here: list[Tensor] = []
    plain_args = [_numbers_of(item, there, here) for item in args]
    goes_there = True
    if kwargs:
        kwargs = {name: _numbers_of(item, there, here) for name, item in kwargs.items()}
        if kwargs.get("device") is not None:
            goes_there = kwargs["device"].type == NAME
            if goes_there:
                kwargs["device"] = CPU
    copies = operation in COPIES
    if here and not copies:
        _require_one_device(operation, args, here)
    if Backend.is_lost:
        raise RuntimeError(f"{NAME} has met an index beyond a table, and computes nothing any more")
    try:
        result = operation(*plain_args, **kwargs)
    except IndexError:
        Backend.is_lost = True
        raise RuntimeError(f"an index lies beyond a table on {NAME}") from None
    Backend.computations += not copies
    return _answer(result, there, here if goes_there else None)


def _numbers_of(item: object, there: list[PretendTensor], here: list[Tensor]) -> object:
    """What the CPU computes with; the tensors met on the way are added to the two lists."""
    if type(item) in PLAIN:
        return item
    if isinstance(item, PretendTensor):
        there.append(item)
        return item.numbers
    if isinstance(item, Tensor):
        here.append(item)
    elif isinstance(item, list | tuple):
        return type(item)(_numbers_of(each, there, here) for each in item)
    elif isinstance(item, torch.Generator):
        raise RuntimeError(f"a generator of the CPU cannot draw for a tensor on {NAME}")
    return item


def _answer(result: object, there: list[PretendTensor], here: list[Tensor] | None) -> object:
    """The CPU's result as the device's; here is None for what is to stay on the CPU."""
    if not isinstance(result, Tensor):
        if isinstance(result, list | tuple):
            return type(result)(_answer(each, there, here) for each in result)
        return result
    for tensor in there:
        if result is tensor.numbers:  # an operation in place answers with its argument
            return tensor
    if here is None or (here and any(result is tensor for tensor in here)):
        return result
    return PretendTensor(result)


def _require_one_device(operation: Callable, args: tuple, here: list[Tensor]) -> None:
    """Refuse to mix devices, but for what a GPU takes from the CPU: single numbers and indices."""
    if operation in INDEXING:
        fine = isinstance(args[0], PretendTensor)
    else:
        fine = operation not in JOINS and all(tensor.dim() == 0 for tensor in here)
    if not fine:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in here)
        raise RuntimeError(f"{operation}: all tensors must be on {NAME}, got {shapes} on the CPU")


class Backend:
    """What torch asks a kind of device for, beside computing."""

    available = False
    is_lost = False
    computations = 0  # so many operations other than copies have been computed on the device

    def is_available(self) -> bool:
        return self.available

    def is_initialized(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """The device draws with the CPU's own generator, which torch seeds too."""

    def get_rng_state(self, device: object = None) -> Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: Tensor, device: object = None) -> None:
        torch.set_rng_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]


_registered: list[torch.library.Library] = []
_swap_tensors = torch.utils.swap_tensors


def _swap_what_moved(parameter: Tensor, moved: Tensor) -> None:
    """Put what moved in a parameter's place; torch cannot while a graph holds the parameter."""
    if parameter.dtype != moved.dtype or parameter.data_ptr() != moved.data_ptr():
        _swap_tensors(parameter, moved)


def switch_on() -> torch.device:
    """Let torch find the device; a module that moves there keeps its parameters, as on a GPU."""
    if not _registered:
        _setup_privateuseone_for_python_backend(NAME, backend_module=Backend())
        everything, few = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
        everything.fallback(lambda op, *args, **kwargs: compute(op, args, kwargs), "PrivateUse1")
        # Autocast leaves the numbers as they are.
        everything.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
        few.impl("copy_", lambda *args: compute(aten.copy_.default, args, {}), "PrivateUse1")
        _registered.extend((everything, few))
    Backend.available, Backend.is_lost = True, False
    torch.backends.mha.set_fastpath_enabled(False)  # its nested tensors tell no device their size
    torch.__future__.set_swap_module_params_on_conversion(True)
    torch.utils.swap_tensors = _swap_what_moved
    return DEVICE


def switch_off() -> None:
    """Let nothing find the device any more; tensors on it still compute."""
    Backend.available = False
    torch.backends.mha.set_fastpath_enabled(True)
    torch.__future__.set_swap_module_params_on_conversion(False)
    torch.utils.swap_tensors = _swap_tensors
