"""Widgets: pictures that answer, in a notebook with its kernel and in the static page without."""

from .heatmap import AttentionHeatmap
from .kernel import KernelRegression
from .positions import PositionExplorer
from .state import STUB_CSS, STUB_ESM, stub_state

__all__ = [
    "STUB_CSS",
    "STUB_ESM",
    "AttentionHeatmap",
    "KernelRegression",
    "PositionExplorer",
    "stub_state",
]
