"""Peers: other people's implementations, imported to be compared with and for nothing else."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types


def import_d2l():
    """Import `d2l.torch`, release 0.17, as a module.

    It imports torchvision without declaring it and, for attention, never uses it. Where
    torchvision is missing, empty modules stand in for it while d2l is imported, and are taken
    away again, so that nothing else believes it is there.

    Raises:
        ModuleNotFoundError: d2l is not installed.
    """
    names = ("torchvision", "torchvision.transforms")
    stand_in = names[0] not in sys.modules and importlib.util.find_spec(names[0]) is None
    if stand_in:
        modules = {name: types.ModuleType(name) for name in names}
        modules[names[0]].transforms = modules[names[1]]
        sys.modules.update(modules)
    try:
        return importlib.import_module("d2l.torch")
    finally:
        if stand_in:
            for name in names:
                sys.modules.pop(name, None)
