"""Widgets: pictures that answer, in a notebook with its kernel and in the static page without.

A widget is a folder here. Its class is imported when it is first asked for.
"""

from __future__ import annotations

import importlib

from .bundle import WIDGETS
from .state import STUB_CSS, STUB_ESM, stub_state

#: The folder of each name that is imported late.
FOLDERS = {path.stem: path.parent.name for path in WIDGETS.values()}
FOLDERS["AlignmentExample"] = "alignment"  # what the viewer takes

__all__ = ["STUB_CSS", "STUB_ESM", "stub_state", *sorted(FOLDERS)]


def __getattr__(name: str):
    """Import a widget on first use (PEP 562)."""
    if name not in FOLDERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{FOLDERS[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *FOLDERS]
