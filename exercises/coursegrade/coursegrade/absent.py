"""Runs INSIDE the box: a compiler and a GPU, which a student may have and the box has not.

A function that asks for one is right all the same. `noted` holds what the grader should be told.
"""

import re

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

noted = set()
DEVICE = re.compile(r"(cuda|mps|xpu|hip|xla|hpu)(:\d+)?")
WANTED = re.compile(
    r"cuda|nvidia|nvtx|\b(mps|xpu|hip|xla|hpu)\b|accelerator|dummy base class", re.IGNORECASE
)
ONLY_THERE = (
    *("synchronize", "Event", "Stream", "stream", "current_stream", "default_stream", "device"),
    *("set_device", "current_device", "get_device_name", "get_device_properties", "empty_cache"),
    *("reset_peak_memory_stats", "mem_get_info", "memory_summary", "ipc_collect", "utilization"),
    *("current_allocated_memory", "driver_allocated_memory", "current_device_index", "set_stream"),
)


def uncompiled(model=None, **options):
    """torch.compile: the function or the module as it is."""
    noted.add("compile")
    return model if model is not None else lambda function: function


torch.compile = uncompiled


class Nothing(float):
    """What only a GPU's functions give: it can be called, entered and asked, and is 0."""

    __hash__ = object.__hash__  # torch keeps tables of its functions: each is another

    def __call__(self, *args, **kwargs):
        return self

    def __getattr__(self, name):
        return self

    __enter__ = __call__

    def __exit__(self, *problem):
        pass


class Generator(torch.Generator):
    """Random numbers of the CPU, whatever device is named."""

    def __new__(cls, device=None):
        return super().__new__(cls)


def here(value):
    """The CPU for a device that is not there; anything else stays."""
    named = isinstance(value, str | torch.device) and DEVICE.fullmatch(str(value))
    return "cpu" if named else value


class OnCPU(TorchFunctionMode):
    """Takes the CPU wherever torch is asked for a device that is not there."""

    constructors, entered = _device_constructors(), False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in (torch.Tensor.cuda, torch.Tensor.xpu, torch.Tensor.pin_memory):
            return args[0]
        args, kwargs = list(map(here, args)), {k: here(v) for k, v in (kwargs or {}).items()}
        kwargs.pop("pin_memory", None)
        if function is torch.Tensor.to and len(args) > 1 and type(args[1]) is int:
            args[1] = "cpu"
        default = function in self.constructors and kwargs.get("device") is None
        if default or type(kwargs.get("device")) is int:
            kwargs["device"] = "cpu"
        return function(*args, **kwargs)


def wanted(problem):
    """Whether something failed because there is no GPU."""
    try:
        return bool(WANTED.search(str(problem)))
    except BaseException:  # a student's own exception may do anything
        return False


def on_cpu(work, *args):
    """Do some work; where it fails for want of a GPU once more, with the CPU from then on."""
    try:
        return work(*args)
    except BaseException as problem:
        if OnCPU.entered or not wanted(problem):
            raise
    OnCPU.entered = True
    OnCPU().__enter__()
    torch.Generator = Generator
    for module in (torch.cuda, torch.mps, torch.xpu, torch.accelerator):
        for name in set(ONLY_THERE) & set(dir(module)):
            setattr(module, name, Nothing())
    noted.add("cpu")
    return work(*args)
