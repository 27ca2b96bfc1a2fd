"""Widgets: pictures that answer, in a notebook with its kernel and in the static page without."""

from .ablation import HeadAblation
from .alignment import AlignmentViewer
from .alignment_examples import AlignmentExample
from .browse import LayerHeadBrowser
from .heatmap import AttentionHeatmap
from .kernel import KernelRegression
from .positions import PositionExplorer
from .state import STUB_CSS, STUB_ESM, stub_state

__all__ = [
    "STUB_CSS",
    "STUB_ESM",
    "AlignmentExample",
    "AlignmentViewer",
    "AttentionHeatmap",
    "HeadAblation",
    "KernelRegression",
    "LayerHeadBrowser",
    "PositionExplorer",
    "stub_state",
]
